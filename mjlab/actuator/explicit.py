"""Explicit actuators: motors whose effort is computed by a control law.

The laws of this module are an ideal PD servo, and a PD servo limited by the
torque-speed curve of a DC motor.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import mujoco
import torch

from mjlab.actuator.config import ActuatorCfg


@dataclass(frozen=True, eq=False)
class Commands:
    """Commands to explicit actuators, each of shape (num_envs, n)."""

    position: torch.Tensor
    velocity: torch.Tensor
    effort: torch.Tensor


class ControlLaw(Protocol):
    """Control law that computes the effort of n actuators in each world."""

    @property
    def stiffness(self) -> torch.Tensor | None:
        """Position gains, shape (num_envs, n); None if the law has none."""
        ...

    @property
    def damping(self) -> torch.Tensor | None:
        """Velocity gains, shape (num_envs, n); None if the law has none."""
        ...

    @property
    def effort_limit(self) -> torch.Tensor:
        """Effort limits, shape (num_envs, n), infinite without a limit."""
        ...

    def compute(
        self, commands: Commands, position: torch.Tensor, velocity: torch.Tensor
    ) -> torch.Tensor:
        """Compute the efforts, shape (num_envs, n).

        Args:
            commands: Commands, already delayed.
            position: Current positions or lengths, shape (num_envs, n).
            velocity: Current velocities, shape (num_envs, n).
        """
        ...

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the internal state of the worlds in `mask`, shape (num_envs,), bool."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, for snapshots."""
        ...


class ExplicitActuatorCfg(ActuatorCfg):
    """Actuator whose effort is computed with torch in every physics step.

    In the model it is a `<motor>` without limits. MuJoCo's integrators do not take its
    damping into account, so stiff gains need a smaller time step than with a native
    actuator.
    """

    number_fields: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that assign a number to each target."""

    def law_key(self) -> Hashable:
        """Return a key that is equal for configurations that share one law."""
        return None

    @abstractmethod
    def build_law(self, numbers: LawNumbers) -> ControlLaw:
        """Create one law for the actuators of several configurations.

        Args:
            numbers: Parameters of configurations of this class with equal `law_key`,
                this one first.
        """

    def check(self, targets: Sequence[str]) -> None:
        """Raise if a value is invalid; called before the model is compiled."""
        for field in self.number_fields:
            self.numbers(field, targets)

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        self.check(targets)
        return self._add_each(spec, targets, lambda motor: motor.set_to_motor())


@dataclass(frozen=True, eq=False)
class LawNumbers:
    """Parameters of a control law, one number per target, read from configurations."""

    parts: Sequence[tuple[ExplicitActuatorCfg, Sequence[str]]]
    """Configurations, each with the names of its targets."""

    num_envs: int
    """Number of worlds."""

    device: torch.device
    """Device of the tensors."""

    def of(self, field: str, *, absent: str | None = None) -> torch.Tensor:
        """Return the values of a field for all targets, shape (num_envs, n), writable.

        Args:
            field: Name of a numeric field of the configurations.
            absent: Name of the field to use if `field` is None. Without it, the value
                is infinity.
        """
        row: list[float] = []
        for cfg, targets in self.parts:
            given = absent if absent and getattr(cfg, field) is None else field
            numbers = cfg.numbers(given, targets)
            row += [math.inf if number is None else number for number in numbers]
        rows = torch.tensor([row], dtype=torch.float32, device=self.device)
        return rows.repeat(self.num_envs, 1)


@dataclass(frozen=True, eq=False)
class EffortClip:
    """Clips efforts to ±effort_limit."""

    effort_limit: torch.Tensor
    """Effort limits, shape (num_envs, n)."""

    def clip(self, effort: torch.Tensor, velocity: torch.Tensor) -> torch.Tensor:
        """Return the clipped efforts, shape (num_envs, n)."""
        return torch.clamp(effort, -self.effort_limit, self.effort_limit)


@dataclass(frozen=True, eq=False)
class TorqueSpeedClip:
    """Clips efforts to the torque-speed curve of a DC motor at full voltage.

    Both bounds decrease linearly with the velocity v: from the saturation effort S at
    rest, through 0 at the velocity limit V, into braking beyond it,

        -S * (1 + v / V) <= effort <= S * (1 - v / V),

    and are clipped to ±effort_limit, the limit of the drive or the gearbox.
    """

    effort_limit: torch.Tensor
    """Effort limits, shape (num_envs, n)."""

    saturation_effort: torch.Tensor
    """Effort at rest at full voltage, shape (num_envs, n)."""

    velocity_limit: torch.Tensor
    """Speed at which the effort at full voltage is zero, shape (num_envs, n)."""

    def clip(self, effort: torch.Tensor, velocity: torch.Tensor) -> torch.Tensor:
        """Return the clipped efforts, shape (num_envs, n)."""
        limit = self.effort_limit
        slope = self.saturation_effort * (velocity / self.velocity_limit)
        high = torch.clamp(self.saturation_effort - slope, -limit, limit)
        low = torch.clamp(-self.saturation_effort - slope, -limit, limit)
        return torch.clamp(effort, low, high)


Clip = EffortClip | TorqueSpeedClip


class PdLaw:
    """PD law: kp * (position error) + kd * (velocity error) + effort, then clipped."""

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
        """Compute the efforts, shape (num_envs, n)."""
        effort = self.stiffness * (commands.position - position)
        effort = effort + self.damping * (commands.velocity - velocity)
        return self._clip.clip(effort + commands.effort, velocity)

    def reset(self, mask: torch.Tensor) -> None:
        """Do nothing: a PD law has no internal state."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, for snapshots."""
        return {
            "stiffness": self.stiffness,
            "damping": self.damping,
            "effort_limit": self.effort_limit,
        }


class IdealPdActuatorCfg(ExplicitActuatorCfg):
    """Ideal PD servo, computed with torch in every physics step.

    The effort is stiffness * (target - position) + damping * (velocity target -
    velocity) + effort target, clipped to ±effort_limit.
    """

    stiffness: float | dict[str, float]
    """Position gain, in N m/rad or N/m."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    effort_limit: float | dict[str, float] | None = None
    """Maximum torque or force, in N m or N; None is unlimited."""

    number_fields = ("stiffness", "damping", "effort_limit")

    def build_law(self, numbers: LawNumbers) -> ControlLaw:
        stiffness, damping, limits = map(numbers.of, self.number_fields)
        return PdLaw(stiffness, damping, EffortClip(limits))


class DcPdActuatorCfg(ExplicitActuatorCfg):
    """PD servo limited by the torque-speed curve of a DC motor.

    The curve gives `saturation_effort` at rest and zero at `velocity_limit`, see
    `TorqueSpeedClip`. Isaac Lab and mjlab call it a DC motor actuator. For MuJoCo's
    motor model with electrical dynamics, use `DcMotorActuatorCfg`.
    """

    stiffness: float | dict[str, float]
    """Position gain, in N m/rad or N/m."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    saturation_effort: float | dict[str, float]
    """Stall effort of the motor, in N m or N."""

    velocity_limit: float | dict[str, float]
    """No-load speed of the motor, in rad/s or m/s."""

    effort_limit: float | dict[str, float] | None = None
    """Maximum torque or force at any speed, in N m or N; None uses
    `saturation_effort`."""

    number_fields = (
        *("stiffness", "damping", "effort_limit"),
        *("saturation_effort", "velocity_limit"),
    )

    def build_law(self, numbers: LawNumbers) -> ControlLaw:
        stiffness, damping = map(numbers.of, ("stiffness", "damping"))
        return PdLaw(stiffness, damping, torque_speed_clip(numbers))


def torque_speed_clip(numbers: LawNumbers) -> TorqueSpeedClip:
    """Create a torque-speed clip. The default effort limit is the saturation effort."""
    limits = numbers.of("effort_limit", absent="saturation_effort")
    at_rest, at_speed = map(numbers.of, ("saturation_effort", "velocity_limit"))
    return TorqueSpeedClip(limits, at_rest, at_speed)
