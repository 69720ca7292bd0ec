"""Leg length of a robot."""

from collections.abc import Sequence

import mujoco
import numpy as np


def leg_length(
    model: mujoco.MjModel, feet: Sequence[int], *, geoms: bool
) -> float | None:
    """Return the mean height of the hips above the feet in the initial pose, m.

    The hip of a foot is the first joint of the longest chain of bodies that ends in
    this foot and in no other.

    Args:
        model: Compiled model; its first keyframe is the initial pose, if it has one.
        feet: Ids of the feet.
        geoms: True if `feet` are ids of geoms, False for ids of bodies.

    Returns:
        None if no foot has a joint of its own.
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
    return float(np.mean(heights)) if heights else None


def _ancestors(model: mujoco.MjModel, body: int) -> list[int]:
    """Return a body and its ancestors, without the world."""
    chain = []
    while body:
        chain.append(body)
        body = int(model.body_parentid[body])
    return chain
