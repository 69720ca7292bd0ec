"""Tracking errors between a robot and its reference.

Results are cached until the robot state or the reference changes.
"""

from typing import Literal

import torch

from mjlab.motion.command import MotionCommand
from mjlab.tensors.math import quat_angle

BodyError = Literal["body_pos", "body_pos_global", "body_lin_vel", "body_ang_vel"]
"""Kind of error of the tracked bodies: position relative to the re-anchored reference
or in the world, m, or linear or angular velocity in the world, m/s or rad/s."""


def anchor_pos(c: MotionCommand) -> torch.Tensor:
    """Squared distance of the anchors in the world, m², shape (num_envs,)."""
    return c.once(
        "squared anchor_pos", lambda: _square(c.anchor_pos_w, c.robot_anchor_pos_w)
    )


def body_square(c: MotionCommand, error: BodyError) -> torch.Tensor:
    """Squared error of each tracked body, shape (num_envs, bodies)."""
    return c.once(f"squared {error}", lambda: _square(*_bodies(c, error)))


def mean_square(c: MotionCommand, error: BodyError) -> torch.Tensor:
    """Mean of the squared error over the tracked bodies, shape (num_envs,)."""
    return body_square(c, error).mean(dim=1)


def mean_size(c: MotionCommand, error: BodyError) -> torch.Tensor:
    """Mean of the error's norm over the tracked bodies, shape (num_envs,)."""
    return body_square(c, error).sqrt().mean(dim=1)


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
        error = torch.cat((data.joint_pos, data.joint_vel), dim=1) - c.command
        return error.square().unflatten(1, (2, -1)).sum(dim=2).sqrt()

    return c.once("sizes of joints", compute)


def _bodies(c: MotionCommand, error: BodyError) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the compared quantity of reference and robot, (num_envs, bodies, 3)."""
    match error:
        case "body_pos":
            return c.reanchored[0], c.robot_bodies("body_pos_w")
        case "body_pos_global":
            return c.body_pos_w, c.robot_bodies("body_pos_w")
        case "body_lin_vel":
            return c.body_lin_vel_w, c.robot_bodies("body_lin_vel_w")
        case "body_ang_vel":
            return c.body_ang_vel_w, c.robot_bodies("body_ang_vel_w")


def _square(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return (one - other).square().sum(dim=-1)
