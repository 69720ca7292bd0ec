"""Signals that ask a training to stop."""

import logging
import os
import select
import signal
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Any

_log = logging.getLogger(__name__)

_HANGUP = getattr(signal, "SIGHUP", None)
"""The signal of a closed terminal. Windows has none."""

_PIPE = getattr(signal, "SIGPIPE", None)
"""The signal of a write to a closed pipe or socket. Windows has none."""


class Interrupts:
    """Notes signals that ask for an end, so that an iteration is finished and saved.

    They are SIGINT, SIGTERM, SIGHUP, and SIGPIPE if the reader of the output has gone,
    as in `train ... | head`. A second one has the effect that it would have had without
    this. A SIGHUP that is ignored, as under `nohup`, stays so. SIGQUIT is left alone:
    it ends a process that reacts to nothing else.
    """

    def __init__(self) -> None:
        self.received = 0.0
        """Number of the signal that this process received, 0 if none."""
        self.agreed = 0.0
        """Number that all processes know to have been received, their average."""
        self._before: dict[int, Any] = {}
        self._terminals: list[int] = []

    def __enter__(self) -> "Interrupts":
        """Begin to listen, which only the main thread can."""
        self.received = self.agreed = 0.0
        if threading.current_thread() is threading.main_thread():
            self._terminals = [number for number in (1, 2) if os.isatty(number)]
            self._before = {s: signal.signal(s, self._note) for s in _heeded()}
        return self

    def __exit__(self, *error: object) -> None:
        """Give the signals back."""
        self._restore()

    @property
    def reason(self) -> str:
        """Reason to stop, for messages."""
        if not self.received:
            return "another process received a signal"
        name = signal.Signals(int(self.received)).name
        if self.received == _PIPE:
            return f"the reader of the output has gone ({name})"
        return f"{name} received"

    def agree(self, mean: float) -> None:
        """Take note of what the processes received, so that all stop together."""
        self.agreed = mean

    def _note(self, number: int, frame: FrameType | None) -> None:
        lost = self._terminals if number == _HANGUP else []
        if number == _PIPE:
            lost = [output for output in (1, 2) if _is_closed(output)]
            if not lost:  # A socket of some library: its write fails, and that is all.
                return
        self.received = float(number)
        _discard(lost)
        name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        _log.warning(
            "%s: finishing this iteration, then saving. Again to stop at once.", name
        )
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}


def _is_closed(output: int) -> bool:
    """Return True if nobody can read what is written to a file descriptor."""
    poll = select.poll()
    poll.register(output, 0)
    gone = select.POLLERR | select.POLLHUP
    return any(event & gone for _, event in poll.poll(0))


def _discard(outputs: Sequence[int]) -> None:
    """Have file descriptors lead nowhere: a write would raise in mid-iteration."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in outputs:
        os.dup2(nowhere, number)
    os.close(nowhere)


def _heeded() -> list[int]:
    """Return the signals that ask for an end."""
    heeded: list[int] = [signal.SIGINT, signal.SIGTERM]
    heeded += [] if _PIPE is None else [_PIPE]
    if _HANGUP is not None and signal.getsignal(_HANGUP) is not signal.SIG_IGN:
        heeded.append(_HANGUP)
    return heeded
