"""Transfer of network weights from the learner to worker processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import torch
from torch import nn

Memory: TypeAlias = bytearray | memoryview
_HEADER = 64
"""Bytes of the version header, so that weights begin on a new cache line."""


class WeightError(ValueError):
    """Error for weights that do not match the network."""


class WeightStore:
    """Double buffer of a network's weights in one block of memory.

    `publish` writes the inactive copy and then makes it active; `fetch` reads the
    active copy, and reads again if it was overwritten meanwhile. One writer and any
    number of readers can use it without waiting for each other. To share the memory
    between processes, pass `buf` of a `multiprocessing.shared_memory.SharedMemory` of
    `nbytes_for(module)` bytes.
    """

    def __init__(self, module: nn.Module, memory: Memory | None = None) -> None:
        """Create views of both copies.

        Args:
            module: A network with the shapes to store.
            memory: Memory of the copies, initially zero. None allocates it.
        """
        size = self.nbytes_for(module)
        memory = bytearray(size) if memory is None else memory
        if len(memory) < size:
            raise WeightError(
                f"The weights need {size} bytes, but memory has {len(memory)}. "
                "Allocate WeightStore.nbytes_for(module) bytes."
            )
        self._shapes = {name: t.shape for name, t in _tensors(module.state_dict())}
        self._version = torch.frombuffer(memory, dtype=torch.int64, count=1)
        numbers = sum(shape.numel() for shape in self._shapes.values())
        floats = torch.frombuffer(
            memory, dtype=torch.float32, offset=_HEADER, count=2 * numbers
        )
        self._copies = [self._views(half) for half in floats.view(2, numbers)]

    @staticmethod
    def nbytes_for(module: nn.Module) -> int:
        """Return the size of the memory for a network's weights, in bytes."""
        numbers = sum(tensor.numel() for _, tensor in _tensors(module.state_dict()))
        return _HEADER + 2 * 4 * numbers

    @property
    def version(self) -> int:
        """Number of `publish` calls so far."""
        return int(self._version.item())

    def publish(self, state: Mapping[str, torch.Tensor]) -> int:
        """Publish weights, and return the new version number.

        Args:
            state: State dict of the network, on any device.
        """
        check_weights(state, self._shapes)
        new = self.version + 1
        for name, view in self._copies[new % 2].items():
            view.copy_(state[name].detach())
        self._version.fill_(new)
        return new

    def fetch(self, module: nn.Module) -> int:
        """Load the newest weights into a network, in place; return the version number.

        The network stays unchanged if no weights were published yet.
        """
        own = dict(_tensors(module.state_dict()))
        check_weights(own, self._shapes)
        while True:
            version = self.version
            if version == 0:
                return 0
            for name, view in self._copies[version % 2].items():
                own[name].copy_(view)
            # The next `publish` writes the other copy, so this copy was complete.
            if self.version == version:
                return version

    def _views(self, half: torch.Tensor) -> dict[str, torch.Tensor]:
        pieces = half.split([shape.numel() for shape in self._shapes.values()])
        return {
            name: piece.view(shape)
            for (name, shape), piece in zip(self._shapes.items(), pieces, strict=True)
        }


def check_weights(
    state: Mapping[str, torch.Tensor], shapes: Mapping[str, torch.Size]
) -> None:
    """Raise `WeightError` if names or shapes of a state dict differ from `shapes`."""
    missing = [name for name in shapes if name not in state]
    strange = [name for name in state if name not in shapes]
    if missing or strange:
        raise WeightError(
            f"The weights do not match the network. Missing: {missing or 'none'}; "
            f"unexpected: {strange or 'none'}. Use weights of the same architecture."
        )
    for name, shape in shapes.items():
        if state[name].shape != shape:
            raise WeightError(
                f"{name!r} has shape {tuple(state[name].shape)}, but this network "
                f"needs {tuple(shape)}. Use weights of the same model."
            )


def _tensors(state: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    for name, tensor in state.items():
        if tensor.dtype != torch.float32:
            raise WeightError(f"{name!r} is {tensor.dtype}; it has to be float32.")
        yield name, tensor
