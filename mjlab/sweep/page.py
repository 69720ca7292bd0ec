"""Results page of a sweep: trials, scores, and importance of the settings."""

import os
import shlex
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mjlab.files import write_text
from mjlab.report.bars import bars
from mjlab.report.chart import Chart, ChartLine
from mjlab.report.head import command_lines
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
    table,
)
from mjlab.report.page import whole_page
from mjlab.report.parallel import Axis, AxisLine, parallel
from mjlab.report.record import REPORT
from mjlab.report.scale import Scale
from mjlab.report.words import counted, duration, number
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
"""Name of the file."""

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
class _Sweep:
    """Contents of a sweep's folder."""

    folder: Path
    search: Search
    study: Study
    trials: list[FrozenTrial]

    @property
    def best(self) -> FrozenTrial | None:
        """Finished trial with the highest score, None without one."""
        complete = [t for t in self.trials if t.state == TrialState.COMPLETE]
        return max(complete, key=lambda trial: trial.value or 0.0, default=None)

    def run(self, trial: FrozenTrial) -> Path | None:
        found = self.search.trials(self.folder).find(trial_name(trial))
        return None if found is None else found.path

    def texts(self, trial: FrozenTrial) -> dict[str, str]:
        return texts_of(self.search.ranges, trial.params)


def write_page(folder: Path, search: Search, study: Study) -> Path:
    """Write the results page of a sweep into its folder, and return the file."""
    start = time.perf_counter()
    # A trial that has just started can lack values.
    drawn = [t for t in study.get_trials() if len(t.params) == len(search.ranges)]
    # Run folders of trials are absolute paths; links are relative to this folder.
    sweep = _Sweep(folder.resolve(), search, study, drawn)
    sections = [_best(sweep), _settings(sweep), _scores(sweep), _table(sweep)]
    links = [element("a", part.title, href=f"#{part.name}") for part in sections]
    bodies = [part.html for part in sections]
    body = joined(_head(sweep), element("nav", *links), *bodies)
    title = f"Sweep of {search.task}, {folder.name}"
    file = folder / PAGE
    write_text(file, whole_page(title, body, time.perf_counter() - start))
    return file


def _head(sweep: _Sweep) -> Html:
    counts = Counter(_STATES[trial.state] for trial in sweep.trials)
    told = ", ".join(f"{counts[s]} {s}" for s in _STATES.values() if counts[s])
    best = sweep.best
    spent = sum(
        (trial.duration.total_seconds() for trial in sweep.trials if trial.duration),
        start=0.0,
    )
    figures = [
        (
            "Best score",
            "none" if best is None else number(best.value),
            "" if best is None else trial_name(best),
        ),
        ("Trials", str(len(sweep.trials)), told),
        ("Settings", str(len(sweep.search.ranges)), "in parallel"),
        ("Trained for", duration(spent), "total of all trials"),
    ]
    about = [
        (
            "Command",
            element("pre", command_lines(sweep.search.command), class_="command"),
        ),
        ("Score", code(sweep.search.metric)),
        ("Ranges", element("pre", "\n".join(map(str, sweep.search.ranges)))),
        ("Engine", f"{_ENGINES[sweep.search.engine]}, seed {sweep.search.seed}"),
        ("Folder", code("/".join(sweep.folder.resolve().parts[-2:]))),
    ]
    return element(
        "header",
        element("p", "Sweep", class_="kicker"),
        element("h1", sweep.search.task),
        element("p", sweep.folder.name, class_="run"),
        cards(figures),
        facts(about),
    )


_ENGINES = {"optuna": "Optuna", "ray": "Ray Tune with Optuna's search"}


def _best(sweep: _Sweep) -> Section:
    best = sweep.best
    if best is None:
        return section("best", "Best trial", lead="No finished trial yet.")
    texts, run = sweep.texts(best), sweep.run(best)
    rows = [[code(path), element("b", text)] for path, text in texts.items()]
    given = [word for path, text in texts.items() for word in (f"--{path}", text)]
    search = sweep.search
    again = shlex.join(["mjlab", "train", search.task, *search.arguments, *given])
    commands = [("Repeat it", element("pre", command_lines(again), class_="command"))]
    if run is not None:
        report = element("a", "its report", href=address(run / REPORT, sweep.folder))
        watch = f"mjlab play {os.path.relpath(run)}"
        commands += [("Watch it", code(watch)), ("More", report)]
    lead = (
        f"{trial_name(best)} scores {number(best.value)}: its best value of "
        f"{search.metric}, reached by its best checkpoint."
    )
    head = element("div", facts(commands), class_="facts")
    values = table(["setting", "value"], rows, class_="differences")
    return section("best", "Best trial", values, head, lead=lead)


# Parallel coordinates of settings and score.


def _settings(sweep: _Sweep) -> Section:
    lead = (
        "Each line is a trial: its value of each setting, and its score on the "
        "right. Stronger blue means a better score; the best trial is red. Pruned "
        "trials are dashed grey lines, at their best score; lines of failed trials "
        "end before the score."
    )
    found = importances(sweep.study)
    shares = {_short(path, sweep.search.ranges): v for path, v in found.items()}
    done = sum(trial.state == TrialState.COMPLETE for trial in sweep.trials)
    caption = (
        "Share of each setting in the variance of the scores, by PED-ANOVA from "
        f"{counted(done, 'finished trial')}; unreliable for few trials"
    )
    weights = bars(shares, caption) if shares else None
    none = element("p", "Importances are shown after four finished trials.")
    return section(
        "settings",
        "Settings and scores",
        _parallel(sweep),
        element("h3", "Importance"),
        weights or none,
        lead=lead,
    )


def _parallel(sweep: _Sweep) -> Html:
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
    return parallel(axes, ordered, f"{counted(len(lines), 'trial')}, see the table")


def _look(trial: FrozenTrial, is_best: bool) -> str:
    if is_best:
        return f"c{_RED} best"
    return f"c{_BLUE}" if trial.state == TrialState.COMPLETE else f"c{_GREY} dashed"


def _score(trial: FrozenTrial) -> float | None:
    """Return the best score of a trial, finished or not."""
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
    """Return the shortest unambiguous suffix of a dotted name."""
    steps = path.split(".")
    others = [one.path for one in ranges if one.path != path]
    for count in range(1, len(steps)):
        name = ".".join(steps[-count:])
        if not any(other.endswith(f".{name}") for other in others):
            return name
    return path


# Scores over iterations and trials.


def _scores(sweep: _Sweep) -> Section:
    lead = "Scores of each trial during training, and the best score over the trials."
    charts = element("div", _courses(sweep), _progress(sweep), class_="grid")
    return section("scores", "Scores", charts, lead=lead)


def _courses(sweep: _Sweep) -> Html:
    best = sweep.best
    lines: list[ChartLine] = []
    named: set[str] = set()
    # Later lines are drawn on top.
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
    return Chart(
        title="Learning curve of each trial", lines=lines, up=up, wide=True
    ).figure()


def _progress(sweep: _Sweep) -> Html:
    complete = [t for t in sweep.trials if t.state == TrialState.COMPLETE]
    values = [trial.value or 0.0 for trial in complete]
    numbers = [float(trial.number) for trial in complete]
    best = [max(values[: i + 1]) for i in range(len(values))]
    # Scatter plot: trials are discrete, so their scores are not connected.
    apart = [place for n in numbers for place in (n, n + 0.5)]
    points = [point for value in values for point in (value, None)]
    lines = [
        ChartLine(x=apart, y=points, label="trial", colour=_BLUE),
        ChartLine(x=numbers, y=best, label="best so far", colour=_RED),
    ]
    up = f"{sweep.search.metric} over trials"
    return Chart(title="Score of each trial", lines=lines, up=up, wide=True).figure()


# Table of trials.


def _table(sweep: _Sweep) -> Section:
    names = [_short(one.path, sweep.search.ranges) for one in sweep.search.ranges]
    columns = ["trial", "state", "score", "last iteration", *names, "end"]
    ordered = sorted(sweep.trials, key=_rank)
    rows = [_row(sweep, trial) for trial in ordered]
    return section("trials", "All trials", table(columns, rows, class_="trials"))


def _rank(trial: FrozenTrial) -> tuple[bool, float]:
    score = _score(trial)
    is_done = trial.state == TrialState.COMPLETE
    return not is_done, float("inf") if score is None else -score


def _row(sweep: _Sweep, trial: FrozenTrial) -> list[str]:
    name, run, state = trial_name(trial), sweep.run(trial), _STATES[trial.state]
    score, last = _score(trial), trial.last_step
    shown = name
    if run is not None:
        shown = element("a", name, href=address(run / REPORT, sweep.folder))
    return [
        shown,
        state,
        "none" if score is None else number(score),
        "none" if last is None else str(last),
        *(_value(text) for text in sweep.texts(trial).values()),
        trial.user_attrs.get(REASON, ""),
    ]


def _value(text: str) -> str:
    """Return a value with a fixed number of significant digits."""
    try:
        return number(float(text))
    except ValueError:
        return text
