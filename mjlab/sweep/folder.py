"""The folder of a sweep.

    logs/sweeps/<time>_<name>/
        sweep.json      the task, what is searched and how
        study.db        Optuna's study: every trial, its values and scores
        sweep.html      the page about it
        output/         lines of each trial's process
        <task>/<time>_trial-<number>/   the run of each trial

It is a folder of runs as `--logs` takes it.
"""

import contextlib
import dataclasses
import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mjlab.files import check_contained, write_text
from mjlab.provenance import command
from mjlab.runs import Run, RunError
from mjlab.runs.lock import locked
from mjlab.runs.run import make_folder
from mjlab.safe_names import plain_name
from mjlab.settings.objects import read_object
from mjlab.sweep.ranges import Range, read_ranges

SWEEPS = "sweeps"
"""Name of the folder of all sweeps, among all runs."""

INFO = "sweep.json"
"""Name of the file."""

Engine = Literal["optuna", "ray"]


class SweepError(ValueError):
    """A sweep that cannot be found, or that is another."""


@dataclass(frozen=True, kw_only=True)
class Trials:
    """What all trials of a sweep have in common."""

    folder: Path
    """The sweep's folder, which is a folder of runs."""

    task: str
    """Task's id."""

    arguments: tuple[str, ...] = ()
    """Options of `train.py` that are the same for all."""

    metric: str = "Eval/mean_reward"
    """The figure that is a trial's score; the highest value counts."""

    threads: int | None = None
    """Threads of each trial's physics. None leaves that to the trial."""

    def find(self, name: str) -> Run | None:
        """Return the run folder of a trial, if it got that far."""
        found = sorted(
            file.parent
            for file in (self.folder / plain_name(self.task)).glob("*/run.json")
            if file.parent.name.endswith(f"_{name}")
        )
        return Run(found[-1]) if found else None

    def scores(self, name: str) -> dict[int, float]:
        """Return the scores of a trial by iteration."""
        run = self.find(name)
        if run is None:
            return {}
        series = run.metrics().series.get(self.metric)
        if series is None:
            return {}
        pairs = zip(series.iterations, series.values, strict=True)
        return {iteration: value for iteration, value in pairs if value is not None}


@dataclass(frozen=True, kw_only=True)
class Search:
    """What a sweep searches, and how."""

    task: str
    """Task's id."""

    ranges: tuple[Range, ...]
    """What is drawn."""

    arguments: tuple[str, ...]
    """Options of `train.py` that are the same for all trials."""

    metric: str
    """The figure that is a trial's score; the highest value counts."""

    seed: int
    """Seed of what is drawn."""

    prunes: bool
    """Give trials up that are below the median of those before them."""

    engine: Engine
    """What chooses and runs the trials."""

    command: str = dataclasses.field(default_factory=command)
    """The command line that began it."""

    @classmethod
    def read(cls, folder: Path) -> "Search":
        """Read what the folder of a sweep says."""
        remedy = "Begin another sweep, or copy the file once more."
        kinds = {f.name: f.type for f in dataclasses.fields(cls)}
        kinds |= {"ranges": list[str], "arguments": list[str]}
        found = read_object(folder / INFO, kinds, SweepError, remedy=remedy)
        found["ranges"] = tuple(read_ranges(found["ranges"]))
        found["arguments"] = tuple(found["arguments"])
        return cls(**{name: found[name] for name in kinds})

    def begin(self, root: Path, name: str) -> Path:
        """Make a folder for it among all runs, and return that."""
        now = datetime.datetime.now().astimezone()
        folder = make_folder(root / SWEEPS, now, name)
        data: dict[str, Any] = dataclasses.asdict(self)
        data["ranges"] = [str(one) for one in self.ranges]
        write_text(folder / INFO, json.dumps(data, indent=1) + "\n")
        return folder

    def check_goes_on(self, other: "Search", folder: Path) -> None:
        """Raise if a sweep in a folder is another than this."""
        for field in dataclasses.fields(self):
            here, there = getattr(self, field.name), getattr(other, field.name)
            if field.name in ("command", "seed") or here == there:
                continue
            raise SweepError(
                f"The sweep in {folder} has other {_WORDS[field.name]}: "
                f"{_said(there)}, not {_said(here)}. It goes on with the command that "
                f"began it: {other.command}"
            )

    def trials(self, folder: Path, *, threads: int | None = None) -> Trials:
        """Return what all trials have in common.

        Args:
            folder: The sweep's folder.
            threads: Threads of each trial's physics.
        """
        return Trials(
            folder=folder.resolve(),
            task=self.task,
            arguments=self.arguments,
            metric=self.metric,
            threads=threads,
        )


_WORDS = {
    "task": "tasks",
    "ranges": "ranges",
    "arguments": "options of all trials",
    "metric": "scores",
    "prunes": "rules of pruning",
    "engine": "engines",
}


def _said(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return " ".join(map(str, value)) or "none"


def find_sweep(root: Path, task: str, place: str = "latest") -> Path:
    """Find the folder of a sweep of a task.

    Args:
        root: Folder of all runs.
        task: Task's id.
        place: The folder, or "latest" for the newest of the task.
    """
    if place != "latest":
        if not (Path(place) / INFO).is_file():
            raise SweepError(f"{place} is no folder of a sweep: {INFO} is missing.")
        return Path(place)
    for file in sorted((root / SWEEPS).glob(f"*/{INFO}"), reverse=True):
        if Search.read(file.parent).task == task:
            return file.parent
    raise SweepError(f"There is no sweep of {task} in {root / SWEEPS} to go on with.")


def lock_sweep(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Keep other processes from going on with a sweep, until this block ends.

    Raises:
        SweepError: If a link in the folder leads out of it.
    """
    check_contained(folder, SweepError)
    return locked(
        folder,
        lambda: RunError(
            f"Another process is sweeping in {folder}. Wait for its end, or stop it."
        ),
    )


def texts_of(ranges: Sequence[Range], values: dict[str, Any]) -> dict[str, str]:
    """Return values of a trial as a command line takes them, by dotted names."""
    return {one.path: one.text(values[one.path]) for one in ranges}
