"""Transformations of poses between a reference and a robot."""

import torch

from mjlab.tensors.math import (
    quat_conjugate,
    quat_mul,
    quat_rotate,
    quat_rotate_inverse,
    quat_yaw,
)

Poses = tuple[torch.Tensor, torch.Tensor]
"""Positions, m, and orientations, wxyz."""


def reanchored(robot: Poses, anchor: Poses, bodies: Poses) -> Poses:
    """Align a reference with a robot's heading and horizontal position.

    Args:
        robot: The robot's anchor, shapes (num_envs, 3) and (num_envs, 4).
        anchor: The reference's anchor.
        bodies: The reference's bodies, (num_envs, bodies, 3) and (num_envs, bodies, 4).
    """
    turn = quat_yaw(quat_mul(robot[1], quat_conjugate(anchor[1])))
    turns = turn.unsqueeze(1).expand(-1, bodies[1].shape[1], -1)
    shift = torch.cat((robot[0][:, :2], anchor[0][:, 2:]), dim=1)
    lever = bodies[0] - anchor[0].unsqueeze(1)
    pos = quat_rotate(turns, lever).add_(shift.unsqueeze(1))
    return pos, quat_mul(turns, bodies[1])


def seen_from(robot: Poses, bodies: Poses, axes: torch.Tensor) -> Poses:
    """Transform poses into the frame of an anchor.

    Args:
        robot: The anchor, shapes (num_envs, 3) and (num_envs, 4).
        bodies: The poses, shapes (num_envs, n, 3) and (num_envs, n, 4).
        axes: Unit vectors x and y for each pose, shape (num_envs, n, 2, 3).

    Returns:
        Positions, and the first two columns of rotation matrices row by row, shape
        (num_envs, n, 6).
    """
    frame = robot[1].unsqueeze(1).expand_as(bodies[1])
    from_anchor = quat_rotate_inverse(frame, bodies[0] - robot[0].unsqueeze(1))
    turned = quat_mul(quat_conjugate(frame), bodies[1]).unsqueeze(2)
    columns = quat_rotate(turned.expand(-1, -1, 2, -1), axes)
    return from_anchor, columns.transpose(2, 3).flatten(2)
