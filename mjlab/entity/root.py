"""Root of an entity at run time: live views of its pose and velocity."""

import mujoco
import torch

from mjlab.entity.index import EntityIndex
from mjlab.sim import Simulation
from mjlab.tensors.masks import write_where
from mjlab.tensors.math import quat_rotate_inverse


class FixedBaseError(RuntimeError):
    """Raised if a root pose or velocity is written that a fixed base does not have."""


class Root:
    """Root frame of an entity, as live views of the simulation state.

    The views reflect the last write or step; `forward()` is not needed. Quantities that
    the root does not have, such as the velocity of a fixed base, are constants.
    """

    def __init__(self, sim: Simulation, index: EntityIndex) -> None:
        """Find the root frame: the frame of a free joint, a mocap body or the world."""
        model, data = sim.mj_model, sim.data
        free, placed = index.free_joint_id, index.mocap_body_id
        self._owner = index.name
        rest = torch.zeros(sim.num_envs, 13, device=sim.device)
        rest[:, 3].fill_(1.0)
        self.pos_w, self.quat_w, self.lin_vel_w, self.ang_vel_b = rest.split(
            (3, 4, 3, 3), dim=1
        )
        """Position in the world, m, shape (num_envs, 3); orientation wxyz,
        (num_envs, 4); velocity of the origin in world axes, m/s, and angular velocity
        in the axes of the frame, rad/s, both (num_envs, 3)."""
        self.pose: tuple[torch.Tensor, ...] = ()
        """Views of the pose in the state: one of qpos, two of the mocap pose, or none
        for a base that is fixed to the world."""
        self.velocity: torch.Tensor | None = None
        """View of linear and angular velocity in qvel, (num_envs, 6); None if fixed."""
        if free is not None:
            at, dof = int(model.jnt_qposadr[free]), int(model.jnt_dofadr[free])
            self.pose = (data.qpos[:, at : at + 7],)
            self.velocity = data.qvel[:, dof : dof + 6]
            self.pos_w, self.quat_w = self.pose[0].split((3, 4), dim=1)
            # MuJoCo stores the linear velocity of a free joint in world axes, and the
            # angular velocity in body axes.
            self.lin_vel_w, self.ang_vel_b = self.velocity.split(3, dim=1)
        elif placed is not None:
            mocap = int(model.body_mocapid[placed])
            pos, quat = data.mocap_pos[:, mocap], data.mocap_quat[:, mocap]
            self.pose = self.pos_w, self.quat_w = pos, quat

    def write_pose_w(self, mask: torch.Tensor, pose: torch.Tensor) -> None:
        """Write the pose: position and orientation wxyz, shape (num_envs, 7)."""
        if not self.pose:
            raise FixedBaseError(
                f"The root pose of the entity {self._owner!r} cannot be written: it is "
                "fixed to the world, because its worldbody has a plane or height field "
                "next to the root body."
            )
        sizes = [part.shape[1] for part in self.pose]
        for part, value in zip(self.pose, pose.split(sizes, dim=-1), strict=True):
            write_where(part, mask, value)

    def write_velocity_w(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Write the velocity: linear and angular, world axes, (num_envs, 6)."""
        write_where(self._velocity(), mask, self._as_stored(velocity))

    def add_velocity_w(self, mask: torch.Tensor, change: torch.Tensor) -> None:
        """Add to the velocity: linear and angular, world axes, (num_envs, 6)."""
        stored = self._velocity()
        write_where(stored, mask, self._as_stored(change).add_(stored))

    def _as_stored(self, velocity: torch.Tensor) -> torch.Tensor:
        linear, angular = velocity.expand(len(self.quat_w), 6).split(3, dim=1)
        return torch.cat((linear, quat_rotate_inverse(self.quat_w, angular)), dim=1)

    def _velocity(self) -> torch.Tensor:
        if self.velocity is None:
            raise FixedBaseError(
                f"The entity {self._owner!r} has a fixed base and no root velocity to "
                "write. Add a free joint to its root body, or write only its pose."
            )
        return self.velocity


def down(model: mujoco.MjModel, device: torch.device) -> torch.Tensor:
    """Return the direction of gravity as compiled, shape (3,); -z without gravity."""
    gravity = torch.tensor(model.opt.gravity, dtype=torch.float64)
    length = float(gravity.norm())
    if length == 0.0:
        gravity, length = torch.tensor([0.0, 0.0, -1.0]), 1.0
    return (gravity / length).to(device=device, dtype=torch.float32)
