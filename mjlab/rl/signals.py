"""Signals that request the end of a training run."""

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
    """Handle stop signals, so that the current iteration is finished and saved.

    Handles SIGINT, SIGTERM and SIGHUP, and SIGPIPE if the reader of the output has
    closed the pipe, as in `train ... | head`. A second signal has its usual effect. An
    ignored SIGHUP, as under `nohup`, stays ignored. SIGQUIT is not handled, so it can
    end a process that does not react to other signals.
    """

    def __init__(self) -> None:
        self.received = 0.0
        """Number of the signal received by this process, 0 if none."""
        self.agreed = 0.0
        """Average of `received` over all processes, from the last `agree`."""
        self._before: dict[int, Any] = {}
        self._terminals: list[int] = []

    def __enter__(self) -> "Interrupts":
        """Install the signal handlers; only possible in the main thread."""
        self.received = self.agreed = 0.0
        if threading.current_thread() is threading.main_thread():
            self._terminals = [number for number in (1, 2) if os.isatty(number)]
            self._before = {s: signal.signal(s, self._note) for s in _heeded()}
        return self

    def __exit__(self, *error: object) -> None:
        """Restore the previous signal handlers."""
        self._restore()

    @property
    def reason(self) -> str:
        """Reason to stop, for messages."""
        if not self.received:
            return "another process received a signal"
        name = _name(int(self.received))
        if self.received == _PIPE:
            return f"the output pipe was closed ({name})"
        return f"{name} received"

    def agree(self, mean: float) -> None:
        """Set the average of received signals, so that all processes stop together."""
        self.agreed = mean

    def _note(self, number: int, frame: FrameType | None) -> None:
        lost = self._terminals if number == _HANGUP else []
        if number == _PIPE:
            lost = [output for output in (1, 2) if _is_closed(output)]
            # A library wrote to a closed socket; the write also raises an error.
            if not lost:
                return
        self.received = float(number)
        _discard(lost)
        if number == _PIPE:
            _log.warning("The output pipe was closed: saving after this iteration.")
        else:
            _log.warning(
                "%s: saving after this iteration. A second signal stops immediately.",
                _name(number),
            )
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}


def _name(number: int) -> str:
    return "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name


def _is_closed(output: int) -> bool:
    """Return True if the reading end of a file descriptor is closed."""
    poll = select.poll()
    poll.register(output, 0)
    gone = select.POLLERR | select.POLLHUP
    return any(event & gone for _, event in poll.poll(0))


def _discard(outputs: Sequence[int]) -> None:
    """Redirect file descriptors to null: a write would raise during an iteration."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in outputs:
        os.dup2(nowhere, number)
    os.close(nowhere)


def _heeded() -> list[int]:
    """Return the operating-system signals that are handled."""
    heeded: list[int] = [signal.SIGINT, signal.SIGTERM]
    heeded += [] if _PIPE is None else [_PIPE]
    if _HANGUP is not None and signal.getsignal(_HANGUP) is not signal.SIG_IGN:
        heeded.append(_HANGUP)
    return heeded
