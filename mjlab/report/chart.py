"""Line charts as SVG, inside a page or as separate files.

In a page the drawing is stretched to the available space with constant line width; the
text is HTML and keeps its size. No script is required; the optional script reads the
values under the pointer from the path data, with the scales stored in the chart. A file
contains the same drawing with SVG text around it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mjlab.files import write_text
from mjlab.report.markup import Html, element, joined
from mjlab.report.scale import Kind, Scale, scale_for

WIDTH, HEIGHT = 1000, 400
"""Size of the drawing in its own units, before stretching."""

DOTS_UP_TO = 40
"""Maximum number of points that are also drawn as dots."""

STYLE = Path(__file__).with_name("chart.css")
"""Style sheet of the drawing, for pages and files."""

_COLOURS = 11


@dataclass(frozen=True, kw_only=True)
class ChartLine:
    """Curve of a chart."""

    x: Sequence[float]
    """Horizontal coordinates, ascending."""

    y: Sequence[float | None]
    """Value at each coordinate. None breaks the line."""

    low: Sequence[float | None] | None = None
    """Lower end of the spread of each value."""

    high: Sequence[float | None] | None = None
    """Upper end of the spread of each value."""

    label: str = ""
    """Label in the legend."""

    value: str = ""
    """Newest value as text, for a page."""

    said: str = ""
    """Description of the curve, for screen readers."""

    name: str = ""
    """Name of the figure. In a page, only named lines show their values under the
    pointer."""

    gaps: Sequence[float] = ()
    """Coordinates without a finite value."""

    colour: int = 0
    """Index of the colour."""

    dashed: bool = False
    """Draw a dashed line."""

    @property
    def numbers(self) -> list[float]:
        """All numbers of the drawing: values and ends of spreads."""
        columns = (self.y, self.low or (), self.high or ())
        return [v for column in columns for v in column if v is not None]

    @property
    def classes(self) -> str:
        """CSS classes of the colour."""
        return f"c{self.colour % _COLOURS}{' dashed' if self.dashed else ''}"

    def paths(self, across: "_Place", up: "_Place") -> list[Html]:
        """Return spread, line, dots of a short series, and gap markers."""
        places = [across(place) for place in self.x]
        heights = [_maybe(up, value) for value in self.y]
        found: list[Html] = []
        if self.low is not None and self.high is not None:
            lows = [_maybe(up, value) for value in self.low]
            highs = [_maybe(up, value) for value in self.high]
            band = _band(places, lows, highs)
            found.append(_path(f"band {self.classes}", band))
        line = _line(places, heights)
        found.append(_path(f"line {self.classes}", line, data_name=self.name or None))
        there = [i for i, height in enumerate(heights) if height is not None]
        if len(there) > DOTS_UP_TO:
            padded = [None, *heights, None]
            there = [i for i in there if padded[i] is None and padded[i + 2] is None]
        if there:
            dots = "".join(f"M{places[i]} {heights[i]}h0" for i in there)
            found.append(_path(f"dots c{self.colour % _COLOURS}", dots))
        if self.gaps:
            marks = dict.fromkeys(across(place) for place in self.gaps)
            found.append(_path("bad", "".join(f"M{x} {HEIGHT}v-14" for x in marks)))
        return found


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Curves with axes and labels."""

    title: str
    """Its heading."""

    lines: Sequence[ChartLine]
    """The curves."""

    up: str = ""
    """Name and unit of the vertical axis."""

    across: str = ""
    """Name and unit of the horizontal axis, for a file."""

    note: str = ""
    """Text below the title, such as a weight."""

    is_term: bool = False
    """Set the title in a code font."""

    wide: bool = False
    """Use the full width of the page."""

    with_zero: bool = False
    """Always include zero on the vertical axis."""

    share: bool = False
    """Fix the vertical axis to include 0 to 1."""

    log_up: Literal["no", "decades", "yes"] = "no"
    """Logarithmic vertical axis: never, if the values cover decades, or always."""

    log_across: bool = False
    """Logarithmic horizontal axis."""

    whole: tuple[int, int] | None = None
    """First and last value of the horizontal axis, with integer ticks. None fits the
    lines."""

    marks: Sequence[float] = ()
    """Positions of dashed vertical lines."""

    def figure(self) -> Html:
        """Return the chart for a page that includes the style sheet."""
        scales = self._scales()
        if scales is None:
            bad = any(line.gaps for line in self.lines)
            why = "never a finite value" if bad else "no value yet"
            return self.empty(why)
        across, up = scales
        rows, columns = self._ticks(across, up)
        body = element(
            "div",
            _labels("up", "bottom", rows, up),
            self._drawing(across, up, rows),
            _labels("across", "left", columns, across),
            class_="plot",
        )
        return element("figure", self._caption(up), body, class_=self._kind)

    def empty(self, why: str) -> Html:
        """Return a placeholder for a chart without data."""
        head = element("figcaption", self._name(), _below([self.note]))
        nothing = element("div", element("span", why), class_="nothing")
        return element("figure", head, nothing, class_=self._kind)

    def save(self, path: Path, *, width: int = 960, height: int = 520) -> Path:
        """Write the chart into an SVG file of a size in pixels."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, svg([self], width=width, height=height))
        return path

    def part(self, left: float, width: int, height: int) -> Html:
        """Return the chart with its text, as part of a file."""
        scales = self._scales()
        title = _text(16, 24, self.title, "title")
        if scales is None:
            return element("svg", title, x=left, width=width, height=height)
        keys = [line for line in self.lines if line.label]
        room = 44 + 7 * max((len(line.label) for line in keys), default=-4)
        x, y, wide, high = 64, 56, width - 64 - room, height - 56 - 48
        across, up = scales
        rows, columns = self._ticks(across, up)
        parts = [title, _text(16, 42, ", ".join(filter(None, [self.note, self.up])))]
        for value, text in rows:
            at = y + high * (1.0 - up.place(value)) + 4
            parts.append(_text(x - 8, at, text, "end"))
        for value, text in columns:
            at = x + wide * across.place(value)
            parts.append(_text(at, y + high + 18, text, "middle"))
        parts.append(_text(x + wide / 2, height - 10, self.across, "middle"))
        for index, line in enumerate(keys):
            at = y + 8 + 20 * index
            key = _path(f"line {line.classes}", f"M{x + wide + 16} {at}h18")
            parts += [key, _text(x + wide + 40, at + 4, line.label)]
        drawing = self._drawing(
            across, up, rows, x=x, y=y, width=wide, height=high, overflow="visible"
        )
        return element("svg", *parts, drawing, x=left, width=width, height=height)

    @property
    def _kind(self) -> str:
        return "chart wide" if self.wide else "chart"

    def _scales(self) -> tuple[Scale, Scale] | None:
        """Return the horizontal and the vertical scale; None without data."""
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
        """Return the horizontal and vertical tick marks."""
        rows = up.ticks(5 if self.wide or self.whole is None else 4)
        if self.whole is None:
            return rows, across.ticks(8)
        first, last = self.whole
        columns = across.ticks(8 if self.wide else 3)
        columns = [t for t in columns if t[0] == round(t[0]) and first <= t[0] <= last]
        return rows, columns

    def _caption(self, up: Scale) -> Html:
        below = _below([self.note, self.up, "log" if up.kind == "log" else ""])
        if not any(line.label for line in self.lines):
            value = element("output", self.lines[0].value, class_="value")
            return element("figcaption", self._name(), below, value)
        entries = [
            element(
                "span",
                element("i", class_=f"key {line.classes}"),
                f" {line.label} ",
                element("output", line.value, class_="value") if line.name else None,
                class_="entry",
            )
            for line in self.lines
            if line.label
        ]
        legend = element("span", *entries, class_="legend")
        return element("figcaption", self._name(), below, legend, class_="several")

    def _name(self) -> Html:
        kind = "name term" if self.is_term else "name"
        return element("span", self.title, class_=kind)

    def _drawing(
        self, across: Scale, up: Scale, rows: "_Ticks", **place: str | float
    ) -> Html:
        def x(value: float) -> str:
            return f"{WIDTH * across.place(value):.1f}".removesuffix(".0")

        def y(value: float) -> str:
            return f"{HEIGHT * (1.0 - up.place(value)):.1f}".removesuffix(".0")

        parts = [_path("grid", "".join(f"M0 {y(v)}H{WIDTH}" for v, _ in rows))]
        if up.kind == "linear" and up.low <= 0.0 <= up.high:
            parts.append(_path("zero", f"M0 {y(0.0)}H{WIDTH}"))
        if self.marks:
            where = "".join(f"M{x(mark)} 0V{HEIGHT}" for mark in self.marks)
            parts.append(_path("resumed", where))
        for line in self.lines:
            parts += line.paths(x, y)
        said = "; ".join(line.said or line.label for line in self.lines)
        return element(
            "svg",
            *parts,
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            preserveAspectRatio="none",
            role="img",
            aria_label=f"{self.title}: {said}",
            data_x=f"{across.low!r} {across.high!r}",
            data_y=f"{up.low!r} {up.high!r}",
            data_log="true" if up.kind == "log" else None,
            **place,
        )


_Ticks = list[tuple[float, str]]
_Place = Callable[[float], str]


def svg(charts: Sequence[Chart], *, width: int = 960, height: int = 520) -> str:
    """Return a file with charts side by side, each of a size in pixels."""
    size = {"width": width * len(charts), "height": height}
    picture = element(
        "svg",
        element("style", Html(STYLE.read_text("utf-8"))),
        element("rect", width="100%", height="100%", class_="paper"),
        *(chart.part(width * i, width, height) for i, chart in enumerate(charts)),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {size['width']} {size['height']}",
        class_="sheet",
        **size,
    )
    return f"{picture}\n"


def _maybe(place: _Place, value: float | None) -> str | None:
    return None if value is None else place(value)


def _line(places: Sequence[str], heights: Sequence[str | None]) -> str:
    """Return the path of a line, broken at missing values."""
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
    """Return the path of the area between two lines, broken at missing values."""
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


def _path(kind: str, outline: str, **more: str | None) -> Html:
    return element("path", class_=kind, d=outline, **more)


def _labels(kind: str, side: str, ticks: _Ticks, scale: Scale) -> Html:
    labels = [
        element("span", text, style=f"{side}:{100 * scale.place(value):.2f}%")
        for value, text in ticks
    ]
    return element("div", *labels, class_=kind, aria_hidden="true")


def _below(parts: Sequence[str]) -> Html:
    return element("span", ", ".join(filter(None, parts)), class_="below")


def _text(x: float, y: float, text: str, kind: str = "") -> Html:
    return element("text", joined(text), x=f"{x:g}", y=f"{y:g}", class_=kind or None)
