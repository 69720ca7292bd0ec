"""Policies that nobody trained."""

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import Observations


class ZeroPolicy:
    """Does nothing, which for most actions holds the default pose."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        size = (env.num_envs, env.action_manager.total_action_dim)
        self._action = torch.zeros(size, device=env.device)

    def __call__(self, observations: Observations) -> torch.Tensor:
        """Return zeros, shape (num_envs, total_action_dim)."""
        return self._action

    def reset(self, dones: torch.Tensor) -> None:
        """Do nothing: there is nothing to forget."""


class RandomPolicy:
    """Draws every action from -1 to 1."""

    def __init__(self, env: ManagerBasedRlEnv, *, seed: int = 0) -> None:
        self._size = (env.num_envs, env.action_manager.total_action_dim)
        self._device = env.device
        # On the CPU, so that a seed means the same on every device.
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(self, observations: Observations) -> torch.Tensor:
        """Return new numbers, shape (num_envs, total_action_dim)."""
        unit = torch.rand(self._size, generator=self._generator)
        return (2.0 * unit - 1.0).to(self._device)

    def reset(self, dones: torch.Tensor) -> None:
        """Do nothing: there is nothing to forget."""
