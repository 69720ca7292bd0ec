"""Steps until they are written: memory of a size that never changes.

Both stores have the same three verbs. `write` puts a step in its place, and may stand
in a step that is captured or rehearsed: it may be called any number of times. `commit`
says that the step is done, and is called by the host.
"""

import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from mjlab.parallel.memory import SharedArrays
from mjlab.recording.layout import Chunk, ChunkSizes, Layout

Values = Mapping[str, torch.Tensor]
"""Tensors by the name of their field."""

Beginning = Callable[[], tuple[Values, Values]]
"""Gives what is recorded of a beginning, by world, and what worlds share then."""

Layouts = Sequence[Layout]
"""Of a step, of a beginning, and of what worlds share then."""

HOST_CHUNK_BYTES = 8 * 2**20
DEVICE_CHUNK_BYTES = 256 * 2**20
LARGEST_CHUNK = 64
"""Steps of a chunk, at most."""

AGE_S = 0.5
"""Steps on a device are copied to the host after this time, s, if they are few, too."""


class StepStore(ABC):
    """Chunks of steps, handed over when they are full."""

    def __init__(
        self, memory: SharedArrays, sizes: ChunkSizes, hand_over: Callable[[], None]
    ) -> None:
        """Take over the chunks.

        Args:
            memory: Memory that is shared with the writer.
            sizes: Sizes of the chunks in it.
            hand_over: Says that a chunk is full, and returns when the next is free.
        """
        self._sizes = sizes
        self._chunks = [Chunk(memory, index) for index in range(sizes.chunks)]
        self._hand_over = hand_over
        self._place = 0
        self._row = 0

    @abstractmethod
    def write(self, row: Values, begins: torch.Tensor, beginning: Beginning) -> None:
        """Put a step in its place.

        Args:
            row: Values of the step, shapes (num_envs, ...).
            begins: Worlds in which an episode begins after it, shape (num_envs,), bool.
            beginning: Gives the values of a beginning, shapes (num_envs, ...), and
                those that worlds share then, shapes (...).
        """

    @abstractmethod
    def commit(self) -> None:
        """Say that what was written last is a step that was done."""

    @abstractmethod
    def finish(self) -> None:
        """Leave no step behind that the writer cannot see."""


class HostStore(StepStore):
    """A step goes straight into the memory that the writer sees.

    Nothing is captured on the host, and to look at a mask there costs nothing: what is
    recorded of a beginning is computed when there is one.
    """

    def __init__(
        self,
        memory: SharedArrays,
        sizes: ChunkSizes,
        layouts: Layouts,
        hand_over: Callable[[], None],
    ) -> None:
        super().__init__(memory, sizes, hand_over)
        self._begun = 0
        self._new = 0
        # A step is put together here, where its memory is at hand. Field by field into
        # the chunk, which the writer had last, it took ten times as long.
        self._step = np.zeros((sizes.num_envs, sizes.row_bytes), np.uint8)
        # NumPy, because it is several times faster than torch with what is small.
        self._step_fields = layouts[0].views(self._step)
        self._fields = [
            (layouts[1].views(chunk.beginnings), layouts[2].views(chunk.shared))
            for chunk in self._chunks
        ]

    def write(self, row: Values, begins: torch.Tensor, beginning: Beginning) -> None:
        beginnings, commons = self._fields[self._place]
        for name, field in self._step_fields.items():
            field[:] = row[name].numpy()
        worlds = np.flatnonzero(begins.numpy())
        self._new = len(worlds)
        if not self._new:
            return
        places = slice(self._begun, self._begun + self._new)
        own, shared = beginning()
        for name, field in beginnings.items():
            field[places] = own[name].numpy()[worlds]
        for name, field in commons.items():
            field[self._row] = shared[name].numpy()

    def commit(self) -> None:
        chunk = self._chunks[self._place]
        chunk.rows[self._row] = self._step
        self._row += 1
        self._begun += self._new
        self._new = 0
        # The writer looks at this number, and may at once read what it speaks of.
        chunk.num_rows = self._row
        is_full = self._begun + self._sizes.num_envs > self._sizes.beginnings
        if self._row == self._sizes.rows or is_full:
            self._hand_over()
            self._place = (self._place + 1) % len(self._chunks)
            self._row = self._begun = 0

    def finish(self) -> None:
        pass  # Every step that was done can be seen already.


class CopyStream:
    """A stream for copies into memory that the driver may write to by itself."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._event = torch.cuda.Event()

    def pin(self, memory: torch.Tensor) -> None:
        """Let the driver write to memory of the host, as long as this stream is there.

        Otherwise a copy waits for the stream, and the host for the copy.
        """
        runtime: Any = torch.cuda.cudart()
        place = memory.data_ptr()
        torch.cuda.check_error(int(runtime.cudaHostRegister(place, memory.nbytes, 0)))
        weakref.finalize(self, runtime.cudaHostUnregister, place)

    def copy(self, pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> None:
        """Copy the second of each pair into the first, after what was launched."""
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            for target, source in pairs:
                target.copy_(source, non_blocking=True)
            self._event.record(self._stream)

    def is_done(self) -> bool:
        """Return whether the copies are there."""
        return self._event.query()

    def wait(self) -> None:
        """Wait until the copies are there."""
        self._event.synchronize()


class DeviceStore(StepStore):
    """Steps stay on the device until there are many, and are copied while others go on.

    There are two halves: one is filled, one is copied. Beginnings follow one another
    without gaps, so that only those that there are have to be copied: their number is
    copied first, and looked at when it has come. A half is copied when it is full, or
    `AGE_S` after its first step.
    """

    def __init__(
        self,
        memory: SharedArrays,
        sizes: ChunkSizes,
        layouts: Layouts,
        hand_over: Callable[[], None],
        device: torch.device,
        stream: CopyStream,
    ) -> None:
        super().__init__(memory, sizes, hand_over)
        self._tensors = memory.tensors()
        self._names = [[f.name for f in each.fields if f.nbytes] for each in layouts]
        self._stream = stream
        n, k = sizes.num_envs, sizes.rows
        if sizes.beginnings != k * n:
            raise ValueError(f"A chunk has to have room for {k * n} beginnings.")
        of_bytes = {"dtype": torch.uint8, "device": device}
        self._rows = torch.zeros(2 * k, n, sizes.row_bytes, **of_bytes)
        # The last row takes what is of no episode.
        self._beginnings = torch.zeros(2 * k * n + 1, sizes.beginning_bytes, **of_bytes)
        self._shared = torch.zeros(2 * k, sizes.shared_bytes, **of_bytes)
        # Beginnings before each step of each half; those before its first are none.
        self._counts = torch.zeros(2 * (k + 1), dtype=torch.int64, device=device)
        steps = torch.arange(2 * k, device=device)
        half = steps // k
        self._table = torch.stack((steps, steps + half, half * k * n), dim=1)
        self._now = self._table[0].clone()
        self._host_counts = torch.zeros(k + 1, dtype=torch.int64)
        stream.pin(self._host_counts)
        self._half = 0
        self._waiting: tuple[int, int, int] | None = None
        self._has_counts = False
        self._since = 0.0

    def write(self, row: Values, begins: torch.Tensor, beginning: Beginning) -> None:
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
            commons = [_as_bytes(shared[name], 1) for name in self._names[2]]
            self._shared.index_copy_(0, place, torch.cat(commons, dim=1))

    def commit(self) -> None:
        self._row += 1
        if self._waiting is not None and self._stream.is_done():
            self._move_on()
        if self._row == 1:
            self._since = time.monotonic()
        if self._row == self._sizes.rows or time.monotonic() - self._since > AGE_S:
            self._switch_halves()
        self._now.copy_(self._table[self._half * self._sizes.rows + self._row])

    def finish(self) -> None:
        if self._row:
            self._switch_halves()
        self._wait()

    def _packed(self, names: Sequence[str], values: Values) -> torch.Tensor:
        """Return fields side by side, shape (num_envs, bytes)."""
        n = self._sizes.num_envs
        return torch.cat([_as_bytes(values[name], n) for name in names], dim=1)

    def _switch_halves(self) -> None:
        """Have the half that was filled copied, and fill the other."""
        self._wait()
        k, half, number = self._sizes.rows, self._half, self._row
        steps = slice(half * k, half * k + number)
        self._stream.copy(
            [
                (self._tensors[f"{self._place}/rows"][:number], self._rows[steps]),
                (self._tensors[f"{self._place}/shared"][:number], self._shared[steps]),
                (self._host_counts, self._counts[half * (k + 1) :][: k + 1]),
            ]
        )
        self._waiting = (half, number, self._place)
        self._has_counts = False
        self._place = (self._place + 1) % len(self._chunks)
        self._half, self._row = 1 - half, 0

    def _wait(self) -> None:
        while self._waiting is not None:
            self._stream.wait()
            self._move_on()

    def _move_on(self) -> None:
        """Copy the beginnings, since their number is here, or hand the chunk over."""
        assert self._waiting is not None
        half, number, place = self._waiting
        if not self._has_counts:
            self._has_counts = True
            begun = int(self._host_counts[number])
            first = half * self._sizes.beginnings
            source = self._beginnings[first : first + begun]
            target = self._tensors[f"{place}/beginnings"][:begun]
            self._stream.copy([(target, source)])
            return
        self._waiting = None
        self._chunks[place].num_rows = number
        self._hand_over()


def plan_sizes(
    num_envs: int, row: int, beginning: int, shared: int, *, on_host: bool
) -> ChunkSizes:
    """Return sizes by which memory is a few tens of megabytes on the host.

    Args:
        num_envs: Number of worlds.
        row: Bytes of a world's step.
        beginning: Bytes of a beginning.
        shared: Bytes of what worlds share.
        on_host: Whether steps are computed there. A device has memory for a beginning
            of every world in every step, since it cannot know how many there are.
    """
    step = num_envs * (row if on_host else row + beginning)
    budget = HOST_CHUNK_BYTES if on_host else DEVICE_CHUNK_BYTES
    rows = max(1, min(LARGEST_CHUNK, budget // max(1, step)))
    return ChunkSizes(
        num_envs=num_envs,
        rows=rows,
        beginnings=2 * num_envs if on_host else rows * num_envs,
        row_bytes=row,
        beginning_bytes=beginning,
        shared_bytes=shared,
        chunks=4 if on_host else 3,
    )


def _as_bytes(value: torch.Tensor, rows: int) -> torch.Tensor:
    """Return the bytes of each row, shape (rows, bytes)."""
    return value.reshape(rows, -1).contiguous().view(torch.uint8)
