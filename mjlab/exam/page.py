"""Web page of an exam: scores, survival curves, falls by cause, and videos."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mjlab.exam.falls import KINDS, counts, survival_curve
from mjlab.exam.results import LevelResults, RunResult
from mjlab.exam.rules import LEVELS, Exam, describe
from mjlab.exam.scores import score, table, wilson
from mjlab.files import write_text
from mjlab.report.chart import Chart, ChartLine
from mjlab.report.template import render_page

_HEADINGS = {
    "joint": "Joint",
    "side": "Force comes from",
    "phase": "Gait at the punch",
    "impulse": "Impulse",
}


@dataclass(frozen=True)
class ExamRecord:
    """Data shown in an exam's web page."""

    exam: Exam
    policy: str
    """Name of the policy."""

    settings: Mapping[str, Any]
    """Command settings and `described()` of the policy's adapter."""

    robot: str
    """Name of the robot model."""

    levels: Sequence[LevelResults]
    """Results by level."""

    films: Mapping[str, Path]
    """Video files by title, in the page's folder or a subfolder."""


@dataclass(frozen=True)
class LevelFalls:
    """Statistics of the falls in one level, by cause."""

    name: str
    """Name of the level."""

    runs: int
    """Number of runs."""

    falls: int
    """Number of falls."""

    delay: float
    """Median time from the last punch before a fall to the fall, s."""

    causes: list[tuple[list[str], list[list[str]]]]
    """Column names and rows of one table per entry of `KINDS`."""


def write_page(file: Path, record: ExamRecord) -> Path:
    """Write the web page of an exam and return its path."""
    start = time.perf_counter()
    last = record.levels[-1]
    ids = [run.run for run in last.runs]
    page = render_page(
        "exam.html",
        package="mjlab.exam",
        start=start,
        record=record,
        exam=record.exam,
        last=last,
        scores=score(last.runs),
        first_run=min(ids),
        last_run=max(ids),
        rules={
            one.level: describe(record.exam, LEVELS[one.level]) for one in record.levels
        },
        table=table(record.levels),
        survival=_survival(record),
        falls=_falls(record),
        films={
            title: film.relative_to(file.parent).as_posix()
            for title, film in record.films.items()
        },
    )
    write_text(file, page)
    return file


def _survival(record: ExamRecord) -> Chart:
    lines = []
    for index, level in enumerate(record.levels):
        times, shares = survival_curve(level.runs, record.exam.seconds)
        lines.append(
            ChartLine(
                x=times,
                y=shares,
                label=f"level {level.level}",
                value=f"{shares[-1]:.0%}",
                said=f"{shares[-1]:.0%} without a fall at the end",
                name=f"level {level.level}",
                colour=index,
            )
        )
    return Chart(
        title="Runs without a fall",
        up="fraction of runs",
        across="seconds",
        lines=lines,
        whole=(0, round(record.exam.seconds)),
        share=True,
        wide=True,
    )


def _falls(record: ExamRecord) -> list[LevelFalls]:
    """Return fall statistics of the levels that have falls after punches."""
    found = []
    for level in record.levels:
        fallen = [run for run in level.runs if not run.completed]
        delays = sorted(
            run.survival - run.last_punch.seconds
            for run in fallen
            if run.last_punch is not None
        )
        if delays:
            found.append(
                LevelFalls(
                    name=level.level,
                    runs=len(level.runs),
                    falls=len(fallen),
                    delay=delays[len(delays) // 2],
                    causes=[_causes(level.runs, kind) for kind in KINDS],
                )
            )
    return found


def _causes(runs: Sequence[RunResult], kind: str) -> tuple[list[str], list[list[str]]]:
    rows = []
    found = counts(runs, KINDS[kind])
    order = sorted(found, key=lambda n: -found[n][0] / found[n][1])
    for name in found if kind == "impulse" else order:
        falls, punches = found[name]
        share = wilson(falls, punches)
        rows.append(
            [
                name,
                str(punches),
                str(falls),
                f"{share.mean:.1%} ({share.low:.1%}-{share.high:.1%})",
            ]
        )
    head = [_HEADINGS[kind], "punches", "falls", "falls per punch"]
    return head, rows
