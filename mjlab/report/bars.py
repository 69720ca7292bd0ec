"""Horizontal bar charts of named numbers, largest first."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """Bar from zero to a value."""

    name: str
    """Name of the value."""

    value: float
    """Value that the bar shows."""

    left: float
    """Position of the left end, percent of the chart's width."""

    width: float
    """Length, percent of the chart's width."""


@dataclass(frozen=True)
class Bars:
    """Horizontal bar chart."""

    caption: str
    """Text above the bars."""

    zero: float
    """Position of zero, percent of the chart's width."""

    bars: list[Bar]
    """Bars from top to bottom."""


def bars(values: Mapping[str, float], caption: str) -> Bars:
    """Return a chart with a bar per value, largest first."""
    low, high = min(0.0, *values.values()), max(0.0, *values.values())
    percent = 100.0 / ((high - low) or 1.0)
    ordered = sorted(values.items(), key=lambda pair: -pair[1])
    found = [
        Bar(name, value, percent * (min(value, 0.0) - low), percent * abs(value))
        for name, value in ordered
    ]
    return Bars(caption, -percent * low, found)
