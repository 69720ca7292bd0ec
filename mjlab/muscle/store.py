"""Weights on their way from who learns to who acts, possibly another process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import torch
from torch import nn

Memory: TypeAlias = bytearray | memoryview
_HEADER = 64
"""Bytes for the version; weights begin on a cache line of their own."""


class WeightError(ValueError):
    """Weights that are not those of the network that they are for."""


class WeightStore:
    """Two copies of a network's weights in one block of memory, and which one counts.

    `publish` writes the copy that does not count and then makes it the one that does;
    `fetch` reads the one that does, and reads again if it was overtaken meanwhile.
    There is one writer and any number of readers, who never wait for each other. The
    memory may be shared between processes: give `buf` of a
    `multiprocessing.shared_memory.SharedMemory` of `nbytes_for(module)` bytes.
    """

    def __init__(self, module: nn.Module, memory: Memory | None = None) -> None:
        """Lay the copies out.

        Args:
            module: A network of the shape that is stored.
            memory: Where they stand; as new, all zero. None takes memory of its own.
        """
        size = self.nbytes_for(module)
        memory = bytearray(size) if memory is None else memory
        if len(memory) < size:
            raise WeightError(f"The weights need {size} bytes, not {len(memory)}.")
        self._shapes = {name: t.shape for name, t in _tensors(module.state_dict())}
        self._version = torch.frombuffer(memory, dtype=torch.int64, count=1)
        numbers = sum(shape.numel() for shape in self._shapes.values())
        floats = torch.frombuffer(
            memory, dtype=torch.float32, offset=_HEADER, count=2 * numbers
        )
        self._copies = [self._views(half) for half in floats.view(2, numbers)]

    @staticmethod
    def nbytes_for(module: nn.Module) -> int:
        """Return how much memory the weights of a network need."""
        numbers = sum(tensor.numel() for _, tensor in _tensors(module.state_dict()))
        return _HEADER + 2 * 4 * numbers

    @property
    def version(self) -> int:
        """Number of publishings; 0 is none."""
        return int(self._version.item())

    def publish(self, state: Mapping[str, torch.Tensor]) -> int:
        """Make weights the ones that count; return their version.

        Args:
            state: A state dict of the network, on any device.
        """
        check_weights(state, self._shapes)
        new = self.version + 1
        for name, view in self._copies[new % 2].items():
            view.copy_(state[name].detach())
        self._version.fill_(new)
        return new

    def fetch(self, module: nn.Module) -> int:
        """Write the newest weights into a network, in place; return their version.

        Of a store to which nothing was ever published the network is left alone.
        """
        own = dict(_tensors(module.state_dict()))
        check_weights(own, self._shapes)
        while True:
            version = self.version
            if version == 0:
                return 0
            for name, view in self._copies[version % 2].items():
                own[name].copy_(view)
            # Only the publishing after the next one writes to this copy.
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
    """Raise unless a state dict has tensors of exactly these names and shapes."""
    missing = [name for name in shapes if name not in state]
    strange = [name for name in state if name not in shapes]
    if missing or strange:
        raise WeightError(
            f"The weights lack {missing or 'nothing'} and have {strange or 'nothing'} "
            "that the network does not."
        )
    for name, shape in shapes.items():
        if state[name].shape != shape:
            raise WeightError(
                f"{name!r} has shape {tuple(state[name].shape)}; in this network it "
                f"has {tuple(shape)}. Are these the weights of another model?"
            )


def _tensors(state: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    for name, tensor in state.items():
        if tensor.dtype != torch.float32:
            raise WeightError(f"{name!r} is {tensor.dtype}; weights are float32.")
        yield name, tensor
