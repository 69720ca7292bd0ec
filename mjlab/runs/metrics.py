"""Read training metrics from `metrics.jsonl`."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METRICS = "metrics.jsonl"
"""Name of the metrics file, which has one line per iteration."""


@dataclass(frozen=True)
class Series:
    """One metric over the iterations of a run. Some iterations can lack a value."""

    name: str
    """Name in the file, such as "Train/mean_reward"."""

    iterations: list[int]
    """Iterations with a value, ascending."""

    values: list[float | None]
    """Values at these iterations, None for NaN and infinite values."""

    @property
    def finite(self) -> list[float]:
        """Finite values."""
        return [value for value in self.values if value is not None]

    @property
    def bad(self) -> list[int]:
        """Iterations with non-finite values."""
        pairs = zip(self.iterations, self.values, strict=True)
        return [iteration for iteration, value in pairs if value is None]

    @property
    def last(self) -> float | None:
        """Newest value; None if the value is not finite or the series is empty."""
        return self.values[-1] if self.values else None

    def tail_mean(self, start: int) -> float | None:
        """Return the mean of the finite values from an iteration on."""
        pairs = zip(self.iterations, self.values, strict=True)
        chosen = [v for i, v in pairs if i >= start and v is not None]
        return math.fsum(chosen) / len(chosen) if chosen else None

    def best(self) -> tuple[int, float] | None:
        """Return iteration and value of the (first) maximum, None without values."""
        pairs = zip(self.iterations, self.values, strict=True)
        found = [(i, value) for i, value in pairs if value is not None]
        return max(found, key=lambda pair: pair[1], default=None)


@dataclass(frozen=True)
class Metrics:
    """All training metrics of a run."""

    series: dict[str, Series]
    """Series by name, in the order of first appearance."""

    iterations: list[int]
    """Iterations in the file, ascending."""

    joins: list[int]
    """Last iteration before each resume that replaced later lines."""

    damaged: int
    """Number of invalid lines, not counting an incomplete last line."""

    def group(self, *prefixes: str) -> list[Series]:
        """Return the series of groups, such as "Train" for "Train/mean_reward"."""
        return [s for s in self.series.values() if s.name.split("/")[0] in prefixes]

    def last(self, name: str) -> float | None:
        """Return the newest value of a metric, None if it is missing or not finite."""
        return self.series[name].last if name in self.series else None


def read_metrics(path: Path) -> Metrics:
    """Read a metrics file. A missing file is empty; an incomplete last line is ignored.

    After a resume, new lines replace earlier lines of the same and later iterations.
    """
    lines, damaged = _lines(path)
    kept: list[dict[str, Any]] = []
    joins: list[int] = []
    for line in lines:
        if kept and line["iteration"] <= kept[-1]["iteration"]:
            while kept and kept[-1]["iteration"] >= line["iteration"]:
                kept.pop()
            joins.append(line["iteration"] - 1)
        kept.append(line)
    series: dict[str, Series] = {}
    iterations = [line["iteration"] for line in kept]
    for line in kept:
        iteration = line.pop("iteration")
        for name, value in line.items():
            found = series.setdefault(name, Series(name, [], []))
            found.iterations.append(iteration)
            found.values.append(_number(value))
    return Metrics(series, iterations, joins, damaged)


def _lines(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the metrics of each valid line, and the number of invalid lines."""
    if not path.is_file():
        return [], 0
    text = path.read_text("utf-8", errors="replace")
    found: list[dict[str, Any]] = []
    damaged = 0
    rows = text.split("\n")
    # The text after the last newline is empty or an incomplete line.
    for row in rows[:-1]:
        try:
            data = json.loads(row)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict) and isinstance(data.get("iteration"), int):
            found.append(data)
        elif row.strip():
            damaged += 1
    return found, damaged


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
