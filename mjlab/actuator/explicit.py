"""Explicit actuators: a motor, and a law that computes its effort.

The laws here are an ideal servo, and one with the torque-speed line of a DC motor.
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
    """Computes the effort of n actuators in each world."""

    @property
    def stiffness(self) -> torch.Tensor | None:
        """Position gains, shape (num_envs, n); None where there are none."""
        ...

    @property
    def damping(self) -> torch.Tensor | None:
        """Velocity gains, shape (num_envs, n); None where there are none."""
        ...

    @property
    def effort_limit(self) -> torch.Tensor:
        """Largest efforts, shape (num_envs, n), infinite where there is no limit."""
        ...

    def compute(
        self, commands: Commands, position: torch.Tensor, velocity: torch.Tensor
    ) -> torch.Tensor:
        """Return the efforts, shape (num_envs, n).

        Args:
            commands: What is asked for.
            position: Positions or lengths now, shape (num_envs, n).
            velocity: Their rates now, shape (num_envs, n).
        """
        ...

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the past of the worlds where `mask`, shape (num_envs,), holds."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        ...


class ExplicitActuatorCfg(ActuatorCfg):
    """An actuator whose effort is computed with torch in every physics step.

    In the model it is a `<motor>` without limits of its own. MuJoCo's integrators do
    not see its damping, so that stiff gains need a smaller time step than those of a
    native actuator.
    """

    number_fields: ClassVar[tuple[str, ...]] = ()
    """Fields that give a number to each target."""

    def law_key(self) -> Hashable:
        """Return what configurations have in common that one law serves."""
        return None

    @abstractmethod
    def build_law(self, numbers: LawNumbers) -> ControlLaw:
        """Return one law for the actuators of several configurations, side by side.

        Args:
            numbers: Of configurations of this class and of equal `law_key`, this one
                first.
        """

    def check(self, targets: Sequence[str]) -> None:
        """Raise if a value is impossible; called before the model is compiled."""
        for field in self.number_fields:
            self.numbers(field, targets)

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        self.check(targets)
        return self._add_each(spec, targets, lambda motor: motor.set_to_motor())


@dataclass(frozen=True, eq=False)
class LawNumbers:
    """Numbers that configurations give to the targets of one law."""

    parts: Sequence[tuple[ExplicitActuatorCfg, Sequence[str]]]
    """The configurations, each with the names of its targets."""

    num_envs: int
    """Number of worlds."""

    device: torch.device
    """Place of the tensors."""

    def of(self, field: str, *, absent: str | None = None) -> torch.Tensor:
        """Return what a field gives to all targets: shape (num_envs, n), writable.

        Args:
            field: A field of the configurations that gives numbers.
            absent: The field that counts where this one is None; without it, that is
                infinity.
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
    """Limits an effort to ±effort_limit."""

    effort_limit: torch.Tensor
    """Shape (num_envs, n)."""

    def clip(self, effort: torch.Tensor, velocity: torch.Tensor) -> torch.Tensor:
        """Return the efforts that remain, shape (num_envs, n)."""
        return torch.clamp(effort, -self.effort_limit, self.effort_limit)


@dataclass(frozen=True, eq=False)
class TorqueSpeedClip:
    """Limits an effort to what a DC motor at full voltage gives at its speed.

    Both ends of the range fall linearly with the velocity v: from the saturation effort
    S at rest, through 0 at the velocity limit V, into braking beyond it,

        -S * (1 + v / V) <= effort <= S * (1 - v / V),

    and neither end passes ±effort_limit, which is what the drive or the gearbox bears.
    """

    effort_limit: torch.Tensor
    """Shape (num_envs, n)."""

    saturation_effort: torch.Tensor
    """Effort at rest at full voltage, shape (num_envs, n)."""

    velocity_limit: torch.Tensor
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

    number_fields = ("stiffness", "damping", "effort_limit")

    def build_law(self, numbers: LawNumbers) -> ControlLaw:
        stiffness, damping, limits = map(numbers.of, self.number_fields)
        return PdLaw(stiffness, damping, EffortClip(limits))


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

    number_fields = (
        *("stiffness", "damping", "effort_limit"),
        *("saturation_effort", "velocity_limit"),
    )

    def build_law(self, numbers: LawNumbers) -> ControlLaw:
        stiffness, damping = map(numbers.of, ("stiffness", "damping"))
        return PdLaw(stiffness, damping, torque_speed_clip(numbers))


def torque_speed_clip(numbers: LawNumbers) -> TorqueSpeedClip:
    """Return the clip of configurations; one without a limit has that at rest."""
    limits = numbers.of("effort_limit", absent="saturation_effort")
    at_rest, at_speed = map(numbers.of, ("saturation_effort", "velocity_limit"))
    return TorqueSpeedClip(limits, at_rest, at_speed)
