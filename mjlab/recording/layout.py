"""Layout of recorded data in memory: one row of bytes for each world and step."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from mjlab.recording.config import RecordingError

if TYPE_CHECKING:  # The writer process does not import torch.
    import torch

Role = Literal["step", "state", "last", "start", "attribute"]

CONTROL = ("stepped", "ending", "begins")
"""First bytes of a row: whether the world stepped, the `Ending` of its episode, and
whether another episode begins after the row.
"""


class Ending(IntEnum):
    """Whether a world's episode continues or ends after a row."""

    CONTINUES = 0
    """The episode continues."""

    WRITTEN = 1
    """The episode ends, and is written if it has a step."""

    HELD = 2
    """The episode ends, and is held until `REQUESTED`, or until another is held."""

    DROPPED = 3
    """The episode ends, and is not written."""

    REQUESTED = 4
    """The held episode is written. If no episode is held, the current episode ends and
    is written."""

    REQUESTED_EMPTY = 5
    """Like `REQUESTED`, also for an episode without a step."""

    DISCARDED = 6
    """The held episode is not written. If no episode is held, the current episode ends
    and is not written."""


@dataclass(frozen=True)
class RecordedField:
    """Recorded tensor, with a row for each world or shared by all worlds."""

    name: str
    """Path in an episode, such as "obs/actor"."""

    shape: tuple[int, ...]
    """Shape of one world's value."""

    dtype: str
    """NumPy name of the type, such as "float32"."""

    role: Role = "step"
    """"step": one row for each of the T steps of an episode.

    "state": T + 1 rows, the first one from the start of the episode. "last": only the
    row of the last step. "start": one value from the start; all fields of a folder form
    one record. "attribute": an attribute of the episode.
    """

    @property
    def nbytes(self) -> int:
        """Size of one world's value, bytes."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize


def field_of(
    name: str, value: "torch.Tensor", num_envs: int, role: Role
) -> RecordedField:
    """Describe a tensor with a row for each world."""
    if value.shape[:1] != (num_envs,):
        raise RecordingError(
            f"{name!r} has shape {tuple(value.shape)}; a recorded tensor needs "
            f"{num_envs} rows, one for each world."
        )
    return shared_field_of(name, value[0], role)


def shared_field_of(
    name: str, value: "torch.Tensor", role: Role = "start"
) -> RecordedField:
    """Describe a tensor that all worlds share."""
    dtype = str(value.dtype).removeprefix("torch.")
    return RecordedField(name, tuple(value.shape), dtype, role)


class Layout:
    """Layout of a row of bytes in which recorded fields are concatenated."""

    def __init__(self, fields: Sequence[RecordedField]) -> None:
        """Place the fields in order."""
        names = [field.name for field in fields]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"Two recorded fields are named {name!r}.")
        self.fields = tuple(fields)
        """Fields in order."""
        self.names = [field.name for field in fields if field.nbytes]
        """Names of the fields with at least one byte."""
        self.dtype = np.dtype([(f.name, f.dtype, f.shape) for f in fields])
        """NumPy type of a row, as a record."""
        self.row_bytes = self.dtype.itemsize
        """Size of a row, bytes."""

    def read(self, rows: np.ndarray) -> np.ndarray:
        """Return rows of bytes, shape (..., row_bytes), as records, shape (...)."""
        if not self.row_bytes:
            return np.zeros(rows.shape[:-1], self.dtype)
        return np.ascontiguousarray(rows).view(self.dtype)[..., 0]

    def views(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return writable views of the fields of contiguous rows, by name."""
        records = self.read(rows)
        return {name: records[name] for name in self.names}


@dataclass(frozen=True)
class RecordingLayout:
    """Layouts of the rows of a recording: steps, episode starts, shared values."""

    step: Layout
    """Layout of the row of a world's step, starting with `CONTROL`."""

    beginning: Layout
    """Layout of the values of one world at an episode start."""

    shared: Layout
    """Layout of the values shared by all worlds at an episode start."""


def recording_layout(
    steps: Sequence[RecordedField],
    beginning: Sequence[RecordedField],
    shared: Sequence[RecordedField] = (),
) -> RecordingLayout:
    """Return the layouts of recorded fields."""
    control = [RecordedField(name, (), "uint8") for name in CONTROL]
    return RecordingLayout(
        Layout([*control, *steps]), Layout(beginning), Layout(shared)
    )
