"""What ends an episode of walking. Each term returns shape (num_envs,), bool."""

import math

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.mdp.lookup import ROBOT
from mjlab.scene import Selection


def fell_over(
    env: ManagedEnv, limit_angle: float, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """The root's z axis is tilted by more than `limit_angle`, rad, from the vertical.

    The horizontal part of its quaternion (w, x, y, z) is the sine of half the tilt:
    x² + y² = sin²(tilt / 2). So no arc function is needed, which could be undefined.
    """
    horizontal = asset_cfg.entity.data.root_quat_w[:, 1:3]
    return horizontal.square().sum(dim=1) > math.sin(0.5 * limit_angle) ** 2
