"""An environment without physics, for tests of single managers."""

from types import SimpleNamespace
from typing import Any

import torch

from mjlab.managers.env import EpisodeLog
from mjlab.random import WorldRng
from mjlab.sim.views import Reads


class FakeEnv:
    """Environment interface of terms, with attributes added by tests."""

    def __init__(self, num_envs: int = 4, *, seed: int = 7, **extras: Any) -> None:
        self.num_envs = num_envs
        self.device = torch.device("cpu")
        self.rng = WorldRng(num_envs, seed, self.device)
        self.physics_dt, self.step_dt = 0.005, 0.02
        self.max_episode_length_s, self.max_episode_length = 10.0, 500
        self.episode_length_buf = torch.zeros(num_envs, dtype=torch.int64)
        self.common_step_counter = torch.zeros((), dtype=torch.int64)
        self.episode_log = EpisodeLog(num_envs, self.device)
        self.sim: Any = SimpleNamespace(reads=Reads())
        self.scene: Any = None
        for name, value in extras.items():
            setattr(self, name, value)

    def mask(self, *worlds: int) -> torch.Tensor:
        """Return the mask of `worlds`."""
        return torch.tensor([i in worlds for i in range(self.num_envs)])

    @property
    def everyone(self) -> torch.Tensor:
        """The mask of all worlds."""
        return torch.ones(self.num_envs, dtype=torch.bool)
