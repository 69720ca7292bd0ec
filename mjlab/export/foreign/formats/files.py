"""Values of configuration files, with errors that name file and key."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.runner.policy import ContractError
from mjlab.names import suggest


class ConfigFile:
    """Mapping of a configuration file, or of a part of it."""

    def __init__(self, name: str, values: Any, place: str = "") -> None:
        """Store the values; `place` is the dotted key of a part."""
        if not isinstance(values, Mapping):
            raise ContractError(f"{name}: {place or 'the file'} is not a mapping")
        self.name, self.values, self.place = name, values, place

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def at(self, key: str) -> str:
        """Return file and key, for a message."""
        return f"{self.name}: {self.place}{key}"

    def get(self, key: str) -> Any:
        """Return a value; raise if it is missing."""
        if key not in self.values:
            near = suggest(key, [str(each) for each in self.values])
            raise ContractError(f"{self.at(key)} is missing. {near}")
        return self.values[key]

    def part(self, key: str) -> "ConfigFile":
        """Return a nested mapping."""
        return ConfigFile(self.name, self.get(key), f"{self.place}{key}.")

    def number(self, key: str) -> float:
        """Return a finite number."""
        return float(self.numbers(key, 1)[0])

    def numbers(self, key: str, size: int | None = None) -> np.ndarray:
        """Return numbers; one number is repeated to `size`."""
        given = self.get(key)
        try:
            found = np.asarray(given, float)
        except (TypeError, ValueError) as error:
            raise ContractError(f"{self.at(key)} is not numeric") from error
        if found.ndim == 0:
            found = np.full(size or 1, float(found))
        if not np.isfinite(found).all():
            raise ContractError(f"{self.at(key)} has numbers that are not finite")
        if size is not None and found.shape != (size,):
            raise ContractError(
                f"{self.at(key)} has {found.size} numbers, expected {size}"
            )
        return found


def read_yaml(path: Path) -> ConfigFile:
    """Read a YAML file. Tags of Python objects are ignored; nothing is called."""
    try:
        import yaml
    except ImportError as error:
        raise ContractError(
            "YAML files need PyYAML: pip install 'mjlab-fused[export]'"
        ) from error

    class Loader(yaml.SafeLoader):
        """Safe loader that reads tagged nodes as plain values."""

    def plain(loader: Any, _: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_scalar(node)

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", plain)
    try:
        return ConfigFile(path.name, yaml.load(path.read_text("utf-8"), Loader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        raise ContractError(f"{path} is not valid YAML: {said}") from error


def only(configs: Sequence[Path], what: str) -> Path:
    """Return the only configuration file of a format."""
    if len(configs) != 1:
        raise ContractError(
            f"This format needs one configuration file, {what}; {len(configs)} are "
            "given. Pass --config FILE"
        )
    return configs[0]


def no_config(configs: Sequence[Path], why: str) -> None:
    """Raise if a format without configuration files gets one."""
    if configs:
        raise ContractError(f"--config {configs[0]} has no use: {why}")


MOTOR = "motor_"
"""Start of the names of joints without a robot model, before their number."""

SOURCES = {
    "base_lin_vel": "lin_vel",
    "base_ang_vel": "gyro",
    "projected_gravity": "gravity",
    "command": "command",
    "velocity_commands": "command",
    "generated_commands": "command",
    "joint_pos": "joint_pos_rel",
    "joint_pos_rel": "joint_pos_rel",
    "joint_vel": "joint_vel",
    "joint_vel_rel": "joint_vel",
    "actions": "last_action",
    "last_action": "last_action",
}
"""Quantities by the usual names of observation terms in mjlab and Isaac Lab."""


def source_of(term: str, where: str) -> Any:
    """Return the quantity of an observation term."""
    if term not in SOURCES:
        raise ContractError(
            f"{where} has the observation term {term!r}, whose quantity is not known. "
            f"Supported: {', '.join(SOURCES)}"
        )
    return SOURCES[term]


def motor_names(robot: Any, count: int) -> tuple[str, ...]:
    """Joints in motor order: of the robot model, or numbers without a model."""
    if robot is None:
        return tuple(f"{MOTOR}{index}" for index in range(count))
    if len(robot.motors) != count:
        raise ContractError(
            f"{robot.path} has {len(robot.motors)} motors, but the policy's files "
            f"list {count}"
        )
    return robot.motors
