"""Policies of mjlab 1.6. Their ONNX metadata is comma-separated text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.foreign.formats.files import no_config, source_of
from mjlab.export.foreign.interface import JOINT_SOURCES, Interface, Term
from mjlab.export.foreign.network import Network
from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.runner.policy import ContractError

KEYS = (
    "joint_names",
    "joint_stiffness",
    "joint_damping",
    "default_joint_pos",
    "observation_names",
    "action_scale",
)
"""Required keys. mjlab 1.6 also writes scale, clip and history of terms."""

CONTROL_DT = 0.02
"""Control period of mjlab's locomotion tasks, s. The metadata does not contain it."""


def is_mjlab(network: Network) -> bool:
    """Whether an ONNX file has mjlab's metadata."""
    return all(key in network.metadata for key in KEYS)


def read(
    network: Network, configs: Sequence[Path], robot: RobotModel | None
) -> Interface:
    """Read the metadata of an ONNX file that mjlab 1.6 exported."""
    no_config(configs, "mjlab stores the contract in the ONNX file")
    known = network.metadata
    absent = [key for key in KEYS if key not in known]
    if absent:
        raise ContractError(
            f"{network.path} has no {absent[0]!r} in its metadata: mjlab writes it "
            "when it exports a policy"
        )
    joints = tuple(known["joint_names"].split(","))
    count, actions = len(joints), network.outputs
    if actions != count:
        raise ContractError(
            f"{network.path} has {actions} actions, but joint_names has {count} joints"
        )
    default = _numbers(network, "default_joint_pos", count)
    names = known["observation_names"].split(",")
    return Interface(
        format="mjlab",
        network=network,
        joints=joints,
        default=default,
        stiffness=_numbers(network, "joint_stiffness", count),
        damping=_numbers(network, "joint_damping", count),
        acted=joints,
        action_scale=_numbers(network, "action_scale", actions),
        action_offset=default,
        terms=tuple(_term(network, joints, place) for place in range(len(names))),
        control_dt=CONTROL_DT,
        places={
            "joints": "metadata: joint_names",
            "default": "metadata: default_joint_pos",
            "stiffness": "metadata: joint_stiffness",
            "damping": "metadata: joint_damping",
            "action_scale": "metadata: action_scale",
            "terms": "metadata: observation_names",
        },
        assumed=(
            f"control period {CONTROL_DT:g} s (not in mjlab's metadata)",
            "action offset = default pose (not in mjlab's metadata)",
            "no action clip (not in mjlab's metadata)",
        ),
    )


def _term(network: Network, joints: tuple[str, ...], place: int) -> Term:
    known = network.metadata
    name = known["observation_names"].split(",")[place]
    source = source_of(name, f"{network.path}: metadata observation_names")

    def entry(key: str, default: str) -> str:
        return known[key].split(",")[place] if key in known else default

    low, high = (
        float(n) for n in entry("observation_terms_clip", "-inf;inf").split(";")
    )
    scale = np.array(
        [float(n) for n in entry("observation_terms_scale", "1").split(";")]
    )
    history = int(float(entry("observation_terms_history_length", "1")))
    return Term(
        name=name,
        source=source,
        joints=joints if source in JOINT_SOURCES else (),
        scale=scale if scale.size > 1 else float(scale[0]),
        clip=None if np.isinf([low, high]).all() else (low, high),
        history=max(history, 1),
    )


def _numbers(network: Network, key: str, size: int) -> np.ndarray:
    """Return the numbers of a metadata key, shape (size,); one number is repeated."""
    texts: Any = network.metadata[key].split(",")
    try:
        found = np.array([float(text) for text in texts])
    except ValueError as error:
        raise ContractError(
            f"{network.path}: metadata {key} is not numeric: {error}"
        ) from error
    if found.size not in (1, size):
        raise ContractError(
            f"{network.path}: metadata {key} has {found.size} numbers, expected {size}"
        )
    return np.broadcast_to(found, size).copy()
