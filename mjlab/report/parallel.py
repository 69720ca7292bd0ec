"""Parallel coordinates: one line per trial through its value on every axis."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from mjlab.report.chart import HEIGHT, WIDTH
from mjlab.report.markup import Html, element

_CURVE = 0.4
"""Fraction of the distance between two axes at which the curve's control point lies."""


@dataclass(frozen=True)
class Axis:
    """A vertical axis."""

    name: str
    """Its name."""

    ticks: Sequence[tuple[float, str]]
    """Tick positions, from 0 at the bottom to 1, with their labels."""


@dataclass(frozen=True)
class AxisLine:
    """Line through the axes on which it has a value."""

    places: Sequence[float | None]
    """Position on each axis, from 0 at the bottom to 1."""

    classes: str
    """CSS classes of the line."""

    strength: float = 1.0
    """Colour intensity, from 0 (muted) to 1."""


def parallel(axes: Sequence[Axis], lines: Sequence[AxisLine], said: str) -> Html:
    """Return the axes from left to right with all lines; later lines are drawn on top.

    Args:
        axes: The axes, from left to right.
        lines: The lines.
        said: Description of the drawing, for screen readers.
    """
    across = [i / max(1, len(axes) - 1) for i in range(len(axes))]
    strokes = "".join(f"M{WIDTH * x:.1f} 0V{HEIGHT}" for x in across)
    drawing = element(
        "svg",
        element("path", class_="zero", d=strokes),
        *(_line(line, across) for line in lines),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=said,
    )
    texts = [
        element("span", text, style=f"left:{100 * x:.2f}%;bottom:{100 * place:.2f}%")
        for x, axis in zip(across, axes, strict=True)
        for place, text in axis.ticks
    ]
    names = [
        element("span", axis.name, style=f"left:{100 * x:.2f}%")
        for x, axis in zip(across, axes, strict=True)
    ]
    plot = element(
        "div",
        drawing,
        element("div", *texts, class_="ticks", aria_hidden="true"),
        element("div", *names, class_="names", aria_hidden="true"),
        class_="axes",
        style=f"min-width:{140 * len(axes)}px",
    )
    return element("figure", plot, class_="parallel")


def _line(line: AxisLine, across: Sequence[float]) -> Html:
    points = [
        (WIDTH * x, HEIGHT * (1.0 - place))
        for x, place in zip(across, line.places, strict=True)
        if place is not None
    ]
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"] if points else []
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        turn = _CURVE * (x1 - x0)
        parts.append(
            f"C{x0 + turn:.1f} {y0:.1f} {x1 - turn:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
        )
    return element(
        "path",
        class_=f"line {line.classes}",
        d="".join(parts),
        style=f"--strength:{100 * line.strength:.0f}%",
    )
