"""Quantities of an entity's joints, tendons and actuators."""

import torch

from mjlab.entity.index import Columns
from mjlab.entity.quantity import State, quantity


class JointState(State):
    """Joints (hinges and slides), ball joints, tendons and actuators.

    Positions and velocities are those of the last step or write. What MuJoCo derives
    (accelerations, forces, tendons) is that of the last `forward()`, or of the
    beginning of the last `step()`.
    """

    encoder_bias: torch.Tensor
    """What the joint encoders add, shape (num_envs, num_joints)."""

    # Joints.

    @quantity
    def joint_pos(self) -> torch.Tensor:
        """Positions, shape (num_envs, num_joints), metres or radians."""
        return self._index.joint_qpos.read(self._sim.data.qpos)

    @quantity
    def joint_pos_biased(self) -> torch.Tensor:
        """Positions as the encoders tell them, shape (num_envs, num_joints)."""
        return self.joint_pos + self.encoder_bias

    @quantity
    def joint_vel(self) -> torch.Tensor:
        """Velocities, shape (num_envs, num_joints), m/s or rad/s."""
        return self._index.joint_dofs.read(self._sim.data.qvel)

    @quantity
    def joint_acc(self) -> torch.Tensor:
        """Accelerations, shape (num_envs, num_joints), m/s² or rad/s²."""
        return self._index.joint_dofs.read(self._sim.data.qacc)

    @quantity
    def qfrc_actuator(self) -> torch.Tensor:
        """Forces of all actuators on the joints, (num_envs, num_joints), N or N m."""
        return self._index.joint_dofs.read(self._sim.data.qfrc_actuator)

    @quantity
    def qfrc_applied(self) -> torch.Tensor:
        """Forces written to the joints by users, (num_envs, num_joints), N or N m."""
        return self._index.joint_dofs.read(self._sim.data.qfrc_applied)

    # Ball joints.

    @quantity
    def ball_quat(self) -> torch.Tensor:
        """Orientations of the ball joints' bodies relative to their reference pose.

        Shape (num_envs, num_balls, 4), wxyz.
        """
        return self._balls(self._index.ball_qpos, self._sim.data.qpos, 4)

    @quantity
    def ball_vel(self) -> torch.Tensor:
        """Angular velocities of the ball joints, in the axes of their own bodies.

        Shape (num_envs, num_balls, 3), rad/s.
        """
        return self._balls(self._index.ball_dofs, self._sim.data.qvel, 3)

    @quantity
    def ball_acc(self) -> torch.Tensor:
        """Angular accelerations of the ball joints, in the axes of their own bodies.

        Shape (num_envs, num_balls, 3), rad/s².
        """
        return self._balls(self._index.ball_dofs, self._sim.data.qacc, 3)

    def _balls(self, columns: Columns, field: torch.Tensor, width: int) -> torch.Tensor:
        shape = (len(self._index.balls), width)
        return columns.read(field).unflatten(1, shape)

    # Tendons.

    @quantity
    def tendon_len(self) -> torch.Tensor:
        """Lengths of the tendons, shape (num_envs, num_tendons), metres."""
        return self._index.tendons.columns.read(self._sim.data.ten_length)

    @quantity
    def tendon_vel(self) -> torch.Tensor:
        """Velocities of the tendons, shape (num_envs, num_tendons), m/s."""
        return self._index.tendons.columns.read(self._sim.data.ten_velocity)

    # Actuators.

    @quantity
    def ctrl(self) -> torch.Tensor:
        """Controls of the actuators, shape (num_envs, num_controls)."""
        return self._index.controls.read(self._sim.data.ctrl)

    @quantity
    def act(self) -> torch.Tensor:
        """Activations of the actuators that have one, (num_envs, num_activations)."""
        return self._index.activations.read(self._sim.data.act)

    @quantity
    def actuator_length(self) -> torch.Tensor:
        """Lengths of the actuators' transmissions, shape (num_envs, num_forces)."""
        return self._index.forces.read(self._sim.data.actuator_length)

    @quantity
    def actuator_velocity(self) -> torch.Tensor:
        """Velocities of the actuators' transmissions, shape (num_envs, num_forces)."""
        return self._index.forces.read(self._sim.data.actuator_velocity)

    @quantity
    def actuator_force(self) -> torch.Tensor:
        """Forces of the actuators before their gear, shape (num_envs, num_forces).

        Nearly every actuator has one force output, so num_forces is their number.
        """
        return self._index.forces.read(self._sim.data.actuator_force)
