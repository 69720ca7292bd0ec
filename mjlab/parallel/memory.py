"""Named arrays in anonymous shared memory."""

from __future__ import annotations

import math
import mmap
import os
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing.reduction import DupFd
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:  # Processes that only share memory need not import torch.
    import torch

_LINE = 64
"""Alignment of arrays, bytes. Two arrays never share a cache line."""


class ArraySpec(NamedTuple):
    """Shape and type of an array."""

    shape: tuple[int, ...]
    dtype: str
    """NumPy dtype, such as "float32"."""

    @property
    def nbytes(self) -> int:
        """Size of the data, bytes."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def spec_of(shape: tuple[int, ...], dtype: torch.dtype) -> ArraySpec:
    """Return the spec for tensors of a shape and a torch dtype."""
    return ArraySpec(tuple(shape), str(dtype).removeprefix("torch."))


class SharedArrays:
    """Named arrays in one block of shared memory, initially zero.

    Pass the object to a child process when you start it, or let the child inherit
    `file` and construct the arrays from this descriptor. The memory has no name in a
    file system: it is released when the last process that maps it ends, even if that
    process is killed.
    """

    def __init__(self, specs: Mapping[str, ArraySpec], file: int | None = None) -> None:
        """Allocate memory, or map the memory of an inherited file descriptor."""
        self.specs = dict(specs)
        """Shapes and types of the arrays, by name."""
        self.nbytes = sum(_rounded(spec.nbytes) for spec in specs.values())
        """Size of the memory, bytes."""
        self.file = _anonymous_file(max(_LINE, self.nbytes)) if file is None else file
        """File descriptor of the memory, -1 after `close`."""
        self._map()

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return tensors that share the arrays' memory, by name."""
        import torch

        return {name: torch.from_numpy(array) for name, array in self.arrays.items()}

    def close(self) -> None:
        """Release the memory as soon as none of its arrays is referenced."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1
        self.arrays = {}
        self.memory = np.zeros(0, np.uint8)

    def __getstate__(self) -> dict[str, Any]:
        return {"specs": self.specs, "file": DupFd(self.file)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["specs"], state["file"].detach())

    def _map(self) -> None:
        # The mapping exists until the last array is deleted.
        memory = mmap.mmap(self.file, max(_LINE, self.nbytes))
        self.memory = np.frombuffer(memory, np.uint8)
        """All bytes of the memory, as one array."""
        self.arrays: dict[str, np.ndarray] = {}
        """Arrays by name, in shared memory."""
        offset = 0
        for name, spec in self.specs.items():
            flat = self.memory[offset : offset + spec.nbytes]
            self.arrays[name] = flat.view(spec.dtype).reshape(spec.shape)
            offset += _rounded(spec.nbytes)


def _rounded(nbytes: int) -> int:
    return -(-nbytes // _LINE) * _LINE


def _anonymous_file(nbytes: int) -> int:
    """Create an unnamed file, in memory on Linux; return its file descriptor."""
    if sys.platform == "linux":
        file = os.memfd_create("mjlab-shared")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.ftruncate(file, nbytes)
    return file
