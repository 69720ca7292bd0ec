"""Bars of a report: start and length."""

import re
from typing import Any

import pytest

from mjlab.report.bars import bars
from mjlab.report.template import templates

Bar = tuple[float, float]


def markup(values: dict[str, float]) -> str:
    parts: Any = templates().get_template("parts.html").module
    return parts.bars(bars(values, "Shares"))


def drawn(values: dict[str, float]) -> tuple[dict[str, Bar], set[float]]:
    """Left end and width of each bar, and the position of zero, in percent."""
    text = markup(values)
    names = re.findall(r"<span class=\"name\">(\w+)</span>", text)
    places = re.findall(r"left:([-\d.]+)%;width:([-\d.]+)%", text)
    zeros = {float(at) for at in re.findall(r"--at:([-\d.]+)%", text)}
    found = [(float(left), float(width)) for left, width in places]
    return dict(zip(names, found, strict=True)), zeros


@pytest.mark.parametrize(
    ("values", "expected", "zero"),
    [
        # From -1 to 3: a percent is 0.04, and zero is at 25%.
        ({"gain": 3.0, "cost": -1.0}, {"gain": (25, 75), "cost": (0, 25)}, 25),
        ({"gain": 3.0, "slip": -0.5, "cost": -1.0}, {"slip": (12.5, 12.5)}, 25),
        ({"slip": -1.0, "cost": -4.0}, {"slip": (75, 25), "cost": (0, 100)}, 100),
        ({"gain": 4.0, "less": 1.0}, {"gain": (0, 100), "less": (0, 25)}, 0),
        ({"none": 0.0, "cost": -2.0}, {"none": (100, 0), "cost": (0, 100)}, 100),
        ({"none": 0.0}, {"none": (0, 0)}, 0),
    ],
)
def test_a_bar_reaches_from_zero_to_its_value(values, expected, zero):
    found, zeros = drawn(values)
    assert list(found) == sorted(values, key=lambda name: -values[name])
    assert {name: found[name] for name in expected} == expected
    assert zeros == {zero}


def test_costs_and_gains_have_different_colours():
    text = markup({"gain": 3.0, "slip": -0.5, "cost": -1.0})
    colours = re.findall(r"<i class=\"(c\d)\"", text)
    assert colours[1] == colours[2] != colours[0]
