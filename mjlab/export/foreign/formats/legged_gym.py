"""Policies of legged_gym and unitree_rl_gym: the YAML file of their deploy scripts.

The YAML file does not contain the order of the observation. The scripts use: angular
velocity, gravity, command, joint positions, joint velocities, last action, and for
humanoids the sine and cosine of a gait clock. legged_gym's own robots observe the
linear velocity first.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mjlab.export.foreign.formats.files import (
    ConfigFile,
    motor_names,
    motor_order,
    only,
    read_yaml,
)
from mjlab.export.foreign.interface import Clock, Interface, Source, Term
from mjlab.export.foreign.network import Network
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.runner.policy import ContractError

PERIOD = 0.8
"""Default period of the gait clock, s, for files without `period`."""


def read(
    network: Network, configs: Sequence[Path], robot: RobotModel | None
) -> Interface:
    """Read the deploy script's YAML file."""
    file = read_yaml(only(configs, "the YAML file of the deploy script"))
    count = int(file.number("num_actions"))
    joints = motor_names(robot, count)
    kinds = _layout(file, count)
    terms = tuple(_term(file, kind, joints) for kind in kinds)
    physics_dt, dt, assumed = _rates(file)
    period = file.number("period") if "period" in file else PERIOD
    default = file.numbers("default_angles", count)
    has_clock = "sin_phase" in kinds
    if has_clock and "period" not in file:
        assumed += (f"gait clock with a period of {PERIOD:g} s (fixed in the script)",)
    return Interface(
        format="legged-gym",
        network=network,
        joints=joints,
        default=default,
        stiffness=file.numbers("kps", count),
        damping=file.numbers("kds", count),
        acted=joints,
        action_scale=file.numbers("action_scale", count),
        action_offset=default,
        action_clip=file.number("clip_actions") if "clip_actions" in file else None,
        kept="clipped",
        terms=terms,
        clock=Clock(hz=1.0 / period, is_early=True) if has_clock else None,
        control_dt=dt,
        physics_dt=physics_dt,
        ranges=_ranges(file),
        places={
            "default": file.at("default_angles"),
            "action_offset": file.at("default_angles"),
            "stiffness": file.at("kps"),
            "damping": file.at("kds"),
            "action_scale": file.at("action_scale"),
            "action_clip": file.at("clip_actions"),
            "control_dt": file.at("control_decimation"),
            "terms": file.at("num_obs"),
        },
        assumed=(*assumed, motor_order(robot, "joints are in the order of")),
    )


def _layout(file: ConfigFile, count: int) -> list[Source]:
    """Return the observed quantities in order, identified by `num_obs`."""
    plain: list[Source] = ["gyro", "gravity", "command", "joint_pos_rel", "joint_vel"]
    plain.append("last_action")
    layouts: dict[int, list[Source]] = {
        9 + 3 * count: plain,
        11 + 3 * count: [*plain, "sin_phase", "cos_phase"],
        12 + 3 * count: ["lin_vel", *plain],
    }
    width = int(file.number("num_obs"))
    if width not in layouts:
        known = ", ".join(
            f"{size} ({len(terms)} terms)" for size, terms in layouts.items()
        )
        raise ContractError(
            f"{file.at('num_obs')} is {width}; supported for {count} joints: {known}"
        )
    return layouts[width]


_SCALES: dict[Source, str] = {
    "gyro": "ang_vel_scale",
    "lin_vel": "lin_vel_scale",
    "command": "cmd_scale",
    "joint_pos_rel": "dof_pos_scale",
    "joint_vel": "dof_vel_scale",
}


def _term(file: ConfigFile, kind: Source, joints: tuple[str, ...]) -> Term:
    scale: np.ndarray | float = 1.0
    if kind in _SCALES:
        found = file.numbers(_SCALES[kind], 3 if kind == "command" else None)
        scale = found if kind == "command" else float(found[0])
    is_joint = kind in ("joint_pos_rel", "joint_vel")
    return Term(name=kind, source=kind, joints=joints if is_joint else (), scale=scale)


def _rates(file: ConfigFile) -> tuple[float | None, float, tuple[str, ...]]:
    if "control_dt" in file:  # The script for a real robot has no physics timestep.
        return None, file.number("control_dt"), ()
    step = file.number("simulation_dt")
    return step, step * file.number("control_decimation"), ()


def _ranges(file: ConfigFile) -> tuple[tuple[float, float], ...] | None:
    if "max_cmd" not in file:
        return None
    return tuple((-float(most), float(most)) for most in file.numbers("max_cmd", 3))
