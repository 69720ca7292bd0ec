"""Selected columns of tensors of shape (num_envs, columns, ...)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from mjlab.tensors.masks import write_where

LocalIds = slice | torch.Tensor
"""Local indices of an entity's elements: a slice, or int64 indices on the device."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns (dimension 1) of tensors, without duplicates.

    Contiguous columns are read as a live view without a copy; others are gathered.
    """

    ids: torch.Tensor
    """The columns, int64, on the device."""

    run: slice | None
    """The columns as a slice, None if they are not contiguous."""

    @classmethod
    def of(cls, ids: Sequence[int], device: torch.device | str) -> Columns:
        """Create the columns from a list of indices; contiguous ones become a slice."""
        start = ids[0] if ids else 0
        neighbours = list(ids) == list(range(start, start + len(ids)))
        return cls(
            torch.tensor(list(ids), dtype=torch.int64, device=device),
            slice(start, start + len(ids)) if neighbours else None,
        )

    def __len__(self) -> int:
        return self.ids.shape[0]

    def read(self, field: torch.Tensor) -> torch.Tensor:
        """Return the columns of `field`, shape (num_envs, len, ...)."""
        if self.run is not None:
            return field[:, self.run]
        return field.index_select(1, self.ids)

    def write(
        self, field: torch.Tensor, mask: torch.Tensor, value: torch.Tensor | float
    ) -> None:
        """Write the columns of `field` in the worlds of `mask`, in place."""
        columns = self.read(field)
        write_where(columns, mask, value)
        if self.run is None:
            field.index_copy_(1, self.ids, columns)

    def write_all(self, field: torch.Tensor, values: torch.Tensor) -> None:
        """Write the columns of `field` in every world, in place."""
        if self.run is not None:
            field[:, self.run].copy_(values)
        else:
            field.index_copy_(1, self.ids, values)

    def move(self, source: torch.Tensor, target: torch.Tensor, places: Columns) -> None:
        """Copy these columns of `source` into the columns `places` of `target`."""
        if self.run is None and places.run is not None:
            torch.index_select(source, 1, self.ids, out=target[:, places.run])
        else:
            places.write_all(target, self.read(source))

    def take(self, local_ids: LocalIds | None) -> Columns:
        """Select columns by index within this set; None selects all."""
        if local_ids is None:
            return self
        run = None
        if isinstance(local_ids, slice) and self.run is not None:
            chosen = range(self.run.start, self.run.stop)[local_ids]
            run = slice(chosen.start, chosen.stop) if chosen.step == 1 else None
        return Columns(self.ids[local_ids], run)
