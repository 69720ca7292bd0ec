"""Line charts as PNG files, drawn with Pillow, with linear or logarithmic scales."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COLOURS = (
    "#1f5fa8",
    "#d1495b",
    "#2e8b57",
    "#8e5bb5",
    "#e08a1e",
    "#3aa6b9",
    "#8a5a44",
    "#c2519c",
    "#6f7d1f",
    "#5a6270",
    "#101418",
)
_FINE = 2
"""Pixels of the drawing for one of the picture, in each direction."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A curve."""

    label: str
    """What it is called."""

    x: Sequence[float]
    """Places."""

    y: Sequence[float]
    """Values."""

    low: Sequence[float] | None = None
    """Lower end of the spread of each value."""

    high: Sequence[float] | None = None
    """Upper end of the spread of each value."""

    colour: int = 0
    """Number of its colour."""

    dashed: bool = False
    """Whether the line is broken."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Curves with axes and names."""

    title: str
    """What it shows."""

    across: str
    """Name and unit of the horizontal axis."""

    up: str
    """Name and unit of the vertical axis."""

    lines: Sequence[Line] = field(default_factory=list)
    """The curves."""

    log_across: bool = True
    """Whether equal lengths across are equal ratios."""

    log_up: bool = True
    """Whether equal lengths up are equal ratios."""

    width: int = 960
    """Pixels of the picture."""

    height: int = 560
    """Pixels of the picture."""

    def save(self, path: Path) -> Path:
        """Draw it into a PNG file."""
        from PIL import Image

        size = (self.width * _FINE, self.height * _FINE)
        image = Image.new("RGB", size, "white")
        _Drawing(self, image).draw()
        path.parent.mkdir(parents=True, exist_ok=True)
        image.resize((self.width, self.height), Image.Resampling.LANCZOS).save(path)
        return path


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers."""

    low: float
    """At the near end."""

    high: float
    """At the far end."""

    log: bool
    """Whether equal lengths are equal ratios."""

    @classmethod
    def around(cls, values: Sequence[float], *, log: bool) -> "Axis":
        """An axis with a little room around values."""
        shown = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
        if not shown:
            return cls(1.0, 10.0, log)
        low, high = min(shown), max(shown)
        if log:
            return cls(low / 1.25, high * 1.25, True)
        room = 0.05 * (high - low) or 0.5 * abs(high) or 1.0
        return cls(low - room if low < 0 or low > 3 * room else 0.0, high + room, False)

    def place(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
        if self.log:
            value = math.log(max(value, 1e-300) / self.low)
            return value / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers, and how they are written."""
        if self.log:
            return self._log_ticks()
        raw = (self.high - self.low) / 6
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(n * power for n in (1, 2, 5, 10) if n * power >= raw)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [(i * step, short(i * step)) for i in range(first, last + 1)]

    def _log_ticks(self) -> list[tuple[float, str]]:
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        found = [10.0**power for power in range(first, last + 1)]
        if len(found) < 3:
            found = [
                n * 10.0**power
                for power in range(first - 1, last + 1)
                for n in (1, 2, 5)
                if self.low <= n * 10.0**power <= self.high
            ]
        return [(value, short(value)) for value in found]


def short(value: float) -> str:
    """A number with three digits, and k, M or G where it is large."""
    for factor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.3g}"


class _Drawing:
    """A chart on a picture."""

    def __init__(self, chart: Chart, image: Any) -> None:
        from PIL import ImageDraw, ImageFont

        self._chart = chart
        self._pen = ImageDraw.Draw(image)
        self._font = ImageFont.load_default(15 * _FINE)
        self._large = ImageFont.load_default(19 * _FINE)
        self._image = image
        legend = max((len(line.label) for line in chart.lines), default=0)
        self._left, self._top = 90 * _FINE, 52 * _FINE
        self._right = (chart.width - 40 - round(8.2 * legend) - 24) * _FINE
        self._bottom = (chart.height - 62) * _FINE
        values = [v for line in chart.lines for v in line.y]
        values += [v for line in chart.lines for v in (line.low or ())]
        values += [v for line in chart.lines for v in (line.high or ())]
        places = [v for line in chart.lines for v in line.x]
        self._across = Axis.around(places, log=chart.log_across)
        self._up = Axis.around(values, log=chart.log_up)

    def draw(self) -> None:
        """Draw everything."""
        chart = self._chart
        middle = (self._left + self._right) / 2
        ink = {"fill": "#202428", "font": self._font}
        self._pen.text(
            (self._left, 14 * _FINE), chart.title, fill="#101418", font=self._large
        )
        self._grid()
        self._pen.text(
            (middle, self._bottom + 40 * _FINE), chart.across, anchor="mm", **ink
        )
        self._upright(chart.up)
        for line in chart.lines:
            self._spread(line)
        for line in chart.lines:
            self._curve(line)
        self._legend()

    def _grid(self) -> None:
        for value, text in self._across.ticks():
            x = self._x(value)
            self._pen.line([(x, self._top), (x, self._bottom)], "#e3e6ea", _FINE)
            where = (x, self._bottom + 14 * _FINE)
            self._pen.text(where, text, "#40464d", self._font, anchor="mm")
        for value, text in self._up.ticks():
            y = self._y(value)
            self._pen.line([(self._left, y), (self._right, y)], "#e3e6ea", _FINE)
            where = (self._left - 8 * _FINE, y)
            self._pen.text(where, text, "#40464d", self._font, anchor="rm")
        frame = (self._left, self._top, self._right, self._bottom)
        self._pen.rectangle(frame, outline="#9aa1a9", width=_FINE)

    def _upright(self, text: str) -> None:
        """A text from bottom to top, beside the vertical axis."""
        from PIL import Image, ImageDraw

        length = round(self._font.getlength(text)) + 8
        label = Image.new("RGB", (length, 22 * _FINE), "white")
        pen = ImageDraw.Draw(label)
        pen.text((4, 11 * _FINE), text, "#202428", self._font, anchor="lm")
        turned = label.rotate(90, expand=True)
        y = round((self._top + self._bottom - turned.height) / 2)
        self._image.paste(turned, (4 * _FINE, y))

    def _spread(self, line: Line) -> None:
        if line.low is None or line.high is None:
            return
        for x, low, high in zip(line.x, line.low, line.high, strict=True):
            ends = [(self._x(x), self._y(low)), (self._x(x), self._y(high))]
            self._pen.line(ends, _pale(self._colour(line)), 5 * _FINE)

    def _curve(self, line: Line) -> None:
        points = [(self._x(x), self._y(y)) for x, y in zip(line.x, line.y, strict=True)]
        colour = self._colour(line)
        for start, end in itertools.pairwise(points):
            for piece in _pieces(start, end, dashed=line.dashed):
                self._pen.line(piece, colour, 2 * _FINE)
        size = (4 if len(points) <= 40 else 0) * _FINE
        for x, y in points:
            self._pen.ellipse((x - size, y - size, x + size, y + size), fill=colour)

    def _legend(self) -> None:
        x, y = self._right + 14 * _FINE, self._top + 8 * _FINE
        for line in self._chart.lines:
            for piece in _pieces((x, y), (x + 22 * _FINE, y), dashed=line.dashed):
                self._pen.line(piece, self._colour(line), 3 * _FINE)
            where = (x + 28 * _FINE, y)
            self._pen.text(where, line.label, "#202428", self._font, anchor="lm")
            y += 22 * _FINE

    def _colour(self, line: Line) -> str:
        return COLOURS[line.colour % len(COLOURS)]

    def _x(self, value: float) -> float:
        return self._left + self._across.place(value) * (self._right - self._left)

    def _y(self, value: float) -> float:
        return self._bottom - self._up.place(value) * (self._bottom - self._top)


Spot = tuple[float, float]


def _pieces(start: Spot, end: Spot, *, dashed: bool) -> list[list[Spot]]:
    """The pieces of a line that are drawn."""
    if not dashed:
        return [[start, end]]
    length = math.dist(start, end)
    number = max(1, round(length / (7 * _FINE)))

    def at(share: float) -> Spot:
        return (
            start[0] + share * (end[0] - start[0]),
            start[1] + share * (end[1] - start[1]),
        )

    return [[at(i / number), at((i + 0.6) / number)] for i in range(number)]


def _pale(colour: str) -> str:
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{255 - (255 - part) // 3:02x}" for part in parts)
