"""Rules of an exam: robot, schedule, targets, punches, arms and payload."""

from dataclasses import dataclass

from mjlab.tasks.robots.robot import Robot

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Sequence of targets. Each lasts a fixed time, even if it is not reached."""

    number: int = 18
    """Number of targets."""

    seconds: float = 5.0
    """Duration of each target, s."""

    centre: tuple[float, float] = (0.3, 0.0)
    """Centre of the disc with all targets, m, forward and left of the base pose in the
    first control step."""

    radius: float = 0.75
    """Radius of the disc, m."""


@dataclass(frozen=True, kw_only=True)
class Punches:
    """External force pulses, one per target, each at the anchor of a random joint."""

    begin_s: float = 0.10
    """Start time after the start of the target, s."""

    end_s: float = 0.18
    """End time after the start of the target, s."""

    ceiling: float = 500.0
    """Largest force, N."""

    least: float = 0.5
    """Smallest force, as a fraction of the current upper bound."""

    first: float = 1.0 / 3.0
    """Upper bound at the start of the run, as a fraction of `ceiling`."""

    growth_s: float = 60.0
    """Time at which the upper bound reaches `ceiling`, s."""

    def ceiling_at(self, seconds: float) -> float:
        """Return the largest force, N, for a target that starts at `seconds`."""
        grown = min(seconds / self.growth_s, 1.0)
        return self.ceiling * (self.first + (1.0 - self.first) * grown)


@dataclass(frozen=True, kw_only=True)
class HandBox:
    """Bounding box of a hand, in the frame of a body."""

    body: str
    low: Vector
    high: Vector


@dataclass(frozen=True, kw_only=True)
class Arms:
    """Random walk of the arms' joint targets. The right arm mirrors the left arm."""

    left: tuple[str, ...]
    """Joints of the left arm."""

    right: tuple[str, ...]
    """Joints of the right arm, in the same order."""

    mirror: tuple[float, ...]
    """Sign of each right joint's target, as a factor of the left joint's target."""

    torso: str
    """Body in whose frame the hands are limited to the front and in height."""

    hands: tuple[HandBox, HandBox]
    """Boxes of the left and the right hand."""

    chin_joint: str
    """Joint at the height of the chin."""

    chin_height: float = 0.033
    """Maximum height of a hand above `chin_joint`, m."""

    goal_s: float = 0.5
    """Time between goals, s."""

    steps: int = 25
    """Number of random joint steps that lead from one goal to the next."""

    step_size: float = 0.06
    """Maximum change of a joint in a random step, rad."""

    attempts: int = 8
    """Maximum number of draws per goal. If none is allowed, the arm keeps its goal."""


@dataclass(frozen=True, kw_only=True)
class Payload:
    """Box on the robot's back, with a new mass and position for each target."""

    mass: tuple[float, float]
    """Range of masses, kg."""

    centre: Vector
    """Centre of the box in the frame of the base, m."""

    offset: tuple[float, float]
    """Maximum offset of the box from `centre`, forward and to the left, m."""

    half_size: Vector
    """Half sizes of the box, m. They set its inertia; the box has no contacts."""


@dataclass(frozen=True, kw_only=True)
class Exam:
    """Robot, schedule, disturbances and gains of held joints."""

    name: str
    """Name of the exam on the command line."""

    robot: Robot
    """Default robot."""

    joints: tuple[str, ...]
    """Actuated joints. Arrays of an exam are in this order."""

    stance: tuple[float, ...]
    """Joint positions on the crane, rad."""

    base: str
    """Body with the free joint."""

    imu: str
    """Site of the IMU."""

    feet: tuple[str, ...]
    """Bodies of the feet."""

    crane_height: float
    """Height of the base while it hangs from the crane, m."""

    fall_height: float
    """Height of the base below which the robot counts as fallen, m."""

    foot_loads: tuple[float, float]
    """Contact forces at which a foot touches down and lifts off (hysteresis), N."""

    targets: Targets = Targets()
    punches: Punches = Punches()
    arms: Arms | None = None
    payload: Payload | None = None

    crane_s: float = 3.0
    """Time on the crane before the run, s."""

    control_s: float = 0.02
    """Control period, s."""

    physics_s: float = 0.002
    """Physics timestep, s."""

    hold_hz: float = 10.0
    """Natural frequency of joints that the policy does not control, Hz."""

    hold_damping: float = 2.0
    """Damping ratio of joints that the policy does not control."""

    joint_damping: float = 0.01
    """Joint damping of the default robot, N m s/rad."""

    joint_friction: float = 0.01
    """Joint friction loss of the default robot, N m."""

    @property
    def substeps(self) -> int:
        """Physics steps per control step."""
        return round(self.control_s / self.physics_s)

    @property
    def target_steps(self) -> int:
        """Control steps per target."""
        return round(self.targets.seconds / self.control_s)

    @property
    def steps(self) -> int:
        """Control steps of a run."""
        return self.targets.number * self.target_steps

    @property
    def seconds(self) -> float:
        """Duration of a run after the crane phase, s."""
        return self.targets.number * self.targets.seconds


@dataclass(frozen=True, kw_only=True)
class Level:
    """Disturbances in the runs of a level, in addition to the route of targets."""

    name: str
    punches: bool
    load: bool
    """Whether the exam moves the arms and changes the payload, if it has any."""


LEVELS = {
    level.name: level
    for level in (
        Level(name="A", punches=False, load=False),
        Level(name="B", punches=True, load=False),
        Level(name="N", punches=False, load=True),
        Level(name="C", punches=True, load=True),
    )
}
"""Levels by name."""


def describe(exam: Exam, level: Level) -> str:
    """Describe a level in words, such as "route, punches"."""
    parts = ["route"]
    if level.punches:
        parts.append("punches")
    if level.load and exam.arms is not None:
        parts.append("arms moved by the exam")
    if level.load and exam.payload is not None:
        parts.append("changing payload")
    return ", ".join(parts)


def mirrored(left: tuple[str, ...]) -> tuple[str, ...]:
    """Replace the prefix "left_" of joint names by "right_"."""
    return tuple(name.replace("left_", "right_", 1) for name in left)
