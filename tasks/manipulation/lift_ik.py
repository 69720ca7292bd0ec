"""Lifting with inverse kinematics: the action moves the gripper, not the joints."""

from mjlab.envs import mdp
from mjlab.managers import ActionTermCfg
from mjlab.tasks.manipulation.lift import LiftYamCfg
from mjlab.tasks.robots.yam import (
    ARM_JOINTS,
    FINGER_CLOSED,
    FINGER_JOINTS,
    FINGER_OPEN,
    GRASP_SITE,
)

POSITION_SCALE = 0.1
"""Displacement of the gripper per unit of action, in m."""

ROTATION_SCALE = 0.5
"""Rotation of the gripper per unit of action, in rad."""


def ik_actions() -> dict[str, ActionTermCfg | None]:
    """Return actions for gripper displacement (6 numbers) and opening or closing."""
    return {
        "arm": mdp.DifferentialIKActionCfg(
            joint_names=ARM_JOINTS,
            frame_type="site",
            frame_name=GRASP_SITE,
            position_scale=POSITION_SCALE,
            rotation_scale=ROTATION_SCALE,
        ),
        "gripper": mdp.BinaryJointPositionActionCfg(
            joint_names=FINGER_JOINTS[:1],
            # A target beyond fully open compensates for the slow position loop; the
            # joint limit stops the finger.
            open_command=2.0 * FINGER_OPEN,
            close_command=FINGER_CLOSED,
        ),
    }


class LiftYamIKCfg(LiftYamCfg):
    """Lift a cube; actions displace the gripper, and open or close it."""

    episode_length_s = 8.0
    actions = ik_actions()
