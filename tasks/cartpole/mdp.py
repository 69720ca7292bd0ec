"""Rewards of the cartpole: those of the DeepMind Control Suite, Tassa et al. 2018."""

import math

import torch

from mjlab.managers import ManagerTermBase, RewardTermCfg
from mjlab.managers.managed_env import ManagedEnv

_GAUSSIAN_SCALE = math.sqrt(-2.0 * math.log(0.1))
"""Makes a Gaussian 0.1 at a distance of 1."""


def pole_angle_cos_sin(env: ManagedEnv) -> torch.Tensor:
    """Return cosine and sine of the pole's angle from upright, shape (num_envs, 2)."""
    angle = env.scene.entity("cartpole").data.joint_pos[:, 1:2]
    return torch.cat([angle.cos(), angle.sin()], dim=1)


class smooth_reward(ManagerTermBase):
    """Uprightness, centring, calm and economy of the system: a product, 0 to 1."""

    def __init__(self, cfg: RewardTermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._data = env.scene.entity("cartpole").data
        # Scale of the cart's position, m, and of the pole's velocity, rad/s.
        self._scales = torch.tensor([2.0, 5.0], device=env.device)

    def __call__(self, env: ManagedEnv) -> torch.Tensor:
        """Return the reward, shape (num_envs,)."""
        upright = 1.0 + pole_cosine(env)
        distances = (self._data.joint_pos[:, :1], self._data.joint_vel[:, 1:])
        scaled = torch.cat(distances, dim=1) / self._scales * _GAUSSIAN_SCALE
        centred, calm = (1.0 + torch.exp(-0.5 * scaled.square())).unbind(dim=1)
        # The force's bowl is a parabola.
        force = env.action_manager.action[:, 0]
        cheap = 4.0 + (1.0 - force.square()).clamp_(min=0.0)
        # Each of the other three is 2 at most.
        return upright * centred * (cheap / (5.0 * 8.0)) * calm


def pole_cosine(env: ManagedEnv) -> torch.Tensor:
    """Return the cosine of the pole's angle from upright, once between two changes."""
    data = env.scene.entity("cartpole").data
    if "pole_cosine" not in data.computed:
        data.computed["pole_cosine"] = data.joint_pos[:, 1].cos()
    return data.computed["pole_cosine"]


# Outcomes.


def balanced(env: ManagedEnv, tilt: float = 0.2, away: float = 1.0) -> torch.Tensor:
    """Return whether the pole stands and the cart is near the middle, (num_envs,).

    Args:
        env: The environment.
        tilt: Largest angle from upright, rad.
        away: Largest distance from the middle, m; rails end at 1.8 m.
    """
    position = env.scene.entity("cartpole").data.joint_pos
    upright = pole_cosine(env) > math.cos(tilt)
    return upright & (position[:, 0].abs() < away)


def hangs(env: ManagedEnv) -> torch.Tensor:
    """Return whether the pole is below the horizontal."""
    return pole_cosine(env) < 0.0


def not_balanced_in_time(env: ManagedEnv) -> torch.Tensor:
    """Return whether time is over, and the pole does not stand."""
    return env.termination_manager.time_outs.gt(balanced(env))
