"""Figures of episodes that ended, averaged on the device."""

from collections.abc import Sequence

import torch


class EpisodeLog:
    """Collects one value a key and world when episodes end.

    Managers write their values for all worlds; `fold` adds those of the worlds that
    ended. Nothing is read back until somebody asks for numbers.
    """

    def __init__(self, num_envs: int, device: torch.device) -> None:
        self._num_envs = num_envs
        self._device = device
        self.keys: list[str] = []
        """Names of the figures, in the order of registration."""
        self._allocate()

    def register(self, keys: Sequence[str]) -> slice:
        """Reserve columns for `keys`; return where `write` puts their values."""
        start = len(self.keys)
        self.keys.extend(keys)
        self._allocate()
        return slice(start, len(self.keys))

    def write(self, columns: slice, values: torch.Tensor) -> None:
        """Set the present values of registered columns, shape (num_envs, columns)."""
        self._values[:, columns] = values

    def fold(self, mask: torch.Tensor) -> None:
        """Take the values of the worlds of `mask` into the averages."""
        sums = torch.where(mask.unsqueeze(1), self._values, self._zero).sum(dim=0)
        count = mask.sum()
        self._sums += sums
        self._count += count
        mean = sums / count.clamp(min=1)
        torch.where(count > 0, mean, self._latest, out=self._latest)

    def latest(self) -> dict[str, torch.Tensor]:
        """Means over the episodes that ended in the last step in which any did.

        A fresh dictionary of scalars on the device. Before the first episode has
        ended, the values are zero.
        """
        return dict(zip(self.keys, self._latest.clone().unbind(), strict=True))

    def take(self) -> tuple[dict[str, float], int]:
        """Means over all episodes since the last call, and their number.

        This waits for the device.
        """
        count = int(self._count)
        means = (self._sums / max(count, 1)).tolist()
        self._sums.zero_()
        self._count.zero_()
        return dict(zip(self.keys, means, strict=True)), count

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        return {"sums": self._sums, "count": self._count, "latest": self._latest}

    def _allocate(self) -> None:
        size = len(self.keys)
        self._values = torch.zeros(self._num_envs, size, device=self._device)
        self._zero = torch.zeros((), device=self._device)
        self._sums = torch.zeros(size, device=self._device)
        self._count = torch.zeros((), dtype=torch.int64, device=self._device)
        self._latest = torch.zeros(size, device=self._device)
