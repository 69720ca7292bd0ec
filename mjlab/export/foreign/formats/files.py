"""Values of configuration files, with errors that name file and key."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.export.foreign.robot_model import RobotModel
from mjlab.export.runner.policy import ContractError
from mjlab.names import suggest


class ConfigFile:
    """Mapping of a configuration file, or of a part of it."""

    def __init__(self, name: str, values: Any, place: str = "") -> None:
        """Store the values. `place` is the dotted key of a part, ending in a dot."""
        if not isinstance(values, Mapping):
            raise ContractError(f"{name}: {place or 'the file'} is not a mapping")
        self.name, self.values, self.place = name, values, place

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def at(self, key: str) -> str:
        """Return "FILE: KEY" for messages."""
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
        """Return finite numbers, shape (size,); a single number is repeated."""
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
    """Return the configuration file; raise unless exactly one is given.

    Args:
        configs: Files of --config.
        what: Name of the file in the error message, such as "the layout as JSON".
    """
    if len(configs) != 1:
        raise ContractError(
            f"This format needs one configuration file, {what}; {len(configs)} are "
            "given. Pass --config FILE"
        )
    return configs[0]


def no_config(configs: Sequence[Path], why: str) -> None:
    """Raise if a format without configuration files gets one."""
    if configs:
        raise ContractError(f"Omit --config {configs[0]}: {why}")


MOTOR = "motor_"
"""Prefix of joint names if no robot model is given: motor_0, motor_1 and so on."""

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
"""Observed quantity, by term name in mjlab and Isaac Lab."""


def source_of(term: str, where: str) -> Any:
    """Return the quantity that an observation term observes, by its name."""
    if term not in SOURCES:
        raise ContractError(
            f"{where} has the observation term {term!r}, whose quantity is not known. "
            f"Supported: {', '.join(SOURCES)}"
        )
    return SOURCES[term]


def motor_names(robot: RobotModel | None, count: int) -> tuple[str, ...]:
    """Return joint names in motor order; numbered names if `robot` is None."""
    if robot is None:
        return tuple(f"{MOTOR}{index}" for index in range(count))
    if len(robot.motors) != count:
        raise ContractError(
            f"{robot.path} has {len(robot.motors)} motors, but the policy's files "
            f"list {count}"
        )
    return robot.motors


def motor_order(robot: RobotModel | None, given: str) -> str:
    """Return the assumption about the order of the motors, for the report.

    Args:
        robot: The robot, None if no model was given.
        given: Start of the sentence if a model was given.
    """
    if robot is None:
        return "motors are numbered, without names: pass their robot with --robot"
    return f"{given} the robot model"
