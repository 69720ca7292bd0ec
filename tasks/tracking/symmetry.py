"""Mirror rules of the observation terms of motion tracking."""

from typing import Any

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers.term import BoundTerm
from mjlab.motion.command import MotionCommand, motion_command
from mjlab.rl.models.mirrored_columns import SignedColumns
from mjlab.tasks.robots.g1 import MIRROR
from mjlab.tasks.robots.robot import Mirror
from mjlab.tasks.robots.symmetry import (
    RULES,
    EquivariantModelCfg,
    Reflection,
    Rule,
    joint_columns,
    sign_columns,
    sign_rule,
)

PLACE = (1.0, -1.0, 1.0)
"""Signs of a position."""

ORIENTATION = (1.0, -1.0, -1.0, 1.0, 1.0, -1.0)
"""Signs of the first two columns of a rotation matrix, row by row: entry (i, j) changes
its sign if either i or j is the y axis."""


def _command(env: ManagerBasedRlEnv, term: BoundTerm) -> MotionCommand:
    return motion_command(env, term.params["command_name"])


def _joints(mirror: Mirror, command: MotionCommand) -> SignedColumns:
    return joint_columns(mirror, command.entity.joint_names)


def _reference(
    env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm
) -> SignedColumns:
    joints = _joints(mirror, _command(env, term))
    return joints.then(joints)


def _preview(env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm) -> SignedColumns:
    joints = _joints(mirror, _command(env, term))
    frame = joints.then(sign_columns(*PLACE, *ORIENTATION))
    whole = SignedColumns([], [])
    for _ in term.params["frames"]:
        whole = whole.then(frame)
    return whole


def _bodies(*signs: float) -> Rule:
    """Return a rule for numbers of each tracked body, with the given signs."""
    count = len(signs)

    def rule(env: ManagerBasedRlEnv, mirror: Mirror, term: BoundTerm) -> SignedColumns:
        images = mirror.permutation(_command(env, term).cfg.body_names)
        places = [count * image + axis for image in images for axis in range(count)]
        return SignedColumns(places, list(signs) * len(images))

    return rule


TRACKING_RULES: dict[str, Rule] = RULES | {
    "command": _reference,
    "preview": _preview,
    "motion_anchor_pos_b": sign_rule(*PLACE),
    "motion_anchor_ori_b": sign_rule(*ORIENTATION),
    "body_pos": _bodies(*PLACE),
    "body_ori": _bodies(*ORIENTATION),
}
"""Mirror rules of observation terms, by name."""


class G1TrackingModelCfg(EquivariantModelCfg):
    """MLP of a tracking task, equivariant under the mirror symmetry of a G1."""

    mirror = MIRROR

    def bound(self, env: ManagerBasedRlEnv) -> dict[str, Any]:
        """Return the mirrored columns of the environment's observations and actions."""
        return {"columns": Reflection(env, self.mirror, TRACKING_RULES).columns}
