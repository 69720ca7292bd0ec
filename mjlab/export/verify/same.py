"""Differences between a robot's model and the robot that a contract is about, by name.

What is compared is what a policy cannot bear: joints, limits, gains, efforts, axes,
widths and the rate. Looks, and how bodies are called, are not.
"""

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

from mjlab.export.runner.policy import ContractError, ContractPolicy
from mjlab.export.runner.robot import MujocoRobot

_SHARE = 1e-3
"""Share by which numbers may differ."""


def missing(policy: ContractPolicy, model: Any, scene: Any) -> Iterator[str]:
    """Yield joints and actuators that a model lacks, or has besides the scene's."""
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
    """Yield how a robot that has all joints differs from that of the recorded scene.

    Args:
        robot: The robot.
        scene: The scene.
    """
    rates = robot.contract["rates"]
    if abs(robot.model.opt.timestep - rates["physics_dt"]) > 1e-9:
        yield (
            f"rate: the model steps by {robot.model.opt.timestep:g} s, and the "
            f"contract says {rates['physics_dt']:g} s, {rates['decimation']} times a "
            "period"
        )
    for name in ("nq", "nv", "nu"):
        found, wanted = getattr(robot.model, name), getattr(scene.model, name)
        if found != wanted:
            yield f"width: {name} is {found}, and {wanted} in the recorded scene"
    grounds = [int((each.model.geom_bodyid == 0).sum()) for each in (robot, scene)]
    if grounds[1] and not grounds[0]:
        yield "ground: the model has none; add a plane, as the recorded scene has"
    yield from _joints(robot, scene)
    yield from _gains(robot)
    yield from _axes(robot, scene)
    yield from _sensors(robot)


def _joints(robot: MujocoRobot, scene: MujocoRobot) -> Iterator[str]:
    for joint, (_, dof), (_, other) in zip(
        robot.entity["joints"], robot.joints, scene.joints, strict=True
    ):
        index = int(robot.model.dof_jntid[dof])
        if None not in joint["limits"]:
            limits = robot.model.jnt_range[index].tolist()
            if not robot.model.jnt_limited[index]:
                yield f"joint {joint['name']}: it has no limits in the model"
            elif not _close(limits, joint["limits"]):
                yield (
                    f"joint {joint['name']}: its limits are {_said(limits)} in the "
                    f"model, and {_said(joint['limits'])} in the contract"
                )
        for field in ("armature", "damping", "frictionloss"):
            found = float(np.ravel(getattr(robot.model, f"dof_{field}")[dof])[0])
            wanted = float(np.ravel(getattr(scene.model, f"dof_{field}")[other])[0])
            if not _close([found], [wanted]):
                yield (
                    f"joint {joint['name']}: its {field} is {found:g} in the model, "
                    f"and {wanted:g} in the recorded scene"
                )


def _gains(robot: MujocoRobot) -> Iterator[str]:
    model = robot.model
    for actuator in robot.entity["actuators"]:
        index = robot.find("actuator", actuator["actuator"])
        if actuator["commands"] != ["position"]:
            continue
        limit = model.actuator_forcerange[index, 1]
        found = {
            "stiffness": float(model.actuator_gainprm[index, 0]),
            "damping": float(-model.actuator_biasprm[index, 2]),
            "effort_limit": float(limit)
            if model.actuator_forcelimited[index]
            else None,
        }
        for name, value in found.items():
            wanted = actuator[name]
            if (value is None) != (wanted is None) or (
                value is not None and not _close([value], [wanted])
            ):
                yield (
                    f"gains of {actuator['target']}: {name} is {_number(value)} in the "
                    f"model, and {_number(wanted)} in the contract"
                )


def _axes(robot: MujocoRobot, scene: MujocoRobot) -> Iterator[str]:
    """Yield joints that turn otherwise, with the robot upright in its default pose."""
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
            yield f"sign of {joint['name']}: its axis points the other way"
        elif same < 1.0 - 1e-6:
            angle = np.degrees(np.arccos(np.clip(same, -1.0, 1.0)))
            yield f"frame of {joint['name']}: its axis is turned by {angle:.1f} degrees"


def _sensors(robot: MujocoRobot) -> Iterator[str]:
    for entry in robot.contract["inputs"]:
        if entry["measured"]["op"] != "sensor":
            continue
        try:
            index = robot.find("sensor", entry["measured"]["name"])
        except ContractError as error:
            yield f"input {entry['name']}: {error}"
            continue
        width = int(robot.model.sensor_dim[index])
        if [width] != entry["shape"]:
            yield (
                f"width of {entry['name']}: the sensor has {width} numbers, and the "
                f"policy takes {entry['shape'][0]}"
            )


def _close(found: list[float], wanted: list[float]) -> bool:
    return bool(np.allclose(found, wanted, rtol=_SHARE, atol=1e-9))


def _said(numbers: list[float]) -> str:
    return " to ".join(_number(number) for number in numbers)


def _number(number: float | None) -> str:
    return "none" if number is None else f"{number:.4g}"
