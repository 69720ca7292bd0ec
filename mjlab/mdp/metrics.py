"""Metrics, which do not affect the reward. Each term returns shape (num_envs,)."""

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.mdp.lookup import ROBOT
from mjlab.scene import Selection


def mean_action_acc(env: ManagedEnv) -> torch.Tensor:
    """Return the mean absolute second difference of the action over its dimensions."""
    manager = env.action_manager
    change = manager.action - 2.0 * manager.prev_action + manager.prev_prev_action
    return change.abs().mean(dim=1)


def base_speed(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the speed of the root's origin, vertical motion included, m/s."""
    return asset_cfg.entity.data.root_lin_vel_w.square().sum(dim=1).sqrt()


def mechanical_power(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the actuators' net mechanical power at the chosen joints, W."""
    data = asset_cfg.entity.data
    return (data.qfrc_actuator * data.joint_vel)[:, asset_cfg.joint_ids].sum(dim=1)
