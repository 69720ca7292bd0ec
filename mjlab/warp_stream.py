"""Torch's streams as Warp's: one object of Warp for each, kept as long as we run.

Warp 1.19 finds a capture by the object of its stream, not by the stream, and when an
object goes it forgets the stream, with a capture that is under way in it.
`wp.stream_from_torch` makes a new object at every call. With it, the solver's loop
inside torch's capture would find no capture and wait for the device, which is an error
there, and a random draw would end what Warp knows of the capture.

Imports Warp, so it is imported only where Warp is wanted.
"""

import torch
import warp as wp

_STREAMS: dict[tuple[int, int], wp.Stream] = {}


def warp_stream(stream: torch.cuda.Stream) -> wp.Stream:
    """Return Warp's object of a stream of torch, the same at every call."""
    key = (stream.device.index, stream.cuda_stream)
    if key not in _STREAMS:
        _STREAMS[key] = wp.stream_from_torch(stream)
    return _STREAMS[key]


def current_warp_stream(device: torch.device) -> wp.Stream:
    """Return Warp's object of torch's current stream of a CUDA device."""
    return warp_stream(torch.cuda.current_stream(device))
