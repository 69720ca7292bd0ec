"""Report sections with curves: learning, reward terms, terminations and metrics."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mjlab.report.bars import Bars, bars
from mjlab.report.chart import Chart, ChartLine
from mjlab.report.record import Record
from mjlab.report.words import DASH, TIMES, Title, counted, number, title_of
from mjlab.runs.metrics import Series

MOST_POINTS = 480
"""Maximum number of points of a curve that is drawn without averaging."""

STRETCHES = 240
"""Number of intervals over which longer curves are averaged, each about two pixels
wide."""

TAIL = 0.1
"""Last fraction of the run over which reward terms are averaged for comparison."""

_BLUE, _RED = 0, 1
_TIMES = {"Perf/collect_s": "acting", "Perf/learn_s": "learning"}
_MAIN = {
    "Train/mean_reward": "training",
    "Eval/mean_reward": "evaluation, without exploration",
}
_TRAINING = ("Train/mean_episode_length", "Train/mean_step_reward", "Train/episodes")
_SPEED = "Perf/steps_per_s"
_NO_EPISODE = "no finished episode yet"
_ELSEWHERE = ("Perf/seconds", "Train/env_steps")
"""Metrics that are shown at the top of the page instead of as curves."""


def curves(
    series: Sequence[Series],
    record: Record,
    *,
    title: Title | None = None,
    labels: Sequence[str] | None = None,
    colour: int = _BLUE,
    **look: Any,
) -> Chart:
    """Return a chart of metrics over iterations.

    Args:
        series: Metrics to draw.
        record: Data of the run.
        title: Title of the chart. None uses the title of the first metric.
        labels: Legend labels of the metrics, if there are several.
        colour: Colour index of the first metric.
        look: Further arguments of `Chart`.
    """
    names = labels or [""] * len(series)
    lines = [
        _line(one, label, colour + index)
        for index, (one, label) in enumerate(zip(series, names, strict=True))
    ]
    return _chart(record, title or title_of(series[0].name), lines, **look)


def _chart(
    record: Record, title: Title, lines: Sequence[ChartLine], **look: Any
) -> Chart:
    span = record.span
    return Chart(
        title=title.text,
        up=title.unit,
        is_term=title.is_term,
        lines=lines,
        whole=(span.first, span.last),
        marks=span.resumed,
        **look,
    )


def _line(series: Series, label: str, colour: int) -> ChartLine:
    """Return the line of a metric.

    Long series are averaged over intervals, with a band from minimum to maximum.
    """
    columns: dict[str, Any] = {"x": series.iterations, "y": series.values}
    if len(series.iterations) > MOST_POINTS:
        columns = _stretches(series)
    return ChartLine(
        **columns,
        label=label,
        value=number(series.last),
        said=_said(series),
        name=series.name,
        gaps=series.bad,
        colour=colour,
    )


def _stretches(series: Series) -> dict[str, Any]:
    first, last = series.iterations[0], series.iterations[-1]
    width = (last - first + 1) / STRETCHES
    points = zip(series.iterations, series.values, strict=True)
    columns: dict[str, list[Any]] = {"x": [], "y": [], "low": [], "high": []}
    for _, group in itertools.groupby(points, lambda p: int((p[0] - first) / width)):
        stretch = list(group)
        values = [value for _, value in stretch if value is not None]
        columns["x"].append(sum(iteration for iteration, _ in stretch) / len(stretch))
        columns["y"].append(math.fsum(values) / len(values) if values else None)
        columns["low"].append(min(values, default=None))
        columns["high"].append(max(values, default=None))
    return columns


def _said(series: Series) -> str:
    """Describe a metric for screen readers."""
    numbers = series.finite
    gaps = f", {counted(len(series.bad), 'value')} not finite" if series.bad else ""
    if not numbers:
        return f"no finite value{gaps}"
    return (
        f"from {number(min(numbers))} to {number(max(numbers))}, last "
        f"{number(series.last)}{gaps}, iterations {series.iterations[0]}{DASH}"
        f"{series.iterations[-1]}"
    )


def learning(record: Record) -> list[Chart]:
    """Return the charts of reward, episode length, losses and speed."""
    metrics, series = record.metrics, record.metrics.series
    charts = [_main_chart(record)]
    charts += [curves([series[n]], record) for n in _TRAINING if n in series]
    rates = [*metrics.group("Loss"), *metrics.group("Policy")]
    charts += [curves([one], record, log_up="decades") for one in rates]
    if _SPEED in series:
        charts.append(curves([series[_SPEED]], record))
    times = {label: series[name] for name, label in _TIMES.items() if name in series}
    if times:
        title = Title("Time per iteration", "s")
        found, labels = list(times.values()), list(times)
        charts.append(curves(found, record, title=title, labels=labels, with_zero=True))
    return charts


def _main_chart(record: Record) -> Chart:
    there = record.metrics.series
    found = {label: there[name] for name, label in _MAIN.items() if name in there}
    window = record.setting("agent.logging.window")
    latest = f", mean of the latest {window} or more" if window else ""
    title = Title("Reward of an episode", f"sum over the episode{latest}")
    if not found:
        return _chart(record, title, [], wide=True, missing=_NO_EPISODE)
    series, labels = list(found.values()), list(found)
    return curves(series, record, title=title, labels=labels, wide=True)


# Reward terms.


@dataclass(frozen=True)
class Rewards:
    """Contents of the report section on reward terms."""

    balance: Bars | None
    """Bars that compare the terms over the last iterations; None without values."""

    charts: list[Chart]
    """One chart per term."""


def rewards(record: Record) -> Rewards | None:
    """Return the report section on reward terms; None if there are no terms."""
    weights = _weights(record)
    series = {
        s.name.partition("/")[2]: s for s in record.metrics.group("Episode_Reward")
    }
    # In configuration order, followed by terms that the configuration lacks.
    names = [*weights, *(name for name in series if name not in weights)]
    if not names:
        return None
    charts = [
        _reward_chart(name, series.get(name), weights.get(name), record)
        for name in names
    ]
    return Rewards(_balance(names, series, record), charts)


def _weights(record: Record) -> dict[str, float | None]:
    terms = [] if record.config is None else record.config.terms("env.rewards")
    found = {name: record.setting(f"env.rewards.{name}.weight") for name in terms}
    return {n: w if isinstance(w, int | float) else None for n, w in found.items()}


def _reward_chart(
    name: str, series: Series | None, weight: float | None, record: Record
) -> Chart:
    note = "" if weight is None else f"{TIMES} {number(weight)}"
    title = Title(name, "", is_term=True)
    if series is None:
        return _chart(record, title, [], note=note, missing=_NO_EPISODE)
    colour = _RED if weight is not None and weight < 0.0 else _BLUE
    look = {"note": note, "with_zero": True}
    return curves([series], record, title=title, colour=colour, **look)


def _balance(
    names: Iterable[str], series: dict[str, Series], record: Record
) -> Bars | None:
    """Return bars of the terms' means over the last iterations, largest first."""
    first, last = record.span.first, record.span.last
    start = last - int(TAIL * (last - first))
    found = {name: series[name].tail_mean(start) for name in names if name in series}
    means = {name: mean for name, mean in found.items() if mean is not None}
    if not means:
        return None
    when = f"Iterations {start}{DASH}{last}" if start < last else f"Iteration {last}"
    total = number(sum(means.values()), 3)
    return bars(means, f"{when}: {total} per second of a full episode in total")


# Terminations, metrics, and other figures.


def terminations(record: Record) -> Chart | None:
    """Return a chart of the fraction of episodes that each termination ended."""
    found = record.metrics.group("Episode_Termination")
    if not found:
        return None
    labels = [one.name.partition("/")[2] for one in found]
    title = Title("Terminations", "fraction of ended episodes")
    return curves(found, record, title=title, labels=labels, share=True, wide=True)


def goals(record: Record) -> dict[str, list[Chart]]:
    """Return the charts of commands, metrics and curricula, by heading."""
    kinds = {"Commands and metrics": "Metrics", "Curriculum": "Curriculum"}
    found = {title: record.metrics.group(kind) for title, kind in kinds.items()}
    return {t: [curves([one], record) for one in s] for t, s in found.items() if s}


_KNOWN = ("Loss", "Policy", "Eval", "Health", "Metrics", "Curriculum")
_KNOWN += ("Episode_Reward", "Episode_Termination")


def others(record: Record) -> list[Chart]:
    """Return charts of metrics that no other section shows."""
    shown = {*_MAIN, *_TRAINING, *_TIMES, *_ELSEWHERE, _SPEED}
    return [
        curves([one], record)
        for one in record.metrics.series.values()
        if one.name.split("/")[0] not in _KNOWN and one.name not in shown
    ]
