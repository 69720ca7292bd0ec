"""Rewards of the cartpole from the DeepMind Control Suite, Tassa et al. 2018."""

import math

import torch

from mjlab.managers.managed_env import ManagedEnv

_GAUSSIAN_SCALE = math.sqrt(-2.0 * math.log(0.1))
"""Factor for which the Gaussian exp(-(factor * x)² / 2) is 0.1 at x = 1."""


def pole_angle_cos_sin(env: ManagedEnv) -> torch.Tensor:
    """Return cosine and sine of the pole's angle from upright, shape (num_envs, 2)."""
    angle = env.scene.entity("cartpole").data.joint_pos[:, 1:2]
    return torch.cat([angle.cos(), angle.sin()], dim=1)


def smooth_reward(env: ManagedEnv) -> torch.Tensor:
    """Return the reward of the DeepMind Control Suite, 0 to 1, shape (num_envs,).

    It is the product of four factors, which reward an upright pole, a centred cart, a
    small force and a slow pole.
    """
    data = env.scene.entity("cartpole").data
    cart_position, pole_velocity = data.joint_pos[:, 0], data.joint_vel[:, 1]
    force = env.action_manager.action[:, 0]
    upright = (1.0 + pole_cosine(env)) / 2.0
    centred = (1.0 + _gaussian(cart_position, margin=2.0)) / 2.0
    economical = (4.0 + (1.0 - force.square()).clamp(min=0.0)) / 5.0
    calm = (1.0 + _gaussian(pole_velocity, margin=5.0)) / 2.0
    return upright * centred * economical * calm


def pole_cosine(env: ManagedEnv) -> torch.Tensor:
    """Cosine of the pole's angle from upright, shape (num_envs,)."""
    return env.scene.entity("cartpole").data.joint_pos[:, 1].cos()


def _gaussian(value: torch.Tensor, margin: float) -> torch.Tensor:
    """Return a smooth tolerance: 1 at 0, and 0.1 at `margin`."""
    return torch.exp(-0.5 * (value / margin * _GAUSSIAN_SCALE).square())


# Outcomes.


def balanced(env: ManagedEnv, tilt: float = 0.2, away: float = 1.0) -> torch.Tensor:
    """Return True where the pole is upright and the cart near the centre, (num_envs,).

    Args:
        env: The environment.
        tilt: Maximum angle from upright, rad.
        away: Maximum distance from the centre, m; rails end at 1.8 m.
    """
    position = env.scene.entity("cartpole").data.joint_pos
    upright = pole_cosine(env) > math.cos(tilt)
    return upright & (position[:, 0].abs() < away)


def hangs(env: ManagedEnv) -> torch.Tensor:
    """Return True where the pole is below the horizontal."""
    return pole_cosine(env) < 0.0


def not_balanced_in_time(env: ManagedEnv) -> torch.Tensor:
    """Return True where the time limit is reached and the pole is not balanced."""
    return env.termination_manager.time_outs & ~balanced(env)
