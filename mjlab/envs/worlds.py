"""Common interface of batched environments, for learners and viewers.

`ManagerBasedRlEnv` implements it, as can any custom environment that returns one tensor
per quantity. The interfaces of RSL-RL and Gymnasium are built on it.
"""

from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, get_args

import torch

from mjlab.envs.spaces import Box, Dict, Discrete

When = Literal["same_step", "next_step", "never"]
"""When finished worlds are reset; see `mjlab.envs.autoreset.AutoReset`."""

WHENS: tuple[When, ...] = get_args(When)

Observed = TypeVar("Observed")


class Step(NamedTuple, Generic[Observed]):
    """Results of a step of all worlds."""

    observations: Observed
    """Tensor of shape (num_envs, ...), or several by name. In worlds that were reset,
    they belong to the new episode."""

    reward: torch.Tensor
    """Reward, shape (num_envs,), float32."""

    terminated: torch.Tensor
    """Worlds whose episode was terminated by the task, shape (num_envs,), bool."""

    truncated: torch.Tensor
    """Worlds whose episode was truncated by the time limit, shape (num_envs,), bool.
    A world can be both terminated and truncated."""

    extras: dict[str, Any]
    """Further results by name. "final_obs" is the terminal observation; it is present
    if requested, and valid in worlds whose episode ended."""


class Worlds(Protocol):
    """Interface of a batch of worlds that are stepped together on one device."""

    num_envs: int
    """Number of worlds."""

    device: torch.device
    """Device of the results."""

    max_episode_length: int
    """Steps after which an episode is truncated."""

    step_dt: float
    """Duration of a step, in seconds of simulated time."""

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Steps since each world was reset, shape (num_envs,), integer, live."""
        ...

    @property
    def single_observation_space(self) -> Box | Dict:
        """Observation space of one world."""
        ...

    @property
    def single_action_space(self) -> Box | Discrete:
        """Action space of one world."""
        ...

    def choose_resets(
        self,
        when: When,
        *,
        ignore_terminations: bool = False,
        final_obs: bool | None = None,
    ) -> None:
        """Choose when finished worlds are reset.

        Args:
            when: "same_step" resets at the end of the step, "next_step" in place of the
                next step; "never" leaves resets to the caller.
            ignore_terminations: Whether only time-outs end episodes.
            final_obs: Whether steps also return terminal observations. None keeps the
                configured value.
        """
        ...

    def reset(
        self, *, seed: int | list[int] | None = None, mask: torch.Tensor | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes; return the observations of all worlds, and extras.

        Args:
            seed: Seeds of the worlds' random numbers: seed + i for world i, or a list
                with one seed per world. None continues the current random streams.
            mask: Worlds to reset, shape (num_envs,), bool. None means all.
        """
        ...

    def step(self, action: torch.Tensor, /) -> Step[Any]:
        """Advance every world by one step."""
        ...

    def close(self) -> None:
        """Release resources."""
        ...
