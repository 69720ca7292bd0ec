"""Parameters that can be identified, with ranges and units for `mujoco.sysid`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mjlab.identify.logs import IdentifyError
from mjlab.identify.robot import Motor, Robot

KINDS = ("armature", "friction", "damping", "gain", "effort_limit", "delay")
"""Kinds of joint and motor parameters. Bodies have the kinds "mass" and "com"."""

_LONGEST_DELAY = 0.08
_COM_REACH = 0.05

Write = Callable[[mujoco.MjSpec, float], None]
"""Function that writes a parameter's value to a spec."""


@dataclass(frozen=True)
class Candidate:
    """Parameter to identify, with its range before the fit."""

    kind: str
    """One of `KINDS`, "mass", or "com"."""

    owner: str
    """Joint or body of the parameter, without the entity's prefix. Empty for the
    delay."""

    axis: str
    """Axis of a centre of mass, "x", "y" or "z". Empty for other kinds."""

    unit: str
    """Unit of the values."""

    start: float
    """Initial value for the solver."""

    low: float
    """Lower bound of the value."""

    high: float
    """Upper bound of the value."""

    scale: float
    """Typical change of the value, which is 1 in the solver's units."""

    nominal: float
    """Value in the task's model."""

    write: Write
    """Function that writes a value to a spec. It does nothing for the delay."""

    @property
    def name(self) -> str:
        """Unique name, such as "joint1.armature" or "link_6.com.x"."""
        return ".".join(part for part in (self.owner, self.kind, self.axis) if part)

    def as_parameter(self, sysid: Any) -> Any:
        """Convert to a `mujoco.sysid` parameter in units of `scale`."""
        return sysid.Parameter(
            self.name,
            self.start / self.scale,
            self.low / self.scale,
            self.high / self.scale,
            modifier=lambda spec, p: self.write(spec, float(p.value[0]) * self.scale),
        )


def candidates(
    robot: Robot,
    joints: Sequence[str],
    bodies: Sequence[str] = (),
    kinds: Sequence[str] = KINDS,
) -> list[Candidate]:
    """List the parameters of joints, their motors, and bodies.

    Args:
        robot: The robot.
        joints: Joints with logged positions.
        bodies: Bodies whose mass and centre of mass are identified.
        kinds: Kinds of joint and motor parameters to identify.
    """
    found = [
        made
        for joint in joints
        for kind in kinds
        if kind != "delay" and (made := _of_joint(robot, joint, kind)) is not None
    ]
    motors = [motor for motor in robot.motors if motor.joint in joints]
    if "delay" in kinds and motors:
        found.append(_delay(motors))
    for body in bodies:
        found += _of_body(robot, body)
    if not found:
        raise IdentifyError(
            f"The joints {', '.join(robot.joints)} have none of the parameters "
            f"{', '.join(kinds)}."
        )
    return found


def _of_joint(robot: Robot, joint: str, kind: str) -> Candidate | None:
    motor = robot.motor(joint)
    name = robot.prefix + joint
    dof = int(robot.model.joint(name).dofadr[0])
    is_slide = int(robot.model.joint(name).type[0]) == int(mujoco.mjtJoint.mjJNT_SLIDE)
    inertia = _inertia(robot)[dof]
    kp, kd, limit = _gains(robot, motor)

    def build(
        unit: str, low: float, high: float, scale: float, nominal: float, write: Write
    ) -> Candidate:
        margin = 0.02 * (high - low)
        start = float(np.clip(nominal, low + margin, high - margin))
        return Candidate(kind, joint, "", unit, start, low, high, scale, nominal, write)

    if kind == "armature":
        nominal = float(robot.model.dof_armature[dof])
        size = nominal or 0.1 * inertia
        unit = "kg" if is_slide else "kg m²"
        low, high = (nominal / 3.0, 3.0 * nominal) if nominal else (0.0, inertia)
        return build(unit, low, high, size, nominal, _write_joint(name, kind))
    if kind == "friction":
        size = 0.02 * (limit or 0.5 * kp or 10.0 * inertia)
        nominal = float(robot.model.dof_frictionloss[dof])
        high = max(5.0 * size, 3.0 * nominal)
        unit = "N" if is_slide else "N m"
        return build(unit, 0.0, high, size, nominal, _write_joint(name, "frictionloss"))
    if kind == "damping":
        size = 0.2 * kd or 0.5 * inertia
        nominal = float(np.ravel(robot.model.dof_damping[dof])[0])
        high = max(5.0 * size, 3.0 * nominal)
        unit = "N s/m" if is_slide else "N m s/rad"
        return build(unit, 0.0, high, size, nominal, _write_damping(name))
    if motor is None:
        return None
    if kind == "gain":
        write = _write_gain(robot, motor.actuator)
        return build("of nominal", 0.5, 2.0, 1.0, 1.0, write)
    if limit is None:
        return None
    unit = "N" if is_slide else "N m"
    write = _write_limit(motor.actuator)
    return build(unit, 0.2 * limit, 1.5 * limit, limit, limit, write)


def _inertia(robot: Robot) -> np.ndarray:
    """Return the diagonal of the inertia matrix in the initial pose, shape (nv,)."""
    data = mujoco.MjData(robot.model)
    data.qpos[:] = robot.qpos
    mujoco.mj_forward(robot.model, data)
    whole = np.zeros((robot.model.nv, robot.model.nv))
    mujoco.mj_fullM(robot.model, data, whole)
    return np.diag(whole)


def _gains(robot: Robot, motor: Motor | None) -> tuple[float, float, float | None]:
    """Return stiffness, damping and effort limit of a motor; (0, 0, None) for None."""
    if motor is None:
        return 0.0, 0.0, None
    actuator = robot.model.actuator(motor.actuator)
    limited = bool(actuator.forcelimited[0])
    limit = float(actuator.forcerange[1]) if limited else None
    return -float(actuator.biasprm[1]), -float(actuator.biasprm[2]), limit


def _write_joint(name: str, field: str) -> Write:
    return lambda spec, value: setattr(spec.joint(name), field, value)


def _write_damping(name: str) -> Write:
    def write(spec: mujoco.MjSpec, value: float) -> None:
        spec.joint(name).damping[0] = value

    return write


def _write_gain(robot: Robot, actuator: str) -> Write:
    compiled = robot.model.actuator(actuator)
    gain, bias = np.array(compiled.gainprm), np.array(compiled.biasprm)

    def write(spec: mujoco.MjSpec, value: float) -> None:
        spec.actuator(actuator).gainprm = value * gain
        spec.actuator(actuator).biasprm = value * bias

    return write


def _write_limit(actuator: str) -> Write:
    return lambda spec, value: setattr(
        spec.actuator(actuator), "forcerange", [-value, value]
    )


def _delay(motors: Sequence[Motor]) -> Candidate:
    nominal = float(np.mean([motor.delay for motor in motors]))
    start, high = max(nominal, 0.01), max(_LONGEST_DELAY, 3.0 * nominal)

    def write(spec: mujoco.MjSpec, value: float) -> None:
        """Do nothing: the delay is not part of the model."""

    return Candidate("delay", "", "", "s", start, 0.0, high, 0.01, nominal, write)


def _of_body(robot: Robot, body: str) -> list[Candidate]:
    name = robot.prefix + body
    compiled = robot.model.body(name)
    mass, com, inertia = float(compiled.mass[0]), compiled.ipos, compiled.inertia
    if mass == 0.0:
        raise IdentifyError(f"Body {body!r} has no mass, so it cannot be identified.")

    def write_mass(spec: mujoco.MjSpec, value: float) -> None:
        spec.body(name).mass = value
        spec.body(name).inertia = inertia * (value / mass)

    def write_com(axis: int) -> Write:
        def write(spec: mujoco.MjSpec, value: float) -> None:
            spec.body(name).ipos[axis] = value

        return write

    found = [
        Candidate(
            "mass", body, "", "kg", mass, 0.3 * mass, 3.0 * mass, mass, mass, write_mass
        )
    ]
    for index, axis in enumerate("xyz"):
        at = float(com[index])
        ends = at - _COM_REACH, at + _COM_REACH
        found.append(
            Candidate("com", body, axis, "m", at, *ends, 0.01, at, write_com(index))
        )
    return found
