"""Putting actuators into an MjSpec: targets, plain actuators, values per target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, Protocol, cast

import mujoco

from mjlab.names import UnknownNameError, resolve_values

Transmission = Literal["joint", "tendon", "site"]
"""Through what an actuator acts."""

TRANSMISSION_TYPES: dict[Transmission, tuple[mujoco.mjtTrn, ...]] = {
    "joint": (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT),
    "tendon": (mujoco.mjtTrn.mjTRN_TENDON,),
    "site": (mujoco.mjtTrn.mjTRN_SITE,),
}
"""MuJoCo's transmission types of each; the first is the one we add."""

# What `add_actuator` copies from the file's default class. An added actuator takes
# nothing from there: its configuration says all.
_INHERITED = (
    "actdim actearly actlimited actrange armature biasprm biastype cranklength "
    "ctrllimited ctrlrange ctrlspec damping delay dynprm dyntype ffrange forcelimited "
    "forcerange gainprm gaintype gear group inheritrange interp lengthrange nsample "
    "type velrange"
).split()


class ActuatorError(ValueError):
    """An actuator that cannot be built as configured."""


class Driver(Protocol):
    """What is asked of an actuator's configuration here."""

    transmission: Transmission

    @property
    def kind(self) -> str:
        """The name of the configuration's class, for messages."""
        ...


def target_names(spec: mujoco.MjSpec, transmission: Transmission) -> list[str]:
    """Return the names of what an actuator could drive.

    Of the joints these are the hinges and slides: the others have no single position.
    """
    if transmission == "joint":
        single = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
        names = [joint.name for joint in spec.joints if joint.type in single]
    elif transmission == "tendon":
        names = [tendon.name for tendon in spec.tendons]
    else:
        names = [site.name for site in spec.sites]
    return [name for name in names if name]


def drivers(
    spec: mujoco.MjSpec, transmission: Transmission
) -> dict[str, list[mujoco.MjsActuator]]:
    """Return the actuators in `spec` that drive each target, in the file's order."""
    types = TRANSMISSION_TYPES[transmission]
    found: dict[str, list[mujoco.MjsActuator]] = {}
    for actuator in spec.actuators:
        if actuator.trntype in types:
            found.setdefault(actuator.target, []).append(actuator)
    return found


def new_actuator(
    spec: mujoco.MjSpec,
    cfg: Driver,
    target: str,
    *,
    suffix: str = "",
    gear: float | tuple[float, ...] = 1.0,
) -> mujoco.MjsActuator:
    """Add a plain actuator on `target`, named like it.

    Args:
        spec: The entity's own model.
        cfg: Who adds it; its transmission counts.
        target: The joint, tendon or site.
        suffix: Added to the name, where one target gets several actuators.
        gear: Scale of the transmission, or the six numbers that MuJoCo has for a site:
            a force and a torque in the site's frame.
    """
    actuator = spec.add_actuator(name=unused_name(spec, target + suffix))
    plain = mujoco.MjSpec().add_actuator()
    for field in _INHERITED:
        setattr(actuator, field, getattr(plain, field))
    actuator.target = target
    actuator.trntype = TRANSMISSION_TYPES[cfg.transmission][0]
    full = (gear,) if isinstance(gear, int | float) else tuple(gear)
    if len(full) > 6 or not all(map(math.isfinite, full)) or not any(full):
        raise ActuatorError(
            f"{cfg.kind}.gear of {target!r} is {gear}; it has to be a number other "
            "than 0, or up to six of them."
        )
    actuator.gear = [*full, *(0.0,) * (6 - len(full))]
    return actuator


def limit_force(actuator: mujoco.MjsActuator, limit: float | None) -> None:
    """Limit the force of `actuator` to ±limit; None leaves it unlimited."""
    if limit is not None and math.isfinite(limit):
        actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
        actuator.forcerange = [-limit, limit]


def limit_target(
    spec: mujoco.MjSpec, transmission: Transmission, name: str, limit: float | None
) -> None:
    """Limit the sum of all actuator forces on a joint or tendon to ±limit."""
    if limit is not None and math.isfinite(limit):
        target = spec.joint(name) if transmission == "joint" else spec.tendon(name)
        target.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE
        target.actfrcrange = [-limit, limit]


def set_passive(cfg: Driver, spec: mujoco.MjSpec, targets: Sequence[str]) -> None:
    """Write the armature, friction and damping of `cfg` to its targets."""
    for field in ("armature", "frictionloss", "viscous_damping"):
        if getattr(cfg, field) is None:
            continue
        if cfg.transmission == "site":
            raise ActuatorError(f"{cfg.kind}.{field} is set, but a site has none.")
        values = values_per_target(cfg, field, targets, required=False)
        for name, value in zip(targets, values, strict=True):
            if value is not None:
                _set_passive(spec, cfg.transmission, name, field, value)


def values_per_target(
    cfg: Driver,
    field: str,
    targets: Sequence[str],
    *,
    required: bool = True,
    positive: bool = False,
) -> list[float | None]:
    """Return the number that `cfg.<field>` gives to each target.

    Args:
        cfg: The configuration.
        field: One of its fields: a number, numbers by pattern, or None.
        targets: Names of the targets.
        required: Whether a dictionary has to cover every target.
        positive: Whether 0 is an error too; negative numbers always are.
    """
    value = getattr(cfg, field)
    if value is None:
        return [None] * len(targets)
    try:
        values = resolve_values(
            value, targets, what=cfg.transmission, required=required
        )
    except UnknownNameError as error:
        raise ActuatorError(f"{cfg.kind}.{field}: {error}") from error
    for name, number in zip(targets, values, strict=True):
        if number is None:
            continue
        if not (number > 0.0 if positive else 0.0 <= number < math.inf):
            raise ActuatorError(
                f"{cfg.kind}.{field} of {cfg.transmission} {name!r} is {number}; it "
                f"has to be {'above 0' if positive else '0 or more, and finite'}."
            )
    return values


def choices_per_target(cfg: Driver, field: str, targets: Sequence[str]) -> list[Any]:
    """Return the value of any type that `cfg.<field>` gives to each target."""
    try:
        return resolve_values(
            getattr(cfg, field), targets, what=cfg.transmission, required=True
        )
    except UnknownNameError as error:
        raise ActuatorError(f"{cfg.kind}.{field}: {error}") from error


def required_values(
    cfg: Driver, field: str, targets: Sequence[str], *, positive: bool = False
) -> list[float]:
    """Return the number that a field which may not be None gives to each target."""
    values = values_per_target(cfg, field, targets, positive=positive)
    return cast(list[float], values)


def _set_passive(
    spec: mujoco.MjSpec, transmission: Transmission, name: str, field: str, value: float
) -> None:
    target = spec.joint(name) if transmission == "joint" else spec.tendon(name)
    if field == "viscous_damping":
        # MuJoCo 4 keeps the coefficients of higher powers of the speed behind it.
        target.damping = [value, *target.damping[1:]]
    else:
        setattr(target, field, value)


def unused_name(spec: mujoco.MjSpec, name: str) -> str:
    """Return `name`, with a number behind it if an actuator has it already."""
    taken = {actuator.name for actuator in spec.actuators}
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate
