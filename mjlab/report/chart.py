"""Line charts for HTML pages and SVG files.

This module computes the positions of curves and ticks. `templates/parts.html` draws a
chart in a page, `templates/charts.svg` in a file. In a page, the drawing is stretched
to the available space, and its labels are HTML of constant size. Charts work without
scripts. An optional script shows the values under the pointer, which it computes from
the path data and the scales.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mjlab.files import write_text
from mjlab.report.scale import Kind, Scale, scale_for
from mjlab.report.template import templates

WIDTH, HEIGHT = 1000, 400
"""Size of the drawing in SVG units, before it is stretched."""

DOTS_UP_TO = 40
"""Curves with at most this number of points get a dot at each point."""

COLOURS = 11
"""Number of line colours; later lines repeat them."""


@dataclass(frozen=True)
class Outline:
    """SVG path of a drawing."""

    classes: str
    """CSS classes."""

    data: str
    """SVG path data."""

    name: str = ""
    """Name of the metric, for lines whose values a page shows under the pointer."""


@dataclass(frozen=True)
class Tick:
    """Labelled position on an axis."""

    place: float
    """Position from 0 to 1."""

    text: str
    """Label."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Positions of a chart's curves and ticks."""

    across: Scale
    """Horizontal scale."""

    up: Scale
    """Vertical scale."""

    rows: list[Tick]
    """Ticks of the vertical axis."""

    columns: list[Tick]
    """Ticks of the horizontal axis."""

    outlines: list[Outline]
    """Paths, from back to front."""


@dataclass(frozen=True, kw_only=True)
class ChartLine:
    """Curve of a chart."""

    x: Sequence[float]
    """Horizontal coordinates, ascending."""

    y: Sequence[float | None]
    """Value at each coordinate. None breaks the line."""

    low: Sequence[float | None] | None = None
    """Lower end of the band around each value."""

    high: Sequence[float | None] | None = None
    """Upper end of the band around each value."""

    label: str = ""
    """Label in the legend."""

    value: str = ""
    """Newest value as text, for a page."""

    said: str = ""
    """Description of the curve, for screen readers."""

    name: str = ""
    """Name of the metric. A page shows values under the pointer only for lines with a
    name."""

    gaps: Sequence[float] = ()
    """Horizontal coordinates of NaN and infinite values, which get markers."""

    colour: int = 0
    """Index of the colour."""

    dashed: bool = False
    """Whether the line is dashed."""

    @property
    def numbers(self) -> list[float]:
        """All values and ends of bands."""
        columns = (self.y, self.low or (), self.high or ())
        return [v for column in columns for v in column if v is not None]

    @property
    def classes(self) -> str:
        """CSS classes of the colour."""
        return f"c{self.colour % COLOURS}{' dashed' if self.dashed else ''}"

    def outlines(self, across: "_Place", up: "_Place") -> list[Outline]:
        """Return the paths of band, line, dots and gap markers."""
        places = [across(place) for place in self.x]
        heights = [_maybe(up, value) for value in self.y]
        found: list[Outline] = []
        if self.low is not None and self.high is not None:
            lows = [_maybe(up, value) for value in self.low]
            highs = [_maybe(up, value) for value in self.high]
            band = _band(places, lows, highs)
            found.append(Outline(f"band {self.classes}", band))
        line = _line(places, heights)
        found.append(Outline(f"line {self.classes}", line, self.name))
        there = [i for i, height in enumerate(heights) if height is not None]
        if len(there) > DOTS_UP_TO:
            padded = [None, *heights, None]
            there = [i for i in there if padded[i] is None and padded[i + 2] is None]
        if there:
            dots = "".join(f"M{places[i]} {heights[i]}h0" for i in there)
            found.append(Outline(f"dots c{self.colour % COLOURS}", dots))
        if self.gaps:
            marks = dict.fromkeys(across(place) for place in self.gaps)
            data = "".join(f"M{x} {HEIGHT}v-14" for x in marks)
            found.append(Outline("bad", data))
        return found


@dataclass(frozen=True, kw_only=True, repr=False)
class Chart:
    """Curves with axes and labels."""

    title: str
    """Heading above the chart."""

    lines: Sequence[ChartLine]
    """Curves of the chart."""

    up: str = ""
    """Name and unit of the vertical axis."""

    across: str = ""
    """Name and unit of the horizontal axis, for a file."""

    note: str = ""
    """Text below the title, such as a reward weight."""

    is_term: bool = False
    """Whether the title is the name of a term, shown in a code font."""

    wide: bool = False
    """Whether the chart uses the full width of the page."""

    with_zero: bool = False
    """Whether the vertical axis always includes zero."""

    share: bool = False
    """Whether the vertical axis is 0 to 1, if all values are in this range."""

    log_up: Literal["no", "decades", "yes"] = "no"
    """Whether the vertical axis is logarithmic. "decades" means yes if all values are
    positive and differ by more than a factor of 30."""

    log_across: bool = False
    """Whether the horizontal axis is logarithmic."""

    whole: tuple[int, int] | None = None
    """First and last value of the horizontal axis, which gets integer ticks. None fits
    the axis to the lines."""

    marks: Sequence[float] = ()
    """Positions of dashed vertical lines."""

    missing: str = ""
    """Reason why there are no values, shown in place of the drawing."""

    @property
    def why_empty(self) -> str:
        """Text in place of the drawing."""
        is_bad = any(line.gaps for line in self.lines)
        return self.missing or ("never a finite value" if is_bad else "no value yet")

    @property
    def legend(self) -> list[ChartLine]:
        """Curves with a label."""
        return [line for line in self.lines if line.label]

    @property
    def legend_width(self) -> int:
        """Width of the legend in an SVG file, pixels."""
        return 44 + 7 * max((len(line.label) for line in self.legend), default=-4)

    @property
    def said(self) -> str:
        """Description of the drawing, for screen readers."""
        lines = "; ".join(line.said or line.label for line in self.lines)
        return f"{self.title}: {lines}"

    def save(self, path: Path, *, width: int = 960, height: int = 520) -> Path:
        """Write the chart to an SVG file of this size, pixels; return the path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, svg([self], width=width, height=height))
        return path

    def __repr__(self) -> str:
        """Return the title, without the values."""
        return f"Chart {self.title!r}"

    def _repr_svg_(self) -> str:
        """Return the SVG that notebooks show."""
        return svg([self])

    def drawing(self) -> Drawing | None:
        """Return the positions of curves and ticks; None if there are no values."""
        scales = self._scales()
        if scales is None:
            return None
        across, up = scales
        rows, columns = self._ticks(across, up)
        return Drawing(
            across=across,
            up=up,
            rows=[Tick(up.place(value), text) for value, text in rows],
            columns=[Tick(across.place(value), text) for value, text in columns],
            outlines=self._outlines(across, up, rows),
        )

    def _scales(self) -> tuple[Scale, Scale] | None:
        """Return the horizontal and the vertical scale; None if there are no values."""
        numbers = [value for line in self.lines for value in line.numbers]
        if not numbers:
            return None
        low, high = min(numbers), max(numbers)
        is_log = self.log_up == "yes" or (
            self.log_up == "decades" and low > 0.0 and high > 30.0 * low
        )
        kind: Kind = "log" if is_log else "linear"
        up = scale_for(low, high, kind=kind, with_zero=self.with_zero)
        if self.share and 0.0 <= low and high <= 1.0:
            up = Scale(0.0, 1.0)
        if self.whole is not None:
            first, last = self.whole
            # Centre a single point.
            ends = (first, last) if last > first else (first - 1, first + 1)
            return Scale(*ends), up
        places = [place for line in self.lines for place in line.x]
        kind = "log" if self.log_across else "linear"
        return scale_for(min(places), max(places), kind=kind), up

    def _ticks(self, across: Scale, up: Scale) -> tuple["_Ticks", "_Ticks"]:
        """Return the ticks of the vertical axis and of the horizontal axis."""
        rows = up.ticks(5 if self.wide or self.whole is None else 4)
        if self.whole is None:
            return rows, across.ticks(8)
        first, last = self.whole
        columns = across.ticks(8 if self.wide else 3)
        columns = [t for t in columns if t[0] == round(t[0]) and first <= t[0] <= last]
        return rows, columns

    def _outlines(self, across: Scale, up: Scale, rows: "_Ticks") -> list[Outline]:
        def x(value: float) -> str:
            return f"{WIDTH * across.place(value):.1f}".removesuffix(".0")

        def y(value: float) -> str:
            return f"{HEIGHT * (1.0 - up.place(value)):.1f}".removesuffix(".0")

        grid = "".join(f"M0 {y(value)}H{WIDTH}" for value, _ in rows)
        found = [Outline("grid", grid)]
        if up.kind == "linear" and up.low <= 0.0 <= up.high:
            found.append(Outline("zero", f"M0 {y(0.0)}H{WIDTH}"))
        if self.marks:
            where = "".join(f"M{x(mark)} 0V{HEIGHT}" for mark in self.marks)
            found.append(Outline("resumed", where))
        for line in self.lines:
            found += line.outlines(x, y)
        return found


_Ticks = list[tuple[float, str]]
_Place = Callable[[float], str]


def svg(charts: Sequence[Chart], *, width: int = 960, height: int = 520) -> str:
    """Return an SVG file's text with charts side by side.

    Args:
        charts: Charts to draw.
        width: Width of each chart, pixels.
        height: Height of each chart, pixels.
    """
    template = templates().get_template("charts.svg")
    return template.render(charts=charts, width=width, height=height)


def _maybe(place: _Place, value: float | None) -> str | None:
    return None if value is None else place(value)


def _line(places: Sequence[str], heights: Sequence[str | None]) -> str:
    """Return the path data of a line, interrupted at missing values."""
    parts: list[str] = []
    pen = "M"
    for place, height in zip(places, heights, strict=True):
        if height is None:
            pen = "M"
        else:
            parts.append(f"{pen}{place} {height}")
            pen = "L"
    return "".join(parts)


def _band(
    places: Sequence[str], lows: Sequence[str | None], highs: Sequence[str | None]
) -> str:
    """Return the path data of a band, interrupted at missing values."""
    pieces: list[list[tuple[str, str, str]]] = [[]]
    for place, low, high in zip(places, lows, highs, strict=True):
        if low is None or high is None:
            pieces.append([])
        else:
            pieces[-1].append((place, low, high))
    outlines = [
        [f"{x} {high}" for x, _, high in piece]
        + [f"{x} {low}" for x, low, _ in reversed(piece)]
        for piece in pieces
        if piece
    ]
    return "".join(f"M{'L'.join(outline)}Z" for outline in outlines)
