"""Random motions of the G1, to train a tracker on more than the named clips."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mjlab.motion.tools.clips.stepping import HALF_STANCE, LEFT, RIGHT
from mjlab.motion.tools.sketch import Sketch

GRID = 2.0**11
"""Quantisation steps per metre or radian: the error is below 3e-4, and files are a
quarter smaller than with the grid of the named clips."""

SECONDS = 11.0
"""Time after which no new movement of the legs starts."""

FASTEST = 3.5
"""Largest mean speed of an arm or waist joint during a movement, in rad/s."""

ARM = {
    "shoulder_pitch": (-2.2, 0.7),
    "shoulder_roll": (0.1, 1.4),
    "shoulder_yaw": (-0.7, 0.7),
    "elbow": (-0.5, 1.3),
}
"""Ranges of joint positions of the left arm, in rad."""

WAIST = {
    "waist_yaw": (-0.8, 0.8),
    "waist_roll": (-0.2, 0.2),
    "waist_pitch": (-0.1, 0.4),
}
"""Ranges of joint positions of the waist, in rad."""


def random_motion(seed: int) -> Callable[[Sketch], None]:
    """Return the description of a random motion.

    The legs walk, turn, step aside, stand on one foot, shift the weight or bend. Arms
    and waist move independently of them, to a new random pose in each movement.

    Args:
        seed: Seed of the random generator.
    """

    def describe(m: Sketch) -> None:
        rng = np.random.default_rng(seed)
        m.hold(0.6)
        m.move(0.6, height=-rng.uniform(0.03, 0.06))
        legs = _Legs(m, rng)
        while m.now < SECONDS:
            legs.move()
        m.stand_on(None, 0.7)
        end = m.now
        m.at(0.8)
        _move_arms_and_waist(m, rng, end)
        m.at(max(m.now, end))
        m.home(1.2)
        m.hold(0.8)

    return describe


@dataclass
class _Legs:
    """Random movements of the legs, one after the other."""

    m: Sketch
    rng: np.random.Generator
    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    """Pose of the midpoint between the feet, in m and rad."""

    def __post_init__(self) -> None:
        self.feet = {foot: self._place(foot) for foot in (LEFT, RIGHT)}

    def move(self) -> None:
        """Add one movement, which ends on both feet."""
        moves = (self._walk, self._walk, self._turn, self._aside)
        moves += (self._one_foot, self._sway, self._bend)
        moves[self.rng.integers(len(moves))]()

    def _walk(self) -> None:
        """Walk forward or backward, and stop with the feet side by side."""
        uniform = self.rng.uniform
        forward, turn = uniform(-0.16, 0.22), uniform(-0.12, 0.12)
        swing, shift = uniform(0.4, 0.6), uniform(0.15, 0.35)
        count, first = self.rng.integers(3, 9), self.rng.integers(2)
        for index in range(count):
            if index < count - 1:
                self._advance(forward, 0.0, turn)
            self._step((LEFT, RIGHT)[(first + index) % 2], swing, shift)

    def _turn(self) -> None:
        turn = self.rng.uniform(-0.6, 0.6)
        self._pairs(LEFT if turn > 0.0 else RIGHT, 0.0, 0.0, turn)

    def _aside(self) -> None:
        left, forward = self.rng.uniform(-0.13, 0.13), self.rng.uniform(-0.1, 0.12)
        self._pairs(LEFT if left > 0.0 else RIGHT, forward, left, 0.0)

    def _pairs(self, first: str, forward: float, left: float, turn: float) -> None:
        """Step with both feet by the same displacement, one to four times."""
        swing, shift = self.rng.uniform(0.45, 0.65), self.rng.uniform(0.25, 0.4)
        second = RIGHT if first == LEFT else LEFT
        for _ in range(self.rng.integers(1, 5)):
            self._advance(forward, left, turn)
            self._step(first, swing, shift)
            self._step(second, swing, shift)

    def _one_foot(self) -> None:
        """Lift a foot, move it in the air, and set it down."""
        uniform = self.rng.uniform
        foot, other = (LEFT, RIGHT) if self.rng.integers(2) else (RIGHT, LEFT)
        outward = 1.0 if foot == LEFT else -1.0
        self.m.stand_on(other, uniform(0.6, 1.0))
        for _ in range(self.rng.integers(1, 4)):
            self.m.lift(
                foot,
                uniform(0.4, 0.9),
                up=uniform(0.06, 0.2),
                forward=uniform(-0.12, 0.25),
                left=outward * uniform(-0.03, 0.1),
                pitch=uniform(-0.3, 0.3),
            )
            self.m.hold(uniform(0.0, 0.5))
        self.m.lift(foot, uniform(0.5, 0.8))
        self.m.stand_on(None, uniform(0.5, 0.8))

    def _sway(self) -> None:
        for _ in range(self.rng.integers(1, 4)):
            for foot in (LEFT, RIGHT):
                self.m.stand_on(foot, self.rng.uniform(0.5, 1.0))
        self.m.stand_on(None, self.rng.uniform(0.5, 0.8))

    def _bend(self) -> None:
        """Bend knees and hips, and rise."""
        uniform = self.rng.uniform
        low = uniform(0.08, 0.22)
        self.m.move(low / uniform(0.12, 0.25), height=-low, pitch=uniform(0.0, 0.35))
        self.m.hold(uniform(0.0, 0.6))
        high = uniform(0.03, 0.06)
        self.m.move((low - high) / uniform(0.12, 0.25) + 0.3, height=-high, pitch=0.0)

    def _advance(self, forward: float, left: float, turn: float) -> None:
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        self.x += cos * forward - sin * left
        self.y += sin * forward + cos * left
        self.yaw += turn

    def _place(self, foot: str) -> tuple[float, float, float]:
        side = HALF_STANCE if foot == LEFT else -HALF_STANCE
        x, y = self.x - side * math.sin(self.yaw), self.y + side * math.cos(self.yaw)
        return x, y, self.yaw

    def _step(self, foot: str, seconds: float, shift: float) -> None:
        """Step to the foot's place beside the middle."""
        (x, y, yaw), goal = self.feet[foot], self._place(foot)
        dx, dy = goal[0] - x, goal[1] - y
        self.m.step(
            foot,
            seconds,
            forward=math.cos(yaw) * dx + math.sin(yaw) * dy,
            left=math.cos(yaw) * dy - math.sin(yaw) * dx,
            turn=goal[2] - yaw,
            shift=shift,
        )
        self.feet[foot] = goal


def _move_arms_and_waist(m: Sketch, rng: np.random.Generator, end: float) -> None:
    """Move to random poses until a time."""
    while True:
        pose = {name: rng.uniform(*limits) for name, limits in WAIST.items()}
        left = {name: rng.uniform(*limits) for name, limits in ARM.items()}
        right = {name: rng.uniform(*limits) for name, limits in ARM.items()}
        kind = rng.choice(["both arms, mirrored", "both arms", "left arm"])
        if kind == "both arms, mirrored":
            pose |= left
        else:
            pose |= {f"left_{name}": value for name, value in left.items()}
        if kind == "both arms":
            signs = m.robot.mirror_signs
            pose |= {
                f"right_{name}": signs[f"right_{name}_joint"] * value
                for name, value in right.items()
            }
        size = rng.uniform(0.2, 1.0)
        goals, longest = {}, 0.0
        for name, value in m.resolved(pose).items():
            first, last = m.channels[name].values[0], m.channels[name].last
            goals[name] = first + size * (value - first)
            longest = max(longest, abs(goals[name] - last))
        seconds = max(rng.uniform(0.35, 1.5), longest / FASTEST)
        if m.now + seconds > end:
            return
        m.move(seconds, **{name.removesuffix("_joint"): q for name, q in goals.items()})
        m.hold(rng.choice([0.0, rng.uniform(0.0, 0.5)]))
