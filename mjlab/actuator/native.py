"""Actuators that MuJoCo computes itself: position, velocity, PD pair and motor.

Its implicit integrators take the damping of these into account, which keeps stiff gains
stable at time steps where an effort computed beforehand would not be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import mujoco

from mjlab.actuator.config import ActuatorCfg, Quantity
from mjlab.actuator.place import (
    Transmission,
    choices_per_target,
    limit_force,
    limit_target,
    new_actuator,
    required_values,
    values_per_target,
)

_GAINS = frozenset({"actuator_gainprm", "actuator_biasprm"})
_FORCE = frozenset({"actuator_forcerange"})
_TARGET_LIMIT: dict[Transmission, frozenset[str]] = {
    "joint": frozenset({"jnt_actfrcrange"}),
    "tendon": frozenset({"tendon_actfrcrange"}),
    "site": frozenset(),
}


class NativeActuatorCfg(ActuatorCfg):
    """An actuator whose effort MuJoCo computes from its control."""

    gain_fields: ClassVar[frozenset[str]] = _GAINS
    limit_fields: ClassVar[frozenset[str]] = _FORCE

    def required_model_fields(self, *quantities: Quantity) -> frozenset[str]:
        """Return the model fields that must vary per world to change `quantities`."""
        fields = {
            "stiffness": self.gain_fields,
            "damping": self.gain_fields,
            # Without a limit of its own, an actuator has that of its joint or tendon.
            "effort_limit": self.limit_fields | _TARGET_LIMIT[self.transmission],
        }
        return frozenset().union(*(fields[quantity] for quantity in quantities))


@dataclass(kw_only=True)
class PositionActuatorCfg(NativeActuatorCfg):
    """A position servo: stiffness * (target - position) - damping * velocity.

    MuJoCo's `<position>`. It reads position commands; for velocity and effort commands
    beside them take `PdActuatorCfg` or `IdealPdActuatorCfg`.
    """

    stiffness: float | dict[str, float]
    """Position gain, in N m/rad or N/m."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    effort_limit: float | dict[str, float] | None = None
    """Largest torque or force, in N m or N; None is unlimited."""

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        stiffness = required_values(self, "stiffness", targets)
        damping = required_values(self, "damping", targets)
        limits = values_per_target(self, "effort_limit", targets, positive=True)
        names = []
        for target, kp, kd, limit in zip(
            targets, stiffness, damping, limits, strict=True
        ):
            actuator = new_actuator(spec, self, target)
            actuator.set_to_position(kp=kp, kv=kd)
            limit_force(actuator, limit)
            names.append(actuator.name)
        return names


@dataclass(kw_only=True)
class VelocityActuatorCfg(NativeActuatorCfg):
    """A velocity servo: damping * (target - velocity). MuJoCo's `<velocity>`."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    effort_limit: float | dict[str, float] | None = None
    """Largest torque or force, in N m or N; None is unlimited."""

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        damping = required_values(self, "damping", targets)
        limits = values_per_target(self, "effort_limit", targets, positive=True)
        names = []
        for target, kd, limit in zip(targets, damping, limits, strict=True):
            actuator = new_actuator(spec, self, target)
            actuator.set_to_velocity(kv=kd)
            limit_force(actuator, limit)
            names.append(actuator.name)
        return names


@dataclass(kw_only=True)
class PdActuatorCfg(NativeActuatorCfg):
    """A servo of position and velocity, computed by MuJoCo.

    stiffness * (target - position) + damping * (velocity target - velocity), from a
    `<position>` and a `<velocity>` on each target: MuJoCo Warp 4.0 does not have
    `<pid>`. Their sum is limited where it arrives, so the limit also holds for whatever
    else drives the same joint or tendon.
    """

    stiffness: float | dict[str, float]
    """Position gain, in N m/rad or N/m."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    effort_limit: float | dict[str, float] | None = None
    """Largest sum of actuator torques or forces, in N m or N; None keeps the model's
    (`actuatorfrcrange`)."""

    limit_fields: ClassVar[frozenset[str]] = frozenset()

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        stiffness = required_values(self, "stiffness", targets)
        damping = required_values(self, "damping", targets)
        limits = values_per_target(self, "effort_limit", targets, positive=True)
        names = []
        for target, kp in zip(targets, stiffness, strict=True):
            actuator = new_actuator(spec, self, target, suffix="_position")
            actuator.set_to_position(kp=kp)
            names.append(actuator.name)
        for target, kd, limit in zip(targets, damping, limits, strict=True):
            actuator = new_actuator(spec, self, target, suffix="_velocity")
            actuator.set_to_velocity(kv=kd)
            limit_target(spec, self.transmission, target, limit)
            names.append(actuator.name)
        return names


@dataclass(kw_only=True)
class MotorActuatorCfg(NativeActuatorCfg):
    """A motor that exerts the effort it is commanded. MuJoCo's `<motor>`."""

    effort_limit: float | dict[str, float] | None = None
    """Largest effort before the gear, in N m or N; None is unlimited."""

    gear: float | tuple[float, ...] | dict[str, float | tuple[float, ...]] = 1.0
    """Effort at the target per effort of the motor. A site takes six numbers: a force
    and a torque in its frame."""

    transmissions: ClassVar[tuple[Transmission, ...]] = ("joint", "tendon", "site")
    gain_fields: ClassVar[frozenset[str]] = frozenset()

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        limits = values_per_target(self, "effort_limit", targets, positive=True)
        gears = choices_per_target(self, "gear", targets)
        names = []
        for target, limit, gear in zip(targets, limits, gears, strict=True):
            actuator = new_actuator(spec, self, target, gear=gear)
            actuator.set_to_motor()
            limit_force(actuator, limit)
            names.append(actuator.name)
        return names
