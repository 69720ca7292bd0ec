"""Interface of policies in an exam, and their sensor readings."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mjlab.exam.command import CommandCfg, RelativeTarget


@dataclass(frozen=True, kw_only=True)
class Readings:
    """Readings of all runs in a control step. Joints are in the exam's order."""

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
    """Position of the base, m, shape (runs, 3). This and the next five fields are
    sensor values, one physics step old."""

    root_quat: np.ndarray
    """Orientation of the base, wxyz, shape (runs, 4)."""

    root_velocity: np.ndarray
    """Linear velocity in world axes, m/s, and angular velocity in the axes of the base,
    rad/s, shape (runs, 6)."""

    gyro: np.ndarray
    """Angular velocity in the frame of the inertial sensors, rad/s, shape (runs, 3)."""

    lin_vel: np.ndarray
    """Linear velocity in the frame of the inertial sensors, m/s, shape (runs, 3)."""

    gravity: np.ndarray
    """Unit vector down in the frame of the inertial sensors, shape (runs, 3)."""

    command: np.ndarray
    """Forward and left velocity, m/s, and yaw rate, rad/s, shape (runs, 3)."""

    target: RelativeTarget
    """Targets relative to the base."""

    load_targets: np.ndarray
    """Targets of joints that the exam moves; the stance for other joints, shape (runs,
    joints).
    """


class ExamPolicy(Protocol):
    """Policy in an exam. Arrays are in the exam's joint order."""

    command: CommandCfg
    """Command settings."""

    owned: np.ndarray
    """Controlled joints, bool, shape (joints,)."""

    kp: np.ndarray
    """Position gains, N m/rad, shape (joints,)."""

    kd: np.ndarray
    """Velocity gains, N m s/rad, shape (joints,)."""

    def reset(self, runs: int) -> None:
        """Reset all state, for a number of runs."""
        ...

    def act(self, seen: Readings) -> np.ndarray:
        """Return position targets, rad, shape (runs, joints)."""
        ...

    def described(self) -> dict[str, Any]:
        """Settings of the adapter, for the results."""
        ...
