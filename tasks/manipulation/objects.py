"""Entities of the manipulation tasks: table, goal marker and objects."""

from typing import Literal

import mujoco

from mjlab.entity import EntityCfg, InitialStateCfg

ThingName = Literal["cube", "cylinder", "ball", "jar"]
OBJECT_HALF = 0.02
"""Half edge length of a cube, and radius of round objects, in m."""

MARK_RADIUS = 0.05
"""Radius of the ball that marks a goal, in m."""

TABLE_CENTER = (0.3, 0.0)
TABLE_HALF = (0.45, 0.5, 0.02)
"""Half extents of the table top, in m; its surface is at height 0."""

_FLOOR = -0.6
_ORANGE = (0.93, 0.45, 0.13, 1.0)
_BLUE = (0.16, 0.42, 0.78, 1.0)
_MASS = 0.05


def table_cfg() -> EntityCfg:
    """Return a table, on which the arm's base stands, and a floor."""
    return EntityCfg(source=table_spec)


def mark_cfg() -> EntityCfg:
    """Return the goal marker: a floating ball without contacts."""
    return EntityCfg(source=mark_spec)


def thing_cfg(name: ThingName) -> EntityCfg:
    """Return an object that the gripper can hold, in front of the arm."""
    return EntityCfg(
        source=_SOURCES[name],
        init_state=InitialStateCfg(pos=(0.3, 0.0, OBJECT_HALF)),
    )


def table_spec() -> mujoco.MjSpec:
    """Return a table; fallen objects land on the floor."""
    spec = mujoco.MjSpec()
    spec.modelname = "table"
    table = spec.worldbody.add_body(name="table", pos=[*TABLE_CENTER, 0.0])
    box = mujoco.mjtGeom.mjGEOM_BOX
    x, y, thick = TABLE_HALF
    table.add_geom(
        name="top",
        type=box,
        size=TABLE_HALF,
        pos=[0.0, 0.0, -thick],
        rgba=[0.78, 0.66, 0.5, 1.0],
        friction=[1.0, 0.005, 0.0001],
    )
    height = 0.5 * (-2.0 * thick - _FLOOR)
    for side_x in (-1, 1):
        for side_y in (-1, 1):
            table.add_geom(
                type=box,
                size=[0.02, 0.02, height],
                pos=[side_x * (x - 0.05), side_y * (y - 0.05), -2.0 * thick - height],
                rgba=[0.35, 0.3, 0.26, 1.0],
                contype=0,
                conaffinity=0,
            )
    table.add_geom(
        name="floor",
        type=box,
        size=[2.0, 2.0, 0.05],
        pos=[0.0, 0.0, _FLOOR - 0.05],
        rgba=[0.42, 0.47, 0.52, 1.0],
    )
    table.add_light(
        name="lamp",
        pos=[0.0, 0.4, 1.8],
        dir=[0.0, -0.2, -1.0],
        diffuse=[0.7, 0.7, 0.7],
        castshadow=True,
    )
    return spec


def mark_spec() -> mujoco.MjSpec:
    """Return a ball of 5 cm radius that is visible and has no contacts."""
    spec = mujoco.MjSpec()
    spec.modelname = "mark"
    spec.worldbody.add_body(name="mark").add_geom(
        name="shape",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[MARK_RADIUS, 0.0, 0.0],
        rgba=[0.15, 0.75, 0.3, 1.0],
        contype=0,
        conaffinity=0,
    )
    return spec


def thing_spec(name: ThingName) -> mujoco.MjSpec:
    """Return a free body of 50 g, about 4 cm wide.

    Args:
        name: A cube, a cylinder, a ball, or a jar, whose lid turns on a hinge.
    """
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    body = spec.worldbody.add_body(name="thing")
    body.add_freejoint(name="free")
    kinds = mujoco.mjtGeom
    half = OBJECT_HALF
    shapes = {
        "cube": (kinds.mjGEOM_BOX, (half, half, half)),
        "cylinder": (kinds.mjGEOM_CYLINDER, (half, half, 0.0)),
        "ball": (kinds.mjGEOM_SPHERE, (half, 0.0, 0.0)),
        "jar": (kinds.mjGEOM_CYLINDER, (half, 0.7 * half, 0.0)),
    }
    kind, size = shapes[name]
    is_jar = name == "jar"
    body.add_geom(
        name="shape",
        type=kind,
        size=size,
        pos=[0.0, 0.0, -0.3 * half if is_jar else 0.0],
        mass=0.8 * _MASS if is_jar else _MASS,
        # Rolling friction keeps round objects on the table.
        condim=6 if name in ("ball", "cylinder") else 3,
        friction=[1.0, 0.005, 0.001],
        rgba=_BLUE if is_jar else _ORANGE,
    )
    if is_jar:
        lid = body.add_body(name="lid", pos=[-half, 0.0, 0.45 * half])
        lid.add_joint(name="hinge", axis=[0.0, -1.0, 0.0], range=[0.0, 1.6])
        lid.add_geom(
            name="lid",
            type=kind,
            size=[half, 0.003, 0.0],
            pos=[half, 0.0, 0.004],
            mass=0.2 * _MASS,
            rgba=_ORANGE,
        )
    return spec


def cube() -> mujoco.MjSpec:
    """Return a cube."""
    return thing_spec("cube")


def cylinder() -> mujoco.MjSpec:
    """Return a standing cylinder."""
    return thing_spec("cylinder")


def ball() -> mujoco.MjSpec:
    """Return a ball."""
    return thing_spec("ball")


def jar() -> mujoco.MjSpec:
    """Return a jar with a hinged lid."""
    return thing_spec("jar")


_SOURCES = {"cube": cube, "cylinder": cylinder, "ball": ball, "jar": jar}
