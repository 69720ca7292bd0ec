"""Speeds at which robots with short legs are measured.

Two robots walk alike at equal Froude numbers v² / (g L): speeds are proportional to the
square root of the leg length L, distances to L, and step rates to 1 / √L. Robots with
longer legs than the reference are measured like the reference.
"""

import math
from collections.abc import Mapping

from mjlab.gait.commands import Command, Figures

BIPED_LEG, OTHER_LEG = 0.618, 0.271
"""Leg length of the Unitree G1, and of the Unitree Go1 as the reference of robots with
more legs, m: `mjlab.gait.legs.leg_length` in Velocity-G1-Flat and Velocity-Go1-Flat."""


def relative_size(figures: Figures) -> float:
    """Return the leg length relative to the reference robot, at most 1.

    Args:
        figures: Gait metrics. If the leg length is missing or undefined, the relative
            leg length is 1.
    """
    length = figures.get("leg_length")
    if not isinstance(length, float):
        return 1.0
    reference = BIPED_LEG if figures.get("feet") == 2 else OTHER_LEG
    return min(1.0, length / reference)


def scaled(commands: Mapping[str, Command], size: float) -> dict[str, Command]:
    """Return commands by name, with speeds multiplied by the square root of `size`."""
    by = math.sqrt(size)
    return {name: (by * x, by * y, yaw) for name, (x, y, yaw) in commands.items()}


def scaled_name(command: str, size: float) -> str:
    """Return the name of a command with its scaled speed, such as "forward 0.73"."""
    direction, _, speed = command.rpartition(" ")
    if size == 1.0 or not direction or direction.startswith("turn"):
        return command
    return f"{direction} {math.sqrt(size) * float(speed):.2f}"
