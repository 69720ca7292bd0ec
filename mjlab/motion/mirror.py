"""Mirror images of motions."""

from collections.abc import Sequence
from typing import Protocol

from mjlab.motion.motion import Motion


class MirrorTable(Protocol):
    """Mirror symmetry of a robot, by names of joints and bodies."""

    def permutation(self, names: Sequence[str]) -> list[int]:
        """Return the index of each name's mirror image in `names`."""
        ...

    def joint_signs(self, joints: Sequence[str]) -> list[float]:
        """Return -1 for joints that change sign when mirrored, else 1."""
        ...


def mirrored(motion: Motion, table: MirrorTable) -> Motion:
    """Mirror root and joints of a motion at the plane y = 0."""
    joints = motion.joint_pos[:, table.permutation(motion.joint_names)]
    contacts = motion.contacts
    if contacts is not None:
        contacts = contacts[:, table.permutation(motion.contact_names)]
    return Motion.from_root(
        f"{motion.name}_mirrored",
        motion.fps,
        motion.root_pos * (1.0, -1.0, 1.0),
        motion.root_quat * (1.0, -1.0, 1.0, -1.0),
        joints * table.joint_signs(motion.joint_names),
        root_body=motion.root_body,
        joint_names=motion.joint_names,
        contact_names=motion.contact_names,
        contacts=contacts,
        feasibility=motion.feasibility,
        info=motion.info.logged("mirrored"),
    )
