"""The throughput study as tables and charts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.study.advice import advise
from bench.study.contenders import Contender
from bench.study.points import Point
from bench.study.store import Store
from bench.study.table import markdown
from mjlab.report.chart import Chart, ChartLine

_RATIOS: dict[str, Any] = {"log_up": "yes", "log_across": True}

PROCESS_WAYS = ("gym-sync", "gym-async", "sb3-dummy", "sb3-subproc")
"""Implementations that step single Python environments."""

VECTORISED = "gym-vector"
AT = 2**14
"""Number of worlds of the second table."""

Points = dict[str, dict[int, Point]]


def report(store: Store, chosen: Sequence[Contender], out: Path, charts: Path) -> str:
    """Write tables and charts; return the text.

    Args:
        store: The measurements.
        chosen: The selected implementations, including those that were not measured.
        out: Folder for the tables.
        charts: Folder for the charts.
    """
    points = points_of(store)
    titles = {contender.name: contender.title for contender in chosen}
    points = {name: points[name] for name in titles if points.get(name)}
    absent = [f"{titles[n]}: {why}." for n, why in store.record["absent"].items()]
    tables = [*best_table(points, titles), *fixed_table(points, titles)]
    tables += block_table(store, titles)
    draw(points, titles, charts)
    text = "\n\n".join(
        [_about(store), *tables, *absent, recommendation(points, titles)]
    )
    (out / "tables.md").write_text(text + "\n", "utf-8")
    return f"{text}\n\nWritten: {out}"


def points_of(store: Store) -> Points:
    """Return points by contender and number of worlds, without block size trials."""
    found: Points = {}
    for key, result in store.results.items():
        name, _, rest = key.partition("/")
        if "left_out" not in result and rest.isdigit():
            found.setdefault(name, {})[int(rest)] = Point.from_data(result)
    return found


def best_table(points: Points, titles: dict[str, str]) -> list[str]:
    """Return the rate of each implementation at its best number of worlds."""
    best = {name: max(by.values(), key=lambda p: p.rate) for name, by in points.items()}
    if not best:
        return []
    vectorised = best.get(VECTORISED)
    singles = [best[name] for name in PROCESS_WAYS if name in best]
    single = max(singles, key=lambda p: p.rate, default=None)
    rows = [
        [
            titles[name],
            f"{point.num_envs:,}",
            f"{point.rate:,.0f}",
            _spread(point),
            _ratio(point, vectorised),
            _ratio(point, single),
        ]
        for name, point in sorted(best.items(), key=lambda item: -item[1].rate)
    ]
    head = (
        "Implementation",
        "worlds",
        "samples/s",
        "spread",
        "relative to Gymnasium's vectorised",
        "relative to the fastest single",
    )
    return [markdown("Each at its best number of worlds", head, rows)]


def fixed_table(points: Points, titles: dict[str, str]) -> list[str]:
    """Return the rates at the same number of worlds, where measured."""
    there = {name: by[AT] for name, by in points.items() if AT in by}
    if not there:
        return []
    singles = [p for n in PROCESS_WAYS for p in points.get(n, {}).values()]
    single = max(singles, key=lambda p: p.rate, default=None)
    rows = [
        [
            titles[name],
            f"{1e3 * point.seconds:.3g}",
            f"{point.rate:,.0f}",
            _spread(point),
            _ratio(point, there.get(VECTORISED)),
            _ratio(point, single),
        ]
        for name, point in sorted(there.items(), key=lambda item: -item[1].rate)
    ]
    head = (
        "Implementation",
        "ms per step",
        "samples/s",
        "spread",
        "relative to Gymnasium's vectorised",
        "relative to the best of the fastest single",
    )
    return [markdown(f"All at {AT:,} worlds", head, rows)]


def block_table(store: Store, titles: dict[str, str]) -> list[str]:
    """Rates by the number of threads per block, measured on CUDA devices."""
    rows = []
    for key, result in store.results.items():
        name, _, rest = key.partition("/")
        count, _, threads = rest.partition("/block")
        if threads and "left_out" not in result and name in titles:
            point = Point.from_data(result)
            row = [titles[name], f"{int(count):,}", threads, f"{point.rate:,.0f}"]
            rows.append([*row, _spread(point)])
    head = ("Way", "worlds", "threads per block", "samples/s", "spread")
    return [markdown("By block size", head, rows)] if rows else []


def recommendation(points: Points, titles: dict[str, str]) -> str:
    """Return the recommended number of worlds for implementations of this project."""
    parts = []
    for name, by in points.items():
        if name.startswith(("gym", "sb3", "ray")) or len(by) < 2:
            continue
        advice = advise({count: point.rate for count, point in by.items()})
        parts.append(
            f"{titles[name]}: {advice.worlds:,} worlds ({advice.rate:,.0f} samples/s; "
            f"the best rate of {advice.best_rate:,.0f} needs {advice.best:,})"
        )
    if not parts:
        return "Too few points for a recommendation."
    return (
        "Recommended for throughput on this machine, the smallest number with at least "
        "90 % of the best rate: " + "; ".join(parts) + "."
    )


def draw(points: Points, titles: dict[str, str], folder: Path) -> None:
    """Draw rates and times of a step against the number of worlds."""
    order = list(titles)
    rates, times = [], []
    for name, by in points.items():
        ordered = [by[count] for count in sorted(by)]
        look: dict[str, Any] = {
            "label": titles[name],
            "x": [point.num_envs for point in ordered],
            "colour": order.index(name),
            "dashed": name.startswith(("gym", "sb3", "ray")),
        }
        rates.append(
            ChartLine(
                y=[point.rate for point in ordered],
                low=[point.rates[0] for point in ordered],
                high=[point.rates[1] for point in ordered],
                **look,
            )
        )
        times.append(ChartLine(y=[point.seconds for point in ordered], **look))
    for name, title, unit, lines in (
        ("rate", "Samples a second", "samples/s", rates),
        ("step", "Time of a step of all worlds", "seconds", times),
    ):
        if lines:
            chart = Chart(title=title, across="worlds", up=unit, lines=lines, **_RATIOS)
            chart.save(folder / f"{name}.svg", width=1100)


def _about(store: Store) -> str:
    settings = store.record["settings"]
    return (
        f"{store.about_machine()} Each point is the "
        f"median of {settings['repeats']} repeats of about "
        f"{settings['seconds'] / settings['repeats']:.2g} s; the spread is from the "
        "slowest to the fastest repeat. The time includes resets, and ends when the "
        "device has finished. Gymnasium's environments use an additional step for each "
        "reset, which counts as a sample in their favour."
    )


def _spread(point: Point) -> str:
    low, high = point.rates
    return f"{low / point.rate - 1:+.0%} to {high / point.rate - 1:+.0%}"


def _ratio(point: Point, other: Point | None) -> str:
    return "" if other is None else f"{point.rate / other.rate:.3g}x"
