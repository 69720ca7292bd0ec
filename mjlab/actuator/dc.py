"""DC motor actuators, computed by MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any, Literal

import mujoco

from mjlab.actuator.native import NativeActuatorCfg
from mjlab.actuator.place import ActuatorError
from mjlab.settings import Config

DcInput = Literal["position", "velocity", "effort", "voltage"]

_INPUTS: dict[DcInput, mujoco.mjtCtrlInput] = {
    "position": mujoco.mjtCtrlInput.mjINPUT_POS,
    "velocity": mujoco.mjtCtrlInput.mjINPUT_VEL,
    "effort": mujoco.mjtCtrlInput.mjINPUT_FF,
    "voltage": mujoco.mjtCtrlInput.mjINPUT_VOLTAGE,
}


class DcThermalCfg(Config):
    """Thermal model of the winding, whose resistance rises with temperature.

    Two of `resistance`, `capacitance` and `time_constant` are required.
    """

    resistance: float = 0.0
    """Thermal resistance, in K/W."""

    capacitance: float = 0.0
    """Heat capacity, in J/K."""

    time_constant: float = 0.0
    """Resistance times capacitance, in seconds."""

    temperature_coefficient: float = 0.0
    """Relative increase of the electrical resistance, in 1/K; 0.0039 for copper."""

    reference_temperature: float = 25.0
    """Temperature at which the nominal electrical resistance is given, in °C."""

    ambient_temperature: float = 25.0
    """Ambient temperature, in °C."""


class DcFrictionCfg(Config):
    """Dry friction according to the LuGre model."""

    stiffness: float
    """Stiffness of the bristles, in N m/rad."""

    damping: float = 0.0
    """Damping of the bristles, in N m s/rad."""

    coulomb: float
    """Coulomb (sliding) friction, in N m."""

    static: float
    """Static (breakaway) friction, in N m."""

    stribeck_velocity: float
    """Stribeck velocity, in rad/s: the transition from static to Coulomb friction."""


class DcCoggingCfg(Config):
    """Cogging torque: amplitude * sin(poles * angle + phase)."""

    amplitude: float
    """Amplitude, in N m."""

    poles: int
    """Number of periods per turn of the motor."""

    phase: float = 0.0
    """Phase, in radians."""


class DcMotorActuatorCfg(NativeActuatorCfg):
    """DC motor with its electrical dynamics, computed by MuJoCo (`<dcmotor>`).

    The motor is specified by its datasheet (`voltage`, `stall_torque`, `no_load_speed`)
    or by its constants (`resistance`, and one or both of `torque_constant` and
    `back_emf_constant`). All values are at the motor, before the gear.

    The controller commands the torque stiffness * (position error) + damping *
    (velocity error) + integral_gain * (integral of the position error) + effort, with
    the terms of the configured inputs. It applies the voltage that produces this torque
    at the current speed, within `voltage_limit`, so the torque-speed curve follows from
    the motor model. For a servo with a given torque-speed curve, use `DcPdActuatorCfg`.
    """

    voltage: float | None = None
    """Nominal voltage, in V."""

    stall_torque: float | None = None
    """Stall torque at the nominal voltage, in N m."""

    no_load_speed: float | None = None
    """No-load speed at the nominal voltage, in rad/s."""

    torque_constant: float | None = None
    """Torque per current, in N m/A."""

    back_emf_constant: float | None = None
    """Back-EMF voltage per speed, in V s/rad."""

    resistance: float | None = None
    """Resistance of the winding, in Ohm."""

    inputs: tuple[DcInput, ...] = ("voltage",)
    """Commands of the motor: "voltage" alone, or any of "position", "velocity" and
    "effort" for its controller. Effort and voltage both use the effort command, so only
    one of them can be an input."""

    stiffness: float | dict[str, float] = 0.0
    """Position gain of the controller, in N m/rad."""

    damping: float | dict[str, float] = 0.0
    """Velocity gain of the controller, in N m s/rad."""

    integral_gain: float = 0.0
    """Gain of the integral of the position error, in N m/(rad s)."""

    integral_limit: float = 0.0
    """Bound of the integral of the position error, in rad s; 0 is unlimited."""

    slew_rate: float = 0.0
    """Maximum rate of change of the first command, in its unit per second; 0 is
    unlimited."""

    voltage_limit: float = 0.0
    """Maximum voltage of the controller, in V; 0 is unlimited."""

    effort_limit: float | dict[str, float] | None = None
    """Maximum torque of the motor, in N m; None is unlimited."""

    current_limit: float = 0.0
    """Maximum current, in A, used without an `effort_limit`; 0 is unlimited."""

    current_rate_limit: float = 0.0
    """Maximum rate of change of the current, in A/s; requires an inductance. 0 is
    unlimited."""

    inductance: float = 0.0
    """Inductance of the winding, in H; 0 neglects the dynamics of the current."""

    electrical_time_constant: float = 0.0
    """Inductance divided by resistance, in seconds, as an alternative to
    `inductance`."""

    gear: float | dict[str, float] = 1.0
    """Gear ratio: angle of the motor per angle of the joint."""

    thermal: DcThermalCfg | None = None
    """Thermal model of the winding. None disables it."""

    friction: DcFrictionCfg | None = None
    """Dry friction. None disables it."""

    cogging: DcCoggingCfg | None = None
    """Cogging torque. None disables it."""

    def _add_actuators(self, spec: mujoco.MjSpec, targets: Sequence[str]) -> list[str]:
        self._check_inputs()
        fields = ("stiffness", "damping", "effort_limit", "gear")
        return self._add_each(spec, targets, self._set, *fields)

    def _set(
        self,
        actuator: Any,
        stiffness: float,
        damping: float,
        limit: float | None,
        gear: float,
    ) -> None:
        self._set_gear(actuator, gear)
        controller = (
            *(stiffness, self.integral_gain, damping),
            *(self.slew_rate, self.integral_limit, self.voltage_limit),
        )
        torque = 0.0 if limit is None else limit
        try:
            actuator.set_to_dcmotor(
                motorconst=(self.torque_constant or 0.0, self.back_emf_constant or 0.0),
                resistance=self.resistance or 0.0,
                nominal=self._nominal(),
                saturation=(torque, self.current_limit, self.current_rate_limit),
                inductance=(self.inductance, self.electrical_time_constant),
                controller=controller,
                ctrlspec=sum(int(_INPUTS[name]) for name in self.inputs),
                **self._losses(),
            )
        except ValueError as error:
            raise ActuatorError(
                f"{self.kind} of {actuator.target!r} is not a valid DC motor: {error}"
            ) from error

    def _nominal(self) -> tuple[float, float, float]:
        return (
            self.voltage or 0.0,
            self.stall_torque or 0.0,
            self.no_load_speed or 0.0,
        )

    def _losses(self) -> dict[str, tuple[float, ...]]:
        cogging, thermal, friction = self.cogging, self.thermal, self.friction
        losses = {"cogging": cogging, "thermal": thermal, "lugre": friction}
        # The fields are in the order of MuJoCo's parameters.
        return {
            name: astuple(loss) for name, loss in losses.items() if loss is not None
        }

    def _check_inputs(self) -> None:
        once = set(self.inputs)
        if not once or not once <= set(_INPUTS) or len(once) < len(self.inputs):
            raise ActuatorError(
                f"{self.kind}.inputs is {self.inputs}; it has to be one or more of "
                f"{', '.join(map(repr, _INPUTS))} without repeats."
            )
        if {"effort", "voltage"} <= set(self.inputs):
            raise ActuatorError(
                f"{self.kind}.inputs is {self.inputs}; effort and voltage are "
                "set by the same command, so only one of them can be an input."
            )
        partial = [value for value in self._nominal() if value]
        if len(partial) not in (0, 3):
            raise ActuatorError(
                f"{self.kind} has voltage={self.voltage}, stall_torque="
                f"{self.stall_torque} and no_load_speed={self.no_load_speed}; set "
                "all three."
            )
