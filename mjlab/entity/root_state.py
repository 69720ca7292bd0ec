"""Quantities of the root link and its centre of mass."""

import torch

from mjlab.entity.index import EntityIndex
from mjlab.entity.quantity import State, quantity
from mjlab.entity.root import Root, down
from mjlab.sim import Simulation
from mjlab.tensors.math import (
    normalize,
    quat_heading,
    quat_mul,
    quat_rotate,
    quat_rotate_inverse,
)


class RootState(State):
    """The root link: the floating body, or the base that places a fixed entity.

    Everything follows from qpos, qvel and the mocap poses, so it is that of the last
    step or write, without `forward()`. Suffixes: `_w` in the world, `_b` in the axes of
    the root link.
    """

    def __init__(self, sim: Simulation, index: EntityIndex, root: Root) -> None:
        super().__init__(sim, index, root)
        self._down = down(sim.mj_model, sim.device).expand(sim.num_envs, 3)
        self._minus_z = torch.tensor([0.0, 0.0, -1.0], device=sim.device)

    # The link.

    @quantity
    def root_pos_w(self) -> torch.Tensor:
        """Position of the link's origin, shape (num_envs, 3), metres."""
        return self._root.pos_w

    @quantity
    def root_quat_w(self) -> torch.Tensor:
        """Orientation of the link, wxyz, shape (num_envs, 4)."""
        return self._root.quat_w

    @quantity
    def root_pose_w(self) -> torch.Tensor:
        """Position and orientation of the link, shape (num_envs, 7)."""
        return torch.cat((self.root_pos_w, self.root_quat_w), dim=-1)

    @quantity
    def root_lin_vel_w(self) -> torch.Tensor:
        """Velocity of the link's origin, shape (num_envs, 3), m/s."""
        return self._root.lin_vel_w

    @quantity
    def root_ang_vel_w(self) -> torch.Tensor:
        """Angular velocity of the link, shape (num_envs, 3), rad/s."""
        if not self._root.can_move:
            return self.root_ang_vel_b  # Zero, in whatever axes.
        return quat_rotate(self.root_quat_w, self.root_ang_vel_b)

    @quantity
    def root_vel_w(self) -> torch.Tensor:
        """Linear and angular velocity of the link, shape (num_envs, 6)."""
        return torch.cat((self.root_lin_vel_w, self.root_ang_vel_w), dim=-1)

    @quantity
    def root_state_w(self) -> torch.Tensor:
        """Pose and velocity of the link, shape (num_envs, 13)."""
        return torch.cat((self.root_pose_w, self.root_vel_w), dim=-1)

    @quantity
    def root_lin_vel_b(self) -> torch.Tensor:
        """Velocity of the link's origin in its own axes, shape (num_envs, 3), m/s."""
        return quat_rotate_inverse(self.root_quat_w, self.root_lin_vel_w)

    @quantity
    def root_ang_vel_b(self) -> torch.Tensor:
        """Angular velocity of the link in its axes, shape (num_envs, 3), rad/s."""
        return self._root.ang_vel_b

    # The link's centre of mass.

    @quantity
    def root_com_pos_w(self) -> torch.Tensor:
        """Position of the link's centre of mass, shape (num_envs, 3), metres."""
        return self.root_pos_w + quat_rotate(self.root_quat_w, self._com_pos_b())

    @quantity
    def root_com_quat_w(self) -> torch.Tensor:
        """Orientation of the link's inertial frame, wxyz, shape (num_envs, 4)."""
        iquat = self._sim.model.body_iquat[:, self._index.root_body_id]
        return quat_mul(self.root_quat_w, iquat)

    @quantity
    def root_com_pose_w(self) -> torch.Tensor:
        """Pose of the link's inertial frame, shape (num_envs, 7)."""
        return torch.cat((self.root_com_pos_w, self.root_com_quat_w), dim=-1)

    @quantity
    def root_com_lin_vel_w(self) -> torch.Tensor:
        """Velocity of the link's centre of mass, shape (num_envs, 3), m/s."""
        return quat_rotate(self.root_quat_w, self.root_com_lin_vel_b)

    @quantity
    def root_com_lin_vel_b(self) -> torch.Tensor:
        """Velocity of the link's centre of mass in the link's axes, (num_envs, 3)."""
        turning = torch.linalg.cross(self.root_ang_vel_b, self._com_pos_b())
        return self.root_lin_vel_b + turning

    @quantity
    def root_com_vel_w(self) -> torch.Tensor:
        """Velocity of the centre of mass, and angular velocity, (num_envs, 6)."""
        return torch.cat((self.root_com_lin_vel_w, self.root_ang_vel_w), dim=-1)

    def _com_pos_b(self) -> torch.Tensor:
        return self._sim.model.body_ipos[:, self._index.root_body_id]

    # Where is down, and where is forward.

    @quantity
    def down_w(self) -> torch.Tensor:
        """Direction of gravity in the world, unit, shape (num_envs, 3).

        It is -z in a world without gravity.
        """
        gravity = self._sim.engine.model("opt.gravity")
        if gravity is None:  # All worlds share it.
            return self._down
        has_any = (gravity != 0.0).any(dim=-1, keepdim=True)
        return torch.where(has_any, normalize(gravity), self._minus_z)

    @quantity
    def gravity_b(self) -> torch.Tensor:
        """Direction of gravity in the link's axes, unit, shape (num_envs, 3)."""
        return quat_rotate_inverse(self.root_quat_w, self.down_w)

    @quantity
    def heading_w(self) -> torch.Tensor:
        """Yaw of the link's x axis, in [-pi, pi], shape (num_envs,), radians."""
        return quat_heading(self.root_quat_w)
