"""Curves as SVG, with everything that is text in HTML beside it.

The drawing is stretched to the room that it gets, lines keeping their width, so that a
chart has any size while its text has one. It needs no script; with one, the numbers
under the pointer are read back from the curve itself, by the scales that it carries.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mjlab.report.curve import Curve, curve_of
from mjlab.report.markup import Html, element, joined
from mjlab.report.metrics import Series
from mjlab.report.scale import Scale, Zero, scale_for
from mjlab.report.words import DASH, Title, counted, number, title_of

WIDTH, HEIGHT = 1000, 400
"""Size of the drawing in its own units, which the page stretches."""

DOTS_UP_TO = 40
"""Points that are shown as dots besides the line."""

_COLOURS = 8


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a chart looks and what it says besides its curves."""

    zero: Zero = "near"
    """Whether zero is on the vertical scale."""

    share: bool = False
    """Whether the vertical scale is all of 0 to 1."""

    log: bool = False
    """Whether a figure that covers decades is drawn by ratios, where it can be."""

    wide: bool = False
    """Whether it takes the whole width of the page."""

    colour: int = 0
    """Colour of the first curve."""

    note: str = ""
    """A word below the title, such as a weight."""


PLAIN = Style()


@dataclass(frozen=True)
class Span:
    """The iterations of a run."""

    first: int
    """The first that there are figures of."""

    last: int
    """The last."""

    resumed: tuple[int, ...] = ()
    """Iterations after which it was taken up again."""

    @property
    def scale(self) -> Scale:
        """The horizontal scale of all charts; a single iteration is in its middle."""
        if self.last > self.first:
            return Scale(self.first, self.last)
        return Scale(self.first - 1, self.first + 1)


def chart(
    series: Sequence[Series],
    span: Span,
    style: Style = PLAIN,
    *,
    title: Title | None = None,
    labels: Sequence[str] | None = None,
) -> Html:
    """One or several series over iterations, as a figure.

    Args:
        series: What to draw.
        span: The iterations of the run.
        style: How it looks.
        title: What it is called. None calls it as its first series.
        labels: What each series is called. None where there is one.
    """
    title = title or title_of(series[0].name)
    drawn = [(one, curve_of(one)) for one in series]
    classes = "chart wide" if style.wide else "chart"
    up = _vertical_scale(drawn, style)
    if up is None:
        return empty(title, _why_empty(series), style)
    body = joined(
        _caption(title, series, style, up, labels),
        element(
            "div",
            _ticks_up(up, style),
            _drawing(drawn, span, up, style, title),
            _ticks_across(span, style),
            class_="plot",
        ),
    )
    return element("figure", body, class_=classes)


def empty(title: Title, why: str, style: Style = PLAIN) -> Html:
    """A chart of which there is nothing yet."""
    head = element("figcaption", _name(title), _below([style.note]))
    nothing = element("div", element("span", why), class_="nothing")
    classes = "chart wide" if style.wide else "chart"
    return element("figure", head, nothing, class_=classes)


def _why_empty(series: Sequence[Series]) -> str:
    if any(one.bad for one in series):
        return "never a finite value"
    return "no value yet"


def _vertical_scale(
    drawn: Sequence[tuple[Series, Curve]], style: Style
) -> Scale | None:
    """What holds all that is drawn; None if that is nothing."""
    extremes = [found for _, curve in drawn if (found := curve.extremes)]
    if not extremes:
        return None
    low, high = min(e[0] for e in extremes), max(e[1] for e in extremes)
    if style.share and 0.0 <= low and high <= 1.0:
        return Scale(0.0, 1.0)
    kind = "log" if style.log and low > 0.0 and high > 30.0 * low else "linear"
    return scale_for(low, high, kind=kind, zero=style.zero)


# Text around the drawing.


def _caption(
    title: Title,
    series: Sequence[Series],
    style: Style,
    up: Scale,
    labels: Sequence[str] | None,
) -> Html:
    below = _below([style.note, title.unit, "log" if up.kind == "log" else ""])
    if labels is None:
        value = element("output", number(series[0].last), class_="value")
        return element("figcaption", _name(title), below, value)
    entries = [
        element(
            "span",
            element("i", class_=f"key c{(style.colour + index) % _COLOURS}"),
            f" {label} ",
            element("output", number(one.last), class_="value"),
            class_="entry",
        )
        for index, (one, label) in enumerate(zip(series, labels, strict=True))
    ]
    legend = element("span", *entries, class_="legend")
    return element("figcaption", _name(title), below, legend, class_="several")


def _name(title: Title) -> Html:
    return element("span", title.text, class_="name term" if title.is_term else "name")


def _below(parts: Sequence[str]) -> Html:
    return element("span", ", ".join(filter(None, parts)), class_="below")


def _ticks_up(scale: Scale, style: Style) -> Html:
    labels = [
        element("span", text, style=f"bottom:{100 * scale.place(value):.2f}%")
        for value, text in _rows(scale, style)
    ]
    return element("div", *labels, class_="up", aria_hidden="true")


def _rows(scale: Scale, style: Style) -> list[tuple[float, str]]:
    return scale.ticks(5 if style.wide else 4)


def _ticks_across(span: Span, style: Style) -> Html:
    scale = span.scale
    labels = [
        element("span", text, style=f"left:{100 * scale.place(value):.2f}%")
        for value, text in scale.ticks(8 if style.wide else 3)
        if value == round(value) and span.first <= value <= span.last
    ]
    return element("div", *labels, class_="across", aria_hidden="true")


# The drawing.


def _drawing(
    drawn: Sequence[tuple[Series, Curve]],
    span: Span,
    up: Scale,
    style: Style,
    title: Title,
) -> Html:
    across = span.scale
    rows = [up.place(value) for value, _ in _rows(up, style)]
    parts = [_path("grid", "".join(f"M0 {_y(row)}H{WIDTH}" for row in rows))]
    if up.kind == "linear" and up.low <= 0.0 <= up.high:
        parts.append(_path("zero", f"M0 {_y(up.place(0.0))}H{WIDTH}"))
    if span.resumed:
        where = [_x(across.place(mark)) for mark in span.resumed]
        parts.append(_path("resumed", "".join(f"M{x} 0V{HEIGHT}" for x in where)))
    for index, (series, curve) in enumerate(drawn):
        colour = f"c{(style.colour + index) % _COLOURS}"
        parts += _curve(series, curve, across, up, colour)
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{title.text}: {'; '.join(_said(series) for series, _ in drawn)}",
        data_x=f"{across.low!r} {across.high!r}",
        data_y=f"{up.low!r} {up.high!r}",
        data_log=up.kind == "log",
    )


def _curve(
    series: Series, curve: Curve, across: Scale, up: Scale, colour: str
) -> list[Html]:
    """The range of a long curve, its line, dots where there are few, and gaps."""
    places = [_x(across.place(place)) for place in curve.places]
    heights = [None if v is None else _y(up.place(v)) for v in curve.values]
    found: list[Html] = []
    if curve.lows is not None and curve.highs is not None:
        lows = [None if v is None else _y(up.place(v)) for v in curve.lows]
        highs = [None if v is None else _y(up.place(v)) for v in curve.highs]
        found.append(_path(f"band {colour}", _band(places, lows, highs)))
    line = _path(f"line {colour}", _line(places, heights), data_name=series.name)
    found.append(line)
    alone = _alone(heights)
    if sum(height is not None for height in heights) <= DOTS_UP_TO:
        alone = [index for index, height in enumerate(heights) if height is not None]
    dots = "".join(f"M{places[i]} {heights[i]}h0" for i in alone)
    if dots:
        found.append(_path(f"dots {colour}", dots))
    if curve.bad:
        gaps = [_x(across.place(iteration)) for iteration in curve.bad]
        marks = "".join(f"M{x} {HEIGHT}v-14" for x in dict.fromkeys(gaps))
        found.append(_path("bad", marks))
    return found


def _line(places: Sequence[str], heights: Sequence[str | None]) -> str:
    """A line through points, broken where there is none."""
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
    """The area between two lines, in pieces where there is none."""
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


def _alone(heights: Sequence[str | None]) -> list[int]:
    """Points that a line does not show, because it has no neighbours."""
    padded = [None, *heights, None]
    return [
        index
        for index, height in enumerate(heights)
        if height is not None and padded[index] is None and padded[index + 2] is None
    ]


def _path(kind: str, outline: str, **more: str) -> Html:
    return element("path", class_=kind, d=outline, **more)


def _x(place: float) -> str:
    return f"{WIDTH * place:.1f}".removesuffix(".0")


def _y(place: float) -> str:
    return f"{HEIGHT * (1.0 - place):.1f}".removesuffix(".0")


def _said(series: Series) -> str:
    """What a chart shows, for who does not see it."""
    numbers = series.finite
    gaps = f", {counted(len(series.bad), 'value')} not finite" if series.bad else ""
    return (
        f"from {number(min(numbers))} to {number(max(numbers))}, last "
        f"{number(series.last)}{gaps}, iterations {series.iterations[0]}{DASH}"
        f"{series.iterations[-1]}"
        if numbers
        else f"no finite value{gaps}"
    )
