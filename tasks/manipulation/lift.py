"""Grip a cube, lift it and hold it at a goal in the air."""

import math

from mjlab.envs import mdp
from mjlab.managers import (
    ActionTermCfg,
    EventTermCfg,
    OutcomeTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.tasks.manipulation import mdp as manipulation
from mjlab.tasks.manipulation import scene as table
from mjlab.tasks.manipulation.objects import thing_cfg
from mjlab.tasks.manipulation.reach import (
    GOAL,
    HELD,
    TableCfg,
    costs,
    joint_actions,
    observations,
    reset_robot,
    time_out,
)
from mjlab.tasks.manipulation.scene import OBJECT
from mjlab.tasks.robots.yam import FINGERTIPS

_TIPS = SceneEntityCfg("robot", geom_names=(FINGERTIPS,))
_SHAPE = SceneEntityCfg(OBJECT, geom_names=("shape",))
_BODY = SceneEntityCfg(OBJECT, body_names=("thing",))


def lift_actions() -> dict[str, ActionTermCfg | None]:
    """Return joint position actions; at zero, the gripper is open a cube's width."""
    actions = joint_actions(with_gripper=True)
    targets = actions["joint_pos"]
    assert isinstance(targets, mdp.JointPositionActionCfg)
    targets.offset = {"left_finger": 0.01}
    return actions


def lift_rewards() -> dict[str, RewardTermCfg | None]:
    """Return a reward for each stage: reach, grip, lift to the goal, hold there."""
    held = {"command_name": GOAL, "object_name": OBJECT}
    return {
        "reach": RewardTermCfg(
            func=manipulation.reach,
            weight=1.0,
            params={"command_name": GOAL, "std": 0.2},
        ),
        "grip": RewardTermCfg(func=manipulation.grip, weight=1.0, params=dict(held)),
        "bring": RewardTermCfg(
            func=manipulation.grip, weight=5.0, params=held | {"std": 0.2}
        ),
        "bring_closely": RewardTermCfg(
            func=manipulation.grip, weight=5.0, params=held | {"std": 0.03}
        ),
        **costs(),
    }


def drop() -> dict[str, str]:
    """Return the parameters of the term that detects a dropped object."""
    return {"object_name": OBJECT}


def place(name: str = OBJECT) -> EventTermCfg:
    """Return an event that resets an object to a random pose in front of the arm."""
    return EventTermCfg(
        func=manipulation.place_object,
        mode="reset",
        params={
            "object_name": name,
            "pose_range": {
                "x": (0.2, 0.4),
                "y": (-0.2, 0.2),
                "z": (0.025, 0.035),
                "yaw": (-math.pi, math.pi),
            },
        },
    )


def tip_friction() -> dict[str, EventTermCfg | None]:
    """Return the randomisation of fingertip friction, equal for all tips of a world."""
    draws = {
        "sliding": ("uniform", (0.3, 1.5)),
        "torsional": ("log_uniform", (1e-4, 2e-2)),
        "rolling": ("log_uniform", (1e-5, 5e-3)),
    }
    return {
        f"tip_friction_{axis}": EventTermCfg(
            func=mdp.randomize.geom_friction,
            mode="startup",
            params={
                "asset_cfg": _TIPS,
                "operation": "abs",
                "distribution": distribution,
                "axes": (axis,),
                "ranges": bounds,
                "shared_random": True,
            },
        )
        for axis, (distribution, bounds) in draws.items()
    }


def cube_variety() -> dict[str, EventTermCfg | None]:
    """Return the randomisation of the cube's mass, size and colour at startup."""
    return {
        "cube_mass": EventTermCfg(
            func=mdp.randomize.body_mass,
            mode="startup",
            params={"asset_cfg": _BODY, "ranges": (0.5, 2.0)},
        ),
        "cube_size": EventTermCfg(
            func=mdp.randomize.geom_size,
            mode="startup",
            params={"asset_cfg": _SHAPE, "ranges": (0.8, 1.2), "shared_random": True},
        ),
        "cube_color": EventTermCfg(
            func=mdp.randomize.geom_rgba,
            mode="startup",
            params={"asset_cfg": _SHAPE, "axes": (0, 1, 2), "ranges": (0.1, 1.0)},
        ),
    }


def lift_events() -> dict[str, EventTermCfg | None]:
    """Return reset events, and the randomisation of fingertip friction and cube."""
    return {
        "reset_robot": reset_robot(),
        "place_object": place(),
        **tip_friction(),
        **cube_variety(),
    }


def lift_outcomes() -> dict[str, OutcomeTermCfg | None]:
    """Return the outcomes: success at the goal, failure if the object is dropped."""
    return {
        "success": OutcomeTermCfg(func=manipulation.held_at_goal, params=dict(HELD)),
        "fail": OutcomeTermCfg(func=manipulation.dropped, params=drop()),
    }


def lift_terminations() -> dict[str, TerminationTermCfg | None]:
    """Return terminations for the time limit and for a dropped object."""
    return {
        **time_out(),
        "dropped": TerminationTermCfg(func=manipulation.dropped, params=drop()),
    }


class LiftYamCfg(TableCfg):
    """Grip a cube, lift it to a goal in the air and hold it there."""

    scene = table.scene({OBJECT: thing_cfg("cube")})
    episode_length_s = 6.0
    commands = {GOAL: manipulation.GoalCommandCfg(object_name=OBJECT, debug_vis=True)}
    observations = observations(with_object=True)
    actions = lift_actions()
    rewards = lift_rewards()
    terminations = lift_terminations()
    outcomes = lift_outcomes()
    events = lift_events()
