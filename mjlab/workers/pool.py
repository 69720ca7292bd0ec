"""Pool of worker processes: start, send requests, wait, and stop."""

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
"""Environment variables of workers, set before they import torch."""

_HEARTBEAT_S = 1.0
"""Seconds between checks of all workers while waiting."""

_GRACE_S = 5.0
"""Seconds that a worker has to exit before it is killed."""


class WorkerError(RuntimeError):
    """Raised if a worker failed, ended, or is stuck. The run cannot continue."""


class _Worker:
    """Handle of a worker process in the parent process."""

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
        """Name of the worker in messages."""
        last = self.worlds.stop - 1
        worlds = f"worlds {self.worlds.start} to {last}"
        if last == self.worlds.start:
            worlds = f"world {last}"
        return f"Worker {self.index} (process {self.process.pid}, {worlds})"

    def end_as_text(self) -> str:
        """Return a description of how the process ended."""
        self.process.join(_GRACE_S)
        code = self.process.exitcode
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            hint = ", possibly because memory ran out" if name == "SIGKILL" else ""
            return f"{self.label} was killed by {name}{hint}."
        return f"{self.label} ended with exit code {code}."


class Pool:
    """Worker processes that step the worlds of an environment."""

    def __init__(
        self, specs: Sequence[WorkerSpec], *, timeout_s: float, build_timeout_s: float
    ) -> None:
        """Start the workers, and wait until their worlds are built.

        Args:
            specs: The worlds of each worker.
            timeout_s: Seconds without an answer after which a worker is considered
                stuck.
            build_timeout_s: The same limit while a worker builds its worlds, s.
        """
        self._timeout_s = timeout_s
        self._workers: list[_Worker] = []
        # At exit, `_end` runs even if `close` was not called, before multiprocessing
        # waits for its child processes.
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
        """Process ids of the workers."""
        return [worker.process.pid or 0 for worker in self._workers]

    def step(self, *, is_first: bool) -> None:
        """Step all workers, and wait for them.

        Args:
            is_first: Whether this is the first step of a rollout.
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
        """Call a method of each worker's shard, and return the results.

        Args:
            name: The method.
            arguments: Arguments of the method, each as a sequence with one value per
                worker.
        """
        with self._closing_if_failed():
            rows = zip(*arguments, strict=True) if arguments else [()] * len(self)
            for worker, row in zip(self._workers, rows, strict=True):
                self._tell(worker, CALL)
                self._send(worker, pickle.dumps((name, row)))
            timeout = _Timeout(self._timeout_s)
            return [self._answer(worker, timeout) for worker in self._workers]

    def close(self) -> None:
        """Stop all workers. Can be called twice."""
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
            # Close the pool: after an interrupt, workers would still answer the
            # interrupted request, and the answers would be taken for later ones.
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
        """Raise if any worker has ended, or the awaited worker is stuck."""
        for worker in self._workers:
            if worker.process.exitcode is not None:
                raise self._gone(worker)
        if timeout.is_over():
            raise WorkerError(
                f"{late.label} has not responded for {timeout.seconds:g} s."
            )

    def _gone(self, worker: _Worker) -> WorkerError:
        """Return the error of an ended worker, with its own message if it sent one."""
        try:
            if worker.calls.poll():
                _, words = pickle.loads(worker.calls.recv_bytes())
                return WorkerError(f"{worker.label} failed:\n{words}")
        except (EOFError, OSError):
            pass
        return WorkerError(worker.end_as_text())


class _Timeout:
    """Time for which workers have not answered one request.

    If this process is paused, for example by Ctrl-Z, the pause counts as at most two
    check intervals.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waited = 0.0
        self._looked = time.monotonic()

    def is_over(self) -> bool:
        """True if the time limit has passed."""
        now = time.monotonic()
        self._waited += min(now - self._looked, 2.0 * _HEARTBEAT_S)
        self._looked = now
        return self._waited >= self.seconds


def _end(workers: list[_Worker]) -> None:
    """Ask workers to exit, wait briefly, and kill the remaining ones."""
    for worker in workers:
        with contextlib.suppress(ClosedError, OSError):
            worker.handshake.tell(END)
        # A closed connection also ends a worker that does not read requests.
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
    """Set the workers' environment variables for processes started in the block."""
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
    """Keep SIGINT (Ctrl-C) and SIGTERM from child processes started in this context.

    Child processes inherit the signal mask, and keep these signals blocked.
    """
    # The resource tracker unblocks these signals itself when it is started.
    resource_tracker.ensure_running()
    held = {signal.SIGINT, signal.SIGTERM}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
