"""Figures of episodes that ended in any worker."""

from __future__ import annotations

from collections.abc import Sequence

import torch

_SUMS, _LATEST = "log.sums_and_count", "log.latest"


class MergedLog:
    """What `EpisodeLog` is for the worlds of one process, for those of several.

    Sums are over worlds, so that their last digits depend on how these are divided;
    nothing that learns reads them.
    """

    def __init__(self, keys: Sequence[str], device: torch.device) -> None:
        self.keys = list(keys)
        """Names of the figures."""
        self._device = device
        self._sums_and_count = torch.zeros(len(keys) + 1)
        self._latest = torch.zeros(len(keys))

    def add(self, sums_and_count: torch.Tensor) -> None:
        """Take in the episodes that ended in a step, as sums and their number."""
        self._sums_and_count += sums_and_count
        count = float(sums_and_count[-1])
        if count:
            self._latest = sums_and_count[:-1] / count

    def latest(self) -> dict[str, torch.Tensor]:
        """Means over the episodes that ended in the last step in which any did."""
        values = self._latest.to(self._device, copy=True).unbind()
        return dict(zip(self.keys, values, strict=True))

    def take(self) -> tuple[dict[str, float], int]:
        """Means over all episodes since the last call, and their number."""
        *sums, count = self.drain().tolist()
        means = [total / max(count, 1.0) for total in sums]
        return dict(zip(self.keys, means, strict=True)), int(count)

    def drain(self) -> torch.Tensor:
        """Sums over all episodes since the last call, and last their number."""
        sums_and_count = self._sums_and_count.to(self._device, copy=True)
        self._sums_and_count.zero_()
        return sums_and_count

    def state(self) -> dict[str, torch.Tensor]:
        """Copies of what it holds, by their names in the environment's state."""
        return {_SUMS: self._sums_and_count.clone(), _LATEST: self._latest.clone()}

    def load_state(self, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Hold that again; return the state that is left for the workers."""
        self._sums_and_count = state[_SUMS].cpu().clone()
        self._latest = state[_LATEST].cpu().clone()
        return state | {_SUMS: torch.zeros_like(self._sums_and_count)}
