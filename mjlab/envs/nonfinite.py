"""Worlds that diverged: ended, counted, and kept out of learning."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import torch

from mjlab.managers import TerminationManager
from mjlab.sim import Health


class TooManyNonfiniteError(RuntimeError):
    """More worlds diverged than `max_nonfinite_share` of the configuration allows."""


class CountsNonfinite(Protocol):
    """A manager that counts the numbers of its terms that are not finite."""

    def take_nonfinite(self) -> dict[str, int]:
        """Counts by term since the last call."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change, the counters among them."""
        ...


class NonfiniteGuard:
    """Ends the episode of a world that diverged, or whose reward is not finite.

    `Health` says which states and controls diverged. The run goes on: such a world is
    reset like any other that ended, its reward of that step is zero, and it is counted,
    by the term where that is known.
    """

    def __init__(
        self,
        health: Health,
        terminations: TerminationManager,
        counting: Sequence[CountsNonfinite],
        steps: torch.Tensor,
        max_share: float,
    ) -> None:
        """Allocate the counters.

        Args:
            health: Finds worlds that diverged.
            terminations: Told which episodes end.
            counting: What is asked for counts by term.
            steps: The counter of steps, shape (), live.
            max_share: Share of world steps that may end so before a run is stopped.
        """
        self._health, self._steps, self._max_share = health, steps, max_share
        self._terminations = terminations
        self._counting = tuple(counting)
        self.diverged = torch.zeros_like(terminations.dones)
        """Worlds that diverged in the last step, shape (num_envs,), bool."""
        self.worlds = torch.zeros_like(steps)
        """Their number, summed over steps since it was taken last, shape ()."""
        # The step counter when counts were taken last.
        self._since = torch.zeros_like(steps)
        self._overflowed: dict[str, int] = {}

    def detect(self) -> None:
        """Find worlds whose state or control diverged."""
        self._health.check(out=self.diverged)

    def end_episodes(self) -> None:
        """End the episodes of worlds that diverged, or whose reward is not finite.

        The reward manager has added its own, and kept all of them out of its sums.
        """
        self._terminations.end(self.diverged)
        self.worlds += self.diverged.sum()

    def totals(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return how much was not finite, and how often there was no room.

        The first counts since `take_counts`, the second since the worlds were built,
        both of shape (1,). Nothing is read from the device.
        """
        found = [
            tensor
            for manager in self._counting
            for name, tensor in manager.state().items()
            if name.endswith(("nonfinite", "nonfinite_counts"))
            and tensor.dtype == torch.int64
        ]
        return _sum([self.worlds, *found]), _sum(self._health.overflow().values())

    def take_counts(self) -> dict[str, float]:
        """Counts since the last call; raises if they are too many.

        This waits for the device.
        """
        worlds = int(self.worlds)
        steps = int(self._steps - self._since) * self.diverged.shape[0]
        self.worlds.zero_()
        self.begin_share()
        by_term = {
            name: count
            for manager in self._counting
            for name, count in manager.take_nonfinite().items()
            if count
        }
        check_share(worlds, steps, by_term, self._max_share)
        counts = {f"Health/nonfinite/{name}": float(n) for name, n in by_term.items()}
        return {"Health/nonfinite": float(worlds)} | counts | self._overflows()

    def begin_share(self) -> None:
        """Count world steps for `max_nonfinite_share` from here on."""
        self._since.copy_(self._steps)

    def no_counts(self) -> dict[str, float]:
        """Return what `take_counts` would where `totals` are zero, without a wait."""
        self.begin_share()
        lacks = {f"Health/overflow/{kind}": 0.0 for kind in self._health.overflow()}
        return {"Health/nonfinite": 0.0} | lacks

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        return {"worlds": self.worlds, "since": self._since}

    def _overflows(self) -> dict[str, float]:
        """Events of missing room since the last call; a new one is said aloud."""
        report = self._health.read()
        new = {k: n - self._overflowed.get(k, 0) for k, n in report.overflow.items()}
        self._overflowed = dict(report.overflow)
        if any(n > 0 for n in new.values()):
            warnings.warn("; ".join(report.advice), RuntimeWarning, stacklevel=5)
        return {f"Health/overflow/{kind}": float(n) for kind, n in new.items()}


def _sum(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    return torch.stack([tensor.sum() for tensor in tensors]).sum().reshape(1)


def check_share(
    worlds: int, steps: int, by_term: Mapping[str, int], max_share: float
) -> None:
    """Raise if too many of the steps of all worlds ended in numbers not finite."""
    share = worlds / max(1, steps)
    if share > max_share:
        said = ", ".join(f"{name} {count}" for name, count in by_term.items())
        raise TooManyNonfiniteError(
            f"{worlds} of {steps} world steps ended in numbers that "
            f"are not finite, a share of {share:.3f}; max_nonfinite_share is "
            f"{max_share}. By term: {said or 'none but physics'}."
        )
