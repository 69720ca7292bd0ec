"""Axis scales: convert values to positions, and choose round tick values."""

import math
from dataclasses import dataclass
from typing import Literal

from mjlab.report.words import MINUS, number

Kind = Literal["linear", "log"]


@dataclass(frozen=True)
class Scale:
    """Linear or logarithmic scale of an axis."""

    low: float
    """Value at position 0."""

    high: float
    """Value at position 1, greater than `low`."""

    kind: Kind = "linear"
    """Linear or logarithmic."""

    def place(self, value: float) -> float:
        """Return the position of a value, from 0 at `low` to 1 at `high`."""
        if self.kind == "linear":
            return (value - self.low) / (self.high - self.low)
        low, high = math.log(self.low), math.log(self.high)
        return (math.log(value) - low) / (high - low)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return about `most` round tick values, with their labels."""
        if self.kind == "log":
            return [(value, number(value)) for value in self._round_ratios(most)]
        step = _round_step((self.high - self.low) / most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [(i * step, _tick(i * step, step)) for i in range(first, last + 1)]

    def _round_ratios(self, most: int) -> list[float]:
        """Return powers of ten; if there are few, also 2 and 5 times these powers."""
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        if last - first >= 2:
            every = -(-(last - first + 1) // most)
            return [10.0**power for power in range(first, last + 1, every)]
        found = [n * 10.0**p for p in range(first - 1, last + 1) for n in (1, 2, 5)]
        return [value for value in found if self.low <= value <= self.high]


def scale_for(
    low: float, high: float, *, kind: Kind = "linear", with_zero: bool = False
) -> Scale:
    """Return a scale with a margin around the values.

    Args:
        low: Smallest value.
        high: Largest value.
        kind: Linear or logarithmic.
        with_zero: Whether to include zero in any case. Otherwise, a linear scale
            includes zero if it is closer than half of the range.
    """
    if kind == "log":
        return Scale(low / 1.2, high * 1.2, "log")
    if with_zero or min(abs(low), abs(high)) < 0.5 * (high - low):
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        room = abs(low) * 0.5 or 1.0
        return Scale(low - room, high + room)
    room = 0.06 * (high - low)
    # Add no margin beyond zero.
    low, high = low - room if low else 0.0, high + room if high else 0.0
    return Scale(low, high) if math.isfinite(high - low) else Scale(low / 2, high / 2)


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20 and so on that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= least * (1 - 1e-9))


def _tick(value: float, step: float) -> str:
    if step >= 1e4 or step < 1e-4 or not value:
        return number(value)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    shown = f"{abs(value):.{decimals}f}"
    return f"{MINUS}{shown}" if value < 0 and float(shown) else shown
