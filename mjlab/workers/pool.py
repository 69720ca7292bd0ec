"""Worker processes: started, told, waited for, and ended."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker, util
from typing import Any

from mjlab.parallel.process import ClosedError, Handshake
from mjlab.workers.worker import CALL, DONE, END, FIRST_STEP, STEP, WorkerSpec, work

_ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""Variables in the environment of workers, before they import torch."""

_HEARTBEAT_S = 1.0
"""Seconds of waiting after which all workers are looked at."""

_GRACE_S = 5.0
"""Seconds that a worker has for ending."""


class WorkerError(RuntimeError):
    """A worker that failed, ended, or stands still. The run cannot go on."""


class _Worker:
    """A process, as seen from here."""

    def __init__(self, spec: WorkerSpec) -> None:
        context = multiprocessing.get_context("spawn")
        self.index = spec.index
        self.worlds = spec.worlds
        self.handshake, there = Handshake.pair()
        self.calls, answers = context.Pipe()
        self.process = context.Process(
            target=work,
            args=(spec, there, answers),
            name=f"mjlab-worker-{spec.index}",
            daemon=True,
        )
        try:
            self.process.start()
        finally:
            there.close()
            answers.close()

    @property
    def label(self) -> str:
        """Its name in messages."""
        last = self.worlds.stop - 1
        worlds = f"worlds {self.worlds.start} to {last}"
        if last == self.worlds.start:
            worlds = f"world {last}"
        return f"Worker {self.index} (process {self.process.pid}, {worlds})"

    def end_as_text(self) -> str:
        """Return how it ended, in words."""
        self.process.join(_GRACE_S)
        code = self.process.exitcode
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            hint = ", as when memory runs out" if name == "SIGKILL" else ""
            return f"{self.label} was ended by {name}{hint}."
        return f"{self.label} ended with exit code {code}."


class Pool:
    """The workers of an environment."""

    def __init__(
        self, specs: Sequence[WorkerSpec], *, timeout_s: float, build_timeout_s: float
    ) -> None:
        """Start them, and wait until their worlds are built.

        Args:
            specs: The worlds of each.
            timeout_s: Seconds after which one that has not answered stands still.
            build_timeout_s: The same for building its worlds.
        """
        self._timeout_s = timeout_s
        self._workers: list[_Worker] = []
        # Also when nobody says so, before multiprocessing waits for its children.
        self._close = util.Finalize(self, _end, (self._workers,), exitpriority=10)
        try:
            with _worker_environment(), _signals_held():
                for spec in specs:
                    self._workers.append(_Worker(spec))
            timeout = _Timeout(build_timeout_s)
            for worker in self._workers:
                self._answer(worker, timeout)
        except BaseException:
            self.close()
            raise

    @property
    def processes(self) -> list[int]:
        """Their process ids."""
        return [worker.process.pid or 0 for worker in self._workers]

    def step(self, *, is_first: bool) -> None:
        """Have all step, and wait for them.

        Args:
            is_first: Whether a rollout begins with it.
        """
        word = FIRST_STEP if is_first else STEP
        with self._closing_if_failed():
            for worker in self._workers:
                self._tell(worker, word)
            timeout = _Timeout(self._timeout_s)
            for worker in self._workers:
                if self._hear(worker, timeout) != DONE:
                    self._answer(worker, timeout)

    def call(self, name: str, *arguments: Sequence[Any]) -> list[Any]:
        """Call a method of each one's shard, and return what they answer.

        Args:
            name: The method.
            arguments: Each with one value for each worker.
        """
        with self._closing_if_failed():
            rows = zip(*arguments, strict=True) if arguments else [()] * len(self)
            for worker, row in zip(self._workers, rows, strict=True):
                self._tell(worker, CALL)
                self._send(worker, pickle.dumps((name, row)))
            timeout = _Timeout(self._timeout_s)
            return [self._answer(worker, timeout) for worker in self._workers]

    def close(self) -> None:
        """End them all. Closing twice is harmless."""
        self._close()

    def __len__(self) -> int:
        return len(self._workers)

    @contextlib.contextmanager
    def _closing_if_failed(self) -> Iterator[None]:
        if not self._close.still_active():
            raise WorkerError("The workers are closed.")
        try:
            yield
        except BaseException:
            # What was interrupted in between would answer a question of before.
            self.close()
            raise

    def _tell(self, worker: _Worker, word: bytes) -> None:
        try:
            worker.handshake.tell(word)
        except ClosedError:
            raise self._gone(worker) from None

    def _send(self, worker: _Worker, message: bytes) -> None:
        try:
            worker.calls.send_bytes(message)
        except (BrokenPipeError, ConnectionResetError):
            raise self._gone(worker) from None

    def _hear(self, worker: _Worker, timeout: _Timeout) -> bytes:
        while True:
            try:
                word = worker.handshake.hear(_HEARTBEAT_S)
            except ClosedError:
                raise self._gone(worker) from None
            if word is not None:
                return word
            self._look(worker, timeout)

    def _answer(self, worker: _Worker, timeout: _Timeout) -> Any:
        try:
            while not worker.calls.poll(_HEARTBEAT_S):
                self._look(worker, timeout)
            word, answer = pickle.loads(worker.calls.recv_bytes())
        except (EOFError, ConnectionResetError):
            raise self._gone(worker) from None
        if word != DONE:
            raise WorkerError(f"{worker.label} failed:\n{answer}")
        return answer

    def _look(self, late: _Worker, timeout: _Timeout) -> None:
        """Raise if any worker is gone, or the one that is waited for stands still."""
        for worker in self._workers:
            if worker.process.exitcode is not None:
                raise self._gone(worker)
        if timeout.is_over():
            raise WorkerError(
                f"{late.label} has given no sign of life for {timeout.seconds:g} s."
            )

    def _gone(self, worker: _Worker) -> WorkerError:
        """Return the error of a worker that is gone, in its words if it left any."""
        try:
            if worker.calls.poll():
                _, words = pickle.loads(worker.calls.recv_bytes())
                return WorkerError(f"{worker.label} failed:\n{words}")
        except (EOFError, OSError):
            pass
        return WorkerError(worker.end_as_text())


class _Timeout:
    """The time for which workers have owed an answer.

    Nothing counts as a heartbeat but the work itself. A pause of this process too, as
    by Ctrl-Z, counts as one look and not as its length.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waited = 0.0
        self._looked = time.monotonic()

    def is_over(self) -> bool:
        """Return whether it is too long."""
        now = time.monotonic()
        self._waited += min(now - self._looked, 2.0 * _HEARTBEAT_S)
        self._looked = now
        return self._waited >= self.seconds


def _end(workers: list[_Worker]) -> None:
    """Ask workers to end, wait a little, and end those that do not."""
    for worker in workers:
        with contextlib.suppress(ClosedError, OSError):
            worker.handshake.tell(END)
        # One that is not listening hears that we are gone.
        worker.handshake.close()
        worker.calls.close()
    deadline = time.monotonic() + _GRACE_S
    for worker in workers:
        worker.process.join(max(0.0, deadline - time.monotonic()))
        if worker.process.exitcode is None:
            worker.process.kill()
            worker.process.join()
    workers.clear()


@contextlib.contextmanager
def _worker_environment() -> Iterator[None]:
    """Have processes that are started see the environment of workers."""
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started and do not yet ignore it.

    They inherit what is held back here, and do not let it through.
    """
    # It lets these signals through itself when it is started.
    resource_tracker.ensure_running()
    held = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
