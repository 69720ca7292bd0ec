"""Root state of a walker that walks along +x, with slide joints or a free joint."""

from __future__ import annotations

import torch

from mjlab.entity import Entity


class JointRoot:
    """Root that moves on two slide joints, forward and up."""

    def __init__(self, entity: Entity, forward: str, height: str) -> None:
        """Look up the slide joints."""
        self._entity = entity
        ids = entity.find_joints((forward, height), preserve_order=True)[0]
        self._forward, self._height = ids

    def place(self) -> torch.Tensor:
        """Return the distance covered, in m, shape (num_envs,)."""
        return self._entity.data.joint_pos[:, self._forward]

    def speed(self) -> torch.Tensor:
        """Return the forward speed, in m/s, shape (num_envs,)."""
        return self._entity.data.joint_vel[:, self._forward]

    def write(
        self,
        mask: torch.Tensor,
        lift: torch.Tensor,
        rise: torch.Tensor,
        speed: torch.Tensor,
    ) -> None:
        """Write the initial state, relative to the default pose.

        Args:
            mask: The worlds, shape (num_envs,), bool.
            lift: Height above the default height, in m, shape (num_envs,).
            rise: Vertical speed, in m/s, shape (num_envs,).
            speed: Forward speed, in m/s, shape (num_envs,).
        """
        data = self._entity.data
        pos, vel = data.default_joint_pos, data.default_joint_vel
        for joint, up, rate in (
            (self._forward, torch.zeros_like(speed), speed),
            (self._height, lift, rise),
        ):
            one = slice(joint, joint + 1)
            self._entity.write_joint_state(
                mask, pos[:, one] + up[:, None], vel[:, one] + rate[:, None], one
            )


class FloatingRoot:
    """Root that moves on a free joint."""

    def __init__(self, entity: Entity) -> None:
        """Store the walker."""
        self._entity = entity

    def place(self) -> torch.Tensor:
        """Return the distance covered, in m, shape (num_envs,)."""
        return self._entity.data.root_pos_w[:, 0]

    def speed(self) -> torch.Tensor:
        """Return the forward speed, in m/s, shape (num_envs,)."""
        return self._entity.data.root_lin_vel_w[:, 0]

    def write(
        self,
        mask: torch.Tensor,
        lift: torch.Tensor,
        rise: torch.Tensor,
        speed: torch.Tensor,
    ) -> None:
        """Write the initial state; arguments as in `JointRoot.write`."""
        pose = self._entity.data.default_root_state[:, :7].clone()
        pose[:, 2] += lift
        nothing = torch.zeros_like(speed)
        self._entity.write_root_pose_w(mask, pose)
        velocity = torch.stack((speed, nothing, rise, *(nothing,) * 3), dim=1)
        self._entity.write_root_velocity_w(mask, velocity)
