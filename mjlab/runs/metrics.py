"""The figures of training, read from `metrics.jsonl`."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METRICS = "metrics.jsonl"
"""Name of the file, with one line an iteration."""


@dataclass(frozen=True)
class Series:
    """A figure over the run. It need not have a value in every iteration."""

    name: str
    """As in the file, such as "Train/mean_reward"."""

    iterations: list[int]
    """Iterations in which it was written, ascending."""

    values: list[float | None]
    """Its value in each; None where it was not finite."""

    @property
    def finite(self) -> list[float]:
        """The values that are numbers."""
        return [value for value in self.values if value is not None]

    @property
    def bad(self) -> list[int]:
        """Iterations in which it was not finite."""
        pairs = zip(self.iterations, self.values, strict=True)
        return [iteration for iteration, value in pairs if value is None]

    @property
    def last(self) -> float | None:
        """The newest value, which may be None; so is what never had one."""
        return self.values[-1] if self.values else None

    def tail_mean(self, start: int) -> float | None:
        """Return the mean of the numbers from an iteration on."""
        pairs = zip(self.iterations, self.values, strict=True)
        chosen = [v for i, v in pairs if i >= start and v is not None]
        return math.fsum(chosen) / len(chosen) if chosen else None

    def best(self) -> tuple[int, float] | None:
        """Return iteration and value of the largest number, the first of equal ones."""
        pairs = zip(self.iterations, self.values, strict=True)
        found = [(i, value) for i, value in pairs if value is not None]
        return max(found, key=lambda pair: pair[1], default=None)


@dataclass(frozen=True)
class Metrics:
    """All figures of a run."""

    series: dict[str, Series]
    """By name, in the order in which they first came."""

    iterations: list[int]
    """Iterations that are in the file, ascending."""

    joins: list[int]
    """Iterations after which the run was done again from there, as the file shows."""

    damaged: int
    """Lines that are no figures of an iteration, a torn last one not counted."""

    def group(self, *prefixes: str) -> list[Series]:
        """Return the figures of groups, which is what precedes the slash."""
        return [s for s in self.series.values() if s.name.split("/")[0] in prefixes]

    def last(self, name: str) -> float | None:
        """Return the newest value of a figure; None if there is none."""
        return self.series[name].last if name in self.series else None


def read_metrics(path: Path) -> Metrics:
    """Read the file, which may be absent, or be written at this moment.

    What an iteration says when it is done again, after a resume, takes the place of
    what it and the later ones said before.
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
    """Return the figures of each line, and the number of lines that have none."""
    if not path.is_file():
        return [], 0
    text = path.read_text("utf-8", errors="replace")
    found: list[dict[str, Any]] = []
    damaged = 0
    rows = text.split("\n")
    for row in rows[:-1]:  # After the last newline is nothing, or a torn line.
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
