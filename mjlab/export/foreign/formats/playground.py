"""Policies of MuJoCo Playground's joystick tasks.

Their ONNX files have no metadata. The layout of the observation follows from the widths
of the network, or is given as a JSON file. The default pose and the gains come
from the robot model.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.foreign.formats.files import ConfigFile, only
from mjlab.export.foreign.formats.playground_layouts import LAYOUTS
from mjlab.export.foreign.interface import JOINT_SOURCES, Clock, Interface, Term
from mjlab.export.foreign.network import Network
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.runner.policy import ContractError


def read(
    network: Network, configs: Sequence[Path], robot: RobotModel | None
) -> Interface:
    """Read a policy. The layout is a JSON file, or is identified by the widths."""
    if robot is None:
        raise ContractError(
            "Playground's policies need --robot with the MJCF scene of their task, "
            "which has the joints, the default pose and the gains"
        )
    layout, name = _layout(network, configs)
    joints = robot.joints
    blind = joints[: int(layout.values.get("blind", 0))]
    default = robot.pose(layout.get("keyframe"))
    gains = robot.gains()
    absent = [joint for joint in joints if joint not in gains]
    if absent or len(joints) != network.outputs:
        raise ContractError(
            f"{robot.path} has {len(gains)} position servos, but the policy has "
            f"{network.outputs} actions" + f" ({absent[0]} has none)" * bool(absent)
        )
    stiffness, damping = np.array([gains[joint] for joint in joints]).T
    return Interface(
        format="playground",
        network=network,
        joints=joints,
        default=default,
        stiffness=stiffness,
        damping=damping,
        acted=joints,
        action_scale=layout.numbers("action_scale", len(joints)),
        action_offset=default,
        terms=tuple(_term(each, joints, blind) for each in layout.get("terms")),
        clock=_clock(layout.values.get("clock")),
        control_dt=float(layout.values.get("control_dt", 0.02)),
        physics_dt=robot.model.opt.timestep,
        imu=layout.get("imu"),
        places={
            key: f"{name}: {key}" for key in ("terms", "action_scale", "clock", "imu")
        }
        | {key: str(robot.path.name) for key in ("joints", "default", "stiffness")}
        | {"action_offset": str(robot.path.name), "damping": str(robot.path.name)},
        assumed=(f"observation layout of {layout.get('task')} ({name})",),
    )


def _clock(values: dict[str, Any] | None) -> Clock | None:
    if values is None:
        return None
    given: dict[str, Any] = dict(values)
    return Clock(offsets=tuple(given.pop("offsets")), **given)


def _layout(network: Network, configs: Sequence[Path]) -> tuple[ConfigFile, str]:
    if configs:
        path = only(configs, "the layout as JSON")
        return ConfigFile(path.name, json.loads(path.read_text("utf-8"))), path.name
    widths = network.inputs, network.outputs
    if widths not in LAYOUTS:
        known = ", ".join(f"{each['task']} {key}" for key, each in LAYOUTS.items())
        raise ContractError(
            f"{network.path} has {widths[0]} observations and {widths[1]} actions, "
            f"which fits no known layout ({known}). Pass --config with a JSON layout"
        )
    return ConfigFile("layout", LAYOUTS[widths]), "layout by width"


def _term(source: str, joints: tuple[str, ...], blind: tuple[str, ...]) -> Term:
    kind: Any = "joint_pos_rel" if source == "joint_pos" else source
    is_joint = kind in JOINT_SOURCES
    return Term(
        name=source,
        source=kind,
        joints=joints if is_joint else (),
        blind=blind if is_joint else (),
    )
