"""Horizontal bar charts of named numbers, the largest first."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """Bar from zero to a value; positions are in percent of the width."""

    name: str
    """Name of the value."""

    value: float
    """Value that the bar shows."""

    left: float
    """Position of the left end."""

    width: float
    """Length."""


@dataclass(frozen=True)
class Bars:
    """Horizontal bar chart."""

    caption: str
    """Text above the bars."""

    zero: float
    """Position of zero in percent of the width."""

    bars: list[Bar]
    """The bars, from top to bottom."""


def bars(values: Mapping[str, float], caption: str) -> Bars:
    """Return a bar for each value, the largest value first."""
    low, high = min(0.0, *values.values()), max(0.0, *values.values())
    percent = 100.0 / ((high - low) or 1.0)
    ordered = sorted(values.items(), key=lambda pair: -pair[1])
    found = [
        Bar(name, value, percent * (min(value, 0.0) - low), percent * abs(value))
        for name, value in ordered
    ]
    return Bars(caption, -percent * low, found)
