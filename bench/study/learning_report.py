"""The learning study as tables and charts."""

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.study.curves import ENOUGH, SOLVED, Curve, mean_and_spread
from bench.study.store import Store
from bench.study.table import markdown
from mjlab.report.chart import Chart, ChartLine

Curves = dict[str, dict[int, list[Curve]]]
"""Curves by learner and number of worlds, one per seed."""


def report(store: Store, titles: Mapping[str, str], out: Path, charts: Path) -> str:
    """Write tables and charts; return the tables."""
    curves = curves_of(store, titles)
    settings = store.record["settings"]
    tables = [
        markdown(
            f"Score after {settings[name]:,g} {name}",
            *score_table(curves, titles, name, settings[name]),
        )
        for name in ("samples", "seconds")
    ]
    tables += [
        markdown(
            f"{name.capitalize()} until a score of {SOLVED:g}, the median over seeds",
            *solved_table(curves, titles, name),
        )
        for name in ("seconds", "samples")
    ]
    draw(curves, titles, settings, charts)
    text = "\n\n".join([_about(store), *tables])
    (out / "learning.md").write_text(text + "\n", "utf-8")
    return f"{text}\n\nWritten: {out}"


def curves_of(store: Store, titles: Mapping[str, str]) -> Curves:
    """Return the learning curves of all stored runs."""
    found: Curves = {}
    for key, data in store.results.items():
        name, count, _ = key.split("/")
        if name in titles:
            found.setdefault(name, {}).setdefault(int(count), []).append(Curve(**data))
    return found


def counts_of(curves: Curves) -> list[int]:
    """Return all numbers of worlds in the curves, ascending."""
    return sorted({count for by in curves.values() for count in by})


def scores(runs: Sequence[Curve], name: str, limit: float) -> list[float]:
    """Return scores at `limit` samples or seconds, for seeds that reached the limit."""
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


# Charts.


def draw(
    curves: Curves,
    titles: Mapping[str, str],
    settings: dict[str, float],
    folder: Path,
) -> None:
    """Draw the scores by number of worlds, at equal samples and at equal seconds."""
    for name in ("samples", "seconds"):
        lines = _summary(curves, titles, name, settings[name])
        if lines:
            chart = Chart(
                title=f"Score after {settings[name]:,g} {name}, by number of worlds",
                across="worlds",
                up="mean return without exploration",
                lines=lines,
                log_across=True,
            )
            chart.save(folder / f"learning_{name}.svg", width=1100)


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
