"""Signals that ask a training to stop."""

import logging
import os
import signal
import threading
from types import FrameType
from typing import Any

_log = logging.getLogger(__name__)

_HANGUP = getattr(signal, "SIGHUP", None)
"""The signal of a closed terminal. Windows has none."""


class Interrupts:
    """Notes SIGINT, SIGTERM and SIGHUP, so that an iteration is finished and saved.

    A second one has the effect that it would have had without this. A SIGHUP that is
    ignored, as under `nohup`, stays so.
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
    def name(self) -> str:
        """Name of the signal, for messages."""
        if not self.received:
            return "to another process"
        return signal.Signals(int(self.received)).name

    def agree(self, mean: float) -> None:
        """Take note of what the processes received, so that all stop together."""
        self.agreed = mean

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.received = float(number)
        if number == _HANGUP:
            self._leave_terminals()
        _log.warning(
            "%s: the iteration is finished and saved. Once more stops at once.",
            signal.Signals(number).name,
        )
        self._restore()

    def _leave_terminals(self) -> None:
        """Write no more to a terminal that is gone: it would raise in mid-iteration."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in self._terminals:
            os.dup2(nowhere, number)
        os.close(nowhere)

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}


def _heeded() -> list[int]:
    """Return the signals that ask for an end."""
    heeded: list[int] = [signal.SIGINT, signal.SIGTERM]
    if _HANGUP is not None and signal.getsignal(_HANGUP) is not signal.SIG_IGN:
        heeded.append(_HANGUP)
    return heeded
