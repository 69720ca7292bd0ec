"""Lifting by sight: a depth camera at the wrist shows where the cube is."""

from dataclasses import dataclass, field

from mjlab.managers import ObservationGroupCfg, ObservationTermCfg
from mjlab.scene import SceneCfg
from mjlab.tasks.manipulation import mdp as manipulation
from mjlab.tasks.manipulation import scene as table
from mjlab.tasks.manipulation.lift_taught import LiftYamTaughtCfg, taught_observations
from mjlab.tasks.manipulation.objects import thing_cfg
from mjlab.tasks.manipulation.reach import GOAL, noise
from mjlab.tasks.manipulation.scene import OBJECT
from mjlab.tasks.manipulation.sight import eye, seeing

_FARTHEST = 0.5


def wrist_scene() -> SceneCfg:
    """Return the table with a cube, and the camera of the arm's wrist."""
    scene = table.scene({OBJECT: thing_cfg("cube")})
    scene.sensors = (eye(_FARTHEST, camera="robot/camera_d405"),)
    return scene


def wrist_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return those of lifting, but a picture in place of what is known of the cube."""
    goal = ObservationTermCfg(
        func=manipulation.gripper_to_goal,
        params={"command_name": GOAL},
        noise=noise(0.01),
    )
    return seeing(
        taught_observations(),
        _FARTHEST,
        instead_of=("gripper_to_object", "object_heading", "object_to_goal"),
        gripper_to_goal=goal,
    )


@dataclass(kw_only=True)
class LiftYamDepthCfg(LiftYamTaughtCfg):
    """Imitate the script that knows where the cube is, by what the wrist sees."""

    scene: SceneCfg = field(default_factory=wrist_scene)
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=wrist_observations
    )
