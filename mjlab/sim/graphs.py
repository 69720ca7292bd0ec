"""Capture and replay of Warp launches.

On a CUDA device, a recording is a CUDA graph. On Warp's CPU device, it is a list of
launches that is replayed without Python. A replay uses the captured arrays, even if an
array was replaced after the capture. A recording therefore stores its arrays, and is
captured again if one of them was replaced.
"""

import gc
import operator
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
import warp as wp

from mjlab.sim.warp_rows import RowPrograms
from mjlab.warp_stream import announce_launches, current_warp_stream, warp_stream


@dataclass
class _Recording:
    graph: Any
    arrays: tuple[Any, ...]
    """Arrays of the capture. They are kept alive, so that no new array reuses their
    addresses."""

    def is_of(self, arrays: tuple[Any, ...]) -> bool:
        """Return True if the recording was captured with exactly these arrays."""
        return len(arrays) == len(self.arrays) and all(
            map(operator.is_, arrays, self.arrays)
        )


class Graphs:
    """Recordings by key. The first run of a key captures its recording."""

    def __init__(
        self, device: str, arrays: Callable[[], tuple[Any, ...]], *, enabled: bool
    ) -> None:
        """Create an empty collection.

        Args:
            device: Warp's name of the device.
            arrays: Function that returns the current arrays that recordings refer to.
            enabled: Whether to capture. If False, everything runs eagerly.
        """
        self._device = wp.get_device(device)
        self._torch_device = torch.device(device)
        self._arrays = arrays
        self._enabled = enabled
        self._recordings: dict[str, _Recording] = {}

    def run(self, key: str, launch: Callable[[], None]) -> None:
        """Run `launch`: capture it on the first call, replay it afterwards.

        Args:
            key: Name of the recording. The same key must always launch the same
                kernels.
            launch: Function that only launches Warp kernels.
        """
        if not self._enabled or self._inside_capture():
            # Within an outer capture, the launches become part of that graph.
            launch()
            return
        recording = self._recordings.get(key)
        if recording is not None and recording.is_of(self._arrays()):
            self._replay(recording)
            return
        # A capture executes nothing, so this eager run does the work of this call. It
        # also loads every kernel, which must not happen during capture.
        launch()
        self._recordings[key] = _Recording(self._record(launch), self._arrays())

    def disable(self) -> None:
        """Run everything eagerly from now on."""
        self._enabled = False
        self.drop()

    def drop(self) -> None:
        """Drop all recordings, for example when arrays are replaced."""
        self._recordings.clear()

    @property
    def keys(self) -> list[str]:
        """Names of the recordings captured so far."""
        return list(self._recordings)

    def _record(self, launch: Callable[[], None]) -> Any:
        if not self._device.is_cuda:
            with _no_garbage_collection(), wp.ScopedCapture(self._device) as capture:
                launch()
            return capture.graph
        # The default stream cannot be captured, so capture uses a separate stream that
        # first waits for the work already queued.
        stream = torch.cuda.Stream(self._torch_device)
        stream.wait_stream(torch.cuda.current_stream(self._torch_device))
        with _no_garbage_collection(), torch.cuda.stream(stream):
            scoped = wp.ScopedStream(warp_stream(stream), sync_enter=False)
            with scoped, wp.ScopedCapture(self._device, force_module_load=False) as c:
                launch()
        torch.cuda.current_stream(self._torch_device).wait_stream(stream)
        return c.graph

    def _replay(self, recording: _Recording) -> None:
        is_cuda = self._device.is_cuda
        stream = current_warp_stream(self._torch_device) if is_cuda else None
        wp.capture_launch(recording.graph, stream=stream)

    def _inside_capture(self) -> bool:
        if not self._device.is_cuda:
            return False
        with torch.cuda.device(self._torch_device):
            return torch.cuda.is_current_stream_capturing()


_FAILED: list[torch.cuda.CUDAGraph] = []
"""Graphs of failed captures. They are never freed, because torch's allocator can still
access these graphs."""


def record_with_torch(
    run: Callable[[], None],
    device: torch.device,
    *,
    rows: RowPrograms | None = None,
    warm_up: int = 3,
) -> tuple[torch.cuda.CUDAGraph, Any]:
    """Capture the torch and Warp operations of `run` as one CUDA graph.

    Torch begins the capture, because its allocator requires this. The capture is
    registered with Warp, so that Warp adds its loops to the graph instead of waiting
    for the device. The warm-up loads kernels and initialises libraries on the same
    stream, which is not possible during capture. If `run` raises, the stream, the
    allocator and Warp are restored.

    Args:
        run: Function to capture. It must be repeatable; the warm-up executes it.
        device: The CUDA device.
        rows: Row programs that join torch operations into kernels; None to use none.
        warm_up: Number of warm-up runs.

    Returns:
        The graph, and Warp's part of it. Keep Warp's part as long as the graph: it
            keeps the modules of the launched kernels loaded, even after Warp has
            replaced them; torch's graph does not.
    """
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        for _ in range(warm_up):
            with _joined(rows):
                run()
            if rows is not None:
                rows.compile()
    torch.cuda.current_stream(device).wait_stream(stream)
    torch.cuda.synchronize(device)
    name, scoped = str(device), warp_stream(stream)
    with (
        _no_garbage_collection(),
        torch.cuda.stream(stream),
        _captured(device) as graph,
        on_torch_stream(name),
        wp.ScopedCapture(name, scoped, force_module_load=False, external=True) as warp,
        _joined(rows),
    ):
        run()
    return graph, warp.graph


def _joined(rows: RowPrograms | None) -> AbstractContextManager[None]:
    return nullcontext() if rows is None else rows.in_use()


@contextmanager
def _captured(device: torch.device) -> Iterator[torch.cuda.CUDAGraph]:
    """Capture torch's current stream.

    Replaces `torch.cuda.graph`, which does not clean up after a failed capture (torch
    2.13): its stream remains current, and the allocator keeps the graph's memory pool
    and treats later operations as part of the capture.
    """
    torch.cuda.empty_cache()
    graph, pool = torch.cuda.CUDAGraph(), torch.cuda.graph_pool_handle()
    graph.capture_begin(pool=pool, capture_error_mode="thread_local")
    try:
        yield graph
    finally:
        try:
            graph.capture_end()
        except RuntimeError:  # The capture failed; the cause was raised earlier.
            _FAILED.append(graph)
            torch._C._cuda_endAllocateToPool(device.index, pool)
            torch._C._cuda_releasePool(device.index, pool)
            raise


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Disable garbage collection, so that a capture contains no deallocations."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def on_torch_stream(device: str) -> Iterator[None]:
    """Launch Warp's kernels on torch's current stream, in order with its operations.

    Warp 1.19 frees memory in the order of its default stream. A caller that uses its
    own stream must first make this stream wait for the default stream.
    """
    announce_launches()
    with wp.ScopedDevice(device) as scoped:
        if not scoped.is_cuda:
            yield
            return
        stream = current_warp_stream(torch.device(device))
        # Torch and Warp use the same stream, so no event is needed to order them.
        # Inside a capture, recording an event on another stream would be an error.
        with wp.ScopedStream(stream, sync_enter=False, sync_exit=False):
            yield
