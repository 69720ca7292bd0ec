"""Scene of a foreign policy: its robot with the policy's gains, on the ground."""

import mujoco
import numpy as np

from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.runner.policy import ContractError

PHYSICS_DT = 0.002
"""Physics timestep of a simulation if no file contains one, s."""

ITERATIONS = 50
"""Minimum number of iterations of the constraint solver and of its line search."""

_ABOVE = 1e-3
"""Height of the lowest point above the ground at the start, m."""


def physics_dt(face: Interface) -> float:
    """Return the physics timestep of a policy's simulation, s."""
    if face.physics_dt is not None:
        return face.physics_dt
    return face.control_dt / max(1, round(face.control_dt / PHYSICS_DT))


def scene_spec(face: Interface, robot: RobotModel) -> mujoco.MjSpec:
    """Return the robot model with position servos of the policy's gains.

    Servos have the damping of the contract, so joint damping is removed. The torque
    limits are those of the robot model.
    """
    odd = sorted(set(robot.joints) ^ set(face.joints))
    if odd:
        raise ContractError(
            f"{robot.path} and the policy do not have the same joints: {odd[0]!r} is "
            "in only one of them. Pass a model without further joints"
        )
    spec = robot.spec.copy()
    limits = effort_limits(robot)
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for key in list(spec.keys):
        spec.delete(key)
    gains = zip(face.joints, face.stiffness, face.damping, strict=True)
    known = {name: (float(kp), float(kd)) for name, kp, kd in gains}
    for name in robot.joints:
        kp, kd = known[name]
        spec.joint(name).damping[:] = 0.0
        servo = spec.add_actuator(name=name, target=name)
        servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
        servo.set_to_position(kp=kp, kv=kd)
        if name in limits:
            servo.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
            servo.forcerange = (-limits[name], limits[name])
    if not any(g.type == mujoco.mjtGeom.mjGEOM_PLANE for g in spec.geoms):
        spec.worldbody.add_geom(
            name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0.0, 0.0, 0.05)
        )
    spec.option.timestep = physics_dt(face)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    # Training often stops the solver early, which can be unstable with this integrator.
    spec.option.iterations = max(spec.option.iterations, ITERATIONS)
    spec.option.ls_iterations = max(spec.option.ls_iterations, ITERATIONS)
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for texture in list(spec.textures):
        spec.delete(texture)
    return spec


def effort_limits(robot: RobotModel) -> dict[str, float]:
    """Return torque limits by joint, from the joints or their actuators."""
    model, found = robot.model, {}
    for name in robot.joints:
        joint = model.joint(name).id
        if model.jnt_actfrclimited[joint]:
            found[name] = float(model.jnt_actfrcrange[joint, 1])
    for index in range(model.nu):
        name = model.joint(int(model.actuator_trnid[index, 0])).name
        if model.actuator_forcelimited[index]:
            limit = float(model.actuator_forcerange[index, 1])
            found[name] = min(limit, found.get(name, np.inf))
    return found


def start_pose(face: Interface, model: mujoco.MjModel) -> np.ndarray:
    """Return qpos of the default pose, with the lowest geom just above the ground."""
    data = mujoco.MjData(model)
    for name, value in zip(face.joints, face.default, strict=True):
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
