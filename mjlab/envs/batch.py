"""What any batch of worlds offers, however it is made: the floor of all adapters.

A `BatchEnv` is stepped with one tensor and answers with one tensor for each quantity.
RSL-RL's interface is made from it by `mjlab.rl.batch_vecenv.BatchVecEnv`. Gymnasium's
`VectorEnv` can be made from it in `mjlab/gym`: all that it asks for is here
(spaces of one world, seeds as an integer or a list, a reset of some worlds, what was
observed last before a reset, and whether worlds that end begin anew by themselves).
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch

from mjlab.envs.env import ManagerBasedRlEnv
from mjlab.envs.spaces import Box, action_space
from mjlab.managers import Observations
from mjlab.names import UnknownNameError, suggest


@dataclass(frozen=True)
class Ranges:
    """Numbers of type float32 side by side, each between bounds of its own."""

    low: tuple[float, ...]
    """Smallest value of each."""

    high: tuple[float, ...]
    """Largest value of each."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one world's value."""
        return (len(self.low),)


@dataclass(frozen=True)
class Discrete:
    """One of the whole numbers from 0 to below `n`, of type int64."""

    n: int
    """How many there are to choose from."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one world's value."""
        return ()


class Step(NamedTuple):
    """What a step of all worlds gives back."""

    observations: torch.Tensor
    """Shape (num_envs, ...), float32; of the new episode where one began."""

    reward: torch.Tensor
    """Shape (num_envs,), float32."""

    terminated: torch.Tensor
    """Whether the task ended the episode, shape (num_envs,), bool."""

    truncated: torch.Tensor
    """Whether time ended it, shape (num_envs,), bool. Both may hold."""

    final_observations: torch.Tensor | None
    """What was observed before a new episode began, shape (num_envs, ...); the same as
    `observations` where none did. None where it was not asked for."""


class BatchEnv(Protocol):
    """Worlds that are stepped together."""

    num_envs: int
    """Number of worlds."""

    device: torch.device
    """Where results are."""

    max_episode_length: int
    """Steps after which an episode is truncated."""

    autoreset: bool
    """Whether a world that ends begins a new episode in the same step."""

    @property
    def observation_space(self) -> Box | Ranges:
        """What one world observes."""
        ...

    @property
    def action_space(self) -> Box | Discrete:
        """What one world takes."""
        ...

    def reset(
        self, *, seed: int | list[int] | None = None, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Begin new episodes, in the worlds of `mask` or in all; return observations.

        Args:
            seed: Seeds of the worlds' random numbers: seed + i for world i, or a list
                with one for each. None goes on with the present ones.
            mask: Shape (num_envs,), bool. None means all.
        """
        ...

    def step(self, actions: torch.Tensor) -> Step:
        """Advance every world by one step."""
        ...

    def close(self) -> None:
        """Let go of what is held."""
        ...


class ManagedBatch:
    """A manager-based environment as a `BatchEnv`: one of its observation groups."""

    autoreset = True

    def __init__(self, env: ManagerBasedRlEnv, group: str = "actor") -> None:
        """Reset the worlds.

        Args:
            env: The environment.
            group: The observation group to show, whose terms are concatenated.
        """
        self.env = env
        self.num_envs = env.num_envs
        self.device = env.device
        self.max_episode_length = env.max_episode_length
        self._group = group
        self._last = self._seen(env.reset()[0])
        self.action_space = action_space(env)
        self.observation_space = Box(tuple(self._last.shape[1:]))

    def reset(
        self, *, seed: int | list[int] | None = None, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Begin new episodes; see `BatchEnv.reset`."""
        self._last = self._seen(self.env.reset(seed=seed, mask=mask)[0])
        return self._last

    def step(self, actions: torch.Tensor) -> Step:
        """Advance every world by one step."""
        observations, reward, terminated, truncated, extras = self.env.step(actions)
        final = extras.get("final_obs")
        return Step(
            self._seen(observations),
            reward,
            terminated,
            truncated,
            None if final is None else self._seen(final),
        )

    def close(self) -> None:
        """Let go of what is recorded."""
        self.env.close()

    def _seen(self, observations: Observations) -> torch.Tensor:
        value = observations.get(self._group)
        if value is None:
            hint = suggest(self._group, list(observations))
            raise UnknownNameError(
                f"There is no observation group {self._group!r}. {hint}"
            )
        if isinstance(value, dict):
            raise ValueError(
                f"The terms of the observation group {self._group!r} are not "
                "concatenated, so it is not one tensor. Choose another group."
            )
        return value
