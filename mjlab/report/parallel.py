"""Parallel coordinates: a line for each trial, through its value on every axis."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from mjlab.report.chart import HEIGHT, WIDTH
from mjlab.report.markup import Html, element

_CURVE = 0.4
"""Share of the way between two axes after which a line has begun to turn."""


@dataclass(frozen=True)
class Axis:
    """A vertical axis."""

    name: str
    """Its name."""

    ticks: Sequence[tuple[float, str]]
    """Places on it, from 0 at its foot to 1, with their texts."""


@dataclass(frozen=True)
class AxisLine:
    """A line through all axes, or those of them on which it has a value."""

    places: Sequence[float | None]
    """Its place on each axis, from 0 at the foot to 1."""

    classes: str
    """The look of it, for the style."""

    strength: float = 1.0
    """Share of its own colour; the rest is that of what is weak."""


def parallel(axes: Sequence[Axis], lines: Sequence[AxisLine], said: str) -> Html:
    """Return axes side by side with all lines; the last lines lie on top.

    Args:
        axes: The axes, from left to right.
        lines: The lines.
        said: The drawing in words, for a reader who does not see it.
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
