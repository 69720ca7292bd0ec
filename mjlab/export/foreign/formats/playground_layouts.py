"""Observation layouts of MuJoCo Playground's joystick tasks."""

from typing import Any

import numpy as np

_LEGS = (
    "lin_vel",
    "gyro",
    "gravity",
    "joint_pos",
    "joint_vel",
    "last_action",
    "command",
)
_HUMANOID = ("lin_vel", "gyro", "gravity", "command", "joint_pos", "joint_vel")
_HUMANOID += ("last_action", "cos_phase", "sin_phase")
_PAIR = [0.0, np.pi]

LAYOUTS: dict[tuple[int, int], dict[str, Any]] = {
    (48, 12): {
        "task": "Go1Joystick",
        "terms": _LEGS,
        "action_scale": 0.5,
        "keyframe": "home",
        "imu": "imu",
    },
    (52, 12): {
        "task": "BerkeleyHumanoidJoystick",
        "terms": _HUMANOID,
        "action_scale": 0.5,
        "keyframe": "home",
        "imu": "imu",
        "clock": {"hz": 1.5, "offsets": _PAIR},
    },
    (103, 29): {
        "task": "G1Joystick",
        "terms": _HUMANOID,
        "action_scale": 0.5,
        "keyframe": "knees_bent",
        "imu": "imu_in_pelvis",
        "clock": {"hz": 1.5, "offsets": _PAIR},
    },
    (85, 23): {
        "task": "T1Joystick",
        "terms": _HUMANOID,
        "action_scale": 1.0,
        "keyframe": "home",
        "imu": "imu",
        "clock": {"hz": 1.5, "offsets": _PAIR, "still": "pi"},
        "blind": 2,
    },
    (112, 32): {
        "task": "ApolloJoystick",
        "terms": _HUMANOID,
        "action_scale": 0.5,
        "keyframe": "knees_bent",
        "imu": "imu",
        "clock": {
            "hz": 1.25,
            "hz_by_command": 0.5,
            "offsets": _PAIR,
            "still": "pi",
        },
    },
}
"""Layouts by (width of the observation, width of the action).

`blind` is the number of joints, the first ones, whose readings are replaced by 0."""
