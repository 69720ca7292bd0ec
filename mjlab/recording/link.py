"""The process that writes, as the one that steps sees it."""

import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from mjlab.recording.config import RecordingError

_log = logging.getLogger(__name__)

_CLOSE_S = 3600.0


class WriterProcess:
    """Starts the writer, and talks to it.

    It is a process and no thread, because HDF5 needs Python's lock most of the time,
    and so does who steps.
    """

    def __init__(self, plan: dict[str, Any], descriptor: int, free_chunks: int) -> None:
        """Start the writer.

        Args:
            plan: What it has to know; see `mjlab.recording.process.Writer`.
            descriptor: Of the memory that is shared.
            free_chunks: Chunks that it has not to give back before they are used.
        """
        self.totals: dict[str, int] = {}
        """What became of the episodes, once the writer has closed."""
        self._failure = ""
        self._free = threading.Semaphore(free_chunks)
        self._ended = threading.Event()
        self._shown = threading.Event()
        root = str(Path(__file__).resolve().parents[2])
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        # A group of its own, which Ctrl-C does not reach: what was done is written.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mjlab.recording.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(descriptor,),
            process_group=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self._listener = threading.Thread(
            target=self._listen, daemon=True, name="episode writer"
        )
        self._listener.start()
        self._send(json.dumps(plan))

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def is_gone(self) -> bool:
        """Whether the writer has ended."""
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
        if self._process.stdin is not None and not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except OSError:
                pass  # It has ended already, and why is told below.
        self._process.wait(_CLOSE_S)
        self._listener.join(_CLOSE_S)
        if not self.totals:
            raise RecordingError(
                "The process that writes episodes has failed; those that are in its "
                f"parts can be read. It said: {self._failure or 'nothing'}"
            )

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except (OSError, ValueError):
            pass  # It has ended, which the listener notices.

    def _listen(self) -> None:
        """Take in what the writer says, until it ends."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if "free" in message:
                self._free.release()
            if "shown" in message:
                self._shown.set()
            if "said" in message:
                _log.warning("%s", message["said"])
            if "failed" in message:
                self._failure = message["failed"]
            if "closed" in message:
                self.totals = message
        self._ended.set()
        # Nobody waits for what has ended.
        self._free.release()
        self._shown.set()
        if not self.totals:
            _log.error("Nothing is recorded any more. %s", self._failure)
