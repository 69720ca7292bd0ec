"""Bytes of a step: fields side by side in rows, and rows in chunks of shared memory.

A row holds everything of one world and one step, so that a step is written with one
operation however much is recorded. Who writes uses tensors, who reads NumPy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.parallel.memory import ArraySpec, SharedArrays

CONTROL = ("stepped", "ending", "begins")
"""Bytes at the head of every row: whether the world did a step, what becomes of the
episode that it is in (see `Ending`), and whether another episode begins after that."""


class Ending:
    """Fates of an episode after a row."""

    GOES_ON = 0
    """Nothing: the episode goes on."""

    KEPT = 1
    """It is over, and is written unless it has no steps."""

    HELD = 2
    """It is over, and waits until it is asked for, or the next one is over."""

    DROPPED = 3
    """It is over, and is not written."""

    ASKED = 4
    """The one that waits is written; if none does, the present one is over."""

    KEPT_EMPTY = 5
    """As KEPT, and an episode without steps is written, too."""


@dataclass(frozen=True)
class RecordedField:
    """A number or an array of each world."""

    name: str
    """Its path in an episode, such as "obs/actor"."""

    shape: tuple[int, ...]
    """Shape of one world's value."""

    dtype: str
    """NumPy's name of its type, such as "float32"."""

    role: str = "step"
    """"step": one for each step. "state": also one before the first step, which the
    beginning has. "last": only the last one counts. "start": of the beginning; those of
    one folder are one record in the file."""

    @property
    def nbytes(self) -> int:
        """Bytes of one world's value."""
        return ArraySpec(self.shape, self.dtype).nbytes


class Layout:
    """Fields side by side in a row."""

    def __init__(self, fields: Sequence[RecordedField]) -> None:
        """Place the fields in their order."""
        names = [field.name for field in fields]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"There are two fields {name!r} to record.")
        self.fields = tuple(fields)
        """In the order in which they lie."""
        self.dtype = np.dtype([(f.name, f.dtype, f.shape) for f in fields])
        """A row as a NumPy record."""
        self.row_bytes = self.dtype.itemsize
        """Bytes of a row."""

    def read(self, rows: np.ndarray) -> np.ndarray:
        """Return rows of bytes, shape (..., row_bytes), as records, shape (...)."""
        if not self.row_bytes:
            return np.zeros(rows.shape[:-1], self.dtype)
        return np.ascontiguousarray(rows).view(self.dtype)[..., 0]

    def views(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the fields of rows of bytes by name, without those of no bytes."""
        records = self.read(rows)
        return {f.name: records[f.name] for f in self.fields if f.nbytes}


@dataclass(frozen=True)
class ChunkSizes:
    """Sizes of the chunks of memory in which steps go to the writer."""

    num_envs: int
    """Number of worlds."""

    rows: int
    """Steps of a chunk."""

    beginnings: int
    """Episodes that can begin in a chunk."""

    row_bytes: int
    """Bytes of a world's step."""

    beginning_bytes: int
    """Bytes of an episode's beginning."""

    shared_bytes: int
    """Bytes of what worlds share at a step."""

    chunks: int
    """Number of chunks."""

    def specs(self) -> dict[str, ArraySpec]:
        """Return the arrays of all chunks, by "chunk/name"."""
        shapes = {
            "rows": (self.rows, self.num_envs, self.row_bytes),
            "beginnings": (self.beginnings, self.beginning_bytes),
            "shared": (self.rows, self.shared_bytes),
        }
        specs: dict[str, ArraySpec] = {}
        for chunk in range(self.chunks):
            specs[f"{chunk}/num_rows"] = ArraySpec((1,), "int64")
            for name, shape in shapes.items():
                specs[f"{chunk}/{name}"] = ArraySpec(shape, "uint8")
        return specs


class Chunk:
    """One chunk, seen by either process."""

    def __init__(self, memory: SharedArrays, index: int) -> None:
        """Take a chunk of the memory of all."""
        self.rows = memory[f"{index}/rows"]
        """Shape (rows, num_envs, row_bytes)."""
        self.beginnings = memory[f"{index}/beginnings"]
        """Shape (beginnings, beginning_bytes), in the order in which they happen."""
        self.shared = memory[f"{index}/shared"]
        """Shape (rows, shared_bytes)."""
        self._num_rows = memory[f"{index}/num_rows"]

    @property
    def num_rows(self) -> int:
        """Rows that are whole."""
        return int(self._num_rows[0])

    @num_rows.setter
    def num_rows(self, number: int) -> None:
        self._num_rows[0] = number


@dataclass(frozen=True)
class WriterPlan:
    """Content and place of a recording, as the process that writes is told."""

    sizes: ChunkSizes
    """Sizes of the shared chunks."""

    layouts: Sequence[Layout]
    """Layouts of a step, of a beginning, and of what worlds share then."""

    files: dict[str, Path]
    """Files by which episodes they get: "all", "succeeded" or "failed"."""

    attributes: dict[str, Any]
    """Attributes of the files."""

    about: dict[str, Any]
    """Content of the sidecars besides the episodes."""

    clean: bool = True
    """Leaves out episodes without steps in the end."""
