"""Rows of model fields that are one of several things in each world."""

from collections.abc import Sequence

import numpy as np
import torch

from mjlab.sim.fields import surface_dtype, surface_shape
from mjlab.tensors.masks import write_where


class ModelTable:
    """What some rows of a model field are, for each of several choices."""

    def __init__(
        self, owner: str, field: str, rows: Sequence[int], values: np.ndarray
    ) -> None:
        """Take the values as they are compiled.

        Args:
            owner: Name of the entity whose rows they are.
            field: The model field.
            rows: Which of its rows are meant, without repetition.
            values: Shape (num_choices, len(rows), ...).
        """
        self.owner = owner
        self.field = field
        self.rows = np.array(rows, dtype=np.int64)
        """Shape (len,)."""
        self.values = values
        """Shape (num_choices, len, ...), in MuJoCo's own type."""
        self._on_device: tuple[torch.Tensor, torch.Tensor] | None = None

    def write_array(
        self, array: np.ndarray, worlds: np.ndarray, choice: np.ndarray
    ) -> None:
        """Write the rows of the listed worlds, exactly as compiled.

        Args:
            array: The whole field, shape (num_envs, ...).
            worlds: Which worlds.
            choice: The choice of each of them.
        """
        array[np.ix_(worlds, self.rows)] = self.values[choice]

    def write_tensor(
        self, live: torch.Tensor, choice: torch.Tensor, mask: torch.Tensor
    ) -> None:
        """Write the rows of the worlds of `mask`, which a graph can record.

        Args:
            live: The whole field, shape (num_envs, ...), float32 or int32.
            choice: The choice of each world, shape (num_envs,), int64.
            mask: Shape (num_envs,), bool.
        """
        if self._on_device is None:
            self._on_device = self._tensors(live.device)
        rows, values = self._on_device
        written = live.index_select(1, rows)
        write_where(written, mask, values.index_select(0, choice))
        live.index_copy_(1, rows, written)

    def _tensors(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        shape = surface_shape(self.field, self.values.shape[2:])
        values = self.values.astype(surface_dtype(self.field, self.values.dtype))
        values = values.reshape(*self.values.shape[:2], *shape)
        return (
            torch.from_numpy(self.rows).to(device),
            torch.from_numpy(values).to(device),
        )
