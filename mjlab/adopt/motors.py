"""Choose motors for a robot: torque limits, armatures and gains."""

import math
from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from mjlab.adopt.legs import Leg
from mjlab.adopt.notes import Notes, listed
from mjlab.adopt.shape import Posed
from mjlab.adopt.stance import sole_centre
from mjlab.spec import torque_limits
from mjlab.tasks.robots.legged import action_scale
from mjlab.tasks.robots.robot import Motor

ERROR_AT_LIMIT, BIPED_ERROR_AT_LIMIT = 1.5, 0.5
"""Position error at which a motor reaches its torque limit, rad or m. Bipeds need
stiffer motors, because each leg carries more weight. With 1.5 rad, the joint targets of
the reference gait do not lift the feet."""

FASTEST = 10.0
"""Largest natural frequency of the position loop, Hz. Standing can need more."""

SAG = 0.12
"""Largest position error of a motor that carries the standing robot, rad or m. The Go1
has 0.14. With 0.2 rad, a heavy robot sinks to its knees without a policy."""

_TIPPING = 1.9
"""Factor between the hip stiffness of a robot with four or more legs and the stiffness
at which it would just tip over. The Go1 has 1.8."""

_SWIFT = 2.8
"""Minimum natural frequency of leg motors, as a multiple of the frequency of a pendulum
with the length of the leg. The trot steps at 3 times the pendulum's frequency, so that
slower motors hardly lift the feet. Stiffer motors have smaller action scales: with 4.2,
a hexapod did not learn to move forward."""

BIPED_LAG = 0.064
"""Largest ratio of velocity gain to position gain of a biped's motor, s. The motors of
the Unitree G1 have this ratio. A critically damped motor that moves a whole leg would
be too slow to swing the leg within a step."""

_SHARE, _ANKLE_SHARE, _MOST_SHARE = 0.5, 0.2, 2.0
"""Torque limits as fractions of weight times leg length: assumed for a leg joint,
assumed for a joint below the knee, and largest plausible."""

_ARMATURE, _LEAST_ARMATURE = 2e-4, 1e-4
"""Armature that is assumed, and the least accepted one, kg m2 per N m of torque limit.
Motors of the Unitree G1 and Go1 have 1.2e-4 to 2.1e-4."""


def find_motors(
    posed: Posed,
    legs: Sequence[Leg],
    notes: Notes,
    effort: Mapping[str, float] | None = None,
) -> dict[str, Motor]:
    """Return a motor for each hinge and slide joint.

    Joints without an armature get one in the model of `posed`.

    Args:
        posed: Robot in its stance.
        legs: Legs of the robot.
        notes: Receives faults, changes and findings.
        effort: Torque limits by joint, N m, which replace the limits of the file.
    """
    limits = torque_limits(posed.model, list(posed.joints))
    most = _MOST_SHARE * _weight(posed) * _leg_length(posed, legs[0])
    missing = [j for j, limit in limits.items() if limit is None or limit > most]
    limits |= {joint: _assumed(posed, legs, joint) for joint in missing}
    limits |= {joint: limit for joint, limit in (effort or {}).items()}
    chosen = {joint: limit for joint, limit in limits.items() if limit is not None}
    light = add_armature(posed.model, chosen)
    inertia, load = effective_inertia(posed), standing_torques(posed, legs)
    least = {joint: abs(load[joint]) / SAG for joint in chosen}
    if len(legs) >= 4:
        for joint in _hips(legs):
            least[joint] = max(least[joint], _tipping_stiffness(posed, legs))
    slowest = _SWIFT * math.sqrt(9.81 / _leg_length(posed, legs[0]))
    for joint in {joint for leg in legs for joint in leg.joints} & set(least):
        least[joint] = max(least[joint], inertia[joint] * slowest**2)
    motors = {
        joint: _motor(
            posed, joint, limit, inertia[joint], least[joint], biped=len(legs) == 2
        )
        for joint, limit in chosen.items()
    }
    missing = [joint for joint in missing if joint not in (effort or {})]
    if missing:
        notes.findings.append(
            f"No plausible torque limit for {listed(missing)}: assumed from the "
            f"weight, such as {motors[missing[0]].effort_limit:.3g} N m for "
            f"{missing[0]!r} (--effort JOINT=NM)."
        )
    if light:
        notes.changes.append(
            f"Raised the armature of {listed(light)}, which was 0 or too small for the "
            f"motor, to {_ARMATURE:g} kg m2 per N m of torque limit."
        )
    _note_gains(motors, legs, notes)
    weak = [
        joint
        for leg in legs
        for joint in leg.joints
        if abs(load[joint]) > motors[joint].effort_limit
    ]
    if weak:
        notes.faults.append(
            f"The torque limit of {listed(weak)} is too small to hold the stance, so "
            "the robot sinks (--effort JOINT=NM)."
        )
    return motors


def _note_gains(motors: dict[str, Motor], legs: Sequence[Leg], notes: Notes) -> None:
    joints = [joint for leg in legs for joint in leg.joints]
    gains = [motors[joint].stiffness for joint in joints]
    torques = [motors[joint].effort_limit for joint in joints]
    scales = [action_scale(len(legs), motors[joint]) for joint in joints]
    notes.findings.append(
        f"Legs: torque limits {_range(torques)} N m, stiffness {_range(gains)} "
        f"N m/rad, action scale {_range(scales)} rad."
    )


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def effective_inertia(posed: Posed) -> dict[str, float]:
    """Return the inertia at each joint, with a fixed base and other joints locked.

    Units are kg m2, or kg for slide joints. The armature is included.
    """
    model, data = posed.model, posed.data
    mujoco.mj_comPos(model, data)
    mujoco.mj_crb(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    return {
        joint: float(mass[dof, dof])
        for joint, index in posed.joints.items()
        for dof in [model.jnt_dofadr[index]]
    }


def standing_torques(posed: Posed, legs: Sequence[Leg]) -> dict[str, float]:
    """Return the joint torques with which legs carry the robot in its pose, N m.

    The feet carry equal loads. If their mean is not below the centre of mass, as for
    one foot of a biped, the forces point from there to the centre of mass: the robot
    falls like an inverted pendulum, without turning.
    """
    model, data = posed.model, posed.data
    data.qvel[:] = 0.0
    mujoco.mj_forward(model, data)
    soles = [sole_centre(posed, leg) for leg in legs]
    up = posed.centre_of_mass() - np.mean(soles, axis=0)
    force = _weight(posed) / len(legs) * up / up[2]
    torque = data.qfrc_bias.copy()
    jacobian = np.zeros((3, model.nv))
    for leg, sole in zip(legs, soles, strict=True):
        mujoco.mj_jac(model, data, jacobian, None, sole, model.body(leg.foot).id)
        torque -= force @ jacobian
    return {j: float(torque[model.jnt_dofadr[i]]) for j, i in posed.joints.items()}


def add_armature(model: mujoco.MjModel, limits: Mapping[str, float]) -> list[str]:
    """Set the armature of joints with too little of it, in place; return their names.

    Without a rotor's inertia, the last link of a chain is so light that only low gains
    are stable, and that its foot bounces and sinks into the ground: MuJoCo's contacts
    are as soft as the foot is light.
    """
    light = []
    for joint, limit in limits.items():
        dof = int(model.joint(joint).dofadr[0])
        if model.dof_armature[dof] < _LEAST_ARMATURE * limit:
            model.dof_armature[dof] = _rounded(_ARMATURE * limit)
            light.append(joint)
    return light


def _weight(posed: Posed) -> float:
    return float(posed.model.body_subtreemass[1]) * 9.81


def _leg_length(posed: Posed, leg: Leg) -> float:
    hip = posed.anchor(leg.joints[0])
    return float(np.linalg.norm(sole_centre(posed, leg) - hip))


def _assumed(posed: Posed, legs: Sequence[Leg], joint: str) -> float:
    """Return a torque limit, N m, for a joint whose file has no plausible limit."""
    model = posed.model
    for leg in legs:
        if joint in leg.joints:
            below = leg.joints.index(joint) > leg.joints.index(leg.flexion[1])
            share = _ANKLE_SHARE if below else _SHARE
            return float(f"{share * _weight(posed) * _leg_length(posed, leg):.2g}")
    # Other joints: four times the torque that holds their bodies horizontally.
    body = model.jnt_bodyid[posed.joints[joint]]
    moved = float(model.body_subtreemass[body])
    mujoco.mj_comPos(model, posed.data)
    arm = np.linalg.norm(posed.data.subtree_com[body] - posed.anchor(joint))
    return float(f"{max(4.0 * moved * 9.81 * float(arm), 0.1):.2g}")


def _hips(legs: Sequence[Leg]) -> list[str]:
    """Return the hip joints that keep the base upright: roll and pitch of each leg."""
    return [joint for leg in legs for joint in (leg.joints[0], *leg.flexion[:1])]


def _tipping_stiffness(posed: Posed, legs: Sequence[Leg]) -> float:
    """Return the hip stiffness per leg, N m/rad, at which the robot does not tip over.

    All legs together need at least weight times height of the centre of mass. The
    returned stiffness is `_TIPPING` times as large.
    """
    height = posed.centre_of_mass()[2] - sole_centre(posed, legs[0])[2]
    return _TIPPING * _weight(posed) * float(height) / len(legs)


def _motor(
    posed: Posed,
    joint: str,
    limit: float,
    inertia: float,
    least: float,
    *,
    biped: bool,
) -> Motor:
    """Return the motor of a joint.

    The stiffness gives the torque limit at the position error `ERROR_AT_LIMIT`, but the
    natural frequency is at most `FASTEST`. Standing takes precedence over both: the
    stiffness is raised to `least`, N m/rad, if necessary, but never above the torque
    limit divided by `SAG`.

    The damping ratio is 1. For a biped it is smaller where the velocity gain would
    exceed `BIPED_LAG` times the position gain.
    """
    error = BIPED_ERROR_AT_LIMIT if biped else ERROR_AT_LIMIT
    lag = BIPED_LAG if biped else math.inf
    fastest = inertia * (2.0 * math.pi * FASTEST) ** 2
    stiffness = max(min(limit / error, fastest), min(least, limit / SAG))
    frequency = math.sqrt(stiffness / inertia) / (2.0 * math.pi)
    dof = posed.model.jnt_dofadr[posed.joints[joint]]
    return Motor(
        armature=float(posed.model.dof_armature[dof]),
        effort_limit=limit,
        inertia=_rounded(inertia),
        natural_frequency=_rounded(frequency),
        damping_ratio=_rounded(min(1.0, math.pi * frequency * lag)),
    )


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
