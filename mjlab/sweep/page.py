"""Results page of a sweep: trials, scores, and importance of the settings."""

import os
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mjlab.files import write_text
from mjlab.report.bars import Bars, bars
from mjlab.report.chart import Chart, ChartLine
from mjlab.report.parallel import Axis, AxisLine, Parallel
from mjlab.report.record import REPORT
from mjlab.report.scale import Scale
from mjlab.report.template import render_page
from mjlab.report.words import counted, number
from mjlab.sweep.folder import Search, texts_of
from mjlab.sweep.ranges import Range
from mjlab.sweep.study import (
    REASON,
    FrozenTrial,
    Study,
    TrialState,
    importances,
    trial_name,
)

PAGE = "sweep.html"
"""Name of the results page in the sweep's folder."""

_BLUE, _RED, _GREY = 0, 1, 7
_STATES = {
    TrialState.COMPLETE: "finished",
    TrialState.PRUNED: "pruned",
    TrialState.FAIL: "failed",
    TrialState.RUNNING: "running",
    TrialState.WAITING: "waiting",
}
_TICKS = 4


@dataclass(frozen=True)
class Trial:
    """Row of the trial table."""

    name: str
    """Name of the trial."""

    state: str
    """State, such as "finished" or "pruned"."""

    score: float | None
    """Best score so far. None if the trial has no score yet."""

    last: int | None
    """Last iteration with a score."""

    texts: dict[str, str]
    """Values as command-line text, by setting."""

    reason: str
    """Reason why the trial ended."""

    run: str | None
    """Path of the run, relative to the working directory."""

    report: str | None
    """Path of the run's report, relative to the page."""

    @property
    def values(self) -> list[str]:
        """Values as text for the table, with rounded numbers."""
        return [_value(text) for text in self.texts.values()]


@dataclass(frozen=True)
class _Sweep:
    """Definition, study and trials of a sweep."""

    folder: Path
    search: Search
    study: Study
    trials: list[FrozenTrial]

    @property
    def complete(self) -> list[FrozenTrial]:
        return [t for t in self.trials if t.state == TrialState.COMPLETE]

    @property
    def best(self) -> FrozenTrial | None:
        """Finished trial with the highest score, None if no trial has finished."""
        return max(self.complete, key=lambda trial: trial.value or 0.0, default=None)

    def row(self, trial: FrozenTrial) -> Trial:
        run = self.search.trials(self.folder).find(trial_name(trial))
        file = run and (run.path / REPORT).relative_to(self.folder).as_posix()
        return Trial(
            name=trial_name(trial),
            state=_STATES[trial.state],
            score=_score(trial),
            last=trial.last_step,
            texts=texts_of(self.search.ranges, trial.params),
            reason=trial.user_attrs.get(REASON, ""),
            run=run and os.path.relpath(run.path),
            report=file,
        )


def write_page(folder: Path, search: Search, study: Study) -> Path:
    """Write the results page of a sweep to its folder; return the file."""
    start = time.perf_counter()
    # Skip trials that have just started and have no values yet.
    drawn = [t for t in study.get_trials() if len(t.params) == len(search.ranges)]
    # Links are relative to this folder, and run folders are absolute paths.
    sweep = _Sweep(folder.resolve(), search, study, drawn)
    best = None if sweep.best is None else sweep.row(sweep.best)
    page = render_page(
        "sweep.html",
        package="mjlab.sweep",
        start=start,
        folder=sweep.folder,
        search=search,
        names=[_short(one.path, search.ranges) for one in search.ranges],
        best=best,
        again=None if best is None else _command(search, best),
        states=list(_STATES.values()),
        seconds_trained=sum(t.duration.total_seconds() for t in drawn if t.duration),
        parallel=_parallel(sweep),
        importance=_importance(sweep),
        charts=[_courses(sweep), _progress(sweep)],
        trials=[sweep.row(trial) for trial in sorted(drawn, key=_rank)],
    )
    file = folder / PAGE
    write_text(file, page)
    return file


def _command(search: Search, best: Trial) -> str:
    """Return the `mjlab train` command that repeats a trial."""
    given = [word for path, text in best.texts.items() for word in (f"--{path}", text)]
    return shlex.join(["mjlab", "train", search.task, *search.arguments, *given])


def _importance(sweep: _Sweep) -> Bars | None:
    """Return bars of the settings' importance; None if too few trials are finished."""
    found = importances(sweep.study)
    shares = {_short(path, sweep.search.ranges): v for path, v in found.items()}
    caption = (
        "Share of each setting in the variance of the scores, by PED-ANOVA from "
        f"{counted(len(sweep.complete), 'finished trial')}; unreliable for few trials"
    )
    return bars(shares, caption) if shares else None


# Parallel coordinates of settings and score.


def _parallel(sweep: _Sweep) -> Parallel:
    ranges, best = sweep.search.ranges, sweep.best
    scored = [score for trial in sweep.trials if (score := _score(trial)) is not None]
    low, high = (min(scored), max(scored)) if scored else (0.0, 1.0)
    if low == high:
        low, high = low - 1.0, high + 1.0
    scale = Scale(low, high)
    axes = [Axis(_short(r.path, ranges), _range_ticks(r)) for r in ranges]
    axes.append(Axis("score", [(scale.place(v), t) for v, t in scale.ticks(_TICKS)]))
    lines: list[tuple[float, AxisLine]] = []
    for trial in sweep.trials:
        score = _score(trial)
        place = None if score is None else scale.place(score)
        places = [*(_place(r, trial.params[r.path]) for r in ranges), place]
        is_best = best is not None and trial.number == best.number
        strength = 1.0 if is_best else 0.2 + 0.8 * (place or 0.0) ** 2
        order = 2.0 if is_best else (place or 0.0)
        look = _look(trial, is_best)
        order -= 2.0 if trial.state != TrialState.COMPLETE else 0.0
        lines.append((order, AxisLine(places, look, strength)))
    ordered = [line for _, line in sorted(lines, key=lambda pair: pair[0])]
    return Parallel(axes, ordered, f"{counted(len(lines), 'trial')}, see the table")


def _look(trial: FrozenTrial, is_best: bool) -> str:
    if is_best:
        return f"c{_RED} best"
    return f"c{_BLUE}" if trial.state == TrialState.COMPLETE else f"c{_GREY} dashed"


def _score(trial: FrozenTrial) -> float | None:
    """Return the best score of a trial so far, None if it has none."""
    if trial.value is not None:
        return trial.value
    return max(trial.intermediate_values.values(), default=None)


def _scale(one: Range) -> Scale:
    return Scale(*one.ends, "log" if one.kind == "log" else "linear")


def _place(one: Range, value: float | str) -> float:
    if isinstance(value, str):
        return one.choices.index(value) / (len(one.choices) - 1)
    return _scale(one).place(value)


def _range_ticks(one: Range) -> list[tuple[float, str]]:
    if one.kind == "choice":
        return [(_place(one, choice), choice) for choice in one.choices]
    scale, ends = _scale(one), set(one.ends)
    inside = [v for v, _ in scale.ticks(_TICKS) if 0.08 < scale.place(v) < 0.92]
    return [(scale.place(v), number(v, 3)) for v in sorted(ends | set(inside))]


def _short(path: str, ranges: Sequence[Range]) -> str:
    """Return the last parts of a dotted name that are unique among the ranges."""
    steps = path.split(".")
    others = [one.path for one in ranges if one.path != path]
    for count in range(1, len(steps)):
        name = ".".join(steps[-count:])
        if not any(other.endswith(f".{name}") for other in others):
            return name
    return path


# Scores over iterations and trials.


def _courses(sweep: _Sweep) -> Chart:
    best = sweep.best
    lines: list[ChartLine] = []
    named: set[str] = set()
    # Later lines are drawn on top: the best trial comes last.
    ordered = sorted(sweep.trials, key=lambda t: (t is best, t.state.value, -t.number))
    for trial in ordered:
        if not trial.intermediate_values:
            continue
        is_best = best is not None and trial.number == best.number
        state = _STATES[trial.state]
        label = f"best: {trial_name(trial)}" if is_best else state
        x, y = zip(*sorted(trial.intermediate_values.items()), strict=True)
        lines.append(
            ChartLine(
                x=x,
                y=y,
                label="" if label in named else label,
                said=f"{trial_name(trial)}, {state}",
                colour=_RED if is_best else _BLUE if state == "finished" else _GREY,
                dashed=state != "finished",
            )
        )
        named.add(label)
    up = f"{sweep.search.metric} over iterations"
    return Chart(title="Learning curve of each trial", lines=lines, up=up, wide=True)


def _progress(sweep: _Sweep) -> Chart:
    values = [trial.value or 0.0 for trial in sweep.complete]
    numbers = [float(trial.number) for trial in sweep.complete]
    best = [max(values[: i + 1]) for i in range(len(values))]
    # Scatter plot: trials are discrete, so their scores are not connected.
    apart = [place for n in numbers for place in (n, n + 0.5)]
    points = [point for value in values for point in (value, None)]
    lines = [
        ChartLine(x=apart, y=points, label="trial", colour=_BLUE),
        ChartLine(x=numbers, y=best, label="best so far", colour=_RED),
    ]
    up = f"{sweep.search.metric} over trials"
    return Chart(title="Score of each trial", lines=lines, up=up, wide=True)


# Table of trials.


def _rank(trial: FrozenTrial) -> tuple[bool, float]:
    score = _score(trial)
    is_done = trial.state == TrialState.COMPLETE
    return not is_done, float("inf") if score is None else -score


def _value(text: str) -> str:
    """Round a number for the table; return other text unchanged."""
    try:
        return number(float(text))
    except ValueError:
        return text
