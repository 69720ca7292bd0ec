"""Tensors that several processes see, in memory that has no name."""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.reduction import DupFd
from typing import Any

import torch

_LINE = 64
"""Tensors begin on cache lines of their own."""


@dataclass(frozen=True)
class Field:
    """A tensor's shape and type."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @classmethod
    def like(cls, tensor: torch.Tensor, num_envs: int) -> Field:
        """The field of a tensor of one row a world, with so many worlds."""
        return cls((num_envs, *tensor.shape[1:]), tensor.dtype)

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return math.prod(self.shape) * self.dtype.itemsize


class Block:
    """Named tensors in one piece of shared memory, all zero at first.

    It is given to a process when that is started. The memory has no name in any file
    system: it is gone with the last process that has it, however that ends.
    """

    def __init__(self, fields: Mapping[str, Field]) -> None:
        """Allocate.

        Args:
            fields: The tensors by name.
        """
        self._fields = dict(fields)
        self._file = _nameless_file(max(_LINE, self.nbytes))
        self.tensors = self._mapped()
        """The tensors, live, by name."""

    @property
    def nbytes(self) -> int:
        """Memory of all tensors."""
        return sum(_rounded(field.nbytes) for field in self._fields.values())

    def close(self) -> None:
        """Let go of the memory, as soon as nobody holds a tensor of it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self.tensors = {}

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.tensors[name]

    def __getstate__(self) -> dict[str, Any]:
        return {"fields": self._fields, "file": DupFd(self._file)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._fields = state["fields"]
        self._file = state["file"].detach()
        self.tensors = self._mapped()

    def _mapped(self) -> dict[str, torch.Tensor]:
        # Tensors keep the mapping alive; it ends with the last of them.
        memory = mmap.mmap(self._file, max(_LINE, self.nbytes))
        tensors: dict[str, torch.Tensor] = {}
        offset = 0
        for name, field in self._fields.items():
            count = math.prod(field.shape)
            if count:
                flat = torch.frombuffer(
                    memory, dtype=field.dtype, count=count, offset=offset
                )
            else:
                flat = torch.zeros(0, dtype=field.dtype)
            tensors[name] = flat.view(field.shape)
            offset += _rounded(field.nbytes)
        return tensors


def _rounded(nbytes: int) -> int:
    return -(-nbytes // _LINE) * _LINE


def _nameless_file(nbytes: int) -> int:
    """Descriptor of a file without a name, in memory where the system has that."""
    if os.name == "posix" and os.uname().sysname == "Linux":
        file = os.memfd_create("mjlab-worlds")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    os.ftruncate(file, nbytes)
    return file
