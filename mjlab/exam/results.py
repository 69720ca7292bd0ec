"""Results of exam runs: targets, punches, energy, vibration and foot contacts."""

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Punch:
    """A punch that a run received."""

    target: int
    """Index of the target during which the punch was applied."""

    joint: str
    """Joint whose anchor is the point of application."""

    impulse: float
    """Force times duration, N s."""

    direction: tuple[float, float, float]
    """Unit vector of the force at the start of the punch: forward, left, up, in the
    base's yaw frame."""

    feet: tuple[bool, ...]
    """Whether each foot was on the ground at the start of the punch."""

    seconds: float
    """Start of the punch, s since the start of the run."""


@dataclass(frozen=True)
class TargetResult:
    """Errors at the end of a target's time, or at the fall."""

    distance: float
    """Planar distance to the target, m."""

    heading: float
    """Absolute heading error, rad."""

    reached: bool
    """Whether position and heading were reached at the same time, at any time."""


@dataclass
class RunResult:
    """Result of one run of an exam."""

    run: int
    """Run id."""

    survival: float = 0.0
    """Time of the fall, or the duration of the run, s."""

    completed: bool = False
    """Whether the run ended without a fall."""

    targets: list[TargetResult] = field(default_factory=list)
    """Results of all targets that were started."""

    punches: list[Punch] = field(default_factory=list)
    """Punches before the end of the run, in order of their start."""

    energy: float = 0.0
    """Integral of the absolute power, summed over joints, kJ. The power is the torque
    that the PD law requests times the joint velocity."""

    vibration: float = 0.0
    """Sum over joints and control steps of the absolute change of joint acceleration
    between two steps, 10^6 rad/s^2."""

    touchdown_speed: float = np.nan
    """Mean downward foot speed at touchdown, m/s. NaN without touchdowns."""

    peak_force: float = np.nan
    """Mean of the stance phases' peak contact forces, in body weights."""

    @property
    def reached(self) -> int:
        """Number of targets reached."""
        return sum(target.reached for target in self.targets)

    @property
    def last_punch(self) -> Punch | None:
        """Last punch before the fall. None if the run was completed or had no punch."""
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
