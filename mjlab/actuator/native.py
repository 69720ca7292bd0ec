"""Native actuators, computed by MuJoCo: servos, motors, muscles and XML actuators.

MuJoCo's implicit integrators take their damping into account, so stiff gains are stable
at timesteps at which an explicit actuator is unstable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco

from mjlab.actuator.actuator import Command
from mjlab.actuator.config import ActuatorCfg
from mjlab.actuator.place import (
    ActuatorError,
    drivers,
    limit_force,
    limit_target,
    target_names,
    unused_name,
)

_Range = tuple[float, float]

# Parameters with the same name in `MuscleActuatorCfg` and MuJoCo's `set_to_muscle`.
_CURVES = "timeconst tausmooth lmin lmax vmax fpmax fvmax".split()


class NativeActuatorCfg(ActuatorCfg):
    """Actuator whose effort MuJoCo computes from its control."""


class PositionActuatorCfg(NativeActuatorCfg):
    """Position servo: stiffness * (target - position) - damping * velocity.

    MuJoCo's `<position>`. It reads only position commands; use `PdActuatorCfg` or
    `IdealPdActuatorCfg` to also track velocity and effort commands.
    """

    stiffness: float | dict[str, float]
    """Position gain, in N m/rad or N/m."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    effort_limit: float | dict[str, float] | None = None
    """Maximum torque or force, in N m or N; None is unlimited."""

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        def shape(servo: Any, kp: float, kd: float, limit: float | None) -> None:
            servo.set_to_position(kp=kp, kv=kd)
            limit_force(servo, limit)

        fields = ("stiffness", "damping", "effort_limit")
        return self._add_each(spec, targets, shape, *fields)


class VelocityActuatorCfg(NativeActuatorCfg):
    """Velocity servo: damping * (target - velocity). MuJoCo's `<velocity>`."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    effort_limit: float | dict[str, float] | None = None
    """Maximum torque or force, in N m or N; None is unlimited."""

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        def shape(servo: Any, kd: float, limit: float | None) -> None:
            servo.set_to_velocity(kv=kd)
            limit_force(servo, limit)

        return self._add_each(spec, targets, shape, "damping", "effort_limit")


class PdActuatorCfg(NativeActuatorCfg):
    """PD servo, computed by MuJoCo.

    The effort is stiffness * (target - position) + damping * (velocity target -
    velocity), from a `<position>` and a `<velocity>` actuator on each target, because
    MuJoCo Warp 4.0 does not support `<pid>`. The limit applies to the sum of all
    actuator forces on the joint or tendon, including forces of other actuators.
    """

    stiffness: float | dict[str, float]
    """Position gain, in N m/rad or N/m."""

    damping: float | dict[str, float]
    """Velocity gain, in N m s/rad or N s/m."""

    effort_limit: float | dict[str, float] | None = None
    """Maximum sum of the actuator torques or forces, in N m or N. None keeps the
    model's `actuatorfrcrange`."""

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        def position(servo: Any, kp: float) -> None:
            servo.set_to_position(kp=kp)

        def velocity(servo: Any, kd: float, limit: float | None) -> None:
            servo.set_to_velocity(kv=kd)
            limit_target(spec, self.transmission, servo.target, limit)

        fields = ("damping", "effort_limit")
        return [
            *self._add_each(spec, targets, position, "stiffness", suffix="_position"),
            *self._add_each(spec, targets, velocity, *fields, suffix="_velocity"),
        ]


class MotorActuatorCfg(NativeActuatorCfg):
    """Motor that applies the commanded effort. MuJoCo's `<motor>`."""

    effort_limit: float | dict[str, float] | None = None
    """Maximum effort before the gear, in N m or N; None is unlimited."""

    gear: float | tuple[float, ...] | dict[str, float | tuple[float, ...]] = 1.0
    """Effort at the target per effort of the motor. A site takes six numbers: force and
    torque in the site frame."""

    transmissions = ("joint", "tendon", "site")

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        def shape(motor: Any, limit: float | None, gear: Any) -> None:
            motor.set_to_motor()
            limit_force(motor, limit)
            self._set_gear(motor, gear)

        return self._add_each(spec, targets, shape, "effort_limit", "gear")


class MuscleActuatorCfg(NativeActuatorCfg):
    """Muscle with activation dynamics and force-length-velocity curves.

    MuJoCo's `<muscle>`, with MuJoCo's defaults. Its command is an effort: the
    excitation, between 0 and 1. Its effort limit in `ActuatorSet` is the peak active
    force.
    """

    force: float | dict[str, float] | None = None
    """Peak active force at rest, in N. None uses `scale` / acc0, where acc0 is the
    joint acceleration caused by a unit force."""

    scale: float | dict[str, float] = 200.0
    """Peak force times acc0, used if `force` is None."""

    length_range: _Range | dict[str, _Range] | None = None
    """Minimum and maximum length of the whole actuator, in metres, or in radians times
    the gear. None lets MuJoCo compute the range by a simulation that pulls on each
    side, which requires joint limits."""

    operating_range: _Range = (0.75, 1.05)
    """Muscle lengths at the two ends of `length_range`, relative to the optimal
    length."""

    gear: float | dict[str, float] = 1.0
    """Scale of the transmission. A negative value lets the muscle pull a joint in the
    negative direction."""

    timeconst: _Range = (0.01, 0.04)
    """Time constants of activation and deactivation, in seconds."""

    tausmooth: float = 0.0
    """Width of the smooth transition between the time constants, as a difference of
    excitations.
    """

    lmin: float = 0.5
    """Minimum length at which the muscle exerts force, relative to the optimal
    length."""

    lmax: float = 1.6
    """Maximum length at which the muscle exerts force, relative to the optimal
    length."""

    vmax: float = 1.5
    """Shortening velocity at which the force is zero, in optimal lengths per second."""

    fpmax: float = 1.3
    """Passive force at `lmax`, relative to the peak force."""

    fvmax: float = 1.2
    """Active force at saturating lengthening velocity, relative to the peak force."""

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        def shape(muscle: Any, force: Any, scale: Any, gear: Any, ends: Any) -> None:
            muscle.set_to_muscle(
                range=self.operating_range,
                force=-1.0 if force is None else force,
                scale=scale,
                **{name: getattr(self, name) for name in _CURVES},
            )
            self._set_gear(muscle, gear)
            if ends is not None:
                muscle.lengthrange = self._checked_range(muscle.target, ends)

        self._check_shape()
        fields = ("force", "scale", "gear", "length_range")
        return self._add_each(spec, targets, shape, *fields)

    def _check_shape(self) -> None:
        numbers = {"timeconst[0]": self.timeconst[0], "timeconst[1]": self.timeconst[1]}
        numbers |= {name: getattr(self, name) for name in ("lmin", "vmax", "fpmax")}
        for name, value in numbers.items():
            if not value > 0.0:
                raise ActuatorError(
                    f"{self.kind}.{name} is {value}; it has to be above 0."
                )
        low, high = self.operating_range
        if not (self.lmin < self.lmax and low < high):
            raise ActuatorError(
                f"{self.kind} has lmin={self.lmin}, lmax={self.lmax} and "
                f"operating_range={self.operating_range}; each has to be (low, high) "
                "with low < high."
            )

    def _checked_range(self, target: str, length_range: _Range) -> list[float]:
        if not length_range[0] < length_range[1]:
            raise ActuatorError(
                f"{self.kind}.length_range of {target!r} is {length_range}; it has to "
                "be (low, high) with low < high."
            )
        return list(length_range)


class XmlActuatorCfg(NativeActuatorCfg):
    """Existing actuators of the entity's model file, used unchanged.

    The patterns match names of targets, not of actuators. Only targets that an actuator
    of the file drives can be matched. Unnamed actuators get the name of their target.
    The command type is derived from the compiled actuator: position for `<position>`,
    velocity for `<velocity>` and `<intvelocity>`, the declared type for each input of
    `<pid>` and `<dcmotor>`, the servo type for a `<general>` with the gains of a servo,
    and effort otherwise. Actuators are in the order of their targets; several actuators
    of one target are in file order.
    """

    command: Command | None = None
    """Command type of the controls: "position", "velocity" or "effort". None derives it
    from the model. Actuators with several inputs are not affected."""

    transmissions = ("joint", "tendon", "site")
    adds_actuators = False

    def candidates(self, spec: mujoco.MjSpec) -> list[str]:
        """Return the names of the targets driven by actuators of the file."""
        driven = drivers(spec, self.transmission)
        return [
            name for name in target_names(spec, self.transmission) if name in driven
        ]

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        driven = drivers(spec, self.transmission)
        names = []
        for target in targets:
            if target not in driven:
                raise ActuatorError(
                    f"{self.kind}: no actuator of the file drives the "
                    f"{self.transmission} {target!r}."
                )
            for actuator in driven[target]:
                actuator.name = actuator.name or unused_name(spec, target)
                names.append(actuator.name)
        return names
