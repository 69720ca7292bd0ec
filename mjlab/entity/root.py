"""The root of an entity at run time: where its pose and velocity are kept."""

from dataclasses import dataclass

import mujoco
import torch

from mjlab.entity.index import EntityIndex
from mjlab.sim import Simulation
from mjlab.tensors.masks import write_where
from mjlab.tensors.math import quat_rotate_inverse


class FixedBaseError(RuntimeError):
    """A write to the root of an entity that does not have what was written."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Root:
    """The root frame of an entity, as live views of the simulation's own state.

    So it is never older than the last write or step, whatever `forward()` has done.
    What an entity's root does not have is a constant instead.
    """

    owner: str
    """The entity's name."""

    pos_w: torch.Tensor
    """Position of the frame in the world, shape (num_envs, 3), metres."""

    quat_w: torch.Tensor
    """Orientation of the frame in the world, wxyz, shape (num_envs, 4)."""

    lin_vel_w: torch.Tensor
    """Velocity of the frame's origin, world axes, shape (num_envs, 3), m/s."""

    ang_vel_b: torch.Tensor
    """Angular velocity, axes of the frame, shape (num_envs, 3), rad/s."""

    can_be_placed: bool
    """True if the pose is part of the state."""

    can_move: bool
    """True if the velocity is part of the state."""

    def write_pose_w(self, mask: torch.Tensor, pose: torch.Tensor) -> None:
        """Place the frame: position and orientation wxyz, shape (num_envs, 7)."""
        if not self.can_be_placed:
            raise FixedBaseError(
                f"The entity {self.owner!r} is a part of the world and has no root "
                "pose to write: a plane or height field beside its root body keeps it "
                "from being placed."
            )
        write_where(self.pos_w, mask, pose[..., :3])
        write_where(self.quat_w, mask, pose[..., 3:7])

    def write_velocity_w(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Set the frame in motion: linear and angular, world axes, (num_envs, 6)."""
        self._require_motion()
        ang_vel_b = self._in_body(velocity[..., 3:6])
        write_where(self.lin_vel_w, mask, velocity[..., :3])
        write_where(self.ang_vel_b, mask, ang_vel_b)

    def add_velocity_w(self, mask: torch.Tensor, change: torch.Tensor) -> None:
        """Change the velocity: linear and angular, world axes, (num_envs, 6)."""
        self._require_motion()
        ang_vel_b = self._in_body(change[..., 3:6]).add_(self.ang_vel_b)
        write_where(self.lin_vel_w, mask, change[..., :3] + self.lin_vel_w)
        write_where(self.ang_vel_b, mask, ang_vel_b)

    def _in_body(self, vec_w: torch.Tensor) -> torch.Tensor:
        return quat_rotate_inverse(self.quat_w, vec_w.expand_as(self.ang_vel_b))

    def _require_motion(self) -> None:
        if not self.can_move:
            raise FixedBaseError(
                f"The entity {self.owner!r} has a fixed base, and no root velocity to "
                "write. Let it float (a free joint on its root body), or write only "
                "its pose."
            )


def bind_root(sim: Simulation, index: EntityIndex) -> Root:
    """Return the root of an entity: a free joint's, a mocap body's, or the world's."""
    model, data = sim.mj_model, sim.data
    rest = torch.zeros(sim.num_envs, 3, device=sim.device)
    pos_w, lin_vel_w, ang_vel_b = rest, rest, rest
    quat_w = torch.zeros(sim.num_envs, 4, device=sim.device)
    quat_w[:, 0].fill_(1.0)
    free, placed = index.free_joint_id, index.mocap_body_id
    if free is not None:
        at, dof = int(model.jnt_qposadr[free]), int(model.jnt_dofadr[free])
        pos_w, quat_w = data.qpos[:, at : at + 3], data.qpos[:, at + 3 : at + 7]
        # MuJoCo keeps the linear velocity of a free joint in world axes, and the
        # angular velocity in the body's.
        lin_vel_w = data.qvel[:, dof : dof + 3]
        ang_vel_b = data.qvel[:, dof + 3 : dof + 6]
    elif placed is not None:
        mocap = int(model.body_mocapid[placed])
        pos_w, quat_w = data.mocap_pos[:, mocap], data.mocap_quat[:, mocap]
    return Root(
        owner=index.name,
        pos_w=pos_w,
        quat_w=quat_w,
        lin_vel_w=lin_vel_w,
        ang_vel_b=ang_vel_b,
        can_be_placed=free is not None or placed is not None,
        can_move=free is not None,
    )


def down(model: mujoco.MjModel, device: torch.device) -> torch.Tensor:
    """Return the direction of gravity as compiled, shape (3,); -z without gravity."""
    gravity = torch.tensor(model.opt.gravity, dtype=torch.float64)
    length = float(gravity.norm())
    if length == 0.0:
        gravity, length = torch.tensor([0.0, 0.0, -1.0]), 1.0
    return (gravity / length).to(device=device, dtype=torch.float32)
