"""Record the steps of all worlds, and write episodes in a separate process."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import torch

from mjlab.recording.buffers import (
    BeginningSource,
    CopyStream,
    DeviceBuffer,
    HostBuffer,
    StepBuffer,
    Values,
    device_rows,
    host_rows,
)
from mjlab.recording.config import RecordingCfg, RecordingError, files_of
from mjlab.recording.files import check_writable
from mjlab.recording.hdf5 import Attributes, require_h5py
from mjlab.recording.layout import RecordingLayout
from mjlab.recording.writer import Order, Sent, WriterPlan

_log = logging.getLogger(__name__)

_BLOCKS = 3
_FINISH_S = 3600.0


class Recorder:
    """Collects the steps of all worlds, and writes the episodes that `cfg` selects.

    The caller passes the values of a step to `write`, and calls `commit` after the step
    was executed. A separate process splits the steps into episodes, and writes the
    selected ones. Memory is allocated once: `commit` waits if the process is slower.
    """

    def __init__(
        self,
        cfg: RecordingCfg,
        num_envs: int,
        device: torch.device,
        layout: RecordingLayout,
        *,
        attributes: Attributes,
        about: Mapping[str, Any],
        clean: bool = True,
    ) -> None:
        """Start recording.

        Args:
            cfg: Output path and selection of episodes. `export="none"` writes no file.
            num_envs: Number of worlds.
            device: Device of the tensors.
            layout: Layouts of the recorded fields.
            attributes: Attributes of the files.
            about: Entries of the JSON files besides the episodes.
            clean: Whether to omit episodes without steps when the files are finished.
        """
        require_h5py()
        self.files = files_of(cfg)
        """Output file of each selection: "all", "succeeded" or "failed"."""
        for path in self.files.values():
            check_writable(path)
        is_host = device.type == "cpu"
        plan = WriterPlan(
            layout=layout,
            num_envs=num_envs,
            rows=(host_rows if is_host else device_rows)(layout, num_envs),
            blocks=_BLOCKS,
            files=self.files,
            attributes=dict(attributes),
            about=json.loads(json.dumps(about)),
            clean=clean,
        )
        memory = plan.memory()
        self.writer = WriterProcess(plan, memory.file)
        """Writer process."""
        self._buffer: StepBuffer
        if is_host:
            self._buffer = HostBuffer(plan, memory, self.writer)
        else:
            stream = CopyStream(device)
            stream.pin(torch.from_numpy(memory.memory))
            self._buffer = DeviceBuffer(plan, memory, self.writer, device, stream)
        os.close(memory.file)
        self._is_open = True

    @property
    def totals(self) -> dict[str, int]:
        """Numbers of episodes, available after `close`.

        "episodes" were written, "lost" were not written because the disk was full, and
        "unasked" were held (`Ending.HELD`) but never requested.
        """
        return self.writer.totals

    def write(
        self, row: Values, begins: torch.Tensor, beginning: BeginningSource
    ) -> None:
        """Store a step, with the arguments of `StepBuffer.write`."""
        self._buffer.write(row, begins, beginning)

    def commit(self) -> None:
        """Record the last written step."""
        if self._is_open and not self.writer.has_ended:
            self._buffer.commit()

    def save(self) -> None:
        """Wait until all finished episodes are on disk."""
        if self._is_open and not self.writer.has_ended:
            self._buffer.flush()
            self.writer.save()

    def close(self, *, keep: bool = True) -> None:
        """Write the remaining episodes, and finish the files.

        Args:
            keep: Whether to write unfinished episodes up to their last step.
        """
        if not self._is_open:
            return
        if not self.writer.has_ended:
            self._buffer.flush()
        self._is_open = False
        self.writer.finish(keep=keep)


class WriterProcess:
    """Writer process, and the connection to it."""

    def __init__(self, plan: WriterPlan, memory: int) -> None:
        """Start the process.

        Args:
            plan: Data that the process needs.
            memory: File descriptor of the shared memory.
        """
        self.totals: dict[str, int] = {}
        """Numbers of episodes, as `Recorder.totals`."""
        self.has_ended = False
        """Whether the process has ended."""
        self._failure = ""
        self._has_saved = False
        self._free = set(range(plan.blocks))
        root = str(Path(__file__).resolve().parents[2])
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._connection, theirs = Pipe()
        inherited = theirs.fileno(), memory
        code = "from mjlab.recording.writer import main; main()"
        # In a separate process group, Ctrl-C does not interrupt the writer.
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, inherited)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=inherited,
            process_group=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        theirs.close()
        self._send(plan)

    @property
    def pid(self) -> int:
        """Process id of the writer process."""
        return self._process.pid

    def take_block(self, block: int) -> None:
        """Wait until a block of shared memory is free, and reserve it."""
        while block not in self._free and not self.has_ended:
            self._receive()
        self._free.discard(block)

    def send(self, steps: Sent) -> None:
        """Send the steps of a block to the writer, and handle its messages."""
        self._send(steps)
        while not self.has_ended and self._connection.poll():
            self._receive()

    def save(self) -> None:
        """Wait until all finished episodes are on disk."""
        self._has_saved = False
        self._send("save")
        while not self._has_saved and not self.has_ended:
            self._receive()

    def finish(self, *, keep: bool) -> None:
        """Wait until the files are finished and the process has ended.

        Args:
            keep: Whether to write unfinished episodes up to their last step.

        Raises:
            RecordingError: If the process failed.
        """
        self._send("finish" if keep else "drop")
        while not self.has_ended:
            self._receive()
        self._process.wait(_FINISH_S)
        self._connection.close()
        if not self.totals:
            raise RecordingError(
                "The writer process has failed. The episodes that it wrote before can "
                f"be read. Error: {self._failure or 'unknown'}"
            )

    def _send(self, message: WriterPlan | Order) -> None:
        try:
            self._connection.send(message)
        except OSError:
            pass  # The process has ended, which `_receive` detects.

    def _receive(self) -> None:
        """Wait for a message, and handle it."""
        try:
            message: Mapping[str, Any] = self._connection.recv()
        except (EOFError, OSError):
            self.has_ended = True
            if not self.totals:
                _log.error("Recording has stopped. %s", self._failure)
            return
        if "freed" in message:
            self._free.add(message["freed"])
        if "said" in message:
            _log.warning("%s", message["said"])
        self._has_saved |= "saved" in message
        self._failure = message.get("failed", self._failure)
        self.totals = message.get("totals", self.totals)
