"""Reaching for what only a camera sees."""

from dataclasses import dataclass, field

from mjlab.envs import mdp
from mjlab.managers import (
    CommandTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
)
from mjlab.render.rays import RayRendererCfg
from mjlab.scene import SceneCfg
from mjlab.sensor import CameraSensorCfg
from mjlab.tasks.manipulation import mdp as manipulation
from mjlab.tasks.manipulation import scene as table
from mjlab.tasks.manipulation.objects import thing_cfg
from mjlab.tasks.manipulation.reach import (
    GOAL,
    ReachYamCfg,
    observations,
    reset_robot,
)
from mjlab.tasks.manipulation.script import scripted_reach_targets

TARGET = "target"
"""Name of the ball that shows the goal."""

EYE = "front"
"""Name of the camera in front of the arm."""

CUTOFF = 1.5
"""Depth beyond which nothing is told apart: the far edge of the table, in m."""


def front_camera() -> CameraSensorCfg:
    """Return the camera in front of the arm, which looks back at it, 32 by 32."""
    return CameraSensorCfg(
        name=EYE,
        camera="robot/front_cam",
        width=32,
        height=32,
        data_types=("depth",),
        max_distance=CUTOFF,
        geom_groups=(0, 2),
        use_textures=False,
        renderer=RayRendererCfg(),
    )


def place_target() -> EventTermCfg:
    """Return a place of the ball, of those that `Reach-Yam` has for its goals."""
    return EventTermCfg(
        func=manipulation.place_object,
        mode="reset",
        params={
            "object_name": TARGET,
            "pose_range": {
                "x": (0.25, 0.45),
                "y": (-0.25, 0.25),
                "z": (0.1, 0.4),
                "yaw": (0.0, 0.0),
            },
        },
    )


def depth_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return joints and last action, a picture, and the teacher's action."""
    known = observations(with_object=False)
    actor = known["actor"]
    assert actor is not None
    del actor.terms["gripper_to_goal"]
    depth = ObservationTermCfg(
        func=mdp.camera_depth,
        params={"sensor_name": EYE, "cutoff": CUTOFF, "as_bytes": True},
    )
    script = ObservationTermCfg(func=scripted_reach_targets)
    return {
        **known,
        "camera": ObservationGroupCfg(terms={"depth": depth}),
        "expert": ObservationGroupCfg(terms={"script": script}),
    }


@dataclass(kw_only=True)
class ReachYamDepthCfg(ReachYamCfg):
    """Bring the gripper to a ball in the air that only a picture of depth shows."""

    scene: SceneCfg = field(
        default_factory=lambda: table.scene(
            {TARGET: thing_cfg("target")}, sensors=(front_camera(),)
        )
    )
    commands: dict[str, CommandTermCfg | None] = field(
        default_factory=lambda: {GOAL: manipulation.GoalCommandCfg(goal_name=TARGET)}
    )
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=depth_observations
    )
    events: dict[str, EventTermCfg | None] = field(
        default_factory=lambda: {
            "reset_robot": reset_robot(),
            "place_target": place_target(),
        }
    )
