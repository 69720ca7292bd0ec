"""Velocity commands that steer a robot to its targets."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mjlab.exam.rotations import wrap

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class CommandCfg:
    """Gains and limits from target errors to velocity commands, set by each adapter."""

    gain: tuple[float, float] = (1.5, 1.5)
    """Gains from distance to velocity and from heading error to yaw rate, 1/s."""

    reach_m: tuple[float, float] = (0.10, 0.20)
    """Hysteresis of the position, m: a target is reached below the first distance, and
    no longer reached above the second."""

    reach_rad: tuple[float, float] = (0.05, 0.12)
    """Hysteresis of the heading, rad, with the same meaning."""

    speed: float | None = None
    """Largest planar speed, m/s. None sets no limit."""

    lin_vel_x: Range | None = None
    """Range of the forward command, m/s."""

    lin_vel_y: Range | None = None
    """Range of the command to the left, m/s."""

    ang_vel_z: Range | None = None
    """Range of the yaw rate command, rad/s."""

    def described(self) -> dict[str, Any]:
        """Return the settings by name, for the results file."""
        return dict(vars(self))


@dataclass(frozen=True)
class RelativeTarget:
    """Position and heading of each run's current target, relative to the robot."""

    ahead: np.ndarray
    """Position of the target along the forward axis of the robot, m, shape (runs,)."""

    left: np.ndarray
    """Position of the target along the left axis of the robot, m, shape (runs,)."""

    heading: np.ndarray
    """Target heading minus base heading, rad, shape (runs,)."""

    @property
    def distance(self) -> np.ndarray:
        """Planar distance to the target, m."""
        return np.hypot(self.ahead, self.left)


class Reached:
    """Tracks with hysteresis whether each run has reached its target."""

    def __init__(self, runs: int, cfg: CommandCfg) -> None:
        """Start with no target reached."""
        self._cfg = cfg
        self.place = np.zeros(runs, bool)
        """Runs whose target position is reached."""
        self.heading = np.zeros(runs, bool)
        """Runs whose target heading is reached."""

    def reset(self) -> None:
        """Mark position and heading as not reached, for a new target."""
        self.place[:] = self.heading[:] = False

    def update(self, target: RelativeTarget) -> None:
        """Update both flags from the current distances and heading errors."""
        self.place = _hysteresis(self.place, target.distance, self._cfg.reach_m)
        self.heading = _hysteresis(
            self.heading, np.abs(target.heading), self._cfg.reach_rad
        )


def _hysteresis(
    was: np.ndarray, error: np.ndarray, bounds: tuple[float, float]
) -> np.ndarray:
    enter, leave = bounds
    return np.where(was, error < leave, error < enter)


def command_of(cfg: CommandCfg, target: RelativeTarget, reached: Reached) -> np.ndarray:
    """Compute the velocity command of each run, shape (runs, 3).

    Columns are forward velocity (m/s), left velocity (m/s) and yaw rate (rad/s). Parts
    whose target is reached are zero.
    """
    place, turn = cfg.gain
    planar = place * np.stack((target.ahead, target.left), axis=1)
    planar[reached.place] = 0.0
    if cfg.speed is not None:
        norm = np.linalg.norm(planar, axis=1)
        planar *= np.minimum(1.0, cfg.speed / np.maximum(norm, 1e-9))[:, None]
    rate = np.where(reached.heading, 0.0, turn * target.heading)
    command = np.column_stack((planar, rate))
    for axis, bounds in enumerate((cfg.lin_vel_x, cfg.lin_vel_y, cfg.ang_vel_z)):
        if bounds is not None:
            command[:, axis] = np.clip(command[:, axis], *bounds)
    return command


def relative_target(
    place: np.ndarray, yaw: np.ndarray, target: np.ndarray, heading: np.ndarray
) -> RelativeTarget:
    """Convert targets from the world frame to the yaw frame of the base.

    Args:
        place: Position of the base in the world, m, shape (runs, 2).
        yaw: Yaw of the base, rad, shape (runs,).
        target: Position of the target in the world, m, shape (runs, 2).
        heading: Heading of the target in the world, rad, shape (runs,).
    """
    dx, dy = (target - place).T
    cos, sin = np.cos(yaw), np.sin(yaw)
    return RelativeTarget(cos * dx + sin * dy, cos * dy - sin * dx, wrap(heading - yaw))
