"""Views of one entity per world."""

from collections.abc import Callable, Sequence

import torch
from torch.nn.functional import pad

from mjlab.entity import Entity, EntityData
from mjlab.names import find_name
from mjlab.views.body import BodyView, check_floating
from mjlab.views.choice import ViewError
from mjlab.views.pose import Pose
from mjlab.views.source import ViewSource
from mjlab.views.view import TouchingView, slow

Quantity = Callable[[EntityData], torch.Tensor]
JointWriter = Callable[[Entity, torch.Tensor, torch.Tensor | float], None]


class EntityView(TouchingView):
    """View of an entity in each world; members can have different numbers of joints.

    Joints are padded to the largest number: columns beyond a row's own joints, where
    `joint_mask` is false, read as zero and are not written. Writes to root and joints
    are visible immediately, as in `entity.data`.
    """

    def __init__(
        self,
        source: ViewSource,
        members: Sequence[Entity],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> None:
        super().__init__(source, [entity.name for entity in members], which, present)
        self.members = tuple(members)
        """Member entities of the view."""
        device = source.sim.device
        counts = torch.tensor([e.num_joints for e in members], device=device)
        self._counts = counts
        self._joints = max(e.num_joints for e in members)
        self._has_joint = torch.arange(self._joints, device=device) < counts[:, None]

    # The root.

    @property
    def root_pose(self) -> Pose:
        """Poses of the root links in the world."""
        return Pose(self.choice.blank_pose(self._root(lambda d: d.root_pose_w)))

    @property
    def root_lin_vel_w(self) -> torch.Tensor:
        """Velocities of the roots' origins in world axes, shape (..., 3), m/s."""
        return self._root(lambda data: data.root_lin_vel_w)

    @property
    def root_ang_vel_w(self) -> torch.Tensor:
        """Angular velocities of the roots in world axes, shape (..., 3), rad/s."""
        return self._root(lambda data: data.root_ang_vel_w)

    @property
    def root_vel_w(self) -> torch.Tensor:
        """Linear and angular velocities of the roots, shape (..., 6)."""
        return self._root(lambda data: data.root_vel_w)

    @property
    def mass(self) -> torch.Tensor:
        """Masses of the complete entities, shape (...), kg."""
        masses = self.source.sim.model.body_mass
        columns = [e.index.bodies.columns for e in self.members]
        return self.choice.select([c.read(masses).sum(dim=-1) for c in columns])

    def is_static(self, lin: float = 1e-2, ang: float = 1e-1) -> torch.Tensor:
        """Return True where root speeds are within limits, m/s and rad/s, (...)."""
        return slow(self.root_lin_vel_w, self.root_ang_vel_w, lin, ang)

    # Joints.

    @property
    def num_joints(self) -> torch.Tensor:
        """Number of hinge and slide joints of each row, int64, shape (...)."""
        return self.choice.constant(self._counts)

    @property
    def joint_mask(self) -> torch.Tensor:
        """Mask of the columns that are joints, bool, shape (..., max_joints)."""
        return self.choice.constant(self._has_joint)

    @property
    def joint_pos(self) -> torch.Tensor:
        """Positions, shape (..., max_joints), metres or radians."""
        return self._padded(lambda data: data.joint_pos)

    @property
    def joint_vel(self) -> torch.Tensor:
        """Velocities, shape (..., max_joints), m/s or rad/s."""
        return self._padded(lambda data: data.joint_vel)

    @property
    def joint_pos_limits(self) -> torch.Tensor:
        """Lower and upper limits, ±inf if unlimited, shape (..., max_joints, 2)."""
        return self._padded(lambda data: data.joint_pos_limits)

    @property
    def soft_joint_pos_limits(self) -> torch.Tensor:
        """Limits narrowed by each entity's soft limit factor, (..., max_joints, 2)."""
        return self._padded(lambda data: data.soft_joint_pos_limits)

    @property
    def default_joint_pos(self) -> torch.Tensor:
        """Default positions, to which a reset returns, shape (..., max_joints)."""
        return self._padded(lambda data: data.default_joint_pos)

    # Parts.

    def body(self, name: str) -> BodyView:
        """Return a view of a body by local name; every member must have it."""
        for entity in self.members:
            find_name(name, entity.body_names, what="body", owner=entity.name)
        names = [f"{member}/{name}" for member in self.names]
        return BodyView(self.source, names, self.choice.which, self.choice.present)

    # Writing.

    def write_root_pose(self, mask: torch.Tensor, pose: Pose | torch.Tensor) -> None:
        """Set the root poses in the worlds of `mask`, world frame, (..., 7)."""
        raw = pose.raw if isinstance(pose, Pose) else pose
        self._check_placeable()
        for member, entity in enumerate(self.members):
            where, value = self.choice.part(member, mask, raw, (7,))
            assert isinstance(value, torch.Tensor)
            entity.write_root_pose_w(where, value)

    def write_root_velocity(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Set linear and angular root velocities, world axes, (..., 6).

        The write uses the current orientation, so write the pose first.
        """
        check_floating(self.members)
        for member, entity in enumerate(self.members):
            where, value = self.choice.part(member, mask, velocity, (6,))
            assert isinstance(value, torch.Tensor)
            entity.write_root_velocity_w(where, value)

    def write_joint_pos(self, mask: torch.Tensor, pos: torch.Tensor | float) -> None:
        """Write joint positions in the worlds of `mask`, (..., max_joints)."""
        self._write_joints(mask, pos, Entity.write_joint_pos)

    def write_joint_vel(self, mask: torch.Tensor, vel: torch.Tensor | float) -> None:
        """Write joint velocities in the worlds of `mask`, (..., max_joints)."""
        self._write_joints(mask, vel, Entity.write_joint_vel)

    def write_joint_state(
        self,
        mask: torch.Tensor,
        pos: torch.Tensor | float,
        vel: torch.Tensor | float,
    ) -> None:
        """Write joint positions and velocities, each (..., max_joints)."""
        self.write_joint_pos(mask, pos)
        self.write_joint_vel(mask, vel)

    def reset_to_default(self, mask: torch.Tensor) -> None:
        """Write the default state of the selected entities in the worlds of `mask`."""
        for member, entity in enumerate(self.members):
            where, _ = self.choice.part(member, mask, 0.0, ())
            entity.reset_to_default(where)

    # Aliases known from other frameworks.

    pose = root_pose
    linear_velocity = root_lin_vel_w
    angular_velocity = root_ang_vel_w
    qpos = joint_pos
    qvel = joint_vel
    qlimits = joint_pos_limits
    dof = num_joints

    def _root(self, quantity: Quantity) -> torch.Tensor:
        return self.choice.select([quantity(e.data) for e in self.members])

    def _padded(self, quantity: Quantity) -> torch.Tensor:
        values = [quantity(entity.data) for entity in self.members]
        return self.choice.select([self._pad(value) for value in values])

    def _pad(self, value: torch.Tensor) -> torch.Tensor:
        """Append columns of zeros to (num_envs, joints, ...)."""
        missing = self._joints - value.shape[1]
        return (
            pad(value, (0, 0) * (value.ndim - 2) + (0, missing)) if missing else value
        )

    def _write_joints(
        self, mask: torch.Tensor, value: torch.Tensor | float, write: JointWriter
    ) -> None:
        for member, entity in enumerate(self.members):
            where, own = self.choice.part(member, mask, value, (self._joints,))
            if isinstance(own, torch.Tensor):
                own = own[:, : entity.num_joints]
            if entity.num_joints:
                write(entity, where, own)

    def _check_placeable(self) -> None:
        fixed = [e.name for e in self.members if e.index.root_body_id == 0]
        if fixed:
            raise ViewError(
                f"The entity {fixed[0]!r} is fixed to the world, so it has no root "
                "pose to write."
            )
