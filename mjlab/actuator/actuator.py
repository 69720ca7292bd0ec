"""Actuator bindings in the compiled model, and the targets that actuators track."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from mjlab.actuator.config import ActuatorCfg
from mjlab.actuator.place import Transmission

Command = Literal["position", "velocity", "effort"]
"""Type of an actuator command."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ActuatorBinding:
    """Actuator configuration, and addresses of its actuators in the compiled model."""

    cfg: ActuatorCfg
    """Configuration of the actuators."""

    target_names: tuple[str, ...]
    """Names of the targets within the entity."""

    target_ids: torch.Tensor
    """Columns of the targets in `ActuatorTargets`, shape (n,)."""

    actuator_ids: torch.Tensor
    """Ids of the MuJoCo actuators in the compiled model, in the order in which
    `ActuatorCfg.add_to_spec` returned their names."""

    ctrl_adr: torch.Tensor
    """Address of the first control of each actuator, in the order of `actuator_ids`."""

    qpos_adr: torch.Tensor
    """Address of each joint's position, shape (n,); empty for tendons and sites."""

    qvel_adr: torch.Tensor
    """Address of each joint's velocity, shape (n,); empty for tendons and sites."""


@dataclass(kw_only=True, eq=False)
class ActuatorTargets:
    """Actuator targets of an entity, for each world.

    An actuator reads the fields of its own command type. The meaning of an effort
    depends on the actuator: a force or torque before the gear for a motor, an
    excitation between 0 and 1 for a muscle, a voltage for a voltage-controlled motor.
    """

    joint_pos: torch.Tensor
    """Positions, shape (num_envs, num_joints), in radians or metres."""

    joint_vel: torch.Tensor
    """Velocities, shape (num_envs, num_joints), in rad/s or m/s."""

    joint_effort: torch.Tensor
    """Efforts, shape (num_envs, num_joints)."""

    tendon_len: torch.Tensor
    """Lengths, shape (num_envs, num_tendons), in metres."""

    tendon_vel: torch.Tensor
    """Rates of the lengths, shape (num_envs, num_tendons), in m/s."""

    tendon_effort: torch.Tensor
    """Efforts, shape (num_envs, num_tendons)."""

    site_effort: torch.Tensor
    """Efforts, shape (num_envs, num_sites)."""

    @classmethod
    def zeros(
        cls, num_envs: int, joints: int, tendons: int, sites: int, device: torch.device
    ) -> tuple[ActuatorTargets, torch.Tensor]:
        """Create zero targets for the given numbers of joints, tendons and sites.

        The fields are column slices of one tensor, which is also returned.
        """
        counts = {"joint": joints, "tendon": tendons, "site": sites}
        widths = [counts[transmission] for transmission, _ in TARGET_FIELDS]
        together = torch.zeros(num_envs, sum(widths), device=device)
        fields = zip(TARGET_FIELDS.values(), together.split(widths, dim=1), strict=True)
        return cls(**dict(fields)), together

    def of(self, transmission: Transmission, command: Command) -> torch.Tensor:
        """Return the targets with this transmission and command type."""
        return getattr(self, TARGET_FIELDS[transmission, command])


TARGET_FIELDS: dict[tuple[Transmission, Command], str] = {
    ("joint", "position"): "joint_pos",
    ("joint", "velocity"): "joint_vel",
    ("joint", "effort"): "joint_effort",
    ("tendon", "position"): "tendon_len",
    ("tendon", "velocity"): "tendon_vel",
    ("tendon", "effort"): "tendon_effort",
    ("site", "effort"): "site_effort",
}
"""Field of `ActuatorTargets` by transmission and command type."""
