"""Tracking errors between a robot and its reference.

Results are cached until robot or reference change. Related errors are computed
together.
"""

import torch

from mjlab.motion.command import MotionCommand
from mjlab.tensors.math import quat_angle

BODY_ERRORS = ("body_pos", "body_pos_global", "body_lin_vel", "body_ang_vel")
"""Errors of tracked bodies: position relative to the re-anchored reference (m) and to
the reference in the world (m), and velocities in the world (m/s and rad/s)."""


def anchor_pos(c: MotionCommand) -> torch.Tensor:
    """Squared distance of the anchors in the world, m², shape (num_envs,)."""
    return c.once(
        "squared anchor_pos", lambda: _square(c.anchor_pos_w, c.robot_anchor_pos_w)
    )


def body_squares(c: MotionCommand) -> torch.Tensor:
    """Squared errors, shape (num_envs, 4, bodies), in the order of `BODY_ERRORS`."""

    def compute() -> torch.Tensor:
        place = c.robot_bodies("body_pos_w")
        velocities = (c.body_lin_vel_w, c.body_ang_vel_w)
        asked = torch.stack((c.reanchored[0], c.body_pos_w, *velocities), dim=1)
        moves = (c.robot_bodies("body_lin_vel_w"), c.robot_bodies("body_ang_vel_w"))
        return _square(asked, torch.stack((place, place, *moves), dim=1))

    return c.once("squares of bodies", compute)


def mean_square(c: MotionCommand, error: str) -> torch.Tensor:
    """Mean over bodies of the square of one of `BODY_ERRORS`, shape (num_envs,)."""
    means = c.once("mean squares", lambda: body_squares(c).mean(dim=2))
    return means[:, BODY_ERRORS.index(error)]


def mean_size(c: MotionCommand, error: str) -> torch.Tensor:
    """Mean over bodies of the norm of one of `BODY_ERRORS`, shape (num_envs,)."""
    means = c.once("mean sizes", lambda: body_squares(c).sqrt().mean(dim=2))
    return means[:, BODY_ERRORS.index(error)]


def angles(c: MotionCommand) -> torch.Tensor:
    """Orientation errors, rad, shape (num_envs, bodies + 1).

    Bodies are compared with the re-anchored reference. The last entry is the anchor's
    error in the world.
    """

    def compute() -> torch.Tensor:
        asked = torch.cat((c.reanchored[1], c.anchor_quat_w.unsqueeze(1)), dim=1)
        return quat_angle(asked, c.robot_parts("body_quat_w"))

    return c.once("angles", compute)


def angle_squares(c: MotionCommand) -> torch.Tensor:
    """Squared orientation errors, rad², shape (num_envs, bodies + 1)."""
    return c.once("squares of angles", lambda: angles(c).square())


def joint_sizes(c: MotionCommand) -> torch.Tensor:
    """Norms of the joint position and velocity errors, shape (num_envs, 2)."""

    def compute() -> torch.Tensor:
        data = c.entity.data
        away = torch.cat((data.joint_pos, data.joint_vel), dim=1) - c.command
        return away.square_().unflatten(1, (2, -1)).sum(dim=2).sqrt()

    return c.once("sizes of joints", compute)


def _square(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return (one - other).square_().sum(dim=-1)
