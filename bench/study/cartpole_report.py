"""The scaling study as tables, charts and a page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.study import page
from bench.study.advice import advise
from bench.study.bandwidth import BYTES, against_limit
from bench.study.contenders import Contender
from bench.study.points import Point
from bench.study.store import Store
from mjlab.report.chart import Chart, ChartLine

_RATIOS: dict[str, Any] = {"log_up": "yes", "log_across": True}

PROCESS_WAYS = ("gym-sync", "gym-async", "sb3-dummy", "sb3-subproc")
"""Implementations that step single Python environments."""

VECTORISED = "gym-vector"
AT = 2**14
"""Number of worlds of the second table."""

Points = dict[str, dict[int, Point]]


def report(store: Store, chosen: Sequence[Contender], out: Path) -> str:
    """Write charts, page and tables into the folder of the results; return the text.

    Args:
        store: The results.
        chosen: The selected contenders.
        out: Folder of the files.
    """
    points = points_of(store)
    titles = {contender.name: contender.title for contender in chosen}
    points = {name: points[name] for name in titles if points.get(name)}
    absent = [f"{titles[n]}: {why}." for n, why in store.record["absent"].items()]
    tables = [*best_table(points, titles), *fixed_table(points, titles)]
    sentence = recommendation(points, titles)
    text = [
        *(part for title, head, rows in tables for part in (title, _text(head, rows))),
        *(["Absent:", *absent] if absent else []),
        sentence,
    ]
    limits = memory_limits(store, points, titles)
    text += limits
    pictures = draw(store, points, titles, out)
    parts = [page.paragraph(_about(store))]
    for title, head, rows in tables:
        parts += [page.heading(title), page.table_html(head, rows)]
    parts += [page.paragraph(told) for told in (sentence, *limits)]
    parts += [page.paragraph(f"Absent: {line}") for line in absent]
    parts += [page.picture(path, says) for path, says in pictures]
    parts += [page.heading("All points"), page.table_html(*all_points(store, titles))]
    path = page.write_page(
        out / "index.html", "Cartpole: scaling with the number of worlds", parts
    )
    listed = [f"**{t}**\n\n{page.table_markdown(h, r)}" for t, h, r in tables]
    markdown = "\n\n".join([_about(store), *listed, *absent, sentence, *limits])
    (out / "tables.md").write_text(markdown + "\n", "utf-8")
    store.record["recommendation"] = sentence
    store.save()
    return "\n\n".join([*text, f"Written: {store.path}, {path}"])


def points_of(store: Store) -> Points:
    """Return points by contender and number of worlds, without block size trials."""
    found: Points = {}
    for key, result in store.results.items():
        name, _, rest = key.partition("/")
        if "left_out" not in result and rest.isdigit():
            found.setdefault(name, {})[int(rest)] = Point.from_data(result)
    return found


Table = tuple[str, Sequence[str], list[list[str]]]


def best_table(points: Points, titles: dict[str, str]) -> list[Table]:
    """Return a table of all contenders at their best number of worlds."""
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
    return [("Each at its best number of worlds", head, rows)]


def fixed_table(points: Points, titles: dict[str, str]) -> list[Table]:
    """Return a table of all contenders at the same number of worlds."""
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
    return [(f"All at {AT:,} worlds", head, rows)]


def all_points(
    store: Store, titles: dict[str, str]
) -> tuple[Sequence[str], list[list[str]]]:
    """Return a table of all results, including omitted ones with the reason."""
    rows = []
    for key, result in store.results.items():
        name, _, rest = key.partition("/")
        title = titles.get(name, name)
        if "left_out" in result:
            rows.append([title, rest, "omitted", result["left_out"], ""])
            continue
        point = Point.from_data(result)
        rows.append(
            [
                title,
                rest.replace("/block", ", threads per block "),
                f"{point.rate:,.0f}",
                f"{1e3 * point.seconds:.4g} ms",
                f"{point.ended_share:.1%}",
            ]
        )
    return (
        "Implementation",
        "worlds",
        "samples/s",
        "per step",
        "ended in a step",
    ), rows


def recommendation(points: Points, titles: dict[str, str]) -> str:
    """Return the recommended number of worlds for each implementation here."""
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
        "Recommended for throughput on this machine, the smallest number within a "
        "tenth of the best rate: "
        + "; ".join(parts)
        + ". The learning study (bench/cartpole_learning.py) covers learning."
    )


def memory_limits(store: Store, points: Points, titles: dict[str, str]) -> list[str]:
    """Return the kernel's fraction of the memory bandwidth, where measured."""
    rate = store.record.get("bandwidth")
    if rate is None:
        return []
    return [
        against_limit(
            name, titles[name], max(points[name].values(), key=lambda p: p.rate), rate
        )
        for name in BYTES
        if name in points
    ]


def draw(
    store: Store, points: Points, titles: dict[str, str], out: Path
) -> list[tuple[Path, str]]:
    """Return the charts: path and description."""
    if not points:
        return []
    order = list(titles)
    rates, times = [], []
    for name, by in points.items():
        ordered = [by[count] for count in sorted(by)]
        counts = [point.num_envs for point in ordered]
        look: dict[str, Any] = {
            "label": titles[name],
            "x": counts,
            "colour": order.index(name),
            "dashed": name.startswith(("gym", "sb3", "ray")),
        }
        spreads = [point.rates for point in ordered]
        rates.append(
            ChartLine(
                y=[point.rate for point in ordered],
                low=[low for low, _ in spreads],
                high=[high for _, high in spreads],
                **look,
            )
        )
        times.append(ChartLine(y=[point.seconds for point in ordered], **look))
    charts = [
        ("rate", "Samples per second", "samples/s", rates),
        ("step", "Time of a step of all worlds", "seconds", times),
    ]
    found = [
        (
            Chart(title=title, across="worlds", up=unit, lines=lines, **_RATIOS).save(
                out / f"{name}.svg", width=1100
            ),
            f"{title} against the number of worlds, both axes logarithmic",
        )
        for name, title, unit, lines in charts
    ]
    return found + draw_blocks(store, titles, out)


def draw_blocks(
    store: Store, titles: dict[str, str], out: Path
) -> list[tuple[Path, str]]:
    """Return the chart of block sizes, if measured."""
    by: dict[str, dict[int, Point]] = {}
    for key, result in store.results.items():
        name, _, rest = key.partition("/")
        count, _, threads = rest.partition("/block")
        if threads and "left_out" not in result and name in titles:
            by.setdefault(f"{titles[name]}, {int(count):,} worlds", {})[
                int(threads)
            ] = Point.from_data(result)
    if not by:
        return []
    lines = [
        ChartLine(
            label=label,
            x=sorted(points),
            y=[points[threads].rate for threads in sorted(points)],
            low=[points[threads].rates[0] for threads in sorted(points)],
            high=[points[threads].rates[1] for threads in sorted(points)],
            colour=index,
        )
        for index, (label, points) in enumerate(by.items())
    ]
    title = "Samples per second by block size"
    names = {"across": "threads per block", "up": "samples/s"}
    chart = Chart(title=title, lines=lines, **names, **_RATIOS)
    return [(chart.save(out / "blocks.svg", width=1100), title)]


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


def _text(head: Sequence[str], rows: list[list[str]]) -> str:
    return page.table_text(head, rows)


def _spread(point: Point) -> str:
    low, high = point.rates
    return f"{low / point.rate - 1:+.0%} to {high / point.rate - 1:+.0%}"


def _ratio(point: Point, other: Point | None) -> str:
    return "" if other is None else f"{point.rate / other.rate:.3g}x"
