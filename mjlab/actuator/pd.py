"""Explicit servos: an ideal one, and one with the torque-speed line of a DC motor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from mjlab.actuator.explicit import (
    Commands,
    ControlLaw,
    ExplicitActuatorCfg,
    ExplicitPart,
    per_world,
)
from mjlab.actuator.place import required_values, values_per_target


class EffortClip:
    """Limits an effort to ±effort_limit."""

    def __init__(self, effort_limit: torch.Tensor) -> None:
        self.effort_limit = effort_limit
        """Shape (num_envs, n)."""

    def clip(self, effort: torch.Tensor, velocity: torch.Tensor) -> torch.Tensor:
        """Return the efforts that remain, shape (num_envs, n)."""
        return torch.clamp(effort, -self.effort_limit, self.effort_limit)


class TorqueSpeedClip:
    """Limits an effort to what a DC motor at full voltage gives at its speed.

    Both ends of the range fall linearly with the velocity v: from the saturation effort
    S at rest, through 0 at the velocity limit V, into braking beyond it,

        -S * (1 + v / V) <= effort <= S * (1 - v / V),

    and neither end passes ±effort_limit, which is what the drive or the gearbox bears.
    """

    def __init__(
        self,
        effort_limit: torch.Tensor,
        saturation_effort: torch.Tensor,
        velocity_limit: torch.Tensor,
    ) -> None:
        self.effort_limit = effort_limit
        """Shape (num_envs, n)."""
        self.saturation_effort = saturation_effort
        """Effort at rest at full voltage, shape (num_envs, n)."""
        self.velocity_limit = velocity_limit
        """Speed at which full voltage gives no effort, shape (num_envs, n)."""

    def clip(self, effort: torch.Tensor, velocity: torch.Tensor) -> torch.Tensor:
        """Return the efforts that remain, shape (num_envs, n)."""
        limit = self.effort_limit
        slope = self.saturation_effort * (velocity / self.velocity_limit)
        high = torch.clamp(self.saturation_effort - slope, -limit, limit)
        low = torch.clamp(-self.saturation_effort - slope, -limit, limit)
        return torch.clamp(effort, low, high)


Clip = EffortClip | TorqueSpeedClip


class PdLaw:
    """stiffness * (position error) + damping * (velocity error) + effort, limited."""

    def __init__(
        self, stiffness: torch.Tensor, damping: torch.Tensor, clip: Clip
    ) -> None:
        self.stiffness = stiffness
        self.damping = damping
        self.effort_limit = clip.effort_limit
        self._clip = clip

    def compute(
        self, commands: Commands, position: torch.Tensor, velocity: torch.Tensor
    ) -> torch.Tensor:
        """Return the efforts, shape (num_envs, n)."""
        effort = self.stiffness * (commands.position - position)
        effort = effort + self.damping * (commands.velocity - velocity)
        return self._clip.clip(effort + commands.effort, velocity)

    def reset(self, mask: torch.Tensor) -> None:
        """Do nothing: a servo has no past."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        return {
            "stiffness": self.stiffness,
            "damping": self.damping,
            "effort_limit": self.effort_limit,
        }


@dataclass(kw_only=True)
class IdealPdActuatorCfg(ExplicitActuatorCfg):
    """A servo whose effort is computed as on a robot, once for each physics step.

    stiffness * (target - position) + damping * (velocity target - velocity) + effort,
    limited to ±effort_limit.
    """

    stiffness: float | dict[str, float]
    """Position gain, in N m/rad or N/m."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    effort_limit: float | dict[str, float] | None = None
    """Largest torque or force, in N m or N; None is unlimited."""

    def check(self, targets: Sequence[str]) -> None:
        """Raise if a value is impossible."""
        required_values(self, "stiffness", targets)
        required_values(self, "damping", targets)
        values_per_target(self, "effort_limit", targets, positive=True)

    def build_law(
        self, parts: Sequence[ExplicitPart], num_envs: int, device: torch.device
    ) -> ControlLaw:
        """Return one law for the actuators of several configurations."""
        stiffness, damping, limits = (
            per_world(join_values(parts, field), num_envs, device)
            for field in ("stiffness", "damping", "effort_limit")
        )
        return PdLaw(stiffness, damping, EffortClip(limits))


@dataclass(kw_only=True)
class DcPdActuatorCfg(ExplicitActuatorCfg):
    """A servo whose effort cannot leave the torque-speed line of a DC motor.

    The line gives `saturation_effort` at rest and nothing at `velocity_limit`, see
    `TorqueSpeedClip`. Isaac Lab and mjlab call it a DC motor actuator. MuJoCo's own
    model of a motor, with its electrical side, is `DcMotorActuatorCfg`.
    """

    stiffness: float | dict[str, float]
    """Position gain, in N m/rad or N/m."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    saturation_effort: float | dict[str, float]
    """Largest effort of the motor at rest, in N m or N."""

    velocity_limit: float | dict[str, float]
    """Speed at which the motor has no effort left, in rad/s or m/s."""

    effort_limit: float | dict[str, float] | None = None
    """Largest torque or force at any speed, in N m or N; None takes
    `saturation_effort`."""

    def check(self, targets: Sequence[str]) -> None:
        """Raise if a value is impossible."""
        required_values(self, "stiffness", targets)
        required_values(self, "damping", targets)
        required_values(self, "saturation_effort", targets, positive=True)
        required_values(self, "velocity_limit", targets, positive=True)
        values_per_target(self, "effort_limit", targets, positive=True)

    def build_law(
        self, parts: Sequence[ExplicitPart], num_envs: int, device: torch.device
    ) -> ControlLaw:
        """Return one law for the actuators of several configurations."""
        stiffness, damping = (
            per_world(join_values(parts, field), num_envs, device)
            for field in ("stiffness", "damping")
        )
        return PdLaw(stiffness, damping, torque_speed_clip(parts, num_envs, device))


def torque_speed_clip(
    parts: Sequence[ExplicitPart], num_envs: int, device: torch.device
) -> TorqueSpeedClip:
    """Return the clip of configurations that have the fields of a torque-speed line."""
    saturation = join_values(parts, "saturation_effort")
    limits = [
        at_rest if limit is None else limit
        for at_rest, limit in zip(
            saturation, join_values(parts, "effort_limit"), strict=True
        )
    ]
    rows = (limits, saturation, join_values(parts, "velocity_limit"))
    return TorqueSpeedClip(*(per_world(row, num_envs, device) for row in rows))


def join_values(parts: Sequence[ExplicitPart], field: str) -> list[float | None]:
    """Return the numbers that a field gives to the targets of all parts, in order."""
    return [
        value for cfg, names in parts for value in values_per_target(cfg, field, names)
    ]
