"""Views of one body or joint per world."""

from collections.abc import Sequence
from functools import cached_property

import mujoco
import torch

from mjlab.entity import Entity
from mjlab.names import find_name
from mjlab.views.choice import ViewError
from mjlab.views.pose import Pose
from mjlab.views.source import ViewSource, point_velocity
from mjlab.views.view import TouchingView, View, slow


class JointView(View):
    """View of a hinge or slide joint in each world."""

    def __init__(
        self,
        source: ViewSource,
        names: Sequence[str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> None:
        """Look up joints by full name, `<entity>/<joint>`."""
        super().__init__(source, names, which, present)
        # Entity and local index of each joint.
        self._places = [_find(source, name) for name in self.names]

    @property
    def pos(self) -> torch.Tensor:
        """Positions, shape (...), metres or radians."""
        columns = [e.data.joint_pos[:, i] for e, i in self._places]
        return self.choice.select(columns)

    @property
    def vel(self) -> torch.Tensor:
        """Velocities, shape (...), m/s or rad/s."""
        columns = [e.data.joint_vel[:, i] for e, i in self._places]
        return self.choice.select(columns)

    @property
    def pos_limits(self) -> torch.Tensor:
        """Lower and upper limits, ±inf if unlimited, shape (..., 2)."""
        columns = [e.data.joint_pos_limits[:, i] for e, i in self._places]
        return self.choice.select(columns)

    def write_pos(self, mask: torch.Tensor, pos: torch.Tensor | float) -> None:
        """Write the positions in the worlds of `mask`, shape (...)."""
        for member, (owner, column) in enumerate(self._places):
            where, value = self.choice.part(member, mask, pos, ())
            owner.write_joint_pos(where, _column(value), slice(column, column + 1))

    def write_vel(self, mask: torch.Tensor, vel: torch.Tensor | float) -> None:
        """Write the velocities in the worlds of `mask`, shape (...)."""
        for member, (owner, column) in enumerate(self._places):
            where, value = self.choice.part(member, mask, vel, ())
            owner.write_joint_vel(where, _column(value), slice(column, column + 1))

    # Aliases known from other frameworks.

    qpos = pos
    qvel = vel
    limits = pos_limits


def _find(source: ViewSource, name: str) -> tuple[Entity, int]:
    """Return the entity of a joint and the joint's local index."""
    owner = source.owner(name)
    if owner is None:
        known = [
            f"{entity.index.prefix}{joint}"
            for entity in source.entities.values()
            for joint in entity.joint_names
        ]
        find_name(name, known, what="joint", owner="scene")
        raise ViewError(f"The joint {name!r} does not belong to an entity.")
    local = name.removeprefix(owner.index.prefix)
    if local in owner.index.balls.names:
        raise ViewError(
            f"{name!r} is a ball joint, which has a quaternion instead of a scalar "
            "position; read entity.data.ball_quat."
        )
    return owner, find_name(local, owner.joint_names, what="joint", owner=owner.name)


def _column(value: torch.Tensor | float) -> torch.Tensor | float:
    return value.unsqueeze(-1) if isinstance(value, torch.Tensor) else value


class BodyView(TouchingView):
    """View of a body in each world: a link of a robot, an object, or the world body.

    Values were computed by the last `forward()`, or at the beginning of the last
    `step()`. A write is visible after the next `forward()`.
    """

    def __init__(
        self,
        source: ViewSource,
        names: Sequence[str],
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> None:
        """Look up bodies by full name, `<entity>/<body>`."""
        super().__init__(source, names, which, present)
        self._ids = source.body_ids(self.names)
        self._roots = source.body_roots.index_select(0, self._ids)

    @property
    def pose(self) -> Pose:
        """Poses of the bodies' frames in the world."""
        data = self.source.sim.data
        pos = self.choice.column(data.xpos, self._ids)
        quat = self.choice.column(data.xquat, self._ids)
        return Pose(self.choice.blank_pose(torch.cat((pos, quat), dim=-1)))

    @property
    def velocity(self) -> torch.Tensor:
        """Linear velocity of the frame's origin and angular velocity, (..., 6).

        Both are in world axes, in m/s and rad/s.
        """
        data, column = self.source.sim.data, self.choice.column
        twist, pos = column(data.cvel, self._ids), column(data.xpos, self._ids)
        return point_velocity(twist, pos, column(data.subtree_com, self._roots))

    @property
    def lin_vel_w(self) -> torch.Tensor:
        """Velocities of the frames' origins in world axes, shape (..., 3), m/s."""
        return self.velocity[..., :3]

    @property
    def ang_vel_w(self) -> torch.Tensor:
        """Angular velocities in world axes, shape (..., 3), rad/s."""
        return self.velocity[..., 3:]

    @property
    def mass(self) -> torch.Tensor:
        """Masses of the bodies without their children, shape (...), kg."""
        return self.choice.column(self.source.sim.model.body_mass, self._ids)

    def is_static(self, lin: float = 1e-2, ang: float = 1e-1) -> torch.Tensor:
        """Return True where both speeds are within limits, m/s and rad/s, (...)."""
        velocity = self.velocity
        return slow(velocity[..., :3], velocity[..., 3:], lin, ang)

    @cached_property
    def joint(self) -> JointView:
        """View of the single hinge or slide joint of each body."""
        return JointView(
            self.source,
            [joint_of(self.source, name) for name in self.names],
            self.choice.which,
            self.choice.present,
        )

    def write_pose(self, mask: torch.Tensor, pose: Pose | torch.Tensor) -> None:
        """Set the poses of the bodies in the worlds of `mask`, world frame, (..., 7).

        Only root bodies of entities can be placed.
        """
        raw = pose.raw if isinstance(pose, Pose) else pose
        for member, owner in enumerate(self._placed()):
            where, value = self.choice.part(member, mask, raw, (7,))
            assert isinstance(value, torch.Tensor)
            owner.write_root_pose_w(where, value)

    def write_velocity(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Set linear and angular velocities, world axes, (..., 6).

        Only floating root bodies accept velocities. The write uses the current
        orientation, so write the pose first.
        """
        owners = self._placed()
        check_floating(owners)
        for member, owner in enumerate(owners):
            where, value = self.choice.part(member, mask, velocity, (6,))
            assert isinstance(value, torch.Tensor)
            owner.write_root_velocity_w(where, value)

    def write_wrench(
        self, mask: torch.Tensor, force: torch.Tensor, torque: torch.Tensor
    ) -> None:
        """Apply a wrench at the centres of mass until it is overwritten.

        Args:
            mask: The worlds.
            force: World axes, N, shape (..., 3).
            torque: World axes, N m, shape (..., 3).
        """
        for member, name in enumerate(self.names):
            owner = self._owner(name, "pushed")
            column = owner.index.bodies.names.index(
                name.removeprefix(owner.index.prefix)
            )
            where, push = self.choice.part(member, mask, force, (3,))
            _, twist = self.choice.part(member, mask, torque, (3,))
            assert isinstance(push, torch.Tensor) and isinstance(twist, torch.Tensor)
            owner.write_external_wrench(
                where,
                push.unsqueeze(1),
                twist.unsqueeze(1),
                slice(column, column + 1),
            )

    # Aliases known from other frameworks.

    linear_velocity = lin_vel_w
    angular_velocity = ang_vel_w

    def _placed(self) -> list[Entity]:
        """Entities whose root bodies are in the view."""
        return [self._placed_one(name) for name in self.names]

    def _placed_one(self, name: str) -> Entity:
        owner = self._owner(name, "placed")
        if owner.index.root_body_id != self.source.body_index[name]:
            raise ViewError(
                f"The body {name!r} is not a root body, so its pose follows from its "
                "parent. Write the joints or the root pose of the entity "
                f"{owner.name!r}: views.of(scene).view({owner.name!r})."
            )
        return owner

    def _owner(self, name: str, done: str) -> Entity:
        owner = self.source.owner(name)
        if owner is None:
            raise ViewError(
                f"The body {name!r} belongs to the scene, not to an entity, and "
                f"cannot be {done}."
            )
        return owner


def check_floating(entities: Sequence[Entity]) -> None:
    """Raise if a root is fixed, before anything is written."""
    fixed = [entity.name for entity in entities if entity.is_fixed_base]
    if fixed:
        raise ViewError(
            f"The entity {fixed[0]!r} has a fixed base, so it has no root velocity to "
            "write."
        )


_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


def joint_of(source: ViewSource, body: str) -> str:
    """Return the full name of the single hinge or slide joint of a body."""
    model, index = source.sim.mj_model, source.body_index[body]
    start = max(int(model.body_jntadr[index]), 0)
    ids = range(start, start + int(model.body_jntnum[index]))
    names = [model.joint(i).name for i in ids if int(model.jnt_type[i]) in _SCALAR]
    if len(names) != 1:
        listed = f": {', '.join(map(repr, names))}" if names else ""
        raise ViewError(
            f"The body {body!r} has {len(names)} hinge and slide joints{listed}. Its "
            "`joint` needs exactly one; name it with views.of(scene).joint(...)."
        )
    return names[0]
