"""The page of an exam: scores, survival curves, falls by cause, and films."""

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
from mjlab.report.markup import (
    Html,
    Section,
    address,
    cards,
    code,
    element,
    facts,
    joined,
    section,
)
from mjlab.report.markup import table as html_table
from mjlab.report.page import whole_page
from mjlab.report.words import counted, number

_HEADINGS = {
    "joint": "Joint",
    "side": "Force comes from",
    "phase": "Gait at the punch",
    "impulse": "Impulse",
}


@dataclass(frozen=True)
class ExamRecord:
    """All that a page shows."""

    exam: Exam
    policy: str
    """Name of the policy."""

    settings: Mapping[str, Any]
    """Command settings and notes of the adapter."""

    robot: str
    """Name of the robot's model."""

    levels: Sequence[LevelResults]
    """Results by level."""

    films: Mapping[str, Path]
    """Films by their titles, in the page's folder or below."""


def write_page(file: Path, record: ExamRecord) -> Path:
    """Write the page of an exam, and return the file."""
    start = time.perf_counter()
    sections = [
        _scores(record),
        _survival(record),
        *_falls(record),
        *_films(record, file.parent),
    ]
    links = [element("a", part.title, href=f"#{part.name}") for part in sections]
    bodies = [part.html for part in sections]
    body = joined(_head(record), element("nav", *links), *bodies)
    title = f"{record.exam.name} exam of {record.policy}"
    write_text(file, whole_page(title, body, time.perf_counter() - start))
    return file


def _head(record: ExamRecord) -> Html:
    last = record.levels[-1]
    scores = score(last.runs)
    ids = [run.run for run in last.runs]
    figures = [
        (
            f"Completed, level {last.level}",
            f"{scores.completed.mean:.0%}",
            f"95% interval {scores.completed.low:.0%} to {scores.completed.high:.0%}",
        ),
        ("Survival", f"{number(scores.survival.mean, 3)} s", "mean time to the fall"),
        (
            "Targets reached",
            number(scores.reached.mean, 3),
            f"of {record.exam.targets.number} in a run",
        ),
        ("Runs", str(scores.runs), f"ids {min(ids)} to {max(ids)}"),
    ]
    about = [
        ("Policy", code(record.policy)),
        ("Robot", code(record.robot)),
        *(
            (name.replace("_", " "), str(value))
            for name, value in record.settings.items()
            if value is not None
        ),
    ]
    heading = element("h1", f"{record.exam.robot.name} exam")
    return element("header", heading, cards(figures), facts(about))


def _scores(record: ExamRecord) -> Section:
    head, *rows = table(record.levels)
    told = "; ".join(
        f"{level.level}: {describe(record.exam, LEVELS[level.level])}"
        for level in record.levels
    )
    lead = (
        f"Means with 95% intervals. {told}. Costs are means of completed runs, left "
        "out where fewer than a fifth completed."
    )
    return section("scores", "Scores", html_table(head, rows), lead=lead)


def _survival(record: ExamRecord) -> Section:
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
    chart = Chart(
        title="Runs without a fall",
        up="share of runs",
        across="seconds",
        lines=lines,
        whole=(0, round(record.exam.seconds)),
        share=True,
        wide=True,
    )
    lead = "Share of runs that have not fallen, by time in seconds."
    return section("survival", "Survival", chart.figure(), lead=lead)


def _falls(record: ExamRecord) -> list[Section]:
    """Return a section for each level with falls after punches."""
    sections = []
    for level in record.levels:
        fallen = [run for run in level.runs if not run.completed]
        if not fallen or not any(run.punches for run in fallen):
            continue
        parts = [_cause_table(level.runs, kind) for kind in KINDS]
        delays = sorted(
            run.survival - run.last_punch.seconds
            for run in fallen
            if run.last_punch is not None
        )
        lead = (
            f"{counted(len(fallen), 'fall')} in {counted(len(level.runs), 'run')}. "
            "Each fall counts for the last punch before it. "
            "Median time from that punch to the fall: "
            f"{delays[len(delays) // 2]:.2f} s."
        )
        name = f"falls-{level.level.lower()}"
        title = f"Falls at level {level.level}"
        sections.append(section(name, title, *parts, lead=lead))
    return sections


def _cause_table(runs: Sequence[RunResult], kind: str) -> Html:
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
    return html_table(head, rows)


def _films(record: ExamRecord, folder: Path) -> list[Section]:
    if not record.films:
        return []
    parts = [
        element(
            "figure",
            element(
                "video", src=address(file, folder), controls=True, preload="metadata"
            ),
            element("figcaption", title),
        )
        for title, file in record.films.items()
    ]
    lead = "Worst and median run by survival."
    return [
        section("films", "Films", element("div", *parts, class_="films"), lead=lead)
    ]
