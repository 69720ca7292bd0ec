"""Fixed-size buffers between the environment and the writer process.

`write` stores a step, but the step is recorded only if the host calls `commit`. So
`write` can be captured in a CUDA graph and repeated in warm-up runs.
"""

import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch

from mjlab.parallel.memory import SharedArrays
from mjlab.recording.episodes import BLOCK_BYTES, rows_within
from mjlab.recording.layout import RecordingLayout
from mjlab.recording.writer import Sent, WriterPlan, steps_of

Values = Mapping[str, torch.Tensor]
"""Tensors by field name."""

BeginningSource = Callable[[], tuple[Values, Values]]
"""Function that returns values per world and shared values at an episode start."""

DEVICE_BYTES = 256 * 2**20
"""Size of each half of a device buffer, bytes."""

AGE_S = 0.5
"""Maximum time before a step is copied from device memory, s."""


class StepChannel(Protocol):
    """Connection to the writer process, with blocks of shared memory."""

    def take_block(self, block: int) -> None:
        """Wait until a block of shared memory is free, and reserve it."""

    def send(self, steps: Sent) -> None:
        """Send the steps of a block to the writer."""


def host_rows(layout: RecordingLayout, num_envs: int) -> int:
    """Return the number of steps per block of shared memory, for a `HostBuffer`."""
    return rows_within(BLOCK_BYTES, num_envs * layout.step.row_bytes)


def device_rows(layout: RecordingLayout, num_envs: int) -> int:
    """Return the number of steps per block of shared memory, for a `DeviceBuffer`.

    Every world can start an episode in every step, so each step needs space for
    `num_envs` episode starts.
    """
    row_bytes = layout.step.row_bytes + layout.beginning.row_bytes
    return rows_within(DEVICE_BYTES, num_envs * row_bytes)


class StepBuffer(ABC):
    """Collects steps and sends them to the writer process."""

    @abstractmethod
    def write(
        self, row: Values, begins: torch.Tensor, beginning: BeginningSource
    ) -> None:
        """Store a step.

        Args:
            row: Values of the step by field, each of shape (num_envs, ...).
            begins: Mask of worlds in which an episode begins after the step, shape
                (num_envs,).
            beginning: Returns the values at an episode start: per world, shapes
                (num_envs, ...), and shared by all worlds, shapes (...).
        """

    @abstractmethod
    def commit(self) -> None:
        """Record the last written step."""

    @abstractmethod
    def flush(self) -> None:
        """Send all committed steps to the writer."""


class HostBuffer(StepBuffer):
    """Buffer for tensors in host memory. It sends steps when an episode ends or begins.

    Reading a mask on the host needs no synchronisation, so the values at an episode
    start are computed only when an episode begins.
    """

    def __init__(
        self, plan: WriterPlan, memory: SharedArrays, channel: StepChannel
    ) -> None:
        self._layout, self._channel, self._block_rows = plan.layout, channel, plan.rows
        self._blocks = [steps_of(memory, block) for block in range(plan.blocks)]
        # A step is assembled here with NumPy, because its memory stays in the cache.
        # For small tensors, this is several times faster than torch.
        self._step = np.zeros((plan.num_envs, plan.layout.step.row_bytes), np.uint8)
        self._fields = plan.layout.step.views(self._step)
        self._block = self._row = self._sent = self._begun = self._new = 0
        self._ends = False
        channel.take_block(0)

    def write(
        self, row: Values, begins: torch.Tensor, beginning: BeginningSource
    ) -> None:
        for name, field in self._fields.items():
            field[:] = row[name].numpy()
        self._ends = bool(self._fields["ending"].any())
        worlds = np.flatnonzero(begins.numpy())
        self._new = len(worlds)
        if self._new:
            block, own_layout = self._blocks[self._block], self._layout.beginning
            own, shared = beginning()
            places = block.beginnings[self._begun : self._begun + self._new]
            for name, field in own_layout.views(places).items():
                field[:] = own[name].numpy()[worlds]
            common = block.shared[self._row : self._row + 1]
            for name, field in self._layout.shared.views(common).items():
                field[0] = shared[name].numpy()

    def commit(self) -> None:
        self._blocks[self._block].rows[self._row] = self._step
        self._row += 1
        if self._new or self._ends or self._row == self._block_rows:
            self.flush()

    def flush(self) -> None:
        is_last = self._row == self._block_rows
        steps = slice(self._sent, self._row)
        begun = slice(self._begun, self._begun + self._new)
        if steps.start < steps.stop:
            self._channel.send(Sent(self._block, steps, begun, is_last))
        self._sent, self._begun, self._new = steps.stop, begun.stop, 0
        if is_last:
            self._block = (self._block + 1) % len(self._blocks)
            self._row = self._sent = self._begun = 0
            self._channel.take_block(self._block)


class CopyStream:
    """CUDA stream for copies from a device to pinned host memory."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._event = torch.cuda.Event()

    def pin(self, memory: torch.Tensor) -> None:
        """Pin host memory for asynchronous copies, until this object is deleted."""
        runtime: Any = torch.cuda.cudart()
        place = memory.data_ptr()
        torch.cuda.check_error(int(runtime.cudaHostRegister(place, memory.nbytes, 0)))
        weakref.finalize(self, runtime.cudaHostUnregister, place)

    def copy(self, pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> None:
        """Copy src to dst for each (dst, src) pair, ordered after earlier launches."""
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            for target, source in pairs:
                target.copy_(source, non_blocking=True)
            self._event.record(self._stream)

    def is_done(self) -> bool:
        """Return whether all copies are complete."""
        return self._event.query()

    def wait(self) -> None:
        """Wait until all copies are complete."""
        self._event.synchronize()


class DeviceBuffer(StepBuffer):
    """Double buffer in device memory: one half is filled while the other is copied.

    A half is copied to the host when it is full, or `AGE_S` after its first step.
    Episode starts are stored contiguously. The host first copies their number, and then
    only as many.
    """

    def __init__(
        self,
        plan: WriterPlan,
        memory: SharedArrays,
        channel: StepChannel,
        device: torch.device,
        stream: CopyStream,
    ) -> None:
        parts = (plan.layout.step, plan.layout.beginning, plan.layout.shared)
        row_bytes, beginning_bytes, shared_bytes = (p.row_bytes for p in parts)
        n, k = plan.num_envs, plan.rows
        self._names = [part.names for part in parts]
        self._num_envs, self._block_rows = n, k
        self._channel, self._stream = channel, stream
        of_bytes = {"dtype": torch.uint8, "device": device}
        self._rows = torch.zeros(2 * k, n, row_bytes, **of_bytes)
        # The last row is a dummy for worlds without an episode start.
        self._beginnings = torch.zeros(2 * k * n + 1, beginning_bytes, **of_bytes)
        self._shared = torch.zeros(2 * k, shared_bytes, **of_bytes)
        # Number of episode starts before each row of a half, and after its last row.
        self._counts = torch.zeros(2 * (k + 1), dtype=torch.int64, device=device)
        rows = torch.arange(2 * k, device=device)
        half = rows // k
        self._table = torch.stack((rows, rows + half, half * k * n), dim=1)
        self._now = self._table[0].clone()
        self._blocks = [
            [torch.from_numpy(part) for part in steps_of(memory, block)]
            for block in range(plan.blocks)
        ]
        self._host_counts = torch.zeros(k + 1, dtype=torch.int64)
        stream.pin(self._host_counts)
        self._block = self._half = self._row = 0
        self._copying: tuple[int, int, int] | None = None
        self._has_counts = False
        self._since = 0.0

    def write(
        self, row: Values, begins: torch.Tensor, beginning: BeginningSource
    ) -> None:
        place, count_place, first = self._now.split(1)
        packed = self._packed(self._names[0], row)
        self._rows.index_copy_(0, place, packed.unsqueeze(0))
        before = self._counts.index_select(0, count_place)
        order = begins.cumsum(0)
        nowhere = self._beginnings.shape[0] - 1
        targets = torch.where(begins, order - 1 + before + first, nowhere)
        own, shared = beginning()
        if self._names[1]:
            packed = self._packed(self._names[1], own)
            self._beginnings.index_copy_(0, targets, packed)
        self._counts.index_copy_(0, count_place + 1, before + order[-1:])
        if self._names[2]:
            common = [_as_bytes(shared[name], 1) for name in self._names[2]]
            self._shared.index_copy_(0, place, torch.cat(common, dim=1))

    def commit(self) -> None:
        self._row += 1
        if self._copying is not None and self._stream.is_done():
            self._proceed()
        if self._row == 1:
            self._since = time.monotonic()
        if self._row == self._block_rows or time.monotonic() - self._since > AGE_S:
            self._switch_halves()
        self._now.copy_(self._table[self._half * self._block_rows + self._row])

    def flush(self) -> None:
        if self._row:
            self._switch_halves()
            self._now.copy_(self._table[self._half * self._block_rows])
        self._finish_copy()

    def _packed(self, names: Sequence[str], values: Values) -> torch.Tensor:
        """Concatenate the bytes of fields, shape (num_envs, bytes)."""
        n = self._num_envs
        return torch.cat([_as_bytes(values[name], n) for name in names], dim=1)

    def _switch_halves(self) -> None:
        """Start to copy the filled half to the host; continue with the other half."""
        self._finish_copy()
        self._channel.take_block(self._block)
        k, half, number = self._block_rows, self._half, self._row
        steps = slice(half * k, half * k + number)
        rows, _, shared = self._blocks[self._block]
        self._stream.copy(
            [
                (rows[:number], self._rows[steps]),
                (shared[:number], self._shared[steps]),
                (self._host_counts, self._counts[half * (k + 1) :][: k + 1]),
            ]
        )
        self._copying = (half, number, self._block)
        self._has_counts = False
        self._block = (self._block + 1) % len(self._blocks)
        self._half, self._row = 1 - half, 0

    def _finish_copy(self) -> None:
        while self._copying is not None:
            self._stream.wait()
            self._proceed()

    def _proceed(self) -> None:
        """Do the next part of a copy: copy the episode starts, then send the steps."""
        assert self._copying is not None, "Called while a half is copied."
        half, number, block = self._copying
        begun = int(self._host_counts[number])
        if not self._has_counts:
            self._has_counts = True
            first = half * self._block_rows * self._num_envs
            source = self._beginnings[first : first + begun]
            self._stream.copy([(self._blocks[block][1][:begun], source)])
            return
        self._copying = None
        self._channel.send(Sent(block, slice(0, number), slice(0, begun), True))


def _as_bytes(value: torch.Tensor, rows: int) -> torch.Tensor:
    """View the rows of a tensor as bytes, shape (rows, bytes)."""
    return value.reshape(rows, -1).contiguous().view(torch.uint8)
