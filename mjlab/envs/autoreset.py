"""Resets of worlds that end: in the same step, in the next one, or never."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from mjlab.envs.worlds import WHENS, Step, When
from mjlab.managers import Observations, RewardManager, TerminationManager
from mjlab.names import suggest
from mjlab.tensors.masks import fill_where, write_where


def check_when(when: When) -> None:
    """Raise for a choice that there is not."""
    if when not in WHENS:
        raise ValueError(f"Resets happen at {when!r}? " + suggest(str(when), WHENS))


def reset_ended(
    step: Step[Any],
    when: When,
    held_back: torch.Tensor,
    reset: Callable[[torch.Tensor], Any],
) -> Step[Any]:
    """Return a step of worlds that are reset from outside, as `AutoReset` would do.

    Args:
        step: What the worlds said of it, as tensors that the reset does not change.
        when: When worlds that ended are reset.
        held_back: Worlds that ended in the step before, shape (num_envs,), bool.
        reset: Resets the worlds of a mask, and returns what all worlds observe.
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
    """Resets of worlds that ended: their time, and what a step keeps of them.

    "same_step" resets them at the end of the step. With last observations, the step
    first goes on to its end without them, as if there were no reset, and is observed;
    then the worlds that ended are reset as `reset(mask=...)` would reset them.
    "next_step" leaves them as they ended, and resets them in place of their next step,
    in which they are held back. "never" leaves it to the caller. A world that diverged
    is observed as zeros until it is reset.
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
        """Allocate what the choice needs.

        Args:
            terminations: Says which worlds ended.
            rewards: Gives the reward of a step, which worlds that are held back do not
                get.
            when: When worlds that ended are reset.
            ignore_terminations: Whether only time ends episodes. A world whose numbers
                are not finite ends all the same.
            final_obs: Memory for the last observations before "same_step" resets
                worlds. None does without them.
            figures: What a step adds to the figures of episodes, which does not count
                in worlds that are held back.
        """
        check_when(when)
        self._terminations, self._rewards = terminations, rewards
        self.when: When = when
        self.ignore_terminations = ignore_terminations
        self.shows_ends = final_obs is not None and when == "same_step"
        """True for a step that observes worlds that end before it resets them."""
        self.final_obs: Observations = final_obs or {}
        """Last observations before resets; they count where an episode ended."""
        self.done = terminations.dones
        """Worlds that ended in this step, shape (num_envs,), bool."""
        self.held_back = torch.zeros_like(self.done)
        """Worlds that are reset in place of this step, shape (num_envs,), bool."""
        self._figures = list(figures) if when == "next_step" else []
        self._kept = [torch.zeros_like(figure) for figure in self._figures]

    def is_like(self, other: "AutoReset") -> bool:
        """Return True if another one does the same."""
        mine = (self.when, self.ignore_terminations, self.shows_ends)
        return mine == (other.when, other.ignore_terminations, other.shows_ends)

    def hold_back(self) -> None:
        """Hold back the worlds that ended in the last step, and keep their figures."""
        self.held_back.copy_(self.done)
        for kept, figure in zip(self._kept, self._figures, strict=True):
            kept.copy_(figure)

    def allowed(self, action: torch.Tensor) -> torch.Tensor:
        """Return the action of a step, zero in worlds that are held back."""
        if self.when != "next_step":
            return action
        return action.masked_fill(self.held_back[:, None], 0.0)

    def correct(self, diverged: torch.Tensor) -> None:
        """Remove terminations that are ignored, and figures of worlds held back.

        Args:
            diverged: Worlds whose state is not finite, shape (num_envs,), bool. They
                end although terminations are ignored.
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
        """Set `observed` to zero in diverged worlds, which are not reset yet."""
        for term in _terms(observed):
            fill_where(term, diverged, 0)

    def release(self, mask: torch.Tensor) -> None:
        """Note that the caller resets the worlds of `mask`: none of them waits."""
        if self.when == "next_step":
            self._terminations.spare(mask)


def _terms(observed: Observations) -> list[torch.Tensor]:
    """The tensors of all groups."""
    return [
        term
        for value in observed.values()
        for term in (value.values() if isinstance(value, dict) else [value])
    ]
