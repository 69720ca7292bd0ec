"""Leg length of a robot, and the speeds at which robots with short legs are measured.

Two robots walk alike at equal Froude numbers v² / (g L): speeds are proportional to the
square root of the leg length L, distances to L, and step rates to 1 / √L. Robots with
longer legs than the reference are measured like the reference.
"""

import math
from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from mjlab.gait.commands import Command, Figures

BIPED_LEG, OTHER_LEG = 0.618, 0.271
"""Leg length of the Unitree G1, and of the Unitree Go1 as the reference of robots with
more legs, m. Measured with `leg_length` in Velocity-G1-Flat and Velocity-Go1-Flat."""


def leg_length(model: mujoco.MjModel, feet: Sequence[int], *, geoms: bool) -> float:
    """Return the mean height of the hips above the feet in the initial pose, m.

    The hip of a foot is the first joint of the longest chain of bodies that ends in
    this foot and in no other.

    Args:
        model: Compiled model; its first keyframe is the initial pose, if it has one.
        feet: Ids of the feet.
        geoms: Whether the ids are those of geoms instead of bodies.
    """
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_kinematics(model, data)
    places = data.geom_xpos if geoms else data.xpos
    bodies = [int(model.geom_bodyid[foot]) if geoms else foot for foot in feet]
    chains = [_ancestors(model, body) for body in bodies]
    heights = []
    for foot, chain in zip(feet, chains, strict=True):
        own = [b for b in chain if sum(b in other for other in chains) == 1]
        hip = next((b for b in reversed(own) if model.body_jntnum[b]), None)
        if hip is not None:
            anchor = data.xanchor[model.body_jntadr[hip]]
            heights.append(anchor[2] - places[foot][2])
    return float(np.mean(heights)) if heights else 0.0


def _ancestors(model: mujoco.MjModel, body: int) -> list[int]:
    """Return a body and its ancestors, without the world."""
    chain = []
    while body:
        chain.append(body)
        body = int(model.body_parentid[body])
    return chain


def relative_size(figures: Figures) -> float:
    """Return the leg length relative to the reference robot, at most 1.

    Args:
        figures: Gait metrics. Without a leg length, the size is 1.
    """
    length = figures.get("leg_length")
    if not isinstance(length, float) or length <= 0.0:
        return 1.0
    reference = BIPED_LEG if figures.get("feet") == 2 else OTHER_LEG
    return min(1.0, length / reference)


def scaled(commands: Mapping[str, Command], size: float) -> dict[str, Command]:
    """Return commands with the speeds for a robot of a relative size, by name."""
    by = math.sqrt(size)
    return {name: (by * x, by * y, yaw) for name, (x, y, yaw) in commands.items()}


def scaled_name(command: str, size: float) -> str:
    """Return the name of a command with the speed of a robot of a relative size."""
    direction, _, speed = command.rpartition(" ")
    if size == 1.0 or not direction or direction.startswith("turn"):
        return command
    return f"{direction} {math.sqrt(size) * float(speed):.2f}"
