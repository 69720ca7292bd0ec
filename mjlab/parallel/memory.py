"""Named arrays in memory that several processes see, and that has no name itself."""

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

if TYPE_CHECKING:  # Not every process that shares memory needs torch.
    import torch

_LINE = 64
"""Arrays begin on cache lines of their own."""


class ArraySpec(NamedTuple):
    """An array's shape and type."""

    shape: tuple[int, ...]
    dtype: str
    """NumPy's name of the type, such as "float32"."""

    @property
    def nbytes(self) -> int:
        """Memory of the numbers."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def spec_of(shape: tuple[int, ...], dtype: torch.dtype) -> ArraySpec:
    """Return the spec of a tensor."""
    return ArraySpec(tuple(shape), str(dtype).removeprefix("torch."))


class SharedArrays:
    """Named arrays in one piece of shared memory, all zero at first.

    It is given to a process when that is started; or `file` is inherited, and the
    arrays are laid out there anew. The memory is in no file system: it is gone with the
    last process that has it, however that ends.
    """

    def __init__(self, specs: Mapping[str, ArraySpec], file: int | None = None) -> None:
        """Allocate memory, or map that of an inherited descriptor."""
        self.specs = dict(specs)
        """The arrays' shapes and types, by name."""
        self.nbytes = sum(_rounded(spec.nbytes) for spec in specs.values())
        """Memory of all arrays."""
        self.file = _anonymous_file(max(_LINE, self.nbytes)) if file is None else file
        """Descriptor of the memory, -1 once it is closed."""
        self._map()

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the arrays as tensors, live, by name."""
        import torch

        return {name: torch.from_numpy(array) for name, array in self.arrays.items()}

    def close(self) -> None:
        """Let go of the memory, as soon as nobody holds an array of it."""
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
        # Arrays keep the mapping alive; it ends with the last of them.
        memory = mmap.mmap(self.file, max(_LINE, self.nbytes))
        self.memory = np.frombuffer(memory, np.uint8)
        """All bytes of the memory."""
        self.arrays: dict[str, np.ndarray] = {}
        """The arrays, live, by name."""
        offset = 0
        for name, spec in self.specs.items():
            flat = self.memory[offset : offset + spec.nbytes]
            self.arrays[name] = flat.view(spec.dtype).reshape(spec.shape)
            offset += _rounded(spec.nbytes)


def _rounded(nbytes: int) -> int:
    return -(-nbytes // _LINE) * _LINE


def _anonymous_file(nbytes: int) -> int:
    """Return the descriptor of a file without a name, in memory if there is such."""
    if sys.platform == "linux":
        file = os.memfd_create("mjlab-shared")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.ftruncate(file, nbytes)
    return file
