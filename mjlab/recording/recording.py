"""Episodes of all worlds on their way to files."""

import dataclasses
import mmap
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from mjlab.recording.config import RecordingCfg, RecordingError, files_of
from mjlab.recording.files import check_parts
from mjlab.recording.hdf5 import FORMAT, FORMAT_VERSION, require_h5py
from mjlab.recording.layout import CONTROL, Field, Layout
from mjlab.recording.link import WriterProcess
from mjlab.recording.memory import Chunks, open_memory
from mjlab.recording.store import (
    CudaLane,
    DeviceStore,
    HostStore,
    Store,
    plan_sizes,
)

Values = Mapping[str, torch.Tensor]


class EpisodeRecording:
    """Takes the steps of all worlds, and has the episodes in them written.

    What is recorded is the same in every step, so memory is allocated once. A process
    beside this one cuts the stream into episodes and writes them; where it cannot keep
    up, `commit` waits for it.
    """

    def __init__(
        self,
        cfg: RecordingCfg,
        num_envs: int,
        device: torch.device,
        *,
        steps: list[Field],
        beginning: list[Field],
        shared: list[Field],
        attributes: Mapping[str, Any],
        about: Mapping[str, Any],
        clean: bool = True,
    ) -> None:
        """Begin to record.

        Args:
            cfg: Where episodes go, and which; "none" has no recording.
            num_envs: Number of worlds.
            device: Where tensors live.
            steps: What is recorded of a step, by world.
            beginning: What is recorded of the beginning of an episode, by world.
            shared: What worlds share when an episode begins.
            attributes: Attributes of the files.
            about: What the sidecars say besides the episodes.
            clean: Whether episodes without steps are left out in the end.
        """
        require_h5py()
        self.files = files_of(cfg)
        """The files, by which episodes they get."""
        self._totals: dict[str, int] = {}
        control = [Field(name, (), "uint8") for name in CONTROL]
        layouts = [Layout(part) for part in ([*control, *steps], beginning, shared)]
        sizes = plan_sizes(
            num_envs,
            *(each.row_bytes for each in layouts),
            on_host=device.type == "cpu",
        )
        self.sizes = sizes
        """How large chunks are."""
        self._open_folders()
        descriptor = open_memory(sizes.total_bytes)
        memory = np.frombuffer(mmap.mmap(descriptor, sizes.total_bytes), np.uint8)
        chunks = Chunks(memory, sizes)
        plan = {
            "descriptor": descriptor,
            "bytes": sizes.total_bytes,
            "sizes": dataclasses.asdict(sizes),
            "layouts": [each.to_data() for each in layouts],
            "files": {key: str(path) for key, path in self.files.items()},
            "attributes": {
                "format": FORMAT,
                "format_version": FORMAT_VERSION,
                **attributes,
            },
            "about": dict(about),
            "clean": clean,
        }
        self._writer: WriterProcess | None = WriterProcess(
            plan, descriptor, sizes.chunks - 1
        )
        os.close(descriptor)
        hand_over = self._writer.hand_over
        if device.type == "cpu":
            self._store: Store = HostStore(chunks, sizes, layouts, hand_over)
        else:
            lane = CudaLane(device, torch.from_numpy(memory))
            self._store = DeviceStore(chunks, sizes, layouts, hand_over, device, lane)

    @property
    def writer_pid(self) -> int | None:
        """Number of the process that writes, None once it has closed."""
        return None if self._writer is None else self._writer.pid

    @property
    def totals(self) -> dict[str, int]:
        """Episodes that were written, found no room, and were not asked for.

        Known once the recording is closed.
        """
        return self._totals

    def write(
        self,
        row: Values,
        begins: torch.Tensor,
        beginning: Callable[[], tuple[Values, Values]],
    ) -> None:
        """Put a step in its place; it may stand in a step that is captured.

        Args:
            row: By field, of each world.
            begins: Worlds in which an episode begins after the step, shape (num_envs,).
            beginning: Gives what is recorded of a beginning, by field, and what worlds
                share then.
        """
        self._store.write(row, begins, beginning)

    def commit(self) -> None:
        """Say that what was written last is a step that was done."""
        if self._writer is not None and not self._writer.is_gone:
            self._store.commit()

    def show(self) -> None:
        """Wait until every episode that is over can be read from its file."""
        if self._writer is not None and not self._writer.is_gone:
            self._store.finish()
            self._writer.show()

    def close(self, *, keep: bool = True) -> None:
        """Write what is on its way, and make whole files.

        Args:
            keep: Whether episodes that are not over are written as far as they got.
        """
        if self._writer is None:
            return
        if not self._writer.is_gone:
            self._store.finish()
        writer, self._writer = self._writer, None
        writer.close(keep=keep)
        names = ("episodes", "lost", "unasked")
        self._totals = {name: writer.totals[name] for name in names}

    def _open_folders(self) -> None:
        """Make the folders, and see now whether they can be written to."""
        for path in self.files.values():
            check_parts(path.with_suffix(".parts"))
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                probe = path.with_suffix(".tmp")
                probe.touch()
                probe.unlink()
            except OSError as error:
                raise RecordingError(
                    f"{path} cannot be written: {error.strerror or error}."
                ) from error


def field_of(name: str, value: torch.Tensor, num_envs: int, role: str) -> Field:
    """The field of a tensor with a row for each world."""
    if value.shape[:1] != (num_envs,):
        raise RecordingError(
            f"{name!r} has shape {tuple(value.shape)}; to be recorded, it has to have "
            f"{num_envs} rows, one for each world."
        )
    return Field(name, tuple(value.shape[1:]), dtype_of(value), role)


def whole_field_of(name: str, value: torch.Tensor) -> Field:
    """The field of a tensor that worlds share."""
    return Field(name, tuple(value.shape), dtype_of(value), "start")


def dtype_of(value: torch.Tensor) -> str:
    """NumPy's name of a tensor's type."""
    return str(value.dtype).removeprefix("torch.")
