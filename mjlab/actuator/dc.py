"""MuJoCo's own model of a DC motor."""

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
    """Heating of the winding, which raises its resistance.

    Two of the first three numbers are needed.
    """

    resistance: float = 0.0
    """Thermal resistance, in K/W."""

    capacitance: float = 0.0
    """Heat capacity, in J/K."""

    time_constant: float = 0.0
    """Resistance times capacitance, in seconds."""

    temperature_coefficient: float = 0.0
    """Growth of the electrical resistance, in 1/K; 0.0039 for copper."""

    reference_temperature: float = 25.0
    """Temperature at which the electrical resistance holds, in °C."""

    ambient_temperature: float = 25.0
    """Temperature of the surroundings, in °C."""


class DcFrictionCfg(Config):
    """Dry friction after LuGre: bristles that bend and slip."""

    stiffness: float
    """Stiffness of the bristles, in N m/rad."""

    damping: float = 0.0
    """Damping of the bristles, in N m s/rad."""

    coulomb: float
    """Friction while sliding fast, in N m."""

    static: float
    """Friction at breaking away, in N m."""

    stribeck_velocity: float
    """Speed at which the one passes into the other, in rad/s."""


class DcCoggingCfg(Config):
    """Torque of the magnets: amplitude * sin(poles * angle + phase)."""

    amplitude: float
    """In N m."""

    poles: int
    """Number of periods in a turn of the motor."""

    phase: float = 0.0
    """In radians."""


class DcMotorActuatorCfg(NativeActuatorCfg):
    """A DC motor with its electrical side, computed by MuJoCo. `<dcmotor>`.

    The motor is given by its datasheet (`voltage`, `stall_torque`, `no_load_speed`) or
    by its constants (`resistance`, and one or both of `torque_constant` and
    `back_emf_constant`). All are numbers of the motor, before the gear.

    Its controller commands the torque stiffness * (position error) + damping *
    (velocity error) + integral_gain * (its integral) + effort over the inputs it has,
    and drives the voltage that gives this torque at the present speed, as far as
    `voltage_limit` allows: hence a torque-speed line that nobody has to type.
    A servo with a typed line is `DcPdActuatorCfg`.
    """

    voltage: float | None = None
    """Nominal voltage, in V."""

    stall_torque: float | None = None
    """Torque at rest at the nominal voltage, in N m."""

    no_load_speed: float | None = None
    """Speed without load at the nominal voltage, in rad/s."""

    torque_constant: float | None = None
    """Torque per current, in N m/A."""

    back_emf_constant: float | None = None
    """Voltage per speed, in V s/rad."""

    resistance: float | None = None
    """Resistance of the winding, in Ohm."""

    inputs: tuple[DcInput, ...] = ("voltage",)
    """Commands of the motor: "voltage" alone, or any of "position", "velocity"
    and "effort" for its controller. Effort and voltage both come with the effort
    commands, so only one of them can be an input."""

    stiffness: float | dict[str, float] = 0.0
    """Position gain of the controller, in N m/rad."""

    damping: float | dict[str, float] = 0.0
    """Velocity gain of the controller, in N m s/rad."""

    integral_gain: float = 0.0
    """Gain on the integral of the position error, in N m/(rad s)."""

    integral_limit: float = 0.0
    """Bound of that integral, in rad s; 0 is none."""

    slew_rate: float = 0.0
    """Fastest change of the first command, in its unit per second; 0 is unlimited."""

    voltage_limit: float = 0.0
    """Largest voltage of the controller, in V; 0 is unlimited."""

    effort_limit: float | dict[str, float] | None = None
    """Largest torque of the motor, in N m; None is unlimited."""

    current_limit: float = 0.0
    """Largest current, in A, where there is no `effort_limit`; 0 is unlimited."""

    current_rate_limit: float = 0.0
    """Fastest change of the current, in A/s; it needs an inductance. 0 is unlimited."""

    inductance: float = 0.0
    """Inductance of the winding, in H; 0 for a current without inertia."""

    electrical_time_constant: float = 0.0
    """Inductance over resistance, in seconds, instead of `inductance`."""

    gear: float | dict[str, float] = 1.0
    """Angle of the motor per angle of the joint."""

    thermal: DcThermalCfg | None = None
    """Heating of the winding."""

    friction: DcFrictionCfg | None = None
    """Dry friction."""

    cogging: DcCoggingCfg | None = None
    """Torque of the magnets."""

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
                f"{self.kind} of {actuator.target!r} is not a motor: {error}"
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
        # Their fields are in the order of MuJoCo's numbers.
        return {
            name: astuple(loss) for name, loss in losses.items() if loss is not None
        }

    def _check_inputs(self) -> None:
        once = set(self.inputs)
        if not once or not once <= set(_INPUTS) or len(once) < len(self.inputs):
            raise ActuatorError(
                f"{self.kind}.inputs is {self.inputs}; it has to be some of "
                f"{', '.join(map(repr, _INPUTS))}, each once."
            )
        if {"effort", "voltage"} <= set(self.inputs):
            raise ActuatorError(
                f"{self.kind}.inputs is {self.inputs}; effort and voltage are "
                "commanded by the same number, so only one of them can be an input."
            )
        partial = [value for value in self._nominal() if value]
        if len(partial) not in (0, 3):
            raise ActuatorError(
                f"{self.kind} has voltage={self.voltage}, stall_torque="
                f"{self.stall_torque} and no_load_speed={self.no_load_speed}; a "
                "datasheet needs all three."
            )
