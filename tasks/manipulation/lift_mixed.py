"""Lifting objects that differ between worlds."""

import math

from mjlab.managers import EventTermCfg
from mjlab.scene import SceneCfg
from mjlab.tasks.manipulation import scene as table
from mjlab.tasks.manipulation.lift import place, tip_friction
from mjlab.tasks.manipulation.lift_ik import LiftYamIKCfg
from mjlab.tasks.manipulation.objects import ThingName, thing_cfg
from mjlab.tasks.manipulation.reach import reset_robot
from mjlab.tasks.manipulation.scene import OBJECT
from mjlab.views import VariantsCfg

_NAMES: tuple[ThingName, ...] = ("cube", "cylinder", "ball", "jar")

OTHERS = ("left", "right")
"""Names of the distractors next to the object; each is absent in half of the worlds."""


def any_thing(*, absent: float = 0.0) -> VariantsCfg:
    """Return an object whose shape differs between worlds.

    Args:
        absent: Fraction of the worlds without the object.
    """
    options = {name: thing_cfg(name) for name in _NAMES}
    return VariantsCfg(options=options, absent=absent)


def mixed_scene() -> SceneCfg:
    """Return a table with one to three objects, of which the middle one is lifted."""
    others = {name: any_thing(absent=0.5) for name in OTHERS}
    return table.scene({OBJECT: any_thing(), **others})


def mixed_events() -> dict[str, EventTermCfg | None]:
    """Return reset events for robot and objects, and random fingertip friction.

    The objects start in separate areas.
    """
    sides = {OBJECT: (-0.07, 0.07), "left": (0.15, 0.25), "right": (-0.25, -0.15)}
    places = {}
    for name, side in sides.items():
        places[f"place_{name}"] = place(name)
        ranges = {"x": (0.2, 0.4), "y": side, "z": (0.025, 0.03)}
        ranges["yaw"] = (-math.pi, math.pi)
        places[f"place_{name}"].params["pose_range"] = ranges
    return {"reset_robot": reset_robot(), **places, **tip_friction()}


class LiftYamMixedCfg(LiftYamIKCfg):
    """Lift the middle object: a cube, a cylinder, a ball or a jar with a lid."""

    scene = mixed_scene()
    events = mixed_events()
