"""Torques from activations and back, in the reduced form of the map."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from mjlab.muscle.map import MuscleMap


class TorqueMap:
    """Multiplies with the matrix whose few entries are `red`, for many worlds at once.

    Sums are over gathered rows of fixed length: they need no atomic operation, so that
    a world's torques have the same bits on every run and whatever other worlds there
    are.
    """

    def __init__(
        self, muscle_map: MuscleMap, device: torch.device | str = "cpu"
    ) -> None:
        """Put the indices where the worlds are.

        Args:
            muscle_map: Which muscles cross which joints.
            device: Where the worlds are.
        """
        self.num_muscles = muscle_map.num_muscles
        self.num_dofs = muscle_map.num_dofs
        self.num_entries = muscle_map.num_entries
        muscles, dofs = muscle_map.entry_muscle, muscle_map.entry_dof
        self._muscle = torch.tensor(muscles, device=device)
        self._dof = torch.tensor(dofs, device=device)
        self._of_dof = _Gather(dofs, self.num_dofs, device)
        self._of_muscle = _Gather(muscles, self.num_muscles, device)
        cells = [d * self.num_muscles + m for m, d in zip(muscles, dofs, strict=True)]
        self._of_cell = _Gather(cells, self.num_dofs * self.num_muscles, device)

    def torque(self, red: torch.Tensor, activation: torch.Tensor) -> torch.Tensor:
        """Return the torques of activations, in N m, shape (rows, num_dofs).

        Args:
            red: The reduced torque map, in N m, shape (rows, num_entries).
            activation: Shape (rows, num_muscles).
        """
        return self._of_dof.sum(red * activation.index_select(-1, self._muscle))

    def pull(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return the product with the transposed matrix, shape (rows, num_muscles).

        Args:
            red: The reduced torque map, in N m, shape (rows, num_entries).
            torque: Shape (rows, num_dofs).
        """
        return self._of_muscle.sum(red * torque.index_select(-1, self._dof))

    def muscle_to_entries(self, values: torch.Tensor) -> torch.Tensor:
        """Return a value of each entry's muscle, shape (rows, num_entries)."""
        return values.index_select(-1, self._muscle)

    def sum_by_dof(self, entries: torch.Tensor) -> torch.Tensor:
        """Return the sum of the entries of each dof, shape (rows, num_dofs)."""
        return self._of_dof.sum(entries)

    def capacity(self, red: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the lowest and highest active torques, each (rows, num_dofs), N m."""
        return (
            self._of_dof.sum(red.clamp_max(0.0)),
            self._of_dof.sum(red.clamp_min(0.0)),
        )

    def dense(self, red: torch.Tensor) -> torch.Tensor:
        """Return the whole matrix, shape (rows, num_dofs, num_muscles)."""
        return self._of_cell.sum(red).view(-1, self.num_dofs, self.num_muscles)


class _Gather:
    """Sums the entries that belong to each of a number of targets."""

    def __init__(
        self, target: Sequence[int], count: int, device: torch.device | str
    ) -> None:
        rows = [[k for k, t in enumerate(target) if t == i] for i in range(count)]
        width = max(map(len, rows))
        # A short row is filled up with entry 0, which its weight of 0 removes.
        index = [row + [0] * (width - len(row)) for row in rows]
        share = [[1.0] * len(row) + [0.0] * (width - len(row)) for row in rows]
        self._index = torch.tensor(index, device=device).view(-1)
        shares = torch.tensor(share, device=device, dtype=torch.float64)
        self._shares = {
            dtype: shares.to(dtype) for dtype in (torch.float32, torch.float64)
        }
        self._shape = (-1, count, width)

    def sum(self, entries: torch.Tensor) -> torch.Tensor:
        gathered = entries.index_select(-1, self._index).view(self._shape)
        return (gathered * self._shares[entries.dtype]).sum(-1)
