"""Policies of Isaac Lab with Unitree's deploy.yaml, and optionally env.yaml.

deploy.yaml lists stiffness and damping in motor order, and all other values in the
policy's joint order. `joint_ids_map` gives the motor of each policy joint. env.yaml
repeats rates, scales, clips and histories, so both files are compared.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mjlab.export.foreign.formats.files import (
    ConfigFile,
    motor_names,
    motor_order,
    read_yaml,
    source_of,
)
from mjlab.export.foreign.interface import JOINT_SOURCES, Clock, Interface, Term
from mjlab.export.foreign.network import Network
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.runner.policy import ContractError

_RANGES = ("lin_vel_x", "lin_vel_y", "ang_vel_z")


def read(
    network: Network, configs: Sequence[Path], robot: RobotModel | None
) -> Interface:
    """Read deploy.yaml. `compare_env` reads env.yaml."""
    file = _deploy(configs)
    order = file.numbers("joint_ids_map").astype(int)
    count = len(order)
    if sorted(order.tolist()) != list(range(count)):
        raise ContractError(
            f"{file.at('joint_ids_map')} must contain each motor from 0 to "
            f"{count - 1} once"
        )
    motors = motor_names(robot, count)
    joints = tuple(motors[motor] for motor in order)
    (name,) = file.part("actions").values or ("",)
    if name != "JointPositionAction":
        raise ContractError(
            f"{file.at('actions')} has {name!r}, but only JointPositionAction is "
            "supported"
        )
    action = file.part("actions").part(name)
    clip, dt = action.get("clip"), file.number("step_dt")
    observed = file.part("observations")
    terms = [_term(observed, each, joints) for each in observed.values]
    phased = [name for name in observed.values if name == "gait_phase"]
    clock = observed.part("gait_phase").part("params") if phased else None
    return Interface(
        format="isaaclab",
        network=network,
        joints=joints,
        default=file.numbers("default_joint_pos", count),
        stiffness=file.numbers("stiffness", count)[order],
        damping=file.numbers("damping", count)[order],
        acted=joints,
        action_scale=action.numbers("scale", count),
        action_offset=action.numbers("offset", count),
        target_clip=None if clip is None else np.array(clip, float).reshape(count, 2),
        terms=tuple(each for pair in terms for each in pair),
        clock=clock and Clock(hz=1.0 / clock.number("period"), is_early=True),
        control_dt=dt,
        ranges=_ranges(file),
        places={
            "joints": file.at("joint_ids_map"),
            "default": file.at("default_joint_pos"),
            "stiffness": file.at("stiffness"),
            "damping": file.at("damping"),
            "action_scale": action.at("scale"),
            "action_offset": action.at("offset"),
            "target_clip": action.at("clip"),
            "control_dt": file.at("step_dt"),
            "terms": file.at("observations"),
        },
        assumed=(motor_order(robot, "deploy.yaml numbers motors like"),),
    )


def _deploy(configs: Sequence[Path]) -> ConfigFile:
    files = [read_yaml(path) for path in configs]
    found = [each for each in files if "joint_ids_map" in each]
    if len(found) != 1:
        given = ", ".join(str(path) for path in configs) or "no file"
        raise ContractError(
            "This format needs --config with one deploy.yaml, which contains "
            f"joint_ids_map, and optionally env.yaml. Given: {given}"
        )
    return found[0]


def _term(observed: ConfigFile, name: str, joints: tuple[str, ...]) -> list[Term]:
    part = observed.part(name)
    scale, clip = part.numbers("scale"), part.get("clip")
    history = int(part.number("history_length")) if "history_length" in part else 1
    common = {
        "clip": None if clip is None else (float(clip[0]), float(clip[1])),
        "history": max(history, 1),
    }
    if name == "gait_phase":  # Sine, then cosine.
        return [
            Term(name=f"{name}.{source}", source=source, scale=scale[i], **common)
            for i, source in enumerate(("sin_phase", "cos_phase"))
        ]
    source = source_of(name, observed.at(name))
    chosen = joints if source in JOINT_SOURCES else ()
    return [Term(name=name, source=source, joints=chosen, scale=scale, **common)]


def _ranges(file: ConfigFile) -> tuple[tuple[float, float], ...]:
    part = file.part("commands").part("base_velocity").part("ranges")
    found = [part.numbers(name, 2) for name in _RANGES]
    return tuple((float(low), float(high)) for low, high in found)
