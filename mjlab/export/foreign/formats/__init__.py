"""Readers of policies of other projects, one per format."""

from collections.abc import Callable, Sequence
from pathlib import Path

from mjlab.export.foreign.formats import isaaclab, legged_gym, mjlab, playground
from mjlab.export.foreign.interface import Interface
from mjlab.export.foreign.network import Network
from mjlab.export.foreign.robot_model import RobotModel

Reader = Callable[[Network, Sequence[Path], RobotModel | None], Interface]
"""Reads a network's configuration files, with the names of a robot model."""

READERS: dict[str, Reader] = {
    "mjlab": mjlab.read,
    "isaaclab": isaaclab.read,
    "playground": playground.read,
    "legged-gym": legged_gym.read,
}
"""Readers by format."""
