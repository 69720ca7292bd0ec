"""Reaching: move the gripper to a target position."""

import copy
from typing import Self

from mjlab.envs import ManagerBasedRlEnvCfg, mdp
from mjlab.managers import (
    ActionTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    OutcomeTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.tasks.manipulation import mdp as manipulation
from mjlab.tasks.manipulation import scene as table
from mjlab.tasks.robots.yam import ACTION_SCALE, ARM_JOINTS, FINGER_JOINTS
from mjlab.tensors import UniformNoiseCfg

GOAL = "goal"
"""Name of the goal command."""

HELD = {"command_name": GOAL, "duration": 0.5}
"""Success condition: half a second within the command's radius, 3 cm."""

_LARGEST_SCALE = 0.5
"""Maximum change of a joint target per unit of action, rad. Without it, the scale of
`Motor.action_scale` is 5.5 for the last wrist joint, which random actions would
spin."""

ARM = SceneEntityCfg("robot", joint_names=ARM_JOINTS)
FINGER = SceneEntityCfg("robot", joint_names=FINGER_JOINTS[:1])


def noise(size: float) -> UniformNoiseCfg:
    """Return uniform noise between -size and size."""
    return UniformNoiseCfg(n_min=-size, n_max=size)


def observations(*, with_object: bool) -> dict[str, ObservationGroupCfg | None]:
    """Return joint states, vectors to object and goal, and the last action.

    Args:
        with_object: Whether an object is to be gripped and lifted.
    """
    places = {"command_name": GOAL}
    arm = {"asset_cfg": ARM} if with_object else {}
    seen: dict[str, ObservationTermCfg | None] = {
        "joint_pos": ObservationTermCfg(
            func=mdp.joint_pos_rel, params=arm, noise=noise(0.01)
        ),
        "joint_vel": ObservationTermCfg(
            func=mdp.joint_vel, params=arm, noise=noise(0.5), scale=0.2
        ),
    }
    if with_object:
        seen |= _seen_of_object(places)
    seen["object_to_goal" if with_object else "gripper_to_goal"] = ObservationTermCfg(
        func=manipulation.object_to_goal, params=places, noise=noise(0.01)
    )
    seen["actions"] = ObservationTermCfg(func=mdp.last_action)
    return {
        "actor": ObservationGroupCfg(terms=seen, enable_corruption=True),
        "critic": ObservationGroupCfg(terms=dict(seen), enable_corruption=False),
    }


def _seen_of_object(places: dict[str, str]) -> dict[str, ObservationTermCfg]:
    """Return the finger position (range 4 cm), and the object's position and yaw."""
    return {
        "finger_pos": ObservationTermCfg(
            func=mdp.joint_pos_rel, params={"asset_cfg": FINGER}, noise=noise(0.0005)
        ),
        "gripper_to_object": ObservationTermCfg(
            func=manipulation.gripper_to_object, params=places, noise=noise(0.005)
        ),
        "object_heading": ObservationTermCfg(
            func=manipulation.object_heading, params={"object_name": table.OBJECT}
        ),
    }


def joint_actions(*, with_gripper: bool) -> dict[str, ActionTermCfg | None]:
    """Return position targets relative to the home pose.

    Args:
        with_gripper: Include the left finger; the right one is coupled to it.
    """
    driven = (*ARM_JOINTS, FINGER_JOINTS[0]) if with_gripper else ARM_JOINTS
    scale = {joint: min(ACTION_SCALE[joint], _LARGEST_SCALE) for joint in driven}
    return {"joint_pos": mdp.JointPositionActionCfg(joint_names=driven, scale=scale)}


def reset_robot() -> EventTermCfg:
    """Return an event that resets the arm near its home pose."""
    return EventTermCfg(
        func=mdp.reset_joints_by_offset,
        mode="reset",
        params={
            "position_range": (-0.1, 0.1),
            "velocity_range": (0.0, 0.0),
            "asset_cfg": ARM,
        },
    )


def costs() -> dict[str, RewardTermCfg | None]:
    """Return penalties on action changes, joint limits and fast joints."""
    return {
        "action_rate": RewardTermCfg(func=mdp.action_rate_l2, weight=-0.01),
        "joint_pos_limits": RewardTermCfg(func=mdp.joint_pos_limits, weight=-10.0),
        "joint_vel": RewardTermCfg(
            func=manipulation.joint_vel_excess,
            weight=-0.05,
            params={"limit": 1.5, "asset_cfg": ARM},
        ),
    }


def reach_rewards() -> dict[str, RewardTermCfg | None]:
    """Return a coarse and a fine reward for approaching the goal, and penalties."""
    return {
        "bring": RewardTermCfg(
            func=manipulation.bring,
            weight=1.0,
            params={"command_name": GOAL, "std": 0.2},
        ),
        "bring_closely": RewardTermCfg(
            func=manipulation.bring,
            weight=1.0,
            params={"command_name": GOAL, "std": 0.03},
        ),
        **costs(),
    }


def time_out() -> dict[str, TerminationTermCfg | None]:
    """Return the time limit as the only termination."""
    return {"time_out": TerminationTermCfg(func=mdp.time_out, time_out=True)}


class TableCfg(ManagerBasedRlEnvCfg):
    """Arm at a table; subclasses define the task."""

    scene = table.scene({})
    sim = table.simulation()
    decimation = table.DECIMATION
    outcomes = {
        "success": OutcomeTermCfg(func=manipulation.held_at_goal, params=dict(HELD))
    }
    terminations = time_out()
    viewer = table.viewer()

    def play(self) -> Self:
        """Return the configuration for play, without observation noise."""
        watched = copy.deepcopy(self)
        for group in watched.observations.values():
            if group is not None:
                group.enable_corruption = False
        return watched


class ReachYamCfg(TableCfg):
    """Move the gripper to a goal in front of the arm, and hold it there."""

    episode_length_s = 5.0
    commands = {
        GOAL: manipulation.GoalCommandCfg(
            x=(0.25, 0.45), y=(-0.25, 0.25), z=(0.1, 0.4), debug_vis=True
        )
    }
    observations = observations(with_object=False)
    actions = joint_actions(with_gripper=False)
    rewards = reach_rewards()
    events = {"reset_robot": reset_robot()}
