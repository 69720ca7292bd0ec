"""Vision-based lifting: a wrist camera shows the cube."""

from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.scene import SceneCfg
from mjlab.sensor import CameraSensorCfg
from mjlab.tasks.manipulation import mdp as manipulation
from mjlab.tasks.manipulation import scene as table
from mjlab.tasks.manipulation.lift import lift_events
from mjlab.tasks.manipulation.lift_taught import LiftYamTaughtCfg, taught_observations
from mjlab.tasks.manipulation.objects import thing_cfg
from mjlab.tasks.manipulation.reach import GOAL, noise
from mjlab.tasks.manipulation.scene import OBJECT
from mjlab.tasks.manipulation.sight import (
    WRIST,
    colors,
    depth,
    eye,
    lamp_variety,
    seeing,
    wrist_variety,
)

FARTHEST = 0.5
"""Depth of white pixels in the wrist camera's images, m."""

BY_WRIST = f"robot/{WRIST}"
"""Name of the wrist camera in the compiled model."""


def wrist_scene(sensor: CameraSensorCfg) -> SceneCfg:
    """Return the table with a cube and a camera."""
    scene = table.scene({OBJECT: thing_cfg("cube")})
    scene.sensors = (sensor,)
    return scene


def wrist_observations(
    **pictures: ObservationTermCfg,
) -> dict[str, ObservationGroupCfg | None]:
    """Return the observations of lifting, with images instead of the cube's state."""
    goal = ObservationTermCfg(
        func=manipulation.gripper_to_goal,
        params={"command_name": GOAL},
        noise=noise(0.01),
    )
    return seeing(
        taught_observations(),
        pictures,
        instead_of=("gripper_to_object", "object_heading", "object_to_goal"),
        gripper_to_goal=goal,
    )


class LiftYamDepthCfg(LiftYamTaughtCfg):
    """Lift a cube from depth images, imitating a script that reads the cube's pose."""

    scene = wrist_scene(eye("depth", farthest=FARTHEST, camera=BY_WRIST))
    observations = wrist_observations(depth=depth(FARTHEST))
    events = {**lift_events(), **wrist_variety()}


class LiftYamRgbCfg(LiftYamTaughtCfg):
    """Lift a cube from colour images by imitation, with random lighting and colours."""

    scene = wrist_scene(eye("rgb", camera=BY_WRIST))
    observations = wrist_observations(rgb=colors())
    events = {**lift_events(), **wrist_variety(), **lamp_variety()}
