"""Picking by sight: of three cubes the one that a mask shows."""

from dataclasses import dataclass, field

from mjlab.managers import EventTermCfg, ObservationGroupCfg
from mjlab.scene import SceneCfg
from mjlab.tasks.manipulation import mdp as manipulation
from mjlab.tasks.manipulation import scene as table
from mjlab.tasks.manipulation.lift import tip_friction
from mjlab.tasks.manipulation.lift_depth import (
    BY_WRIST,
    FARTHEST,
    wrist_observations,
)
from mjlab.tasks.manipulation.lift_taught import LiftYamTaughtCfg
from mjlab.tasks.manipulation.objects import OBJECT_HALF, thing_cfg
from mjlab.tasks.manipulation.reach import reset_robot
from mjlab.tasks.manipulation.scene import OBJECT
from mjlab.tasks.manipulation.sight import depth, eye, mask, wrist_variety

CUBES = (OBJECT, "second", "third")
"""Names of the cubes; the first is the one to be picked."""

COLORS = ((0.85, 0.2, 0.15), (0.2, 0.65, 0.25), (0.16, 0.42, 0.78))
"""Red, green and blue, of which each cube has one, another in each world."""


def pick_scene() -> SceneCfg:
    """Return the table with three cubes, and the wrist's camera."""
    scene = table.scene({name: thing_cfg("cube") for name in CUBES})
    sensor = eye("depth", "segmentation", farthest=FARTHEST, camera=BY_WRIST)
    scene.sensors = (sensor,)
    return scene


def pick_events() -> dict[str, EventTermCfg | None]:
    """Return starts in lanes drawn by lot, hues, tips and a camera."""
    cubes = {"object_names": CUBES}
    lanes = {"x": (0.2, 0.4), "y": (-0.24, 0.24), "height": OBJECT_HALF + 0.005}
    return {
        "reset_robot": reset_robot(),
        "place_cubes": EventTermCfg(
            func=manipulation.place_in_lanes,
            mode="reset",
            params={**cubes, **lanes, "gap": 0.09},
        ),
        "hues": EventTermCfg(
            func=manipulation.hues, mode="startup", params={**cubes, "colors": COLORS}
        ),
        **tip_friction(),
        **wrist_variety(),
    }


@dataclass(kw_only=True)
class LiftYamPickCfg(LiftYamTaughtCfg):
    """Lift one of three cubes, which depth and a mask of the wrist's camera show."""

    scene: SceneCfg = field(default_factory=pick_scene)
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=lambda: wrist_observations(
            depth=depth(FARTHEST), target=mask(OBJECT)
        )
    )
    events: dict[str, EventTermCfg | None] = field(default_factory=pick_events)
