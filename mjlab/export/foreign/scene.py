"""Scene of a foreign policy: the robot on a plane, with the policy's servo gains."""

import mujoco
import numpy as np

from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.runner.policy import ContractError
from mjlab.spec import torque_limits

PHYSICS_DT = 0.002
"""Default physics timestep, s, for policies whose files contain none."""

ITERATIONS = 50
"""Minimum number of constraint solver iterations, and of line search iterations."""

_ABOVE = 1e-3
"""Initial distance between the lowest geom and the ground, m."""


def physics_dt(interface: Interface) -> float:
    """Return the physics timestep of a policy's simulation, s."""
    if interface.physics_dt is not None:
        return interface.physics_dt
    return interface.control_dt / max(1, round(interface.control_dt / PHYSICS_DT))


def scene_spec(interface: Interface, robot: RobotModel) -> mujoco.MjSpec:
    """Return the robot model with position servos that have the policy's gains.

    The servos have the contract's damping, so passive joint damping is set to zero.
    Torque limits come from the robot model. A ground plane is added if it is missing.
    """
    odd = sorted(set(robot.joints) ^ set(interface.joints))
    if odd:
        raise ContractError(
            f"{robot.path} and the policy do not have the same joints: {odd[0]!r} is "
            "in only one of them. Pass a model with exactly the policy's joints"
        )
    spec = robot.spec.copy()
    limits = torque_limits(robot.model, robot.joints)
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for key in list(spec.keys):
        spec.delete(key)
    gains = zip(interface.joints, interface.stiffness, interface.damping, strict=True)
    known = {name: (float(kp), float(kd)) for name, kp, kd in gains}
    for name in robot.joints:
        kp, kd = known[name]
        spec.joint(name).damping[:] = 0.0
        servo = spec.add_actuator(name=name, target=name)
        servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
        servo.set_to_position(kp=kp, kv=kd)
        limit = limits[name]
        if limit is not None:
            servo.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
            servo.forcerange = (-limit, limit)
    if not any(g.type == mujoco.mjtGeom.mjGEOM_PLANE for g in spec.geoms):
        spec.worldbody.add_geom(
            name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0.0, 0.0, 0.05)
        )
    spec.option.timestep = physics_dt(interface)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    # Models for training often have few solver iterations, which can be unstable with
    # this integrator.
    spec.option.iterations = max(spec.option.iterations, ITERATIONS)
    spec.option.ls_iterations = max(spec.option.ls_iterations, ITERATIONS)
    return spec


def start_pose(interface: Interface, model: mujoco.MjModel) -> np.ndarray:
    """Return qpos of the default pose, with the lowest geom just above the ground."""
    data = mujoco.MjData(model)
    for name, value in zip(interface.joints, interface.default, strict=True):
        data.qpos[model.joint(name).qposadr[0]] = value
    data.qpos[2] = 5.0
    mujoco.mj_kinematics(model, data)
    plane = int(mujoco.mjtGeom.mjGEOM_PLANE)
    grounds = np.flatnonzero(model.geom_type == plane)
    pairs = {*model.pair_geom1.tolist(), *model.pair_geom2.tolist()}
    distances = [
        mujoco.mj_geomDistance(model, data, int(ground), geom, 10.0, None)
        for ground in grounds
        for geom in range(model.ngeom)
        if model.geom_bodyid[geom] > 0
        and (geom in pairs or model.geom_contype[geom] or model.geom_conaffinity[geom])
    ]
    data.qpos[2] += _ABOVE - min(distances, default=0.0)
    return data.qpos.copy()
