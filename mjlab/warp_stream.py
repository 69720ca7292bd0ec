"""Warp stream objects of torch streams: one per stream, kept for the process lifetime.

Warp 1.19 identifies a graph capture by its Python stream object. When an object is
deleted, Warp forgets the stream together with a capture in progress.
`wp.stream_from_torch` creates a new object at every call. With a new object, the loop
of MuJoCo Warp's solver would not find torch's capture and would synchronise, which is
an error during capture. Deleting the object after a random draw would end Warp's record
of the capture.

This module imports Warp, so import it only where Warp is needed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import warp as wp

_STREAMS: dict[tuple[int, int], wp.Stream] = {}
_BEFORE: list[Callable[[], None]] = []


def warp_stream(stream: torch.cuda.Stream) -> wp.Stream:
    """Return the `wp.Stream` of a torch stream, the same object at every call."""
    key = (stream.device.index, stream.cuda_stream)
    if key not in _STREAMS:
        _STREAMS[key] = wp.stream_from_torch(stream)
    return _STREAMS[key]


@contextmanager
def before_launches(call: Callable[[], None]) -> Iterator[None]:
    """Register a function to call before this project launches Warp kernels."""
    _BEFORE.append(call)
    try:
        yield
    finally:
        _BEFORE.remove(call)


def announce_launches() -> None:
    """Call the registered functions before launches of Warp kernels."""
    for call in _BEFORE:
        call()


def current_warp_stream(device: torch.device) -> wp.Stream:
    """Return the `wp.Stream` of torch's current stream on a CUDA device."""
    announce_launches()
    return warp_stream(torch.cuda.current_stream(device))


def launch(kernel: wp.Kernel, dim: Sequence[int] | int, *arguments: Any) -> None:
    """Launch a kernel on the current stream of the first tensor's device.

    Args:
        kernel: The kernel.
        dim: Number of threads, by dimension.
        arguments: Kernel arguments, starting with a tensor. Tensors are passed as
            Warp arrays that share their memory.
    """
    passed = [wp.from_torch(a) if isinstance(a, torch.Tensor) else a for a in arguments]
    device = arguments[0].device
    stream = current_warp_stream(device) if arguments[0].is_cuda else None
    wp.launch(kernel, dim, passed, device=passed[0].device, stream=stream)
