"""The sections with curves: learning, the reward's terms, ends of episodes, goals."""

from collections.abc import Iterable

from mjlab.report.chart import Style, chart, empty
from mjlab.report.markup import Html, element
from mjlab.report.metrics import Series
from mjlab.report.parts import Section, grid, section
from mjlab.report.record import Record
from mjlab.report.words import TIMES, Title, number

TAIL = 0.1
"""Share of the run, at its end, that the comparison of terms is a mean of."""

_BLUE, _RED = 0, 1
_TIMES = {"Perf/collect_s": "acting", "Perf/learn_s": "learning"}
_MAIN = {
    "Train/mean_reward": "training",
    "Eval/mean_reward": "evaluation, without exploration",
}
_ELSEWHERE = ("Perf/seconds", "Train/env_steps")
"""Totals, which the head of the page tells."""


def learning(record: Record) -> Section:
    """Reward, length, losses, and speed."""
    series = record.metrics.series
    charts = [_main_chart(record)]
    for name in (
        "Train/mean_episode_length",
        "Train/mean_step_reward",
        "Train/episodes",
    ):
        if name in series:
            charts.append(chart([series[name]], record.span))
    rates = Style(log=True)
    for one in record.metrics.group("Loss"):
        charts.append(chart([one], record.span, rates))
    for one in record.metrics.group("Policy"):
        charts.append(chart([one], record.span, rates))
    if "Perf/steps_per_s" in series:
        charts.append(chart([series["Perf/steps_per_s"]], record.span))
    times = [series[name] for name in _TIMES if name in series]
    if times:
        charts.append(_times(times, record))
    lead = (
        "Everything is drawn over iterations. Where the run is long, the line is the "
        "mean of a stretch and the shade its whole range. Red strokes below mark "
        "values that were not finite."
    )
    if record.span.resumed:
        lead += " Dashed lines stand where the run was resumed."
    return section("learning", "Learning", grid(charts), lead=lead)


def _main_chart(record: Record) -> Html:
    found = [record.metrics.series[n] for n in _MAIN if n in record.metrics.series]
    style = Style(wide=True)
    window = record.setting("agent", "logging", "window")
    latest = f", mean of the latest {window} or more" if window else ""
    title = Title("Reward of an episode", f"sum over the episode{latest}")
    if not found:
        return empty(title, "no episode has ended yet", style)
    labels = [_MAIN[one.name] for one in found]
    return chart(found, record.span, style, title=title, labels=labels)


def _times(times: list[Series], record: Record) -> Html:
    return chart(
        times,
        record.span,
        Style(zero="always"),
        title=Title("Time of an iteration", "s"),
        labels=[_TIMES[one.name] for one in times],
    )


# The reward.


def rewards(record: Record) -> Section | None:
    """A curve for every term of the reward, and what they amount to."""
    weights = _weights(record)
    series = {
        s.name.partition("/")[2]: s for s in record.metrics.group("Episode_Reward")
    }
    # In the order of the configuration; what it does not know comes last.
    names = [*weights, *(name for name in series if name not in weights)]
    if not names:
        return None
    charts = [
        _reward_chart(name, series.get(name), weights.get(name), record)
        for name in names
    ]
    lead = (
        "What each term adds to the reward: its weighted sum over an episode, divided "
        "by the seconds of a full episode, so that falling early shows as less. Blue "
        "terms have a weight above zero, red ones below. Mind that each has a scale of "
        "its own; zero is on all of them."
    )
    bars = _bars(names, series, weights, record)
    return section("rewards", "Terms of the reward", bars, grid(charts), lead=lead)


def _weights(record: Record) -> dict[str, float | None]:
    terms = record.setting("env", "rewards") or {}
    weights = {
        name: term.get("weight")
        for name, term in terms.items()
        if isinstance(term, dict)
    }
    return {n: w if isinstance(w, int | float) else None for n, w in weights.items()}


def _reward_chart(
    name: str, series: Series | None, weight: float | None, record: Record
) -> Html:
    style = Style(
        zero="always",
        colour=_RED if weight is not None and weight < 0.0 else _BLUE,
        note="" if weight is None else f"{TIMES} {number(weight)}",
    )
    title = Title(name, "", is_term=True)
    if series is None:
        return empty(title, "no episode has ended yet", style)
    return chart([series], record.span, style, title=title)


def _bars(
    names: Iterable[str],
    series: dict[str, Series],
    weights: dict[str, float | None],
    record: Record,
) -> Html | None:
    """The terms by what they added lately, the largest first."""
    first, last = record.span.first, record.span.last
    start = last - int(TAIL * (last - first))
    means = {
        name: mean
        for name in names
        if name in series and (mean := series[name].tail_mean(start)) is not None
    }
    if not means:
        return None
    low, high = min(0.0, *means.values()), max(0.0, *means.values())
    width = (high - low) or 1.0
    rows = []
    for name in sorted(means, key=lambda name: -means[name]):
        mean = means[name]
        begin = 100.0 * (min(mean, 0.0) - low) / width
        size = 100.0 * abs(mean) / width
        bar = element(
            "i",
            class_=f"c{_RED if mean < 0 else _BLUE}",
            style=f"left:{begin:.2f}%;width:{size:.2f}%",
        )
        rows += [
            element("span", name, class_="name"),
            element(
                "span",
                bar,
                class_="bar",
                style=f"--at:{-100.0 * low / width:.2f}%",
            ),
            element("span", number(mean, 3), class_="value"),
        ]
    when = (
        f"Iterations {start}\N{EN DASH}{last}" if start < last else f"Iteration {last}"
    )
    total = number(sum(means.values()), 3)
    caption = f"{when}: together {total} a second of a full episode"
    return element(
        "figure",
        element("figcaption", caption),
        element("div", *rows, class_="bars"),
        class_="balance",
    )


# Ends of episodes, goals, and the rest.


def terminations(record: Record) -> Section | None:
    """Why episodes ended."""
    found = record.metrics.group("Episode_Termination")
    if not found:
        return None
    labels = [one.name.partition("/")[2] for one in found]
    drawn = chart(
        found,
        record.span,
        Style(share=True, wide=True),
        title=Title("What held at the end", "share of the episodes that ended"),
        labels=labels,
    )
    lead = "Of the episodes that ended in an iteration, the share that each term ended."
    return section("terminations", "Ends of episodes", grid([drawn]), lead=lead)


def goals(record: Record) -> Section | None:
    """Figures of commands and metrics, and what the curriculum set."""
    metrics, curriculum = (record.metrics.group(n) for n in ("Metrics", "Curriculum"))
    if not metrics and not curriculum:
        return None
    parts: list[Html] = []
    for title, found in (("Commands and metrics", metrics), ("Curriculum", curriculum)):
        if found:
            charts = [chart([one], record.span) for one in found]
            parts += [element("h3", title), grid(charts)]
    return section("goals", "Goals", *parts)


_KNOWN = ("Train", "Loss", "Policy", "Perf", "Eval", "Health", "Metrics", "Curriculum")
_KNOWN += ("Episode_Reward", "Episode_Termination")


def others(record: Record) -> Section | None:
    """Figures of which nothing is known but the name."""
    drawn = {"Train/mean_reward", "Train/mean_episode_length", "Train/mean_step_reward"}
    drawn |= {"Train/episodes", "Perf/steps_per_s", *_TIMES, *_ELSEWHERE}
    found = [
        one
        for one in record.metrics.series.values()
        if one.name.split("/")[0] not in _KNOWN
        or (one.name.startswith(("Train/", "Perf/")) and one.name not in drawn)
    ]
    if not found:
        return None
    charts = [chart([one], record.span) for one in found]
    return section("others", "Other figures", grid(charts))
