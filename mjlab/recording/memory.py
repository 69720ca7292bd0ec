"""Memory that two processes share: chunks of steps, of a size that never changes."""

import os
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

_HEAD = 64
"""Bytes before a chunk: the number of its rows, and room to begin at a cache line."""


@dataclass(frozen=True)
class Sizes:
    """How large a chunk is."""

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

    @property
    def parts(self) -> tuple[int, int, int]:
        """Bytes of the rows, of the beginnings and of what is shared."""
        return (
            _aligned(self.rows * self.num_envs * self.row_bytes),
            _aligned(self.beginnings * self.beginning_bytes),
            _aligned(self.rows * self.shared_bytes),
        )

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk."""
        return _HEAD + sum(self.parts)

    @property
    def total_bytes(self) -> int:
        """Bytes of all chunks."""
        return self.chunks * self.chunk_bytes


class Chunk:
    """One chunk, seen by either process."""

    def __init__(self, memory: np.ndarray, sizes: Sizes) -> None:
        """Look at a chunk's memory, shape (sizes.chunk_bytes,), uint8."""
        ends = np.cumsum((_HEAD, *sizes.parts)).tolist()
        self._head = memory[:_HEAD].view(np.int64)
        rows = sizes.rows * sizes.num_envs * sizes.row_bytes
        beginnings = sizes.beginnings * sizes.beginning_bytes
        shared = sizes.rows * sizes.shared_bytes
        shape = (sizes.rows, sizes.num_envs, sizes.row_bytes)
        self.rows = memory[ends[0] :][:rows].reshape(shape)
        """Shape (rows, num_envs, row_bytes)."""
        shape = (sizes.beginnings, sizes.beginning_bytes)
        self.beginnings = memory[ends[1] :][:beginnings].reshape(shape)
        """Shape (beginnings, beginning_bytes), in the order in which they happen."""
        shape = (sizes.rows, sizes.shared_bytes)
        self.shared = memory[ends[2] :][:shared].reshape(shape)
        """Shape (rows, shared_bytes)."""

    @property
    def num_rows(self) -> int:
        """Rows that are whole."""
        return int(self._head[0])

    @num_rows.setter
    def num_rows(self, number: int) -> None:
        self._head[0] = number

    def clear(self) -> None:
        """Have no rows."""
        self._head[0] = 0


class Chunks:
    """All chunks."""

    def __init__(self, memory: np.ndarray, sizes: Sizes) -> None:
        """Look at all memory, shape (sizes.total_bytes,), uint8."""
        size = sizes.chunk_bytes
        self.slots = [
            Chunk(memory[index * size : (index + 1) * size], sizes)
            for index in range(sizes.chunks)
        ]
        """In the order in which they are filled, over and over."""


def open_memory(size: int) -> int:
    """A descriptor of memory that has no name, so that no kill leaves it behind."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("mjlab-recording")
    else:  # Elsewhere than on Linux, a file that is removed at once.
        descriptor, name = tempfile.mkstemp()
        os.unlink(name)
    os.ftruncate(descriptor, size)
    return descriptor


def _aligned(size: int) -> int:
    return -(-size // _HEAD) * _HEAD
