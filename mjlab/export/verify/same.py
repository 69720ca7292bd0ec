"""Differences between a robot model and the recorded scene of a contract.

Compared are joints, limits, gains, effort limits, joint axes, sizes, timestep, gravity,
masses, inertias, ground friction and sensor poses. Solver options, contact geometry,
springs, visual geoms and body names are not compared.
"""

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

from mjlab.export.runner.policy import ContractError, ContractPolicy
from mjlab.export.runner.robot import MujocoRobot, close, gain_faults, number
from mjlab.export.verify.links import Link, Mount, links, mounts

_AWAY = 1e-3
"""Tolerance of positions, m."""


def missing(policy: ContractPolicy, model: Any, scene: Any) -> Iterator[str]:
    """Yield joints and actuators that only the contract or only the model has."""
    entity = policy.entity
    prefix = entity["prefix"]
    known = {scene.joint(i).name for i in range(scene.njnt)}
    known |= {name.removeprefix(prefix) for name in known}
    there = {model.joint(i).name for i in range(model.njnt) if model.jnt_type[i] != 0}
    names = {joint["name"] for joint in entity["joints"]}
    for joint in entity["joints"]:
        if not there & {joint["name"], prefix + joint["name"]}:
            yield f"joint {joint['name']}: the model has none of this name"
    for name in sorted(there - known):
        yield f"joint {name}: the contract has none of this name"
    driven = {model.actuator(i).name for i in range(model.nu)}
    for actuator in entity["actuators"]:
        name = actuator["actuator"]
        if actuator["target"] in names and not driven & {
            name,
            name.removeprefix(prefix),
        }:
            yield f"joint {actuator['target']}: the model has no actuator {name!r}"


def differences(robot: MujocoRobot, scene: MujocoRobot) -> Iterator[str]:
    """Yield differences between a robot model and the recorded scene.

    Args:
        robot: Robot model with all joints of the contract.
        scene: Recorded scene.
    """
    rates = robot.contract["rates"]
    # MJCF files store the timestep with six digits.
    if not np.isclose(robot.model.opt.timestep, rates["physics_dt"], rtol=1e-5, atol=0):
        yield (
            f"rate: the model steps by {robot.model.opt.timestep:g} s, but the "
            f"contract by {rates['physics_dt']:g} s, {rates['decimation']} times per "
            "period"
        )
    pulls = [each.model.opt.gravity for each in (robot, scene)]
    if not np.allclose(*pulls, rtol=1e-3, atol=1e-3):
        yield (
            f"gravity: {_vector(pulls[0])} m/s^2 in the model, but {_vector(pulls[1])} "
            "in the recorded scene"
        )
    for name in ("nq", "nv", "nu"):
        sizes = [getattr(each.model, name) for each in (robot, scene)]
        if sizes[0] != sizes[1]:
            yield f"width: {name} has {sizes[0]}, but {sizes[1]} in the recorded scene"
    grounds = [int((each.model.geom_bodyid == 0).sum()) for each in (robot, scene)]
    if grounds[1] and not grounds[0]:
        yield "ground: the model has none; add a plane, as in the recorded scene"
    yield from _joints(robot, scene)
    yield from gain_faults(robot.entity, robot.gains(), "in the model")
    yield from _axes(robot, scene)
    found, wanted = links(robot), links(scene)
    for key in wanted:
        if key in found:
            yield from _link(found[key], wanted[key])
    yield from _sensors(robot, scene)


def _joints(robot: MujocoRobot, scene: MujocoRobot) -> Iterator[str]:
    for joint, (_, dof), (_, other) in zip(
        robot.entity["joints"], robot.joints, scene.joints, strict=True
    ):
        index = int(robot.model.dof_jntid[dof])
        if None not in joint["limits"]:
            limits = robot.model.jnt_range[index].tolist()
            if not robot.model.jnt_limited[index]:
                yield f"joint {joint['name']}: it has no limits in the model"
            elif not close(limits, joint["limits"]):
                yield (
                    f"joint {joint['name']}: limits {_said(limits)} in the model, but "
                    f"{_said(joint['limits'])} in the contract"
                )
        for field in ("armature", "damping", "frictionloss"):
            found = float(np.ravel(getattr(robot.model, f"dof_{field}")[dof])[0])
            wanted = float(np.ravel(getattr(scene.model, f"dof_{field}")[other])[0])
            if not close([found], [wanted]):
                yield (
                    f"joint {joint['name']}: {field} is {found:g} in the model, but "
                    f"{wanted:g} in the recorded scene"
                )


def _axes(robot: MujocoRobot, scene: MujocoRobot) -> Iterator[str]:
    """Yield joints whose axis differs, in the default pose with an upright root."""
    axes = []
    for each in (robot, scene):
        data = mujoco.MjData(each.model)
        for joint, (position, _) in zip(
            each.entity["joints"], each.joints, strict=True
        ):
            data.qpos[position] = joint["default_pos"]
        mujoco.mj_kinematics(each.model, data)
        chosen = [int(each.model.dof_jntid[dof]) for _, dof in each.joints]
        axes.append(data.xaxis[chosen])
    for joint, found, wanted in zip(robot.entity["joints"], *axes, strict=True):
        same = float(found @ wanted)
        if same < -1.0 + 1e-6:
            yield f"sign of {joint['name']}: its axis points in the opposite direction"
        elif same < 1.0 - 1e-6:
            angle = np.degrees(np.arccos(np.clip(same, -1.0, 1.0)))
            yield (
                f"frame of {joint['name']}: its axis is rotated by {angle:.1f} degrees"
            )


def _link(found: Link, wanted: Link) -> Iterator[str]:
    """Yield the first difference of mass, centre or inertia; then of friction."""
    size = np.trace(wanted.inertia)
    away = np.linalg.norm(found.centre - wanted.centre)
    if not close([found.mass], [wanted.mass]):
        yield (
            f"mass of {wanted.name}: {found.mass:.4g} kg in the model, but "
            f"{wanted.mass:.4g} kg in the recorded scene"
        )
    elif away > _AWAY:
        yield (
            f"centre of mass of {wanted.name}: {1e3 * away:.3g} mm from its position "
            "in the recorded scene"
        )
    elif np.abs(found.inertia - wanted.inertia).max() > 1e-2 * size:
        principal = [np.linalg.eigvalsh(each.inertia) for each in (found, wanted)]
        yield (
            f"inertia of {wanted.name}: {_vector(principal[0])} kg m^2 about its "
            f"principal axes in the model, but {_vector(principal[1])} in the recorded "
            "scene"
        )
    for kind in wanted.friction:
        if kind in found.friction and not close(
            found.friction[kind], wanted.friction[kind]
        ):
            yield (
                f"{kind} friction of {wanted.name} on the ground: "
                f"{_said(found.friction[kind])} in the model, but "
                f"{_said(wanted.friction[kind])} in the recorded scene"
            )


def _sensors(robot: MujocoRobot, scene: MujocoRobot) -> Iterator[str]:
    for entry in robot.contract["inputs"]:
        if entry["measured"]["kind"] != "sensor":
            continue
        name = entry["measured"]["name"]
        try:
            index = robot.find("sensor", name)
        except ContractError as error:
            yield f"input {entry['name']}: {error}"
            continue
        width = int(robot.model.sensor_dim[index])
        if [width] != entry["shape"]:
            yield (
                f"width of {entry['name']}: the sensor has {width} numbers, but the "
                f"policy expects {entry['shape'][0]}"
            )
        else:
            yield from _mounted(entry["name"], mounts(robot, name), mounts(scene, name))


def _mounted(name: str, found: Mount, wanted: Mount) -> Iterator[str]:
    """Yield the first difference in a sensor's type, link or axes; then in position."""
    if found.kind != wanted.kind:
        yield (
            f"input {name}: the sensor is a {found.kind} in the model, but a "
            f"{wanted.kind} in the recorded scene"
        )
        return
    if found.link != wanted.link:
        yield (
            f"input {name}: the sensor is on another link than in the recorded scene"
        )
        return
    turn = wanted.axes.T @ found.axes
    angle = np.degrees(np.arccos(np.clip((np.trace(turn) - 1.0) / 2.0, -1.0, 1.0)))
    if wanted.has_axes and angle > 0.1:
        yield (
            f"frame of {name}: its axes are rotated by {angle:.3g} degrees from the "
            "recorded scene"
        )
    away = found.place - wanted.place
    if wanted.has_place and np.linalg.norm(away) > _AWAY:
        yield (
            f"lever arm of {name}: the sensor is {np.linalg.norm(away):.3g} m from its "
            f"position in the recorded scene, by {_vector(away)} m in the axes of the "
            "root"
        )


def _said(numbers: Any) -> str:
    texts = [number(each) for each in numbers]
    return " to ".join(dict.fromkeys(texts))


def _vector(numbers: Any) -> str:
    return f"({', '.join(f'{each:.4g}' for each in np.asarray(numbers) + 0.0)})"
