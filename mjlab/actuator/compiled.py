"""Compiled MuJoCo actuators: the commands they read, and the location of their gains.

The compiled model is the only input, so actuators of the model file and actuators added
by a configuration are treated in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco

from mjlab.actuator.actuator import ActuatorBinding, Command
from mjlab.actuator.native import XmlActuatorCfg
from mjlab.actuator.place import ActuatorError

_INPUTS: tuple[tuple[int, Command], ...] = (
    (int(mujoco.mjtCtrlInput.mjINPUT_POS), "position"),
    (int(mujoco.mjtCtrlInput.mjINPUT_VEL), "velocity"),
    (int(mujoco.mjtCtrlInput.mjINPUT_FF), "effort"),
    (int(mujoco.mjtCtrlInput.mjINPUT_VOLTAGE), "effort"),
)
"""Bits of an input signature (`actuator_ctrlspec`), in the order of the controls."""

_SETPOINTS = 1 | 2 | 4
_GAIN = mujoco.mjtGain
_BIAS = mujoco.mjtBias
_DYN = mujoco.mjtDyn
_TRN = mujoco.mjtTrn


class Control(NamedTuple):
    """One control of an actuator."""

    address: int
    """Address in `ctrl`."""

    command: Command
    """Type of the command."""

    column: int
    """Column of the target in `ActuatorTargets`."""

    actuator: int
    """Id of the actuator."""


class GainSlot(NamedTuple):
    """Element of a model field, which stores `sign` times a gain or a limit."""

    field: str
    row: int
    element: int
    sign: float


def controls_of(
    binding: ActuatorBinding, model: mujoco.MjModel
) -> dict[str, list[Control]]:
    """Return the controls of each target of a binding, ordered by address in `ctrl`."""
    cfg = binding.cfg
    given = cfg.command if isinstance(cfg, XmlActuatorCfg) else None
    by_target = zip(
        binding.target_names,
        binding.target_ids.tolist(),
        actuators_by_target(binding, model),
        strict=True,
    )
    return {
        name: [
            Control(address, command, column, actuator)
            for actuator in actuators
            for address, command in _inputs_of(model, actuator, given)
        ]
        for name, column, actuators in by_target
    }


def actuators_by_target(
    binding: ActuatorBinding, model: mujoco.MjModel
) -> list[list[int]]:
    """Return the MuJoCo actuators of each target, in the order of the targets."""
    by_target: dict[int, list[int]] = {}
    for actuator in binding.actuator_ids.tolist():
        # The actuators of several targets can be interleaved in the model, but the
        # first actuators of the targets are in target order.
        target = int(model.actuator_trnid[actuator, 0])
        by_target.setdefault(target, []).append(actuator)
    if len(by_target) != len(binding.target_names):
        raise ActuatorError(
            f"The {binding.cfg.kind} of {binding.target_names} has actuators on "
            f"{len(by_target)} targets instead of {len(binding.target_names)}."
        )
    return list(by_target.values())


def _inputs_of(
    model: mujoco.MjModel, actuator: int, command: Command | None
) -> list[tuple[int, Command]]:
    """Return the address and the command type of each control of an actuator.

    Args:
        model: The compiled model.
        actuator: Id of the actuator.
        command: Command type of an actuator with a single control. None derives it from
            the model.
    """
    commands = _commands_of(model, actuator, command)
    count = int(model.actuator_ctrlnum[actuator])
    if len(commands) != count:
        raise ActuatorError(
            f"The actuator {model.actuator(actuator).name!r} has {count} controls that "
            "are not position, velocity or effort commands. Leave the actuator out of "
            "the configuration, and write its controls to sim.data.ctrl."
        )
    return list(enumerate(commands, start=int(model.actuator_ctrladr[actuator])))


def _commands_of(
    model: mujoco.MjModel, actuator: int, command: Command | None
) -> list[Command]:
    gain = _GAIN(model.actuator_gaintype[actuator])
    if gain in (_GAIN.mjGAIN_PID, _GAIN.mjGAIN_DCMOTOR):
        signature = int(model.actuator_ctrlspec[actuator])
        return [each for bit, each in _INPUTS if signature & bit]
    if gain == _GAIN.mjGAIN_SO3:
        return []
    return [command or _single_command(model, actuator)]


def _single_command(model: mujoco.MjModel, actuator: int) -> Command:
    signature = int(model.actuator_ctrlspec[actuator])
    declared: list[Command] = [each for bit, each in _INPUTS if signature & bit]
    if declared:
        return declared[0]
    gain = model.actuator_gainprm[actuator, 0]
    if not (_is_servo(model, actuator) and gain > 0.0):
        return "effort"
    _, stiffness, damping = -model.actuator_biasprm[actuator, :3]
    if stiffness == gain:
        return "velocity" if _integrates(model, actuator) else "position"
    if stiffness == 0.0 and damping == gain:
        return "velocity"
    return "effort"


def stiffness_slots(model: mujoco.MjModel, actuator: int) -> tuple[GainSlot, ...]:
    """Return the slots of the position gain of an actuator; empty if it has none."""
    kind = _GAIN(model.actuator_gaintype[actuator])
    if kind == _GAIN.mjGAIN_PID:
        return (GainSlot("actuator_biasprm", actuator, 1, -1.0),)
    if kind == _GAIN.mjGAIN_DCMOTOR:
        return _controller_slots(model, actuator, 4)
    if not _is_position_servo(model, actuator):
        return ()
    return (
        GainSlot("actuator_gainprm", actuator, 0, 1.0),
        GainSlot("actuator_biasprm", actuator, 1, -1.0),
    )


def damping_slots(model: mujoco.MjModel, actuator: int) -> tuple[GainSlot, ...]:
    """Return the slots of the velocity gain of an actuator; empty if it has none."""
    kind = _GAIN(model.actuator_gaintype[actuator])
    bias = GainSlot("actuator_biasprm", actuator, 2, -1.0)
    if kind == _GAIN.mjGAIN_DCMOTOR:
        return _controller_slots(model, actuator, 6)
    if kind == _GAIN.mjGAIN_PID or _is_position_servo(model, actuator):
        return (bias,)
    if _is_servo(model, actuator) and _single_command(model, actuator) == "velocity":
        return (GainSlot("actuator_gainprm", actuator, 0, 1.0), bias)
    return ()


def effort_limit_slots(model: mujoco.MjModel, actuator: int) -> tuple[GainSlot, ...]:
    """Return the slots of the effort limit of an actuator; empty if it has none.

    The limit is the actuator's own limit, or without one, the limit of its joint or
    tendon. For a muscle it is the peak active force.
    """
    if is_muscle(model, actuator):
        fields = ("actuator_gainprm", "actuator_biasprm")
        return tuple(GainSlot(field, actuator, 2, 1.0) for field in fields)
    if model.actuator_forcelimited[actuator]:
        return _range_slots("actuator_forcerange", actuator)
    target = int(model.actuator_trnid[actuator, 0])
    kind = _TRN(model.actuator_trntype[actuator])
    on_joint = kind in (_TRN.mjTRN_JOINT, _TRN.mjTRN_JOINTINPARENT)
    if on_joint and model.jnt_actfrclimited[target]:
        return _range_slots("jnt_actfrcrange", target)
    if kind == _TRN.mjTRN_TENDON and model.tendon_actfrclimited[target]:
        return _range_slots("tendon_actfrcrange", target)
    return ()


FINDERS = {
    "stiffness": stiffness_slots,
    "damping": damping_slots,
    "effort_limit": effort_limit_slots,
}
"""Functions that find the slots of each quantity."""


def is_muscle(model: mujoco.MjModel, actuator: int) -> bool:
    """Return True if the actuator has the force law of a muscle."""
    return _GAIN(model.actuator_gaintype[actuator]) == _GAIN.mjGAIN_MUSCLE


def _range_slots(field: str, row: int) -> tuple[GainSlot, ...]:
    # The upper bound comes first, because limits are read from the first slot.
    return (GainSlot(field, row, 1, 1.0), GainSlot(field, row, 0, -1.0))


def _controller_slots(
    model: mujoco.MjModel, actuator: int, element: int
) -> tuple[GainSlot, ...]:
    if not int(model.actuator_ctrlspec[actuator]) & _SETPOINTS:
        return ()
    return (GainSlot("actuator_gainprm", actuator, element, 1.0),)


def _is_position_servo(model: mujoco.MjModel, actuator: int) -> bool:
    if not _is_servo(model, actuator):
        return False
    command = _single_command(model, actuator)
    return command == "position" or (
        command == "velocity" and _integrates(model, actuator)
    )


def _is_servo(model: mujoco.MjModel, actuator: int) -> bool:
    """Return True if the force is linear in control, length and velocity."""
    fixed = _GAIN(model.actuator_gaintype[actuator]) == _GAIN.mjGAIN_FIXED
    return fixed and _BIAS(model.actuator_biastype[actuator]) == _BIAS.mjBIAS_AFFINE


def _integrates(model: mujoco.MjModel, actuator: int) -> bool:
    """Return True if the control is the rate of change of a position target."""
    return _DYN(model.actuator_dyntype[actuator]) == _DYN.mjDYN_INTEGRATOR
