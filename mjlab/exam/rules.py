"""Rules of an exam as numbers: robot, schedule, targets, punches, arms and payload."""

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
    """Centre of the disc of targets, m, in the frame of the first control step."""

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
    """Minimum force, as a fraction of the current upper bound."""

    first: float = 1.0 / 3.0
    """Upper bound of the force at the start of the run, as a fraction of `ceiling`."""

    growth_s: float = 60.0
    """Time at which the upper bound reaches `ceiling`, s."""

    def ceiling_at(self, seconds: float) -> float:
        """Upper bound of the force, N, for a target that starts at `seconds`."""
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
    """Sign of each right joint's target relative to the left joint's."""

    torso: str
    """Body whose frame defines the front and lower limits of the hands."""

    hands: tuple[HandBox, HandBox]
    """Left and right hand."""

    chin_joint: str
    """Joint whose height the hands can exceed by `chin_height`."""

    chin_height: float = 0.033
    """Maximum height of a hand above `chin_joint`, m."""

    goal_s: float = 0.5
    """Time between goals, s."""

    steps: int = 25
    """Number of random steps from one goal to the next."""

    step_size: float = 0.06
    """Maximum size of a random step, rad."""

    attempts: int = 8
    """Maximum number of draws of a goal. If all fail, the arm keeps the old goal."""


@dataclass(frozen=True, kw_only=True)
class Payload:
    """Box on the robot's back, with a new mass and position for each target."""

    mass: tuple[float, float]
    """Range of masses, kg."""

    centre: Vector
    """Centre of the box in the frame of the base, m."""

    offset: tuple[float, float]
    """Maximum offset forward and to the left, m."""

    half_size: Vector
    """Half sizes of the box, m, for its inertia. It has no contacts."""


@dataclass(frozen=True, kw_only=True)
class Exam:
    """Robot, schedule, disturbances and controller settings of an exam."""

    name: str
    """Name of the exam on the command line."""

    robot: Robot
    """Default robot."""

    joints: tuple[str, ...]
    """Actuated joints, in the order of punches and targets."""

    stance: tuple[float, ...]
    """Joint positions on the crane, rad."""

    base: str
    """Body with the free joint."""

    imu: str
    """Site of the inertial sensors."""

    feet: tuple[str, ...]
    """Bodies of the feet."""

    crane_height: float
    """Height of the base while it hangs from the crane, m."""

    fall_height: float
    """Height of the base below which the robot counts as fallen, m."""

    foot_loads: tuple[float, float]
    """Force above which a foot touches down, and below which it lifts off, N."""

    targets: Targets = Targets()
    punches: Punches = Punches()
    arms: Arms | None = None
    payload: Payload | None = None

    crane_s: float = 3.0
    """Time on the crane, s."""

    control_s: float = 0.02
    """Time between actions, s."""

    physics_s: float = 0.002
    """Physics timestep, s."""

    hold_hz: float = 10.0
    """Natural frequency of joints without policy control, Hz."""

    hold_damping: float = 2.0
    """Damping ratio of joints without policy control."""

    joint_damping: float = 0.01
    """Damping of the joints of the default robot, N m s/rad."""

    joint_friction: float = 0.01
    """Friction loss of the joints of the default robot, N m."""

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
        """Duration of a run without the crane, s."""
        return self.targets.number * self.targets.seconds


@dataclass(frozen=True, kw_only=True)
class Level:
    """Level of an exam: the disturbances of its runs. The route is in every level."""

    name: str
    punches: bool
    load: bool
    """True if the exam also moves the arms or changes the payload."""


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
    """Return the parts of a level in words."""
    parts = ["route"]
    if level.punches:
        parts.append("punches")
    if level.load and exam.arms is not None:
        parts.append("arms moved by the exam")
    if level.load and exam.payload is not None:
        parts.append("changing payload")
    return ", ".join(parts)


def mirrored(left: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the joints on the right side."""
    return tuple(name.replace("left_", "right_", 1) for name in left)
