"""Automatic resets of finished episodes: same step, next step, or never."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from mjlab.envs.worlds import WHENS, Step, When
from mjlab.managers import Observations, RewardManager, TerminationManager
from mjlab.names import suggest
from mjlab.tensors.masks import fill_where, write_where


def check_when(when: When) -> None:
    """Raise if `when` is not a valid choice."""
    if when not in WHENS:
        raise ValueError(
            f"Reset time {when!r} is unknown. " + suggest(str(when), WHENS)
        )


def reset_ended(
    step: Step[Any],
    when: When,
    held_back: torch.Tensor,
    reset: Callable[[torch.Tensor], Any],
) -> Step[Any]:
    """Apply the reset mode to the step of an environment that has no `AutoReset`.

    The results are the same as with `AutoReset`.

    Args:
        step: Result of the step. Its tensors must be copies, which `reset` does not
            overwrite.
        when: When finished worlds are reset.
        held_back: Worlds that finished in the previous step, shape (num_envs,), bool.
        reset: Resets the worlds of a mask, and returns the observations of all worlds.
    """
    if when == "never":
        return step
    if when == "same_step":
        first = reset(step.terminated | step.truncated)
        extras = step.extras | {"final_obs": step.observations}
        return step._replace(observations=first, extras=extras)
    goes_on = ~held_back
    return step._replace(
        observations=reset(held_back),
        reward=step.reward * goes_on,
        terminated=step.terminated & goes_on,
        truncated=step.truncated & goes_on,
    )


class AutoReset:
    """Automatic resets: when finished worlds are reset, and which results a step keeps.

    "same_step" resets finished worlds at the end of the step. With terminal
    observations, the step first computes the observations of all worlds without a
    reset, and then resets finished worlds as `reset(mask=...)` does. "next_step" leaves
    finished worlds unchanged, and resets them instead of stepping them in the next
    step; these worlds are called held back. "never" leaves resets to the caller. The
    observations of a diverged world are zero until it is reset.
    """

    def __init__(
        self,
        terminations: TerminationManager,
        rewards: RewardManager,
        when: When = "same_step",
        *,
        ignore_terminations: bool = False,
        final_obs: Observations | None = None,
        figures: Sequence[torch.Tensor] = (),
    ) -> None:
        """Allocate the buffers of the reset mode.

        Args:
            terminations: Termination manager, which determines the finished worlds.
            rewards: Reward manager. Rewards of held-back worlds are set to zero.
            when: When finished worlds are reset.
            ignore_terminations: End episodes only by time-outs. Worlds with non-finite
                values are still terminated.
            final_obs: Buffers for the terminal observations before "same_step" resets.
                None disables them.
            figures: Tensors of episode statistics. "next_step" discards their updates
                in held-back worlds.
        """
        check_when(when)
        self._terminations, self._rewards = terminations, rewards
        self.when: When = when
        self.ignore_terminations = ignore_terminations
        self.shows_ends = final_obs is not None and when == "same_step"
        """True if a step observes finished worlds before it resets them."""
        self.final_obs: Observations = final_obs or {}
        """Terminal observations; valid in worlds whose episode ended."""
        self.done = terminations.dones
        """Worlds that finished in this step, shape (num_envs,), bool."""
        self.held_back = torch.zeros_like(self.done)
        """Worlds that are reset instead of stepped, shape (num_envs,), bool."""
        self._figures = list(figures) if when == "next_step" else []
        self._kept = [torch.zeros_like(figure) for figure in self._figures]

    def is_like(self, other: "AutoReset") -> bool:
        """Return True if `other` has the same reset settings."""
        mine = (self.when, self.ignore_terminations, self.shows_ends)
        return mine == (other.when, other.ignore_terminations, other.shows_ends)

    def hold_back(self) -> None:
        """Hold back the worlds that just finished, and save their statistics."""
        self.held_back.copy_(self.done)
        for kept, figure in zip(self._kept, self._figures, strict=True):
            kept.copy_(figure)

    def allowed(self, action: torch.Tensor) -> torch.Tensor:
        """Return the action, set to zero in held-back worlds."""
        if self.when != "next_step":
            return action
        return action.masked_fill(self.held_back[:, None], 0.0)

    def correct(self, diverged: torch.Tensor) -> None:
        """Remove ignored terminations, and restore the statistics of held-back worlds.

        Args:
            diverged: Worlds with a non-finite state, shape (num_envs,), bool. They are
                terminated even if terminations are ignored.
        """
        if self.ignore_terminations:
            self._terminations.keep_time_outs(diverged)
        if self.when != "next_step":
            return
        for kept, figure in zip(self._kept, self._figures, strict=True):
            write_where(figure, self.held_back, kept)
        fill_where(self._rewards.reward, self.held_back, 0.0)
        self._terminations.spare(self.held_back)

    def keep(self, observed: Observations, diverged: torch.Tensor) -> None:
        """Copy `observed` into `final_obs`, with zeros in diverged worlds."""
        for term, kept in zip(_terms(observed), _terms(self.final_obs), strict=True):
            kept.copy_(term)
            fill_where(kept, diverged, 0)

    def hide(self, observed: Observations, diverged: torch.Tensor) -> None:
        """Set `observed` to zero in diverged worlds that are not reset yet."""
        for term in _terms(observed):
            fill_where(term, diverged, 0)

    def release(self, mask: torch.Tensor) -> None:
        """Clear the pending reset of the worlds in `mask`, which the caller resets."""
        if self.when == "next_step":
            self._terminations.spare(mask)


def _terms(observed: Observations) -> list[torch.Tensor]:
    """Return the tensors of all groups."""
    return [
        term
        for value in observed.values()
        for term in (value.values() if isinstance(value, dict) else [value])
    ]
