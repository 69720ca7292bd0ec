"""A series as it is drawn: every point, or the range of each stretch of the run."""

import itertools
import math
from dataclasses import dataclass

from mjlab.report.metrics import Series

MOST_POINTS = 480
"""Points that a curve draws one by one."""

STRETCHES = 240
"""Parts of the run that a longer curve is drawn in. Each is about two pixels wide."""


@dataclass(frozen=True)
class Curve:
    """What is drawn of a series."""

    places: list[float]
    """Iterations, ascending; of a stretch, the mean of its own."""

    values: list[float | None]
    """Value at each place, of a stretch its mean. None breaks the line."""

    lows: list[float | None] | None
    """Least value of each stretch. None where every point is drawn."""

    highs: list[float | None] | None
    """Largest value of each stretch. None where every point is drawn."""

    bad: list[int]
    """Iterations in which there was no finite value."""

    @property
    def extremes(self) -> tuple[float, float] | None:
        """Least and largest number that is drawn."""
        drawn = [
            value
            for values in (self.values, self.lows or (), self.highs or ())
            for value in values
            if value is not None
        ]
        return (min(drawn), max(drawn)) if drawn else None


def curve_of(series: Series) -> Curve:
    """Draw a series as it is, or where it is long, by stretches of iterations.

    No extreme is lost: the range of a stretch holds all its values.
    """
    if len(series.iterations) <= MOST_POINTS:
        places: list[float] = list(map(float, series.iterations))
        return Curve(places, series.values, None, None, series.bad)
    first, last = series.iterations[0], series.iterations[-1]
    width = (last - first + 1) / STRETCHES
    points = zip(series.iterations, series.values, strict=True)
    whole = Curve([], [], [], [], series.bad)
    for _, stretch in itertools.groupby(points, lambda p: int((p[0] - first) / width)):
        _add_stretch(whole, list(stretch))
    return whole


def _add_stretch(curve: Curve, points: list[tuple[int, float | None]]) -> None:
    assert curve.lows is not None and curve.highs is not None
    numbers = [value for _, value in points if value is not None]
    curve.places.append(sum(iteration for iteration, _ in points) / len(points))
    curve.values.append(math.fsum(numbers) / len(numbers) if numbers else None)
    curve.lows.append(min(numbers, default=None))
    curve.highs.append(max(numbers, default=None))
