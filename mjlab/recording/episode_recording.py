"""Episodes of all worlds on their way to files."""

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import torch

from mjlab.files import create_beside, make_folders
from mjlab.parallel.memory import SharedArrays, spec_of
from mjlab.recording.config import RecordingCfg, RecordingError, files_of
from mjlab.recording.hdf5 import FORMAT, FORMAT_VERSION, require_h5py
from mjlab.recording.layout import CONTROL, Layout, RecordedField, WriterPlan
from mjlab.recording.overwriting import check_replaceable
from mjlab.recording.step_store import (
    Beginning,
    CopyStream,
    DeviceStore,
    HostStore,
    StepStore,
    Values,
    plan_sizes,
)

_log = logging.getLogger(__name__)

_CLOSE_S = 3600.0
_WRITER = "mjlab.recording.writer"


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
        steps: list[RecordedField],
        beginning: list[RecordedField],
        shared: list[RecordedField],
        attributes: Mapping[str, Any],
        about: Mapping[str, Any],
        clean: bool = True,
    ) -> None:
        """Begin to record.

        Args:
            cfg: Place and choice of episodes; "none" has no recording.
            num_envs: Number of worlds.
            device: Device of the tensors.
            steps: Fields of a step, by world.
            beginning: Fields of the beginning of an episode, by world.
            shared: Fields that worlds share when an episode begins.
            attributes: Attributes of the files.
            about: Content of the sidecars besides the episodes, as JSON takes it.
            clean: Whether episodes without steps are left out in the end.
        """
        require_h5py()
        self.files = files_of(cfg)
        """The files, by which episodes they get."""
        self.totals: dict[str, int] = {}
        """Episodes that were written ("episodes"), found no room ("lost"), and were not
        asked for ("unasked"). Known once the recording is closed."""
        control = [RecordedField(name, (), "uint8") for name in CONTROL]
        layouts = [Layout(part) for part in ([*control, *steps], beginning, shared)]
        on_host = device.type == "cpu"
        row_bytes = (each.row_bytes for each in layouts)
        self.sizes = plan_sizes(num_envs, *row_bytes, on_host=on_host)
        """Sizes of the chunks of memory."""
        self._check_folders()
        attributes = {"format": FORMAT, "format_version": FORMAT_VERSION, **attributes}
        plan = WriterPlan(
            sizes=self.sizes,
            layouts=layouts,
            files=self.files,
            attributes=dict(attributes),
            about=json.loads(json.dumps(about)),
            clean=clean,
        )
        memory = SharedArrays(self.sizes.specs())
        writer = WriterProcess(plan, memory.file)
        self._writer: WriterProcess | None = writer
        common = memory, self.sizes, layouts, writer.hand_over
        if on_host:
            self._store: StepStore = HostStore(*common)
        else:
            stream = CopyStream(device)
            stream.pin(torch.from_numpy(memory.memory))
            self._store = DeviceStore(*common, device, stream)
        os.close(memory.file)

    @property
    def writer_pid(self) -> int | None:
        """Number of the process that writes, None once it has closed."""
        return None if self._writer is None else self._writer.pid

    def write(self, row: Values, begins: torch.Tensor, beginning: Beginning) -> None:
        """Put a step in its place; see `StepStore.write`."""
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
        self.totals = writer.totals

    def _check_folders(self) -> None:
        """Make the folders, and see now whether they can be written to."""
        for path in self.files.values():
            check_replaceable(path)
            try:
                make_folders(path.parent)
                probe, file = create_beside(path)
                file.close()
                probe.unlink()
            except OSError as error:
                raise RecordingError(
                    f"{path} cannot be written: {error.strerror or error}."
                ) from error


class WriterProcess:
    """The process that writes, as the one that steps sees it.

    It is a process and no thread, because HDF5 needs Python's lock most of the time,
    and so does who steps. It outlives a learner that is killed, to write what was done.
    """

    def __init__(self, plan: WriterPlan, memory: int) -> None:
        """Start the writer.

        Args:
            plan: Content and place of the recording.
            memory: Descriptor of the memory that is shared.
        """
        self.totals: dict[str, int] = {}
        """Fates of the episodes, once the writer has closed."""
        self._failure = ""
        # All chunks but one may be filled before the writer gives one back.
        self._free = threading.Semaphore(plan.sizes.chunks - 1)
        self._ended = threading.Event()
        self._shown = threading.Event()
        root = str(Path(__file__).resolve().parents[2])
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._connection, theirs = Pipe()
        inherited = theirs.fileno(), memory
        # A group of its own, which Ctrl-C does not reach: what was done is written.
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", f"from {_WRITER} import main; main()"),
                *map(str, inherited),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=inherited,
            process_group=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        theirs.close()
        self._listener = threading.Thread(
            target=self._listen, daemon=True, name="episode writer"
        )
        self._listener.start()
        self._send(plan)

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def is_gone(self) -> bool:
        """State of the process: true once it has ended."""
        return self._ended.is_set()

    def hand_over(self) -> None:
        """Say that a chunk is full, and wait until another is free.

        This is what keeps memory bounded where the disk is slower than the steps.
        """
        self._free.acquire()
        self._send("chunk")

    def show(self) -> None:
        """Have everything that is over made readable, and wait for that."""
        self._shown.clear()
        self._send("show")
        self._shown.wait(_CLOSE_S)

    def close(self, *, keep: bool) -> None:
        """Have the writer finish its files, and wait for that."""
        self._send("close keep" if keep else "close drop")
        self._process.wait(_CLOSE_S)
        self._listener.join(_CLOSE_S)
        self._connection.close()
        if not self.totals:
            raise RecordingError(
                "The process that writes episodes has failed; those that are in its "
                f"parts can be read. It said: {self._failure or 'nothing'}"
            )

    def _send(self, message: WriterPlan | str) -> None:
        try:
            self._connection.send(message)
        except OSError:
            pass  # It has ended, which the listener notices.

    def _listen(self) -> None:
        """Take in the writer's messages, until it ends."""
        try:
            while True:
                self._take_in(self._connection.recv())
        except (EOFError, ConnectionResetError):
            pass  # Why is told when the recording is closed.
        self._ended.set()
        # Nobody waits for what has ended.
        self._free.release()
        self._shown.set()
        if not self.totals:
            _log.error("Nothing is recorded any more. %s", self._failure)

    def _take_in(self, message: Mapping[str, Any]) -> None:
        if "free" in message:
            self._free.release()
        if "shown" in message:
            self._shown.set()
        if "said" in message:
            _log.warning("%s", message["said"])
        self._failure = message.get("failed", self._failure)
        self.totals = message.get("totals", self.totals)


def field_of(name: str, value: torch.Tensor, num_envs: int, role: str) -> RecordedField:
    """Return the field of a tensor with a row for each world."""
    if value.shape[:1] != (num_envs,):
        raise RecordingError(
            f"{name!r} has shape {tuple(value.shape)}; to be recorded, it has to have "
            f"{num_envs} rows, one for each world."
        )
    return RecordedField(name, *spec_of(value.shape[1:], value.dtype), role)


def whole_field_of(name: str, value: torch.Tensor) -> RecordedField:
    """Return the field of a tensor that worlds share."""
    return RecordedField(name, *spec_of(value.shape, value.dtype), "start")
