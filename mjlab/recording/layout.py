"""What a world's part of a step is made of, byte by byte.

A row holds everything of one world and one step side by side, so that a step is written
with one operation however much is recorded. Who writes uses tensors, who reads NumPy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

CONTROL = ("stepped", "ending", "begins")
"""Bytes at the head of every row: whether the world did a step, what becomes of the
episode that it is in (see `Ending`), and whether another episode begins after that."""


class Ending:
    """What becomes of an episode after a row."""

    GOES_ON = 0
    """Nothing: the episode goes on."""

    KEPT = 1
    """It is over, and is written unless it has no steps."""

    HELD = 2
    """It is over, and waits until somebody asks for it, or the next one is over."""

    DROPPED = 3
    """It is over, and is not written."""

    ASKED = 4
    """The one that waits is written; if none does, the present one is over."""

    KEPT_EMPTY = 5
    """As KEPT, and an episode without steps is written, too."""


@dataclass(frozen=True)
class Field:
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
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize


class Layout:
    """Fields side by side in a row."""

    def __init__(self, fields: Sequence[Field]) -> None:
        """Place the fields in their order."""
        names = [field.name for field in fields]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"There are two fields {name!r} to record.")
        self.fields = tuple(fields)
        """In the order in which they lie."""
        sizes = [field.nbytes for field in fields]
        places = [sum(sizes[:index]) for index in range(len(sizes))]
        self.row_bytes = sum(sizes)
        """Bytes of a row."""
        self.dtype = np.dtype(
            {
                "names": names,
                "formats": [(field.dtype, field.shape) for field in fields],
                "offsets": places,
                "itemsize": self.row_bytes,
            }
        )
        """A row as a NumPy record."""

    def read(self, rows: np.ndarray) -> np.ndarray:
        """Rows of bytes, shape (..., row_bytes), as records, shape (...)."""
        if not self.row_bytes:
            return np.zeros(rows.shape[:-1], self.dtype)
        return np.ascontiguousarray(rows).view(self.dtype)[..., 0]

    def to_data(self) -> list[dict[str, Any]]:
        """The layout as plain data."""
        return [asdict(field) for field in self.fields]

    @classmethod
    def from_data(cls, data: Sequence[Mapping[str, Any]]) -> "Layout":
        """The layout that `to_data` returned."""
        return cls([Field(**{**f, "shape": tuple(f["shape"])}) for f in data])
