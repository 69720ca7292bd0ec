"""Read the folder of a run for its report, even if files are missing or damaged."""

import datetime
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mjlab.files import check_contained
from mjlab.runs import Run, RunError
from mjlab.runs.lock import is_abandoned
from mjlab.runs.metrics import METRICS, Metrics
from mjlab.runs.run import KEPT_DEFAULTS, videos_in
from mjlab.settings.file import Settings, SettingsFileError, parse_settings

REPORT = "report.html"
"""File name of the report in a run's folder."""

FINDINGS = "doctor.json"
"""File name of the doctor's findings."""

QUIET = 120.0
"""Time without new metrics, s, after which the report warns that a running training
process can be dead."""

_FAULTS = ("dumps", "nan")
"""Names of folders with dumps."""


@dataclass(frozen=True)
class Span:
    """Range of iterations with metrics."""

    first: int
    """First iteration with metrics."""

    last: int
    """Last iteration with metrics."""

    resumed: tuple[int, ...] = ()
    """Iterations after which the run was resumed."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """Data read from a run's folder for its report."""

    folder: Path
    """Folder of the run."""

    info: dict[str, Any]
    """Content of `run.json`. The status is "died" if the file says "running" but the
    process no longer exists."""

    metrics: Metrics
    """Training metrics in `metrics.jsonl`."""

    age: float | None
    """Time since the last metrics were written, s. None if there are no metrics."""

    config: Settings | None
    """Settings in `config.json`. None if the file is missing or damaged."""

    defaults: Settings | None = None
    """Settings of the task before the user's changes. None if unknown."""

    defaults_from: str = ""
    """Description of the source of `defaults`."""

    evaluations: dict[str, dict[str, Any]]
    """Results of `evaluate.py`, by file name."""

    findings: dict[str, Any]
    """Content of the doctor's file, empty if the doctor has not run."""

    error: str
    """Traceback of a failed run, "" if it did not fail."""

    best: dict[str, Any]
    """Manifest of the best checkpoint, empty if there is none."""

    videos: list[Path]
    """Videos in the folder, newest first."""

    dumps: list[Path]
    """Dumps of environments with faults."""

    faults: list[str]
    """Files that could not be read, each with the error."""

    @property
    def span(self) -> Span:
        """Range of the recorded iterations."""
        found = self.metrics.iterations
        first, last = (found[0], found[-1]) if found else (0, 0)
        noted = [entry.get("iteration") for entry in self.info.get("resumed", [])]
        joins = {i for i in (*noted, *self.metrics.joins) if isinstance(i, int)}
        return Span(first, last, tuple(sorted(i for i in joins if first <= i < last)))

    @property
    def is_quiet(self) -> bool:
        """Whether no metrics were written for `QUIET` seconds."""
        return self.age is not None and self.age > QUIET

    def setting(self, path: str) -> Any:
        """Return a setting by its path, None if it is missing."""
        return self.config and self.config.values.get(path)


def read_record(folder: Path, defaults: Settings | None = None) -> Record:
    """Read a run's folder.

    Args:
        folder: Folder of the run.
        defaults: Default settings of the task, used if the run did not store them.
    """
    faults: list[str] = []
    check_contained(folder, RunError)
    run = Run(folder)
    info = run.info()
    if info.get("status") == "running" and is_abandoned(folder):
        info = {**info, "status": "died"}
    kept = _read_settings(folder / KEPT_DEFAULTS, faults)
    told = "the task at the start of the run" if kept else ""
    if not kept and defaults:
        told = "the current task, because the run stored no defaults"
    error_file = folder / "error.txt"
    return Record(
        folder=folder,
        info=info,
        metrics=run.metrics(),
        age=_age(folder / METRICS),
        config=_read_settings(folder / "config.json", faults),
        defaults=kept or defaults,
        defaults_from=told,
        evaluations={
            file.name: data
            for file in _files(folder)
            if file.name.startswith("evaluation") and file.suffix == ".json"
            if "summary" in (data := _read(file, faults))
        },
        findings=_read(folder / FINDINGS, faults),
        error=error_file.read_text("utf-8", "replace") if error_file.is_file() else "",
        best=_read(folder / "checkpoints" / "best.json", faults),
        videos=videos_in(folder),
        dumps=[dump for name in _FAULTS for dump in _entries(folder / name)],
        faults=faults,
    )


def _read(path: Path, faults: list[str]) -> dict[str, Any]:
    """Return the object in a JSON file, empty if the file is missing or damaged."""
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text("utf-8"))
        if not isinstance(data, dict):
            raise ValueError("not a JSON object")
        return data
    except (ValueError, RecursionError) as error:
        faults.append(f"{path.name}: {error}")
        return {}


def _read_settings(path: Path, faults: list[str]) -> Settings | None:
    """Return the settings in a file, None if the file is missing or damaged."""
    if not path.is_file():
        return None
    try:
        return parse_settings(path.read_text("utf-8"), path.name)[1]
    except (SettingsFileError, UnicodeDecodeError) as error:
        faults.append(f"{path.name}: {error}")
        return None


def _age(path: Path) -> float | None:
    if not path.is_file():
        return None
    now = datetime.datetime.now().timestamp()
    return max(0.0, now - path.stat().st_mtime)


def _files(folder: Path) -> list[Path]:
    return [entry for entry in _entries(folder) if entry.is_file()]


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
