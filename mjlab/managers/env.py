"""What managers need of the environment that they belong to."""

from typing import Protocol

import torch

from mjlab.managers.log import EpisodeLog
from mjlab.random.rng import WorldRng
from mjlab.scene import Scene
from mjlab.sim import Simulation


class ActionParts(Protocol):
    """The last action, by the term that takes a part of it."""

    def part(self, name: str) -> torch.Tensor:
        """The part of a term, shape (num_envs, action_dim), live."""
        ...


class Env(Protocol):
    """Physics, scene, time and random numbers: what stands below all managers."""

    @property
    def num_envs(self) -> int:
        """Number of worlds."""
        ...

    @property
    def device(self) -> torch.device:
        """Where all tensors live."""
        ...

    @property
    def sim(self) -> Simulation:
        """Physics."""
        ...

    @property
    def scene(self) -> Scene:
        """Entities, sensors and ground."""
        ...

    @property
    def rng(self) -> WorldRng:
        """Random numbers of the worlds.

        A draw names its stream, such as "event/push_root". The environment moves every
        world's counter on once a step, and once more when a world is reset, so the
        same stream gives new numbers then, and only then.
        """
        ...

    @property
    def physics_dt(self) -> float:
        """Duration of a physics step, s."""
        ...

    @property
    def step_dt(self) -> float:
        """Duration of a step of the environment, s."""
        ...

    @property
    def max_episode_length_s(self) -> float:
        """Duration of an episode that nothing ends before its time, s."""
        ...

    @property
    def max_episode_length(self) -> int:
        """Steps of an episode that nothing ends before its time."""
        ...

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps since each world was reset, shape (num_envs,), int64."""
        ...

    @property
    def common_step_counter(self) -> torch.Tensor:
        """Steps since the environment was built, shape (), int64."""
        ...

    @property
    def episode_log(self) -> EpisodeLog:
        """Figures of episodes that ended."""
        ...

    @property
    def action_manager(self) -> ActionParts:
        """The last action."""
        ...
