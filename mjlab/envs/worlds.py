"""Worlds that are stepped together: one interface for all who learn or look on.

`ManagerBasedRlEnv` is such worlds, and so is anything written by hand that answers with
one tensor for each quantity. RSL-RL's and Gymnasium's forms are made from it.
"""

from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, get_args

import torch

from mjlab.envs.spaces import Box, Dict, Discrete

When = Literal["same_step", "next_step", "never"]
"""When worlds that end are reset; see `mjlab.envs.autoreset.AutoReset`."""

WHENS: tuple[When, ...] = get_args(When)

Observed = TypeVar("Observed")


class Step(NamedTuple, Generic[Observed]):
    """Results of a step of all worlds."""

    observations: Observed
    """One tensor of shape (num_envs, ...), or several by name; of the new episode where
    one began."""

    reward: torch.Tensor
    """Shape (num_envs,), float32."""

    terminated: torch.Tensor
    """Worlds whose episode the task ended, shape (num_envs,), bool."""

    truncated: torch.Tensor
    """Worlds whose time was over, shape (num_envs,), bool. Both may hold."""

    extras: dict[str, Any]
    """More by name. "final_obs" is what was observed before new episodes began; it
    counts where an episode ended, and is there where it was asked for."""


class Worlds(Protocol):
    """Worlds that are stepped together."""

    num_envs: int
    """Number of worlds."""

    device: torch.device
    """Where results are."""

    max_episode_length: int
    """Steps after which an episode is truncated."""

    step_dt: float
    """Seconds that a step takes in the worlds."""

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps since each world was reset, shape (num_envs,), of integers, live."""
        ...

    @property
    def single_observation_space(self) -> Box | Dict:
        """Space of what one world observes."""
        ...

    @property
    def single_action_space(self) -> Box | Discrete:
        """Space of what one world takes."""
        ...

    def choose_resets(
        self,
        when: When,
        *,
        ignore_terminations: bool = False,
        final_obs: bool | None = None,
    ) -> None:
        """Choose when worlds that end are reset.

        Args:
            when: In the same step, in place of the next one, or by the caller alone.
            ignore_terminations: Whether only time ends episodes.
            final_obs: Whether steps also return what was observed before resets. None
                leaves it as it was configured.
        """
        ...

    def reset(
        self, *, seed: int | list[int] | None = None, mask: torch.Tensor | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes; return what all worlds observe, and extras.

        Args:
            seed: Seeds of the worlds' random numbers: seed + i for world i, or a list
                with one for each. None goes on with the present ones.
            mask: The worlds to reset, shape (num_envs,), bool. None means all.
        """
        ...

    def step(self, action: torch.Tensor, /) -> Step[Any]:
        """Advance every world by one step."""
        ...

    def close(self) -> None:
        """Let go of what is held."""
        ...
