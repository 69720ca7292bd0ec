"""Writing the state of an entity, in the worlds where a mask holds."""

import torch

from mjlab.entity.data import EntityData
from mjlab.entity.defaults import Defaults
from mjlab.entity.index import EntityIndex, LocalIds
from mjlab.entity.root import Root
from mjlab.sim import Simulation
from mjlab.tensors.masks import write_where
from mjlab.tensors.math import quat_rotate

Value = torch.Tensor | float


class EntityWriter:
    """Writes an entity's state in place.

    `mask` is a bool tensor of shape (num_envs,): rows outside it keep their bits.
    Values have a row for every world, or are one row, or one number, for all of them.
    What follows from the state by MuJoCo's kinematics (bodies, geoms, sites, tendons)
    shows a write after `sim.forward()`; the root and the joints show it at once.
    """

    def __init__(
        self,
        sim: Simulation,
        index: EntityIndex,
        root: Root,
        defaults: Defaults,
        data: EntityData,
    ) -> None:
        self._sim = sim
        self._root = root
        self._defaults = defaults
        self.index = index
        """Names, ids and addresses in the model."""
        self.data = data
        """All that can be read."""

    # The root.

    def write_root_pose_w(self, mask: torch.Tensor, pose: torch.Tensor) -> None:
        """Place the root link, or the base of a fixed entity.

        Args:
            mask: The worlds.
            pose: Position and unit quaternion wxyz in the world, (num_envs, 7).
        """
        self._root.write_pose_w(mask, pose)
        self.data.invalidate()

    def write_root_velocity_w(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Set the root link in motion; an error for a fixed base.

        The orientation counts that the root has now, so write its pose first.

        Args:
            mask: The worlds.
            velocity: Linear velocity of the link's origin and angular velocity, both in
                world axes, (num_envs, 6).
        """
        self._root.write_velocity_w(mask, velocity)
        self.data.invalidate()

    def add_root_velocity_w(self, mask: torch.Tensor, change: torch.Tensor) -> None:
        """Change the velocity of the root link; an error for a fixed base.

        Args:
            mask: The worlds.
            change: Of linear and angular velocity, both in world axes, (num_envs, 6).
        """
        self._root.add_velocity_w(mask, change)
        self.data.invalidate()

    def write_root_velocity_b(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Set the root link in motion; an error for a fixed base.

        Args:
            mask: The worlds.
            velocity: Linear velocity of the link's origin and angular velocity, both in
                the axes of the link, (num_envs, 6).
        """
        quat = self._root.quat_w
        linear = velocity[..., :3].expand(quat.shape[0], 3)
        angular = velocity[..., 3:6].expand(quat.shape[0], 3)
        in_world = (quat_rotate(quat, linear), quat_rotate(quat, angular))
        self.write_root_velocity_w(mask, torch.cat(in_world, dim=-1))

    def write_root_state(self, mask: torch.Tensor, state: torch.Tensor) -> None:
        """Write pose and velocity, both in the world, (num_envs, 13)."""
        self.write_root_pose_w(mask, state[..., :7])
        self.write_root_velocity_w(mask, state[..., 7:13])

    def write_mocap_pose(self, mask: torch.Tensor, pose: torch.Tensor) -> None:
        """Place the mocap body of an entity that has a fixed base, (num_envs, 7)."""
        if self.index.mocap_body_id is None:
            raise ValueError(f"The entity {self.index.name!r} has no mocap body.")
        self.write_root_pose_w(mask, pose)

    # Joints.

    def write_joint_state(
        self,
        mask: torch.Tensor,
        pos: Value,
        vel: Value,
        joint_ids: LocalIds | None = None,
    ) -> None:
        """Write positions and velocities of joints."""
        self.write_joint_pos(mask, pos, joint_ids)
        self.write_joint_vel(mask, vel, joint_ids)

    def write_joint_pos(
        self, mask: torch.Tensor, pos: Value, joint_ids: LocalIds | None = None
    ) -> None:
        """Write positions of joints.

        Args:
            mask: The worlds.
            pos: Shape (num_envs, number of joints written), metres or radians.
            joint_ids: Which joints, local to the entity, each once. None means all.
        """
        columns = self.index.joint_qpos.take(joint_ids)
        columns.write(self._sim.data.qpos, mask, pos)
        self.data.invalidate()

    def write_joint_vel(
        self, mask: torch.Tensor, vel: Value, joint_ids: LocalIds | None = None
    ) -> None:
        """Write velocities of joints, (num_envs, number written), m/s or rad/s."""
        columns = self.index.joint_dofs.take(joint_ids)
        columns.write(self._sim.data.qvel, mask, vel)
        self.data.invalidate()

    def write_ball_quat(self, mask: torch.Tensor, quat: torch.Tensor) -> None:
        """Write orientations of all ball joints, wxyz, (num_envs, num_balls, 4)."""
        self.index.ball_qpos.write(self._sim.data.qpos, mask, quat.flatten(-2))
        self.data.invalidate()

    def write_ball_vel(self, mask: torch.Tensor, vel: torch.Tensor) -> None:
        """Write angular velocities of all ball joints, (num_envs, num_balls, 3)."""
        self.index.ball_dofs.write(self._sim.data.qvel, mask, vel.flatten(-2))
        self.data.invalidate()

    # Controls and forces.

    def write_ctrl(self, mask: torch.Tensor, ctrl: Value) -> None:
        """Write the controls of the entity's actuators, (num_envs, num_controls).

        Actuators of the configuration are written by `apply()` and overwrite this.
        """
        self.index.controls.write(self._sim.data.ctrl, mask, ctrl)
        self.data.invalidate()

    def write_external_wrench(
        self,
        mask: torch.Tensor,
        force: torch.Tensor,
        torque: torch.Tensor,
        body_ids: LocalIds | None = None,
    ) -> None:
        """Push bodies, until something else is written or the world is reset.

        Args:
            mask: The worlds.
            force: Forces at the centres of mass in world axes, (num_envs, n, 3), N.
            torque: Torques in world axes, (num_envs, n, 3), N m.
            body_ids: Which bodies, local to the entity, each once. None means all.
        """
        columns = self.index.bodies.columns.take(body_ids)
        wrench = torch.cat(torch.broadcast_tensors(force, torque), dim=-1)
        columns.write(self._sim.data.xfrc_applied, mask, wrench)
        self.data.invalidate()

    def write_encoder_bias(self, mask: torch.Tensor, bias: Value) -> None:
        """Set what the joint encoders add, (num_envs, num_joints)."""
        write_where(self.data.encoder_bias, mask, bias)
        self.data.invalidate()

    # The default state.

    def reset_to_default(self, mask: torch.Tensor) -> None:
        """Write the default state: root, joints, controls and activations."""
        default = self._defaults
        if self._root.can_be_placed:
            self.write_root_pose_w(mask, default.root_state_w[:, :7])
        if self._root.can_move:
            self.write_root_velocity_w(mask, default.root_state_w[:, 7:])
        self.write_joint_state(mask, default.joint_pos, default.joint_vel)
        self.write_ball_quat(mask, default.ball_quat)
        self.write_ball_vel(mask, default.ball_vel)
        self.write_ctrl(mask, default.ctrl)
        self.index.activations.write(self._sim.data.act, mask, default.act)
        self.data.invalidate()
