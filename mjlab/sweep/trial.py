"""Run a trial of a sweep as an ordinary training run in a separate process.

An interrupted trial is resumed from its last checkpoint.
"""

import functools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mjlab.parallel.process import end_with_parent, lasting_parent
from mjlab.registry import entries
from mjlab.runs import Run, RunError
from mjlab.runs.lock import LOCK, locked
from mjlab.safe_names import check_name
from mjlab.sweep.folder import SweepError, Trials

PATIENCE_S = 120.0
"""Maximum time, s, to wait for an earlier process of a trial that is still saving."""

_OUTPUT = "output"


@dataclass(frozen=True)
class TrialEnd:
    """Outcome of a trial's process."""

    status: Literal["finished", "stopped", "failed"]
    """Status of the training; "stopped" means before the last iteration."""

    reason: str
    """Reason for the status."""


class TrialProcess:
    """Process that runs `train.py` for one trial."""

    def __init__(self, trials: Trials, name: str, settings: Mapping[str, str]) -> None:
        """Start or resume the training.

        Args:
            trials: Settings shared by all trials.
            name: Name of the trial and of its run.
            settings: Values of this trial as command-line text, by setting.
        """
        check_name(name, "The name of a trial is", SweepError)
        self._trials, self.name = trials, name
        run = _left(trials, name)
        words = [word for n, text in settings.items() for word in (f"--{n}", text)]
        if run is not None:
            words += ["--resume", str(run.path)]
        elif trials.threads is not None:
            words += ["--env.sim.num-threads", str(trials.threads)]
        self._output = trials.folder / _OUTPUT / f"{name}.txt"
        self._output.parent.mkdir(exist_ok=True)
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "mjlab", "train", _task(trials)),
                    *("--logs", str(trials.folder), "--name", name),
                    *(*trials.arguments, *words),
                ],
                env=_environment(trials.threads),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # End the training if the sweep is killed.
                preexec_fn=functools.partial(end_with_parent, lasting_parent()),
            )

    def scores(self) -> dict[int, float]:
        """Return the scores so far, by iteration."""
        return self._trials.scores(self.name)

    def is_over(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """Stop the training after the current iteration; it saves a checkpoint."""
        if not self.is_over():
            self._process.send_signal(signal.SIGTERM)

    def wait(self) -> TrialEnd:
        """Wait until the process ends; return its outcome."""
        code = self._process.wait()
        run = self._trials.find(self.name)
        status = None if run is None else run.info().get("status")
        # Ignore failures after the training, such as in the ONNX export.
        if run is not None and status in ("finished", "stopped"):
            return TrialEnd(status, run.info()["reason"])
        return TrialEnd("failed", self._last_words(code))

    def _last_words(self, code: int) -> str:
        """Return the last line of output, or the signal that ended the process."""
        if code < 0:
            return f"{signal.Signals(-code).name} ended it"
        said = self._output.read_text("utf-8", "replace").split("\n")
        last = next((line for line in reversed(said) if line.strip()), "")
        return last.removeprefix("error: ") or f"it ended with exit code {code}"


def _task(trials: Trials) -> str:
    """Return the task as command-line text: its id, or its file and class."""
    entry = entries().get(trials.task)
    return trials.task if entry is None else entry.words


def _left(trials: Trials, name: str) -> Run | None:
    """Return the run to resume, None for a new start.

    A run without a checkpoint cannot be resumed and is deleted.
    """
    run = trials.find(name)
    if run is None:
        return None
    _wait_for_predecessor(run)
    if run.checkpoints.newest() is not None:
        return run
    shutil.rmtree(run.path)
    return None


def _wait_for_predecessor(run: Run) -> None:
    """Wait until an earlier process of the trial has saved its checkpoint and ended."""
    if not (run.path / LOCK).exists():
        return
    limit = time.monotonic() + PATIENCE_S
    pid = run.info().get("pid")
    refusal = RunError(
        f"Process {pid} is still training in {run.path}. Stop it, then resume the "
        "sweep."
    )
    while True:
        try:
            with locked(run.path, lambda: refusal):
                return
        except RunError:
            if time.monotonic() > limit:
                raise
        time.sleep(0.2)


def _environment(threads: int | None) -> dict[str, str]:
    """Return environment variables for a process that imports this copy of mjlab."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    found = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    if threads is not None:
        found.setdefault("OMP_NUM_THREADS", str(threads))
    return found
