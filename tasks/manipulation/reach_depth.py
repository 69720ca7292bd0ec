"""Vision-based reaching: a depth camera shows the goal as a ball."""

from mjlab.managers import CommandTermCfg, ObservationGroupCfg
from mjlab.scene import SceneCfg
from mjlab.tasks.manipulation import mdp as manipulation
from mjlab.tasks.manipulation import scene as table
from mjlab.tasks.manipulation.objects import MARK_RADIUS, mark_cfg
from mjlab.tasks.manipulation.reach import GOAL, ReachYamCfg, observations
from mjlab.tasks.manipulation.sight import depth, eye, seeing

MARK = "mark"
"""Name of the ball's entity."""

HEIGHT = 0.15
"""Height of the ball above the table, in m; constant, so that an image determines its
position."""

_FARTHEST = 1.0

_PLACE, _TURN = (0.85, 0.0, 0.75), (0.6625, 0.2471, 0.2471, 0.6625)
"""Pose of the camera: in front of the table, towards the centre of the goals."""


def depth_scene() -> SceneCfg:
    """Return the arm at its table, a ball, and a camera in front of them."""
    scene = table.scene({MARK: mark_cfg()})
    scene.sensors = (eye("depth", farthest=_FARTHEST, pos=_PLACE, quat=_TURN),)
    return scene


def depth_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return the observations of reaching, with an image instead of the goal."""
    groups = observations(with_object=False)
    pictures = {"depth": depth(_FARTHEST)}
    return seeing(groups, pictures, instead_of=("gripper_to_goal",))


def depth_commands() -> dict[str, CommandTermCfg | None]:
    """Return a goal at the height of the ball, with its radius as tolerance."""
    place = manipulation.GoalCommandCfg(
        x=(0.25, 0.45),
        y=(-0.25, 0.25),
        z=(HEIGHT, HEIGHT),
        radius=MARK_RADIUS,
        shown_by=MARK,
    )
    return {GOAL: place}


class ReachYamDepthCfg(ReachYamCfg):
    """Move the gripper to a ball seen by a camera, and hold it there."""

    scene = depth_scene()
    commands = depth_commands()
    observations = depth_observations()
