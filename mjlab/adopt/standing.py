"""Simulate the standing robot, and find pairs of bodies that always touch."""

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from mjlab.adopt.shape import Posed
from mjlab.tasks.robots.robot import Motor

_POSES = 60
"""Number of random poses in which contacts between bodies are tested."""

LONGEST = 3.0
"""Duration of the simulation, s. A robot that stands for this time counts as stable."""

_STEP = 0.002


def standing_time(
    spec: mujoco.MjSpec,
    motors: Mapping[str, Motor],
    stance: Mapping[str, float],
    height: float,
) -> float:
    """Return the time for which the motors hold the robot upright on a plane, s.

    The robot falls if the base tilts by 30 degrees or sinks by a third of its height.
    The simulation ends after `LONGEST`.

    Args:
        spec: Robot with a free joint on its root body, without actuators.
        motors: Motor of each joint.
        stance: Initial joint positions, which are also the motors' targets, rad or m.
        height: Initial height of the base, m.
    """
    model = _on_plane(spec, motors)
    data = mujoco.MjData(model)
    data.qpos[2], data.qpos[3:7] = height + 0.002, (1.0, 0.0, 0.0, 0.0)
    for joint, position in stance.items():
        data.qpos[model.joint(joint).qposadr[0]] = position
    data.ctrl[:] = [stance[joint] for joint in motors]
    for step in range(round(LONGEST / _STEP)):
        mujoco.mj_step(model, data)
        upright = data.xmat[1].reshape(3, 3)[2, 2]
        if not (upright > 0.866 and data.qpos[2] > 0.67 * height):
            return step * _STEP
    return LONGEST


def _on_plane(spec: mujoco.MjSpec, motors: Mapping[str, Motor]) -> mujoco.MjModel:
    ground = spec.copy()
    ground.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1), contype=1, conaffinity=1
    )
    for joint, motor in motors.items():
        servo = ground.add_actuator(target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.set_to_position(kp=motor.stiffness, kv=motor.damping)
        servo.forcelimited = 1
        servo.forcerange = (-motor.effort_limit, motor.effort_limit)
    model = ground.compile()
    model.opt.timestep = _STEP
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return model


def touching(posed: Posed) -> set[tuple[str, str]]:
    """Return pairs of bodies that penetrate in the current pose, each pair sorted."""
    model, data = posed.model, posed.data
    mujoco.mj_fwdPosition(model, data)
    bodies = model.geom_bodyid[
        np.array([c.geom for c in data.contact], int).reshape(-1, 2)
    ]
    depths = [contact.dist for contact in data.contact]
    pairs = [
        tuple(sorted((model.body(int(a)).name, model.body(int(b)).name)))
        for (a, b), depth in zip(bodies, depths, strict=True)
        if depth < 0.0
    ]
    return {(a, b) for a, b in pairs}


def never_open(posed: Posed, seed: int = 0) -> list[tuple[str, str]]:
    """Return pairs of bodies that touch in the current pose and in all random poses.

    Joint positions are drawn within the limits. The pose of `posed` is restored.
    """
    now = {joint: posed.position(joint) for joint in posed.joints}
    chance = np.random.default_rng(seed)
    always = touching(posed)
    for _ in range(_POSES):
        if not always:
            break
        posed.place({j: chance.uniform(*posed.limits(j)) for j in posed.joints})
        always &= touching(posed)
    posed.place(now)
    return sorted(always)


def listed_pairs(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return each pair as "BODY and BODY"."""
    return [f"{a} and {b}" for a, b in pairs]
