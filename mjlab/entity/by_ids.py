"""Writers of an entity that take world indices, with the arguments of mjlab 1.6."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from mjlab.entity.data import EntityData
from mjlab.entity.index import EntityIndex
from mjlab.tensors.columns import Columns, LocalIds
from mjlab.tensors.masks import ids_to_mask

EnvIds = torch.Tensor | slice | None
"""World indices, int64, or a slice. None means all worlds."""

ElementIds = torch.Tensor | Sequence[int] | slice | None
"""Indices of joints, bodies or other elements within the entity. None means all."""


class WritersByMask(Protocol):
    """Methods of an entity that the writers with world indices call."""

    data: EntityData
    """State and derived quantities."""

    index: EntityIndex
    """Names, ids and addresses in the model."""

    def reset(self, mask: torch.Tensor) -> None:
        """Reset targets and the internal state of actuators."""

    def write_root_pose_w(self, mask: torch.Tensor, pose: torch.Tensor) -> None:
        """Write the pose of the root link."""

    def write_root_velocity_w(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Write the velocity of the root link in world axes."""

    def write_root_velocity_b(self, mask: torch.Tensor, velocity: torch.Tensor) -> None:
        """Write the velocity of the root link in its own axes."""

    def write_root_state(self, mask: torch.Tensor, state: torch.Tensor) -> None:
        """Write the root's pose and velocity in the world."""

    def write_mocap_pose(self, mask: torch.Tensor, pose: torch.Tensor) -> None:
        """Write the mocap pose of a fixed base."""

    def write_joint_pos(
        self,
        mask: torch.Tensor,
        pos: torch.Tensor | float,
        joint_ids: LocalIds | None = None,
    ) -> None:
        """Write positions of joints."""

    def write_joint_vel(
        self,
        mask: torch.Tensor,
        vel: torch.Tensor | float,
        joint_ids: LocalIds | None = None,
    ) -> None:
        """Write velocities of joints."""

    def write_external_wrench(
        self,
        mask: torch.Tensor,
        force: torch.Tensor,
        torque: torch.Tensor,
        body_ids: LocalIds | None = None,
    ) -> None:
        """Apply forces and torques to bodies."""


class WritersByIds:
    """Writers that take `env_ids`, and values with one row for each index.

    They copy the values into a tensor for all worlds and call the writers that take a
    mask. In new code, use the writers that take a mask: they need no copy.
    """

    def write_root_state_to_sim(
        self: WritersByMask, root_state: torch.Tensor, env_ids: EnvIds = None
    ) -> None:
        """Write the root's pose and velocity in the world, (len(env_ids), 13)."""
        self.write_root_state(*_rows(self, root_state, env_ids))

    def write_root_link_pose_to_sim(
        self: WritersByMask, root_pose: torch.Tensor, env_ids: EnvIds = None
    ) -> None:
        """Write the pose of the root link in the world, (len(env_ids), 7)."""
        self.write_root_pose_w(*_rows(self, root_pose, env_ids))

    def write_root_link_velocity_to_sim(
        self: WritersByMask, root_velocity: torch.Tensor, env_ids: EnvIds = None
    ) -> None:
        """Write the velocity of the root link in world axes, (len(env_ids), 6)."""
        self.write_root_velocity_w(*_rows(self, root_velocity, env_ids))

    def write_root_link_velocity_b_to_sim(
        self: WritersByMask, root_velocity_b: torch.Tensor, env_ids: EnvIds = None
    ) -> None:
        """Write the velocity of the root link in the link's axes, (len(env_ids), 6)."""
        self.write_root_velocity_b(*_rows(self, root_velocity_b, env_ids))

    def write_root_com_velocity_to_sim(
        self: WritersByMask, root_velocity: torch.Tensor, env_ids: EnvIds = None
    ) -> None:
        """Write the root's centre-of-mass velocity in world axes, (len(env_ids), 6)."""
        mask, velocity = _rows(self, root_velocity, env_ids)
        arm = self.data.root_com_pos_w - self.data.root_pos_w
        turning = torch.linalg.cross(velocity[:, 3:], arm)
        of_link = torch.cat((velocity[:, :3] - turning, velocity[:, 3:]), dim=-1)
        self.write_root_velocity_w(mask, of_link)

    def write_mocap_pose_to_sim(
        self: WritersByMask, mocap_pose: torch.Tensor, env_ids: EnvIds = None
    ) -> None:
        """Write the mocap pose of a fixed base, (len(env_ids), 7)."""
        self.write_mocap_pose(*_rows(self, mocap_pose, env_ids))

    def write_joint_state_to_sim(
        self: WritersByMask,
        position: torch.Tensor,
        velocity: torch.Tensor,
        joint_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Write positions and velocities of joints, (len(env_ids), n) each."""
        local = _local(self, joint_ids)
        mask, pos = _rows(self, position, env_ids)
        self.write_joint_pos(mask, pos, local)
        self.write_joint_vel(mask, _rows(self, velocity, env_ids)[1], local)

    def write_joint_position_to_sim(
        self: WritersByMask,
        position: torch.Tensor,
        joint_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Write positions of joints, (len(env_ids), n), metres or radians."""
        mask, rows = _rows(self, position, env_ids)
        self.write_joint_pos(mask, rows, _local(self, joint_ids))

    def write_joint_velocity_to_sim(
        self: WritersByMask,
        velocity: torch.Tensor,
        joint_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Write velocities of joints, (len(env_ids), n), m/s or rad/s."""
        mask, rows = _rows(self, velocity, env_ids)
        self.write_joint_vel(mask, rows, _local(self, joint_ids))

    def write_external_wrench_to_sim(
        self: WritersByMask,
        forces: torch.Tensor,
        torques: torch.Tensor,
        env_ids: EnvIds = None,
        body_ids: ElementIds = None,
    ) -> None:
        """Apply forces and torques to bodies, (len(env_ids), n, 3) each."""
        mask, force = _rows(self, forces, env_ids)
        _, torque = _rows(self, torques, env_ids)
        self.write_external_wrench(mask, force, torque, _local(self, body_ids))

    def write_ctrl_to_sim(
        self: WritersByMask,
        ctrl: torch.Tensor,
        ctrl_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Write controls of the entity's actuators, (len(env_ids), n)."""
        mask, rows = _rows(self, ctrl, env_ids)
        columns = self.index.controls.take(_local(self, ctrl_ids))
        columns.write(self.data.sim.data.ctrl, mask, rows)
        self.data.invalidate()

    def set_joint_position_target(
        self: WritersByMask,
        position: torch.Tensor,
        joint_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Set position targets of joints, (len(env_ids), n)."""
        _set(self, self.data.targets.joint_pos, position, joint_ids, env_ids)

    def set_joint_velocity_target(
        self: WritersByMask,
        velocity: torch.Tensor,
        joint_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Set velocity targets of joints, (len(env_ids), n)."""
        _set(self, self.data.targets.joint_vel, velocity, joint_ids, env_ids)

    def set_joint_effort_target(
        self: WritersByMask,
        effort: torch.Tensor,
        joint_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Set effort targets of joints, (len(env_ids), n)."""
        _set(self, self.data.targets.joint_effort, effort, joint_ids, env_ids)

    def set_tendon_len_target(
        self: WritersByMask,
        length: torch.Tensor,
        tendon_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Set length targets of tendons, (len(env_ids), n), metres."""
        _set(self, self.data.targets.tendon_len, length, tendon_ids, env_ids)

    def set_tendon_vel_target(
        self: WritersByMask,
        velocity: torch.Tensor,
        tendon_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Set velocity targets of tendons, (len(env_ids), n), m/s."""
        _set(self, self.data.targets.tendon_vel, velocity, tendon_ids, env_ids)

    def set_tendon_effort_target(
        self: WritersByMask,
        effort: torch.Tensor,
        tendon_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Set effort targets of tendons, (len(env_ids), n)."""
        _set(self, self.data.targets.tendon_effort, effort, tendon_ids, env_ids)

    def set_site_effort_target(
        self: WritersByMask,
        effort: torch.Tensor,
        site_ids: ElementIds = None,
        env_ids: EnvIds = None,
    ) -> None:
        """Set effort targets of sites, (len(env_ids), n)."""
        _set(self, self.data.targets.site_effort, effort, site_ids, env_ids)

    def clear_state(self: WritersByMask, env_ids: EnvIds = None) -> None:
        """Reset targets and the internal state of actuators; see `reset`."""
        self.reset(ids_to_mask(env_ids, self.data.sim.num_envs, self.data.sim.device))


def _rows(
    entity: WritersByMask, values: torch.Tensor, env_ids: EnvIds
) -> tuple[torch.Tensor, torch.Tensor]:
    """Convert indices to a mask, and copy the values into a tensor for all worlds."""
    sim = entity.data.sim
    mask = ids_to_mask(env_ids, sim.num_envs, sim.device)
    if env_ids is None:
        return mask, values.expand(sim.num_envs, *values.shape[1:])
    rows = torch.zeros(sim.num_envs, *values.shape[1:], device=sim.device)
    rows[env_ids] = values.to(rows.dtype)
    return mask, rows


def _local(entity: WritersByMask, ids: ElementIds) -> torch.Tensor | slice | None:
    if ids is None or isinstance(ids, torch.Tensor | slice):
        return ids
    return torch.tensor(list(ids), dtype=torch.int64, device=entity.data.sim.device)


def _set(
    entity: WritersByMask,
    target: torch.Tensor,
    values: torch.Tensor,
    ids: ElementIds,
    env_ids: EnvIds,
) -> None:
    """Write columns of actuator targets in some worlds."""
    mask, rows = _rows(entity, values, env_ids)
    columns = Columns.of(range(target.shape[1]), target.device)
    columns.take(_local(entity, ids)).write(target, mask, rows)
