"""Functions that find targets and add actuators in an MjSpec."""

from __future__ import annotations

import math
from typing import Literal

import mujoco

Transmission = Literal["joint", "tendon", "site"]
"""Kind of target that an actuator drives."""

TRANSMISSION_TYPES: dict[Transmission, tuple[mujoco.mjtTrn, ...]] = {
    "joint": (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT),
    "tendon": (mujoco.mjtTrn.mjTRN_TENDON,),
    "site": (mujoco.mjtTrn.mjTRN_SITE,),
}
"""MuJoCo's transmission types for each kind. New actuators use the first type."""

# Attributes that `add_actuator` copies from the file's default class. New actuators
# reset them, because only their configuration applies.
_INHERITED = (
    "actdim actearly actlimited actrange armature biasprm biastype cranklength "
    "ctrllimited ctrlrange ctrlspec damping delay dynprm dyntype ffrange forcelimited "
    "forcerange gainprm gaintype gear group inheritrange interp lengthrange nsample "
    "type velrange"
).split()


class ActuatorError(ValueError):
    """Raised for an invalid actuator configuration."""


def target_names(spec: mujoco.MjSpec, transmission: Transmission) -> list[str]:
    """Return the names of all possible targets.

    Only hinge and slide joints are included: other joints have no scalar position.
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
    """Return the actuators in `spec` that drive each target, in file order."""
    types = TRANSMISSION_TYPES[transmission]
    found: dict[str, list[mujoco.MjsActuator]] = {}
    for actuator in spec.actuators:
        if actuator.trntype in types:
            found.setdefault(actuator.target, []).append(actuator)
    return found


def new_actuator(
    spec: mujoco.MjSpec, transmission: Transmission, target: str, *, suffix: str = ""
) -> mujoco.MjsActuator:
    """Add an actuator with MuJoCo's defaults for `target`, and name it like the target.

    Args:
        spec: The entity's own model.
        transmission: Kind of the target.
        target: Name of the joint, tendon or site.
        suffix: Suffix of the name, if one target gets several actuators.
    """
    actuator = spec.add_actuator(name=unused_name(spec, target + suffix))
    plain = mujoco.MjSpec().add_actuator()
    for field in _INHERITED:
        setattr(actuator, field, getattr(plain, field))
    actuator.target = target
    actuator.trntype = TRANSMISSION_TYPES[transmission][0]
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


def set_passive(
    spec: mujoco.MjSpec, transmission: Transmission, name: str, field: str, value: float
) -> None:
    """Write the armature, friction or damping of a joint or tendon."""
    target = spec.joint(name) if transmission == "joint" else spec.tendon(name)
    if field == "viscous_damping":
        # MuJoCo 4 stores coefficients for higher powers of the speed in the same array.
        target.damping = [value, *target.damping[1:]]
    else:
        setattr(target, field, value)


def unused_name(spec: mujoco.MjSpec, name: str) -> str:
    """Return `name`, with a number appended if it is already in use."""
    taken = {actuator.name for actuator in spec.actuators}
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate
