"""Clocks of events that happen at intervals, counted in whole steps."""

from collections.abc import Sequence

import torch

from mjlab.random import WorldRng
from mjlab.tensors.masks import write_where

_MOST_STEPS = 2**24
"""Uniform random numbers have 24 bits."""


def steps_of(seconds: tuple[float, float], step_dt: float) -> tuple[int, int]:
    """Return the shortest and longest interval in steps, at least one.

    Args:
        seconds: The interval in seconds.
        step_dt: Duration of a step, s.
    """
    low, high = (
        min(max(1.0, round(min(time / step_dt, _MOST_STEPS))), _MOST_STEPS)
        for time in seconds
    )
    return int(low), int(high)


class IntervalTimers:
    """Several timers in each world, that ring and start anew with a random time."""

    def __init__(
        self,
        intervals: Sequence[tuple[int, int]],
        rng: WorldRng,
        *,
        owns_rng: bool = False,
    ) -> None:
        """Start the timers.

        Args:
            intervals: Shortest and longest interval of each timer, in steps.
            rng: Random numbers of the worlds that have timers.
            owns_rng: Whether the numbers are advanced here, because nobody else does.
        """
        device = rng.device
        self.rng = rng
        """Random numbers of the worlds that have timers."""
        self._owns_rng = owns_rng
        low = torch.tensor([low for low, _ in intervals], device=device)
        high = torch.tensor([high for _, high in intervals], device=device)
        self._low = low
        self._choices = (high - low + 1).float()
        self._is_random = bool((high > low).any())
        shape = (rng.num_envs, len(intervals))
        self.steps_left = torch.zeros(shape, dtype=torch.int64, device=device)
        """Steps until each timer rings, shape (num_envs, timers), int64."""
        self.reset(torch.ones(rng.num_envs, dtype=torch.bool, device=device))

    def advance(self) -> None:
        """Let a step pass."""
        self.steps_left.sub_(1)
        if self._owns_rng:
            self.rng.advance()

    def take_due(self) -> torch.Tensor:
        """Return which timers ring, shape (num_envs, timers), and start these anew."""
        due = self.steps_left <= 0
        fresh = self._draw("event/timers")
        torch.where(due, fresh, self.steps_left, out=self.steps_left)
        return due

    def reset(self, mask: torch.Tensor) -> None:
        """Start the timers anew in the worlds of `mask`, shape (num_envs,)."""
        write_where(self.steps_left, mask, self._draw("event/timers/reset"))

    def _draw(self, stream: str) -> torch.Tensor:
        if not self._is_random:
            return self._low
        unit = self.rng.draw(stream, self._low.shape)
        # The largest unit number is 1 - 2**-24, so the product stays below `choices`.
        return unit.mul_(self._choices).long().add_(self._low)
