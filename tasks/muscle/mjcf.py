"""Write the walkers as MJCF: `python -m mjlab.tasks.muscle.mjcf`.

The tasks use the MJCF files in this folder; this script generates them from the
published parameters. A point (x, y, z) of OpenSim is (x, -z, y) in MuJoCo.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

from mjlab.tasks.muscle import looks
from mjlab.tasks.muscle.anatomy import (
    CHANGES,
    SEGMENTS,
    STANDING_HEIGHT,
    WRAPS,
    Muscle,
    Vector,
    Wrap,
    muscles_of,
)

FOLDER = Path(__file__).parent
TENDON_STRAIN = 0.02
"""Tendons are longer than their slack length by this fraction."""

_MIDDLE = ("pelvis", "torso")
_SIDES = {"r": 1.0, "l": -1.0}
# OpenSim's axes: rotation about z is flexion, about x adduction, about y internal
# rotation.
_FLEXION, _ADDUCTION, _ROTATION = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Hinge:
    """Joint that a walker's muscles actuate."""

    name: str
    segment: str
    axis: Vector
    range: tuple[float, float]


@dataclass(frozen=True)
class Walker:
    """Differences between the walkers."""

    name: str
    title: str
    hinges: tuple[Hinge, ...]
    muscles: tuple[Muscle, ...]
    is_planar: bool


_LEG = (
    Hinge("knee", "tibia", _FLEXION, (-2.0, 0.02)),
    Hinge("ankle", "talus", _FLEXION, (-0.8, 0.5)),
)
W18 = Walker(
    "w18",
    "W18: a walker in the plane with 18 muscles, from OpenSim's gait10dof18musc.",
    (Hinge("hip", "femur", _FLEXION, (-0.6, 1.7)), *_LEG),
    muscles_of("w18"),
    is_planar=True,
)
W54 = Walker(
    "w54",
    "W54: a walker with 54 muscles, from OpenSim's gait2354.",
    (
        Hinge("lumbar_extension", "torso", _FLEXION, (-1.0, 0.5)),
        Hinge("lumbar_bending", "torso", _ADDUCTION, (-0.5, 0.5)),
        Hinge("lumbar_rotation", "torso", _ROTATION, (-0.5, 0.5)),
        Hinge("hip_flexion", "femur", _FLEXION, (-0.6, 1.7)),
        Hinge("hip_adduction", "femur", _ADDUCTION, (-0.7, 0.5)),
        Hinge("hip_rotation", "femur", _ROTATION, (-0.6, 0.6)),
        *_LEG,
    ),
    muscles_of("w54"),
    is_planar=False,
)


def to_text(walker: Walker) -> str:
    """Return the MJCF file of a walker."""
    root = ElementTree.Element("mujoco", model=walker.name)
    root.append(ElementTree.Comment(_header(walker)))
    _add(root, "compiler", angle="radian", autolimits="true")
    _add(root, "option", timestep=repr(1.0 / 600.0), integrator="implicitfast")
    _add_defaults(root)
    looks.add_materials(root)
    _add_bodies(root, walker)
    _add_muscles(root, walker)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _header(walker: Walker) -> str:
    credit = (
        "Masses, frames, forces and paths: A. Seth, S. L. Delp, J. P. Loan, M. G. Hoy,"
        " F. E. Zajac,\n  E. L. Topp, J. M. Rosen, D. G. Thelen, F. C. Anderson and"
        " others, OpenSim, CC BY 3.0\n  (https://creativecommons.org/licenses/by/3.0/)."
        " Changed:"
    )
    changes = CHANGES.replace("\n", "\n  ")
    return f"\n  {walker.title}\n\n  {credit}\n  {changes}\n\n  Written by mjcf.py.\n  "


def _add_defaults(root: ElementTree.Element) -> None:
    outer = _add(root, "default")
    main = _add(outer, "default", **{"class": "walker"})
    _add(main, "joint", damping="1", armature="0.01")
    _add(main, "site", group="5", size="0.006", rgba="0.9 0.2 0.2 1")
    _add(main, "tendon", width="0.013", rgba="0.62 0.13 0.13 1")
    _add(
        main,
        "general",
        dyntype="none",
        gaintype="muscle",
        biastype="muscle",
        ctrlrange="0 1",
    )
    looks.add_defaults(main)
    _add(main, "default", **{"class": "root"}).append(
        ElementTree.Element("joint", damping="0", armature="0")
    )
    wrap = _add(main, "default", **{"class": "wrap"})
    _add(
        wrap,
        "geom",
        type="cylinder",
        group="4",
        contype="0",
        conaffinity="0",
        mass="0",
        rgba="0.3 0.5 0.9 0.3",
    )
    # Soles collide with the ground only: legs pass through each other.
    sole = _add(main, "default", **{"class": "sole"})
    _add(
        sole,
        "geom",
        group="3",
        type="capsule",
        contype="0",
        conaffinity="1",
        friction="0.9",
        rgba="0.2 0.6 0.2 0.3",
    )


def _add_bodies(root: ElementTree.Element, walker: Walker) -> None:
    world = _add(root, "worldbody")
    bodies: dict[str, ElementTree.Element] = {}
    for name, segment in SEGMENTS.items():
        for side in ("",) if name in _MIDDLE else tuple(_SIDES):
            parent = (
                world if segment.parent is None else bodies[_full(segment.parent, side)]
            )
            # The parent of both legs is the pelvis, which has no side.
            full = _full(name, side)
            pos = (
                f"0 0 {STANDING_HEIGHT}"
                if segment.parent is None
                else _text(_turn(segment.pos, side))
            )
            body = _add(parent, "body", name=full, pos=pos)
            bodies[full] = body
            if segment.parent is None:
                _add_root_joints(body, walker)
            ix, iy, iz = segment.inertia
            _add(
                body,
                "inertial",
                pos=_text(_turn(segment.com, side)),
                mass=_number(segment.mass),
                diaginertia=_text((ix, iz, iy)),
            )
            _add_hinges(body, walker, name, side)
            looks.add_segment(body, name, _SIDES.get(side, 1.0))
    bodies["pelvis"].set("childclass", "walker")
    _add_wraps(bodies)
    _add_path_points(bodies, walker)


def _add_root_joints(body: ElementTree.Element, walker: Walker) -> None:
    if not walker.is_planar:
        ElementTree.SubElement(body, "freejoint", name="root")
        return
    for name, kind, axis in (
        ("root_x", "slide", "1 0 0"),
        ("root_z", "slide", "0 0 1"),
        ("root_pitch", "hinge", "0 -1 0"),
    ):
        joint = {"name": name, "class": "root", "type": kind, "axis": axis}
        _add(body, "joint", **joint)


def _add_hinges(
    body: ElementTree.Element, walker: Walker, segment: str, side: str
) -> None:
    for hinge in walker.hinges:
        if hinge.segment != segment:
            continue
        # A left leg adducts and rotates inwards in the opposite direction about the
        # same axis.
        sign = 1.0 if hinge.axis == _FLEXION else _SIDES.get(side, 1.0)
        axis = tuple(sign * a for a in _turn(hinge.axis, ""))
        _add(
            body,
            "joint",
            name=_full(hinge.name, side),
            axis=_text(axis),
            range=_text(hinge.range),
        )


def _add_wraps(bodies: dict[str, ElementTree.Element]) -> None:
    for joint, (segment, centre, radius, offset) in WRAPS.items():
        front = (centre[0] + offset[0], centre[1] + offset[1], centre[2] + offset[2])
        for side in _SIDES:
            body = bodies[_full(segment, side)]
            geom = {"name": f"{joint}_wrap_{side}", "class": "wrap"}
            geom |= {"pos": _text(_turn(centre, side)), "zaxis": "0 1 0"}
            _add(body, "geom", **geom, size=f"{radius} 0.06")
            pos = _text(_turn(front, side))
            _add(body, "site", name=f"{joint}_front_{side}", pos=pos)


def _add_path_points(bodies: dict[str, ElementTree.Element], walker: Walker) -> None:
    for muscle, side in product(walker.muscles, _SIDES):
        for index, point in enumerate(muscle.path):
            if isinstance(point, Wrap):
                continue
            name = f"{muscle.name}_{side}_{index}"
            pos = _text(_turn(point.pos, side))
            _add(bodies[_full(point.segment, side)], "site", name=name, pos=pos)


def _add_muscles(root: ElementTree.Element, walker: Walker) -> None:
    tendons, actuators = _add(root, "tendon"), _add(root, "actuator")
    for side, muscle in product(_SIDES, walker.muscles):
        name = f"{muscle.name}_{side}"
        tendon = _add(tendons, "spatial", name=name, **{"class": "walker"})
        for index, point in enumerate(muscle.path):
            if isinstance(point, Wrap):
                wrap = {"geom": f"{point.joint}_wrap_{side}"}
                _add(tendon, "geom", **wrap, sidesite=f"{point.joint}_front_{side}")
            else:
                _add(tendon, "site", site=f"{name}_{index}")
        _add_actuator(actuators, muscle, name)


def _add_actuator(actuators: ElementTree.Element, muscle: Muscle, name: str) -> None:
    force = muscle.max_force * math.cos(muscle.pennation)
    fibre = muscle.fiber_length * math.cos(muscle.pennation)
    slack = muscle.tendon_length * (1.0 + TENDON_STRAIN)
    # With the operating range 0 to 1 over one fibre length, MuJoCo's length equals
    # OpenSim's. Then lmin, lmax, vmax, fpmax and fvmax.
    parameters = f"0 1 {force:.6g} 200 0 1.8 10 0.6 1.4"
    _add(
        actuators,
        "general",
        name=name,
        tendon=name,
        **{"class": "walker"},
        lengthrange=f"{slack:.6g} {slack + fibre:.6g}",
        gainprm=parameters,
        biasprm=parameters,
    )


def _full(name: str, side: str) -> str:
    return name if name in _MIDDLE or not side else f"{name}_{side}"


def _turn(point: Vector, side: str) -> Vector:
    """Convert OpenSim's axes, for the right side, to MuJoCo's axes for `side`."""
    x, y, z = point
    return (x, -z * _SIDES.get(side, 1.0), y)


def _number(value: float) -> str:
    return f"{value + 0.0:.6g}"


def _text(values: tuple[float, ...]) -> str:
    return " ".join(_number(v) for v in values)


def _add(
    parent: ElementTree.Element, tag: str, **attributes: str
) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)


def main() -> None:
    """Write the MJCF files."""
    for walker in (W18, W54):
        (FOLDER / f"{walker.name}.xml").write_text(to_text(walker), "utf-8")


if __name__ == "__main__":
    main()
