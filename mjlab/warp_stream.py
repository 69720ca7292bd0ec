"""Torch's streams as Warp's: one object of Warp for each, kept as long as we run.

Warp 1.19 finds a capture by the object of its stream, not by the stream, and when an
object goes it forgets the stream, with a capture that is under way in it.
`wp.stream_from_torch` makes a new object at every call. With it, the solver's loop
inside torch's capture would find no capture and wait for the device, which is an error
there, and a random draw would end what Warp knows of the capture.

Imports Warp, so it is imported only where Warp is wanted.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import warp as wp

_STREAMS: dict[tuple[int, int], wp.Stream] = {}
_BEFORE: list[Callable[[], None]] = []


def warp_stream(stream: torch.cuda.Stream) -> wp.Stream:
    """Return Warp's object of a stream of torch, the same at every call."""
    key = (stream.device.index, stream.cuda_stream)
    if key not in _STREAMS:
        _STREAMS[key] = wp.stream_from_torch(stream)
    return _STREAMS[key]


@contextmanager
def before_launches(call: Callable[[], None]) -> Iterator[None]:
    """Have something called before the house launches kernels of Warp."""
    _BEFORE.append(call)
    try:
        yield
    finally:
        _BEFORE.remove(call)


def announce_launches() -> None:
    """Call what has to come before kernels of Warp."""
    for call in _BEFORE:
        call()


def current_warp_stream(device: torch.device) -> wp.Stream:
    """Return Warp's object of torch's current stream of a CUDA device, to launch on."""
    announce_launches()
    return warp_stream(torch.cuda.current_stream(device))


def launch(kernel: wp.Kernel, dim: Sequence[int] | int, *arguments: Any) -> None:
    """Launch a kernel on the current stream of the device that its first tensor is on.

    Args:
        kernel: The kernel.
        dim: Number of threads, by dimension.
        arguments: What it takes, the first of it a tensor. Tensors are passed as arrays
            of the same memory.
    """
    passed = [wp.from_torch(a) if isinstance(a, torch.Tensor) else a for a in arguments]
    device = arguments[0].device
    stream = current_warp_stream(device) if arguments[0].is_cuda else None
    wp.launch(kernel, dim, passed, device=passed[0].device, stream=stream)
