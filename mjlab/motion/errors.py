"""Squared differences between a robot and the reference that it follows.

Those of the anchor have shape (num_envs,), those of bodies (num_envs, bodies). Bodies
are compared with the re-anchored reference, but for velocities, and for what is called
global. Each is computed at most once between two changes.
"""

import torch

from mjlab.motion.command import MotionCommand
from mjlab.tensors.math import quat_angle


def anchor_pos(c: MotionCommand) -> torch.Tensor:
    """Squared distances of the anchors in the world, m²."""
    return c.once(
        "error anchor_pos", lambda: _square(c.anchor_pos_w, c.robot_anchor_pos_w)
    )


def anchor_ori(c: MotionCommand) -> torch.Tensor:
    """Squared angles between the anchors in the world, rad²."""
    return c.once(
        "error anchor_ori",
        lambda: quat_angle(c.anchor_quat_w, c.robot_anchor_quat_w).square_(),
    )


def body_pos(c: MotionCommand) -> torch.Tensor:
    """Squared distances of bodies from the re-anchored reference, m²."""
    return c.once(
        "error body_pos",
        lambda: _square(c.reanchored[0], c.robot_bodies("body_pos_w")),
    )


def body_pos_global(c: MotionCommand) -> torch.Tensor:
    """Squared distances of bodies from the reference in the world, m²."""
    return c.once(
        "error body_pos_global",
        lambda: _square(c.body_pos_w, c.robot_bodies("body_pos_w")),
    )


def body_ori(c: MotionCommand) -> torch.Tensor:
    """Squared angles of bodies to the re-anchored reference, rad²."""
    return c.once(
        "error body_ori",
        lambda: quat_angle(c.reanchored[1], c.robot_bodies("body_quat_w")).square_(),
    )


def body_lin_vel(c: MotionCommand) -> torch.Tensor:
    """Squared differences of velocities in the world, m²/s²."""
    return c.once(
        "error body_lin_vel",
        lambda: _square(c.body_lin_vel_w, c.robot_bodies("body_lin_vel_w")),
    )


def body_ang_vel(c: MotionCommand) -> torch.Tensor:
    """Squared differences of angular velocities in the world, rad²/s²."""
    return c.once(
        "error body_ang_vel",
        lambda: _square(c.body_ang_vel_w, c.robot_bodies("body_ang_vel_w")),
    )


def _square(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return (one - other).square_().sum(dim=-1)
