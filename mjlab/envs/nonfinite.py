"""Diverged worlds: termination, counting, and exclusion from learning."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import torch

from mjlab.managers import TerminationManager
from mjlab.sim import Health


class TooManyNonfiniteError(RuntimeError):
    """Raised if more worlds diverged than `max_nonfinite_share` allows."""


class CountsNonfinite(Protocol):
    """Interface of a manager that counts the non-finite values of its terms."""

    def take_nonfinite(self) -> dict[str, int]:
        """Return the counts of non-finite values since the last call, by term."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, including the counters."""
        ...


class NonfiniteGuard:
    """Ends the episodes of worlds that diverged, or whose reward is not finite.

    `Health` detects diverged states and controls. The run continues: a diverged world
    is reset like any other finished world, and its reward in that step is zero.
    Non-finite values are counted, by term where the term is known.
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
            health: Detects diverged worlds.
            terminations: Termination manager that ends the episodes of diverged worlds.
            counting: Managers that count non-finite values by term.
            steps: Step counter, shape (), live.
            max_share: Maximum fraction of diverged world steps. A larger fraction
                raises `TooManyNonfiniteError`.
        """
        self._health, self._steps, self._max_share = health, steps, max_share
        self._terminations = terminations
        self._counting = tuple(counting)
        self.diverged = torch.zeros_like(terminations.dones)
        """Worlds that diverged in the last step, shape (num_envs,), bool."""
        self.worlds = torch.zeros_like(steps)
        """Diverged worlds, summed over steps since the last count, shape ()."""
        # Step counter at the last count.
        self._since = torch.zeros_like(steps)
        self._overflowed: dict[str, int] = {}

    def detect(self) -> None:
        """Detect worlds whose state or control diverged."""
        self._health.check(out=self.diverged)

    def end_episodes(self) -> None:
        """End the episodes of worlds that diverged, or whose reward is not finite.

        The reward manager has already added worlds with a non-finite reward to
        `diverged`, and excluded all diverged worlds from its sums.
        """
        self._terminations.end(self.diverged)
        self.worlds += self.diverged.sum()

    def totals(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the number of non-finite values and the number of buffer overflows.

        Both have shape (1,). Non-finite values are counted since the last call of
        `take_counts`, overflows since the worlds were built. Does not synchronise with
        the device.
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
        """Return the counts of diverged worlds since the last call.

        Raise if they exceed the maximum fraction of world steps.

        Synchronises with the device.
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
        """Restart the count of world steps for `max_nonfinite_share`."""
        self._since.copy_(self._steps)

    def no_counts(self) -> dict[str, float]:
        """Return counts of zero without synchronisation; used if `totals` are zero."""
        self.begin_share()
        lacks = {f"Health/overflow/{kind}": 0.0 for kind in self._health.overflow()}
        return {"Health/nonfinite": 0.0} | lacks

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, for snapshots."""
        return {"worlds": self.worlds, "since": self._since}

    def _overflows(self) -> dict[str, float]:
        """Return the overflow events since the last call; warn about new ones."""
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
    """Raise if the fraction of diverged world steps exceeds `max_share`."""
    share = worlds / max(1, steps)
    if share > max_share:
        said = ", ".join(f"{name} ({count})" for name, count in by_term.items())
        raise TooManyNonfiniteError(
            f"NaN or infinity in {worlds} of {steps} world steps ({share:.1%}; "
            f"max_nonfinite_share allows {max_share:.1%}). Terms with NaN or infinity: "
            f"{said or 'none, only the physics state'}."
        )
