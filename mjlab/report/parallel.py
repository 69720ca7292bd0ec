"""Parallel-coordinates charts: each trial is a line through its values on all axes."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from mjlab.report.chart import HEIGHT, WIDTH

_CURVE = 0.4
"""Distance of a curve's control points from its ends, as a fraction of the distance
between two axes."""


@dataclass(frozen=True)
class Axis:
    """Vertical axis of a parallel-coordinates chart."""

    name: str
    """Name of the setting or score."""

    ticks: Sequence[tuple[float, str]]
    """Tick positions, from 0 at the bottom to 1, with their labels."""


@dataclass(frozen=True)
class AxisLine:
    """Line of one trial."""

    places: Sequence[float | None]
    """Position on each axis, from 0 at the bottom to 1. None skips the axis."""

    classes: str
    """CSS classes of the line."""

    strength: float = 1.0
    """Colour intensity, from 0 (muted) to 1."""


@dataclass(frozen=True)
class Parallel:
    """Parallel-coordinates chart."""

    axes: Sequence[Axis]
    """Axes from left to right."""

    lines: Sequence[AxisLine]
    """Lines in drawing order; later lines are on top."""

    said: str
    """Description of the drawing, for screen readers."""

    @property
    def placed(self) -> list[tuple[float, Axis]]:
        """Horizontal position of each axis, from 0 at the left to 1, and the axis."""
        most = max(1, len(self.axes) - 1)
        return [(index / most, axis) for index, axis in enumerate(self.axes)]

    def outline(self, line: AxisLine) -> str:
        """Return the SVG path data of a line."""
        points = [
            (WIDTH * x, HEIGHT * (1.0 - place))
            for (x, _), place in zip(self.placed, line.places, strict=True)
            if place is not None
        ]
        parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"] if points else []
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            turn = _CURVE * (x1 - x0)
            parts.append(
                f"C{x0 + turn:.1f} {y0:.1f} {x1 - turn:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
            )
        return "".join(parts)
