"""Interface of policies in an exam, and the sensor readings that they get."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mjlab.exam.command import CommandCfg, RelativeTarget


@dataclass(frozen=True, kw_only=True)
class Readings:
    """Sensor readings of all runs in a control step. Joints are in the exam's order."""

    step: int
    """Number of the control step."""

    active: np.ndarray
    """Runs that have not ended, shape (runs,), bool. Actions of other runs are
    ignored."""

    joint_pos: np.ndarray
    """Joint positions, rad, shape (runs, joints)."""

    joint_vel: np.ndarray
    """Joint velocities, rad/s, shape (runs, joints)."""

    root_pos: np.ndarray
    """Position of the base in the world, m, shape (runs, 3). This and the next five
    fields are sensor values with a latency of one physics step."""

    root_quat: np.ndarray
    """Orientation of the base, wxyz, shape (runs, 4)."""

    root_velocity: np.ndarray
    """Linear velocity in the world frame, m/s, and angular velocity in the base frame,
    rad/s, shape (runs, 6)."""

    gyro: np.ndarray
    """Angular velocity in the IMU frame, rad/s, shape (runs, 3)."""

    lin_vel: np.ndarray
    """Linear velocity of the IMU in the IMU frame, m/s, shape (runs, 3)."""

    gravity: np.ndarray
    """Unit gravity vector in the IMU frame, shape (runs, 3)."""

    command: np.ndarray
    """Forward and left velocity command, m/s, and yaw rate command, rad/s, shape
    (runs, 3)."""

    target: RelativeTarget
    """Current target of each run, relative to the robot's base."""

    load_targets: np.ndarray
    """Targets of the arm joints in runs with load, and the stance of all other joints,
    rad, shape (runs, joints)."""


class ExamPolicy(Protocol):
    """Interface of a policy in an exam. Arrays are in the exam's joint order."""

    command: CommandCfg
    """Command settings."""

    owned: np.ndarray
    """Whether the policy controls each joint, shape (joints,). The exam controls the
    others."""

    kp: np.ndarray
    """Position gains, N m/rad, shape (joints,)."""

    kd: np.ndarray
    """Velocity gains, N m s/rad, shape (joints,)."""

    def reset(self, runs: int) -> None:
        """Reset the policy's state for `runs` new runs."""
        ...

    def act(self, seen: Readings) -> np.ndarray:
        """Return joint position targets, rad, shape (runs, joints)."""
        ...

    def described(self) -> dict[str, Any]:
        """Return the adapter's settings by name, for the results file."""
        ...
