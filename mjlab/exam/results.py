"""Results of exam runs: targets, punches, and energy and contact measures."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Punch:
    """Punch, with the contact state of the feet at its start."""

    target: int
    """Index of the target."""

    joint: str
    """Joint whose anchor is the point of application."""

    impulse: float
    """Force times duration, N s."""

    direction: tuple[float, float, float]
    """Direction of the force at its start: forward, left, up, relative to the base's
    yaw.
    """

    feet: tuple[bool, ...]
    """True for each foot on the ground at the start, in the exam's order of feet."""

    seconds: float
    """Start time in the run, s."""


@dataclass(frozen=True)
class TargetResult:
    """Errors when a target's time ends or the robot falls."""

    distance: float
    """Planar distance to the target, m."""

    heading: float
    """Absolute heading error, rad."""

    reached: bool
    """True if position and heading were reached at the same time."""


@dataclass
class RunResult:
    """Survival, targets and measures of one run of an exam."""

    run: int
    """Run id."""

    survival: float = 0.0
    """Time to the fall, or the duration of the run, s."""

    completed: bool = False
    """True if the robot did not fall."""

    targets: list[TargetResult] = field(default_factory=list)
    """Results of the started targets."""

    punches: list[Punch] = field(default_factory=list)
    """Punches that started before the end of the run."""

    energy: float = 0.0
    """Sum over joints and time of the absolute power, torque times velocity, kJ."""

    vibration: float = 0.0
    """Sum of changes of joint acceleration over joints and control steps,
    10^6 rad/s^2."""

    touchdown_speed: float = np.nan
    """Mean downward speed of feet at touchdown, m/s."""

    peak_force: float = np.nan
    """Mean peak contact force per stance phase of a foot, in body weights."""

    @property
    def reached(self) -> int:
        """Number of targets reached."""
        return sum(target.reached for target in self.targets)

    @property
    def last_punch(self) -> Punch | None:
        """Last punch before the fall; None for a completed run or without punches."""
        return self.punches[-1] if self.punches and not self.completed else None


@dataclass(frozen=True)
class LevelResults:
    """Results and recorded poses of the runs of a level."""

    level: str
    """Letter of the level."""

    runs: list[RunResult]
    """Results in order of run id."""

    poses: dict[int, np.ndarray]
    """Recorded positions by run id, each of shape (frames, nq), float32."""
