"""Published parameters of the walkers: segments, joints and muscle paths.

Lengths, masses, forces and paths are those of the OpenSim models `gait10dof18musc`
(W18) and `gait2354` (W54), which their authors (A. Seth, S. L. Delp, J. P. Loan, M. G.
Hoy, F. E. Zajac, E. L. Topp, J. M. Rosen, D. G. Thelen, F. C. Anderson and others)
share under CC BY 3.0, https://creativecommons.org/licenses/by/3.0/. `CHANGES` lists our
changes.

All data use OpenSim's frames (x forward, y up, z to the right), for the right side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

Vector = tuple[float, float, float]

CHANGES = """\
The knee is a pin in place of a moving axis. Conditional and moving path points are
replaced by cylinders at the hip and the knee, or fixed. Tendons do not stretch; their
slack lengths are 2% longer, which is half their strain at full force. The subtalar and
toe joints are fixed. Contact shapes, looks and code are our own."""
"""Differences from the published models."""


@dataclass(frozen=True)
class Point:
    """Point of a muscle's path, fixed to a segment."""

    segment: str
    pos: Vector
    """In the segment's frame, in m."""


@dataclass(frozen=True)
class Wrap:
    """Path over the front of the cylinder at this joint."""

    joint: str


@dataclass(frozen=True)
class Muscle:
    """Muscle, with OpenSim's parameters."""

    name: str
    max_force: float
    """Isometric force at the optimal fibre length, in N."""
    fiber_length: float
    """Optimal fibre length, in m."""
    tendon_length: float
    """Slack length of the tendon, in m."""
    pennation: float
    """Angle between fibres and tendon at the optimal length, in rad."""
    path: tuple[Point | Wrap, ...]


_NUMBERS = {
    "force": "max_force",
    "fiber": "fiber_length",
    "tendon": "tendon_length",
    "pennation": "pennation",
}
"""Fields of `Muscle` by attribute of `muscles.xml`."""


@cache
def muscles_of(walker: str) -> tuple[Muscle, ...]:
    """Return the muscles of "w18" or "w54", as in `muscles.xml`."""
    root = ElementTree.parse(Path(__file__).with_name("muscles.xml")).getroot()
    found = root.iterfind(f"walker[@name='{walker}']/muscle")
    return tuple(_muscle(element) for element in found)


def _muscle(element: ElementTree.Element) -> Muscle:
    values: dict[str, Any] = {
        field: float(element.attrib[key])
        for key, field in _NUMBERS.items()
        if key in element.attrib
    }
    values["name"] = element.attrib["name"]
    like = element.get("like")
    if like is not None:
        (model,) = (muscle for muscle in muscles_of("w18") if muscle.name == like)
        return replace(model, **values)
    return Muscle(**values, path=tuple(_path_part(each) for each in element))


def _path_part(element: ElementTree.Element) -> Point | Wrap:
    if element.tag == "wrap":
        return Wrap(element.attrib["joint"])
    x, y, z = map(float, element.attrib["pos"].split())
    return Point(element.attrib["segment"], (x, y, z))


@dataclass(frozen=True)
class Segment:
    """Rigid body, with its parent."""

    parent: str | None
    pos: Vector
    """Origin in the parent's frame, in m."""
    mass: float
    """In kg."""
    com: Vector
    """Centre of mass, in m."""
    inertia: Vector
    """About the centre of mass along the axes, in kg m²."""


SEGMENTS = {
    "pelvis": Segment(
        None, (0.0, 0.0, 0.0), 11.777, (-0.0707, 0.0, 0.0), (0.1028, 0.0871, 0.0579)
    ),
    "torso": Segment(
        "pelvis",
        (-0.1007, 0.0815, 0.0),
        34.2366,
        (-0.03, 0.32, 0.0),
        (1.4745, 0.7555, 1.4314),
    ),
    "femur": Segment(
        "pelvis",
        (-0.0707, -0.0661, 0.0835),
        9.3014,
        (0.0, -0.17, 0.0),
        (0.1339, 0.0351, 0.1412),
    ),
    "tibia": Segment(
        "femur",
        (-0.0045, -0.3958, 0.0),
        3.7075,
        (0.0, -0.1867, 0.0),
        (0.0504, 0.0051, 0.0511),
    ),
    "talus": Segment(
        "tibia", (0.0, -0.43, 0.0), 0.1, (0.0, 0.0, 0.0), (0.001, 0.001, 0.001)
    ),
    "calcn": Segment(
        "talus",
        (-0.04877, -0.04195, 0.00792),
        1.25,
        (0.1, 0.03, 0.0),
        (0.0014, 0.0039, 0.0041),
    ),
    "toes": Segment(
        "calcn",
        (0.1788, -0.002, 0.00108),
        0.2166,
        (0.0346, 0.006, -0.0175),
        (0.0001, 0.0002, 0.0001),
    ),
}
"""Pelvis and torso are in the middle; the other segments exist on both sides."""

STANDING_HEIGHT = 0.961
"""Height of the pelvis above the ground in the straight standing pose, in m."""

WRAPS = {
    "knee": ("femur", (-0.0045, -0.3958, 0.0), 0.025, (0.08, 0.0, 0.0)),
    "hip": ("pelvis", (-0.0707, -0.0661, 0.0835), 0.035, (0.09, -0.03, 0.0)),
}
"""By joint: segment, centre and radius of the cylinder, and the offset of the point
that marks its front, in m."""
