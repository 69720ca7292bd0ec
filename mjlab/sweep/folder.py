"""Folder of a sweep.

    logs/sweeps/<time>_<name>/
        sweep.json      task, ranges and options
        study.db        Optuna's study: every trial, its values and scores
        sweep.html      results page
        output/         console output of each trial's process
        <task>/<time>_trial-<number>/   the run of each trial

The folder can be passed as `--logs`.
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
"""Name of the folder of all sweeps, inside the folder of all runs."""

INFO = "sweep.json"
"""Name of the file with task, ranges and options."""

Engine = Literal["optuna", "ray"]


class SweepError(ValueError):
    """Raised if a sweep is missing, damaged, or defined differently."""


@dataclass(frozen=True, kw_only=True)
class Trials:
    """Settings shared by all trials of a sweep."""

    folder: Path
    """Folder of the sweep, which contains the runs of all trials."""

    task: str
    """Task id."""

    arguments: tuple[str, ...] = ()
    """Options of `train.py` for all trials."""

    metric: str = "Eval/mean_reward"
    """Name of the metric that scores a trial; higher is better."""

    threads: int | None = None
    """Number of physics threads per trial. None uses the default of `train.py`."""

    def find(self, name: str) -> Run | None:
        """Return the run of a trial, None if its training has not started."""
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
    """Definition of a sweep: task, searched ranges, options and sampler."""

    task: str
    """Task id."""

    ranges: tuple[Range, ...]
    """Ranges of the searched settings."""

    arguments: tuple[str, ...]
    """Options of `train.py` for all trials."""

    metric: str
    """Name of the metric that scores a trial; higher is better."""

    seed: int
    """Seed of the sampler."""

    prunes: bool
    """Whether to stop trials that are below the median of earlier trials."""

    engine: Engine
    """Library that samples and schedules the trials."""

    command: str = dataclasses.field(default_factory=command)
    """Command line that started the sweep."""

    @classmethod
    def read(cls, folder: Path) -> "Search":
        """Read the definition of a sweep from its folder."""
        remedy = "Start another sweep, or copy the file again."
        kinds = {f.name: f.type for f in dataclasses.fields(cls)}
        kinds |= {"ranges": list[str], "arguments": list[str]}
        found = read_object(folder / INFO, kinds, SweepError, remedy=remedy)
        found["ranges"] = tuple(read_ranges(found["ranges"]))
        found["arguments"] = tuple(found["arguments"])
        return cls(**{name: found[name] for name in kinds})

    def begin(self, root: Path, name: str) -> Path:
        """Create the folder of a new sweep, and write the definition to it.

        Args:
            root: Folder of all runs.
            name: Name of the sweep, can be empty.

        Returns:
            Path of the folder.
        """
        now = datetime.datetime.now().astimezone()
        folder = make_folder(root / SWEEPS, now, name)
        data: dict[str, Any] = dataclasses.asdict(self)
        data["ranges"] = [str(one) for one in self.ranges]
        write_text(folder / INFO, json.dumps(data, indent=1) + "\n")
        return folder

    def check_goes_on(self, other: "Search", folder: Path) -> None:
        """Raise if this sweep cannot resume the sweep in a folder.

        Args:
            other: Definition of the sweep in the folder. Only its command and seed can
                differ.
            folder: Folder of the sweep, named in the error message.
        """
        for field in dataclasses.fields(self):
            here, there = getattr(self, field.name), getattr(other, field.name)
            if field.name in ("command", "seed") or here == there:
                continue
            raise SweepError(
                f"The sweep in {folder} has different {_WORDS[field.name]}: "
                f"{_said(there)}, not {_said(here)}. To resume it, repeat its first "
                f"command: {other.command}"
            )

    def trials(self, folder: Path, *, threads: int | None = None) -> Trials:
        """Return the settings shared by all trials.

        Args:
            folder: Folder of the sweep.
            threads: Number of physics threads per trial.
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
    "arguments": "options of the trials",
    "metric": "scores",
    "prunes": "pruning rules",
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
        task: Task id.
        place: Folder of the sweep, or "latest" for the task's newest sweep.

    Raises:
        SweepError: If there is no such sweep.
    """
    if place != "latest":
        if not (Path(place) / INFO).is_file():
            raise SweepError(f"{place} is not a sweep's folder: {INFO} is missing.")
        return Path(place)
    for file in sorted((root / SWEEPS).glob(f"*/{INFO}"), reverse=True):
        if Search.read(file.parent).task == task:
            return file.parent
    raise SweepError(f"No sweep of {task} in {root / SWEEPS} to resume.")


def lock_sweep(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Lock a sweep against other processes until the block ends.

    Raises:
        SweepError: If a link in the folder leads out of it.
    """
    check_contained(folder, SweepError)
    return locked(
        folder,
        lambda: RunError(
            f"Another process is running the sweep in {folder}. Stop it, or wait "
            "until it ends."
        ),
    )


def texts_of(ranges: Sequence[Range], values: dict[str, Any]) -> dict[str, str]:
    """Return a trial's values as command-line text, by setting."""
    return {one.path: one.text(values[one.path]) for one in ranges}
