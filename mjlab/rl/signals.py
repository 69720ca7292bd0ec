"""Being asked to stop, and the time things take."""

import logging
import os
import signal
import threading
import time
from types import FrameType
from typing import Any

import torch

_log = logging.getLogger(__name__)

_HANGUP = getattr(signal, "SIGHUP", None)
"""What a closed terminal sends. Windows has no such signal."""


class Interrupts:
    """Notes SIGINT, SIGTERM and SIGHUP, so that an iteration is finished and saved.

    A second one has the effect that it would have had without this. A SIGHUP that is
    ignored, as under `nohup`, stays so.
    """

    def __init__(self) -> None:
        self.received = 0.0
        """Number of the signal that this process received, 0 if none."""
        self.agreed = 0.0
        """What all processes know to have been received, averaged over them."""
        self._before: dict[int, Any] = {}
        self._terminals: list[int] = []

    def __enter__(self) -> "Interrupts":
        """Begin to listen. Only the main thread can."""
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
        """What was received, for messages."""
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
    """Signals that ask for an end."""
    heeded: list[int] = [signal.SIGINT, signal.SIGTERM]
    if _HANGUP is not None and signal.getsignal(_HANGUP) is not signal.SIG_IGN:
        heeded.append(_HANGUP)
    return heeded


class Stopwatch:
    """Times the laps of an iteration, on the device where that works on its own."""

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._names: list[str] = []
        self._marks: list[Any] = [self._mark()]

    def lap(self, name: str) -> None:
        """Say that a lap is over."""
        self._names.append(name)
        self._marks.append(self._mark())

    def seconds(self) -> dict[str, float]:
        """Time of each lap. On a GPU, the device must have been waited for."""
        pairs = zip(self._marks, self._marks[1:], strict=False)
        times = [self._between(start, end) for start, end in pairs]
        return dict(zip(self._names, times, strict=True))

    def _mark(self) -> Any:
        if not self._on_gpu:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def _between(self, start: Any, end: Any) -> float:
        if self._on_gpu:
            return start.elapsed_time(end) / 1e3
        return end - start
