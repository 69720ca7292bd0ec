"""The files of a run's folder, read without trusting that all of them are there."""

import datetime
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mjlab.rl.run_folder import KEPT_DEFAULTS, LOCK, RUN_ENTRIES, RUN_REMEDY
from mjlab.schema import read_object

REPORT = "report.html"
"""Name of the report in a run's folder."""

VIDEOS = (".mp4", ".webm", ".gif")

_FAULTS = ("dumps", "nan")
"""Folders for what went wrong."""


class NoRunError(ValueError):
    """A folder that is not a run's."""


@dataclass(frozen=True)
class Series:
    """A figure over the run. It need not have a value in every iteration."""

    name: str
    """As in the file, such as "Train/mean_reward"."""

    iterations: list[int]
    """Iterations in which it was written, ascending."""

    values: list[float | None]
    """Its value in each; None where it was not finite."""

    @property
    def finite(self) -> list[float]:
        """The values that are numbers."""
        return [value for value in self.values if value is not None]

    @property
    def bad(self) -> list[int]:
        """Iterations in which it was not finite."""
        pairs = zip(self.iterations, self.values, strict=True)
        return [iteration for iteration, value in pairs if value is None]

    @property
    def last(self) -> float | None:
        """The newest value, which may be None; so is what never had one."""
        return self.values[-1] if self.values else None

    def tail_mean(self, start: int) -> float | None:
        """Return the mean of the numbers from an iteration on."""
        pairs = zip(self.iterations, self.values, strict=True)
        chosen = [v for i, v in pairs if i >= start and v is not None]
        return math.fsum(chosen) / len(chosen) if chosen else None

    def best(self) -> tuple[int, float] | None:
        """Return iteration and value of the largest number, the first of equal ones."""
        pairs = zip(self.iterations, self.values, strict=True)
        found = [(i, value) for i, value in pairs if value is not None]
        return max(found, key=lambda pair: pair[1], default=None)


@dataclass(frozen=True)
class Metrics:
    """All figures of a run."""

    series: dict[str, Series]
    """By name, in the order in which they first came."""

    iterations: list[int]
    """Iterations that are in the file, ascending."""

    joins: list[int]
    """Iterations after which the run was done again from there, as the file shows."""

    damaged: int
    """Lines that are no figures of an iteration, a torn last one not counted."""

    def group(self, *prefixes: str) -> list[Series]:
        """Return the figures of groups, which is what precedes the slash."""
        return [s for s in self.series.values() if s.name.split("/")[0] in prefixes]

    def last(self, name: str) -> float | None:
        """Return the newest value of a figure; None if there is none."""
        return self.series[name].last if name in self.series else None


@dataclass(frozen=True)
class Span:
    """The iterations of a run."""

    first: int
    """The first that there are figures of."""

    last: int
    """The last."""

    resumed: tuple[int, ...] = ()
    """Iterations after which it was taken up again."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A run, as its folder tells of it."""

    folder: Path
    """The folder."""

    info: dict[str, Any]
    """`run.json`: task, command, versions, status and its reason. The status is "died"
    where it says that the run is going, and its process has gone."""

    metrics: Metrics
    """`metrics.jsonl`: the figures of training."""

    age: float | None
    """Seconds since figures were written last."""

    config: dict[str, Any]
    """`config.json` as plain data, empty if it is not there."""

    defaults: dict[str, Any] = field(default_factory=dict)
    """The same of the task as it comes, empty if it is not known."""

    defaults_from: str = ""
    """The source of the defaults, in words."""

    evaluations: dict[str, dict[str, Any]]
    """The results of `evaluate.py`, by file."""

    error: str
    """The traceback of a run that failed."""

    best: dict[str, Any]
    """The record of the best checkpoint, empty if there is none."""

    videos: list[Path]
    """Films in the folder, the newest first."""

    dumps: list[Path]
    """Dumps of worlds that went wrong."""

    faults: list[str]
    """Files that are there and could not be read."""

    @property
    def span(self) -> Span:
        """The iterations that there are figures of."""
        found = self.metrics.iterations
        first, last = (found[0], found[-1]) if found else (0, 0)
        noted = [entry.get("iteration") for entry in self.info.get("resumed", [])]
        joins = {i for i in (*noted, *self.metrics.joins) if isinstance(i, int)}
        return Span(first, last, tuple(sorted(i for i in joins if first <= i < last)))

    def setting(self, *path: str) -> Any:
        """Return a part of the configuration; None where there is none."""
        value: Any = self.config
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value


def read_record(folder: Path, defaults: dict[str, Any] | None = None) -> Record:
    """Read a run's folder.

    Args:
        folder: The folder.
        defaults: The task's configurations as plain data, for a run that did not keep
            those that it began from.
    """
    faults: list[str] = []
    info = read_info(folder)
    if info.get("status") == "running" and _is_left(folder / LOCK):
        info = {**info, "status": "died"}
    metrics_file = folder / "metrics.jsonl"
    kept = _read(folder / KEPT_DEFAULTS, faults)
    told = "the task, as it was when the run began" if kept else ""
    if not kept and defaults:
        told = "the task as it is today, because the run kept no defaults of its own"
    videos = [
        file
        for place in (folder, folder / "videos")
        for file in _files(place)
        if file.suffix.lower() in VIDEOS
    ]
    error_file = folder / "error.txt"
    return Record(
        folder=folder,
        info=info,
        metrics=read_metrics(metrics_file),
        age=_age(metrics_file),
        config=_read(folder / "config.json", faults),
        defaults=kept or defaults or {},
        defaults_from=told,
        evaluations={
            file.name: data
            for file in _files(folder)
            if file.name.startswith("evaluation") and file.suffix == ".json"
            if "summary" in (data := _read(file, faults))
        },
        error=error_file.read_text("utf-8", "replace") if error_file.is_file() else "",
        best=_read(folder / "checkpoints" / "best.json", faults),
        videos=sorted(videos, key=lambda file: -file.stat().st_mtime),
        dumps=[dump for name in _FAULTS for dump in _entries(folder / name)],
        faults=faults,
    )


def read_info(folder: Path) -> dict[str, Any]:
    """Return what `run.json` says."""
    file = folder / "run.json"
    if not file.is_file():
        raise NoRunError(f"{folder} is not the folder of a run: run.json is missing.")
    return read_object(
        file, {"task": str}, NoRunError, remedy=RUN_REMEDY, optional=RUN_ENTRIES
    )


def _is_left(lock: Path) -> bool:
    """Return True if the process that locked a file has gone."""
    try:
        import fcntl

        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (ImportError, OSError):  # No such locks, no such file, or it is locked.
        return False
    return True


def _read(path: Path, faults: list[str]) -> dict[str, Any]:
    """Return the object in a JSON file, empty if there is no such file."""
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text("utf-8"))
        if not isinstance(data, dict):
            raise ValueError("it is no object")
        return data
    except (ValueError, RecursionError) as error:
        faults.append(f"{path.name}: {error}")
        return {}


def _age(path: Path) -> float | None:
    if not path.is_file():
        return None
    now = datetime.datetime.now().timestamp()
    return max(0.0, now - path.stat().st_mtime)


def _files(folder: Path) -> list[Path]:
    return [entry for entry in _entries(folder) if entry.is_file()]


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def read_metrics(path: Path) -> Metrics:
    """Read the file, which may be absent, or be written at this moment.

    What an iteration says when it is done again, after a resume, takes the place of
    what it and the later ones said before.
    """
    lines, damaged = _lines(path)
    kept: list[dict[str, Any]] = []
    joins: list[int] = []
    for line in lines:
        if kept and line["iteration"] <= kept[-1]["iteration"]:
            while kept and kept[-1]["iteration"] >= line["iteration"]:
                kept.pop()
            joins.append(line["iteration"] - 1)
        kept.append(line)
    series: dict[str, Series] = {}
    iterations = [line["iteration"] for line in kept]
    for line in kept:
        iteration = line.pop("iteration")
        for name, value in line.items():
            found = series.setdefault(name, Series(name, [], []))
            found.iterations.append(iteration)
            found.values.append(_number(value))
    return Metrics(series, iterations, joins, damaged)


def _lines(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the figures of each line, and the number of lines that have none."""
    if not path.is_file():
        return [], 0
    text = path.read_text("utf-8", errors="replace")
    found: list[dict[str, Any]] = []
    damaged = 0
    rows = text.split("\n")
    for row in rows[:-1]:  # After the last newline is nothing, or a torn line.
        try:
            data = json.loads(row)
        except ValueError:
            data = None
        if isinstance(data, dict) and isinstance(data.get("iteration"), int):
            found.append(data)
        elif row.strip():
            damaged += 1
    return found, damaged


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
