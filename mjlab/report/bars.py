"""Horizontal bar charts of named numbers, the largest first."""

from collections.abc import Mapping

from mjlab.report.markup import Html, element
from mjlab.report.words import number

_ABOVE, _BELOW = 0, 1
"""Colour indices of positive and negative numbers."""


def bars(values: Mapping[str, float], caption: str) -> Html:
    """Return a bar from zero for each value, with the number next to it."""
    low, high = min(0.0, *values.values()), max(0.0, *values.values())
    percent = 100.0 / ((high - low) or 1.0)
    rows: list[Html] = []
    for name in sorted(values, key=lambda name: -values[name]):
        value = values[name]
        begin, size = percent * (min(value, 0.0) - low), percent * abs(value)
        colour = f"c{_BELOW if value < 0 else _ABOVE}"
        place = f"left:{begin:.2f}%;width:{size:.2f}%"
        bar = element("i", class_=colour, style=place)
        rows += [
            element("span", name, class_="name"),
            element("span", bar, class_="bar", style=f"--at:{-percent * low:.2f}%"),
            element("span", number(value, 3), class_="value"),
        ]
    whole = element("div", *rows, class_="bars")
    return element("figure", element("figcaption", caption), whole, class_="balance")
