"""The learning study as tables, charts, a page, and conclusions from its figures."""

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.study import page
from bench.study.curves import ENOUGH, SOLVED, Curve, mean_and_spread
from bench.study.store import Store
from mjlab.report.chart import Chart, ChartLine

Curves = dict[str, dict[int, list[Curve]]]
"""Curves by learner and number of worlds, one per seed."""

CLEAR = 0.1
"""Minimum significant difference, as a fraction of the maximum score."""

MOST = 500.0


def report(store: Store, titles: Mapping[str, str], out: Path) -> str:
    """Write charts, page and tables into the folder of the results; return the text."""
    curves = curves_of(store, titles)
    settings = store.record["settings"]
    tables = [
        (
            f"Score after {settings['samples']:,} samples",
            *score_table(curves, titles, "samples", settings["samples"]),
        ),
        (
            f"Score after {settings['seconds']:g} seconds",
            *score_table(curves, titles, "seconds", settings["seconds"]),
        ),
        (
            f"Seconds until a score of {SOLVED:g}, the median over seeds",
            *solved_table(curves, titles, "seconds"),
        ),
        (
            f"Samples until a score of {SOLVED:g}, the median over seeds",
            *solved_table(curves, titles, "samples"),
        ),
    ]
    sentences = conclude(curves, settings["samples"], settings["seconds"])
    absent = [
        f"Absent: {titles.get(name, name)}: {why}."
        for name, why in store.record.get("absent", {}).items()
    ]
    store.record["conclusion"] = sentences
    store.save()
    pictures = draw(curves, titles, settings, out)
    about = _about(store)
    parts = [page.paragraph(about)]
    for title, head, rows in tables:
        parts += [page.heading(title), page.table_html(head, rows)]
    parts += [page.heading("What follows"), *map(page.paragraph, sentences)]
    parts += [page.paragraph(line) for line in absent]
    parts += [page.picture(path, says) for path, says in pictures]
    path = page.write_page(
        out / "learning.html",
        "Cartpole: effect of the number of worlds on learning",
        parts,
    )
    listed = [f"**{t}**\n\n{page.table_markdown(h, r)}" for t, h, r in tables]
    markdown = "\n\n".join([about, *listed, *sentences, *absent])
    (out / "learning.md").write_text(markdown + "\n", "utf-8")
    text = [f"{t}\n\n{page.table_text(h, r)}" for t, h, r in tables]
    return "\n\n".join([*text, *sentences, *absent, f"Written: {store.path}, {path}"])


def curves_of(store: Store, titles: Mapping[str, str]) -> Curves:
    """Return all stored runs."""
    found: Curves = {}
    for key, data in store.results.items():
        name, count, _ = key.split("/")
        if name in titles:
            found.setdefault(name, {}).setdefault(int(count), []).append(Curve(**data))
    return found


def counts_of(curves: Curves) -> list[int]:
    """Return all numbers of worlds."""
    return sorted({count for by in curves.values() for count in by})


def scores(runs: Sequence[Curve], name: str, limit: float) -> list[float]:
    """Return scores of the seeds that reached `limit` samples or seconds."""
    return [score for run in runs if (score := run.at(name, limit)) is not None]


Rows = list[list[str]]


def score_table(
    curves: Curves, titles: Mapping[str, str], name: str, limit: float
) -> tuple[list[str], Rows]:
    """Return a table of scores: mean, minimum and maximum over seeds."""
    counts = counts_of(curves)
    rows = []
    for learner, by in curves.items():
        cells = [titles[learner]]
        for count in counts:
            found = scores(by.get(count, []), name, limit)
            if not found:
                cells.append("not reached" if by.get(count) else "")
                continue
            cells.append(_spread(found, of=len(by[count])))
        rows.append(cells)
    return ["worlds", *(f"{count:,}" for count in counts)], rows


def _spread(found: Sequence[float], *, of: int) -> str:
    """Format mean, minimum and maximum; name the number of seeds if incomplete."""
    spread = mean_and_spread(found)
    text = f"{spread['mean']:.0f} ({spread['low']:.0f} to {spread['high']:.0f})"
    return text if len(found) == of else f"{text}, {len(found)} of {of} seeds"


def solved_table(
    curves: Curves, titles: Mapping[str, str], name: str
) -> tuple[list[str], Rows]:
    """Return a table of the samples or seconds until runs were solved."""
    counts = counts_of(curves)
    rows = []
    for learner, by in curves.items():
        cells = [titles[learner]]
        for count in counts:
            firsts = [run.first(name) for run in by.get(count, [])]
            cells.append(_first(firsts, name) if firsts else "")
        rows.append(cells)
    return ["worlds", *(f"{count:,}" for count in counts)], rows


def _first(firsts: list[float], name: str) -> str:
    middle = statistics.median(firsts)
    solved = sum(map(math.isfinite, firsts))
    if math.isinf(middle):
        return f"never ({solved} of {len(firsts)} seeds)"
    shown = f"{middle:,.0f}" if name == "samples" else f"{middle:.1f}"
    return shown if solved == len(firsts) else f"{shown} ({solved} of {len(firsts)})"


# What follows.


def conclude(curves: Curves, samples: int, seconds: float) -> list[str]:
    """Return the conclusions that the figures support."""
    found = [*_at_equal_samples(curves, samples), *_at_equal_time(curves, seconds)]
    found += _replay(curves, samples)
    found.append(recommend(curves, seconds))
    seeds = min(
        (len(runs) for by in curves.values() for runs in by.values()), default=0
    )
    if seeds < 3:
        found.append(
            f"Only {seeds} seed(s) per point: too few for reliable conclusions."
        )
    return found


def _mean_at(curves: Curves, learner: str, name: str, limit: float) -> dict[int, float]:
    """Return the mean score by number of worlds, where all seeds have one."""
    found = {}
    for count, runs in curves.get(learner, {}).items():
        there = scores(runs, name, limit)
        if there and len(there) == len(runs):
            found[count] = statistics.fmean(there)
    return found


def _at_equal_samples(curves: Curves, samples: int) -> list[str]:
    """Return whether the single batch of all transitions explains the loss."""
    fixed = _mean_at(curves, "ppo-fixed", "samples", samples)
    scaled = _mean_at(curves, "ppo-scaled", "samples", samples)
    if len(fixed) < 2 or max(fixed) not in scaled:
        return []
    best, most = max(fixed, key=lambda count: fixed[count]), max(fixed)
    lost = fixed[best] - fixed[most]
    told = (
        f"At {samples:,} samples, PPO with a fixed number of minibatches scores "
        f"{fixed[best]:.0f} with {best:,} worlds and {fixed[most]:.0f} with {most:,}"
    )
    if lost < CLEAR * MOST:
        return [f"{told}: these figures show no loss from more worlds."]
    back = scaled[most] - fixed[most]
    share = back / lost
    told += (
        f"; with minibatches of a fixed size, {scaled[most]:.0f} with {most:,} worlds. "
        f"Scaling recovers {max(share, 0.0):.0%} of the loss, "
    )
    if share >= 0.75:
        cause = (
            "so the smaller number of optimiser steps explains the loss: all "
            "transitions form one batch, with few large steps instead of many small "
            "ones."
        )
    elif share >= 0.25:
        cause = (
            "so the smaller number of optimiser steps is a part of the cause. No arm "
            "tests the rest; a possible cause is that the samples come from fewer "
            "policies."
        )
    else:
        cause = (
            "so the number of optimiser steps is not the cause: the same number of "
            "steps on samples of one old policy does not help."
        )
    return [told + cause]


def _at_equal_time(curves: Curves, seconds: float) -> list[str]:
    told = []
    for learner, words in (
        ("ppo-fixed", "a fixed number of minibatches"),
        ("ppo-scaled", "minibatches of a fixed size"),
    ):
        found = _mean_at(curves, learner, "seconds", seconds)
        if len(found) < 2:
            continue
        top = max(found.values())
        near = [count for count in sorted(found) if top - found[count] < CLEAR * MOST]
        rest = [count for count in sorted(found) if count not in near]
        text = f"With {words}, after {seconds:g} s, "
        if len(near) > 1:
            text += f"{_each(found, near)} differ too little to rank"
        else:
            text += f"{_each(found, near)} is clearly best"
        told.append(text + (f"; below are {_each(found, rest)}." if rest else "."))
    return [" ".join(told)] if told else []


def _each(found: Mapping[int, float], counts: Sequence[int]) -> str:
    """Format scores by number of worlds, such as "8 worlds (331), 32 worlds (377)"."""
    return ", ".join(f"{count:,} worlds ({found[count]:.0f})" for count in counts)


def _replay(curves: Curves, samples: int) -> list[str]:
    """Return whether the off-policy learner depends on the number of worlds."""
    told = []
    for learner, words in (
        ("replay", "The off-policy learner"),
        ("sb3-dqn", "The DQN of Stable-Baselines3"),
    ):
        found = _mean_at(curves, learner, "samples", samples)
        if len(found) < 2:
            continue
        worst = min(found, key=lambda count: found[count])
        best = max(found, key=lambda count: found[count])
        apart = found[best] - found[worst]
        minds = "depends" if apart >= CLEAR * MOST else "does not clearly depend"
        told.append(
            f"{words}, whose optimiser steps are proportional to samples, {minds} on "
            f"the number of worlds at {samples:,} samples: {found[best]:.0f} with "
            f"{best:,} worlds at best, {found[worst]:.0f} with {worst:,} at worst."
        )
    return told


def recommend(curves: Curves, seconds: float) -> str:
    """Return the recommended number of worlds, and whether its runs stayed solved.

    Args:
        curves: All runs.
        seconds: Seconds of the second check of the runs.
    """
    times = {
        (learner, count): statistics.median(run.first("seconds") for run in runs)
        for learner, by in curves.items()
        for count, runs in by.items()
    }
    solved = {key: time for key, time in times.items() if math.isfinite(time)}
    if not solved:
        return (
            f"No number of worlds reached a score of {SOLVED:g} in most seeds, so "
            "there is no recommendation."
        )
    learner, count = min(solved, key=lambda key: solved[key])
    near = sorted(
        {c for (name, c), t in solved.items() if name == learner}
        & {c for (name, c), t in solved.items() if t <= 1.25 * solved[learner, count]}
    )
    others = f" ({', '.join(f'{c:,}' for c in near)} are within a quarter of it)"
    return (
        f"Recommended on this machine for this task: {count:,} worlds with {learner}, "
        f"which reaches a score of {SOLVED:g} after {solved[learner, count]:.1f} s"
        + (others if len(near) > 1 else "")
        + "."
        + _unsteady(curves, learner, count, seconds)
    )


def _unsteady(curves: Curves, learner: str, count: int, seconds: float) -> str:
    """Return a sentence on seeds that got worse, with a stable alternative if any."""
    runs = curves[learner][count]
    later = scores(runs, "seconds", seconds)
    bound = SOLVED - CLEAR * MOST
    fallen = [score for score in later if score < bound]
    if not fallen:
        return ""
    text = (
        f" After {seconds:g} s, {len(fallen)} of its {len(runs)} seeds scored below "
        f"{bound:g} (lowest {min(fallen):.0f})."
    )
    steady = {
        (name, number): statistics.median(run.first("seconds") for run in each)
        for name, by in curves.items()
        for number, each in by.items()
        if len(kept := scores(each, "seconds", seconds)) == len(each)
        and min(kept) >= SOLVED
    }
    if not steady:
        return text
    name, number = min(steady, key=lambda key: steady[key])
    return (
        f"{text} With {number:,} worlds and {name}, which needs "
        f"{steady[name, number]:.1f} s, no seed was below {SOLVED:g} then."
    )


# Charts.


def draw(
    curves: Curves, titles: Mapping[str, str], settings: dict[str, float], out: Path
) -> list[tuple[Path, str]]:
    """Return the charts: path and description."""
    if not curves:
        return []
    found = []
    for name, unit in (("samples", "samples"), ("seconds", "seconds")):
        for learner in curves:
            title = f"{titles[learner]}: score by {unit}"
            lines = _lines(curves[learner], name, counts_of(curves))
            chart = Chart(
                title=title,
                across=unit,
                up="mean return without exploration",
                lines=lines,
                log_across=True,
            )
            found.append((chart.save(out / f"{learner}_{name}.svg"), title))
    for name, limit in (
        ("samples", settings["samples"]),
        ("seconds", settings["seconds"]),
    ):
        title = f"Score after {limit:,g} {name}, by number of worlds"
        chart = Chart(
            title=title,
            across="worlds",
            up="mean return without exploration",
            lines=_summary(curves, titles, name, limit),
            log_across=True,
        )
        path = chart.save(out / f"learning_{name}.svg", width=1100)
        found.append((path, title))
    return found


def _lines(by: dict[int, list[Curve]], name: str, counts: list[int]) -> list[ChartLine]:
    """Return a curve per number of worlds: mean, minimum and maximum over seeds."""
    lines = []
    for count in sorted(by):
        runs = by[count]
        end = min(getattr(run, name)[-1] for run in runs)
        start = max(min(getattr(run, name)[1:], default=end) for run in runs)
        if not 0 < start < end:
            continue
        number = 24
        places = [start * (end / start) ** (i / number) for i in range(number + 1)]
        values = [[_between(run, name, place) for run in runs] for place in places]
        lines.append(
            ChartLine(
                label=f"{count:,} worlds",
                x=places,
                y=[statistics.fmean(v) for v in values],
                low=[min(v) for v in values],
                high=[max(v) for v in values],
                colour=counts.index(count),
            )
        )
    return lines


def _between(run: Curve, name: str, place: float) -> float:
    """Return the last score up to a position."""
    index = sum(p <= place * (1 + 1e-9) for p in getattr(run, name)) - 1
    return run.scores[max(index, 0)]


def _summary(
    curves: Curves, titles: Mapping[str, str], name: str, limit: float
) -> list[ChartLine]:
    lines = []
    for index, (learner, by) in enumerate(curves.items()):
        found = {
            count: mean_and_spread(values)
            for count, runs in sorted(by.items())
            if (values := scores(runs, name, limit))
        }
        lines.append(
            ChartLine(
                label=titles[learner],
                x=list(found),
                y=[spread["mean"] for spread in found.values()],
                low=[spread["low"] for spread in found.values()],
                high=[spread["high"] for spread in found.values()],
                colour=index,
            )
        )
    return [line for line in lines if line.x]


def _about(store: Store) -> str:
    settings = store.record["settings"]
    return (
        f"{store.about_machine()} Torch with {settings['threads']} thread(s). PPO "
        f"uses rollouts of {settings['horizon']} steps per world and "
        f"{settings['epochs']} epochs, with {settings['minibatches']} minibatches in "
        f"one arm and minibatches of {settings['minibatch_size']} samples in the "
        f"other. The off-policy learner acts {settings['acting']}. A score is the mean "
        "return of 32 episodes without exploration, in separate worlds; seconds "
        "include acting and learning, not evaluation. A run that ended early is "
        f"included from {ENOUGH:.0%} of the samples or seconds on, with its last score."
    )
