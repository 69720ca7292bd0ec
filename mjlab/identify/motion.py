"""Find an excitation motion: random steps and sines with the smallest intervals.

A motion starts and ends at rest in the initial pose. Sines excite inertia and damping,
slow reversals excite friction, and steps excite the delay and the torque limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mjlab.identify.fit import expected_half_widths
from mjlab.identify.logs import IdentifyError, Log
from mjlab.identify.parameters import Candidate
from mjlab.identify.problem import Problem
from mjlab.identify.robot import Robot
from mjlab.identify.twin import POSITION_NOISE, VELOCITY_NOISE

_REST = 0.5
_FADE = 0.5
_SINES = (0.15, 0.4, 0.9, 1.8, 3.2)
"""Frequencies of the sines, Hz. They are varied by up to 20 % for each joint."""


@dataclass(frozen=True)
class Motion:
    """Proposed motion, and the intervals that are expected from its log."""

    log: Log
    """Targets of the motors over time, and their times."""

    half: dict[str, float]
    """Expected half-width of each parameter's 95 % interval, by parameter name."""

    score: float
    """Mean logarithm of the half-widths, relative to the parameters' ranges. Lower is
    better."""

    tried: int
    """Number of motions that were compared."""


def propose(
    robot: Robot,
    unknowns: Sequence[Candidate],
    *,
    seconds: float = 10.0,
    share: float = 0.7,
    period: float = 0.01,
    tries: int = 6,
    seed: int = 0,
) -> Motion:
    """Return the best of several random motions.

    Args:
        robot: The robot.
        unknowns: Parameters to determine.
        seconds: Duration of the motion, s.
        share: Fraction of each joint's range that the targets use, 0 to 1.
        period: Time between targets, s.
        tries: Number of motions to compare.
        seed: Random seed of the motions.
    """
    moved = [motor.joint for motor in robot.motors]
    if not moved:
        raise IdentifyError(
            f"None of the joints {', '.join(robot.joints)} has a motor, so no motion "
            "can be proposed. Select other joints with --joints."
        )
    found = []
    for index in range(tries):
        rng = np.random.default_rng([seed, index])
        log = _random_motion(robot, moved, rng, seconds, share, period)
        half = _expected(robot, unknowns, log)
        ranges = np.array([0.5 * (u.high - u.low) for u in unknowns])
        score = float(np.mean(np.log(np.minimum(half / ranges, 1.0))))
        names = [each.name for each in unknowns]
        by_name = dict(zip(names, half.tolist(), strict=True))
        found.append(Motion(log, by_name, score, tries))
    return min(found, key=lambda motion: motion.score)


def _expected(robot: Robot, unknowns: Sequence[Candidate], motion: Log) -> np.ndarray:
    """Return the half-widths that are expected from a log of a motion."""
    rest = np.ones_like(motion.times)
    places = {j: robot.model.joint(robot.prefix + j).qposadr[0] for j in robot.joints}
    pos = {joint: robot.qpos[place] * rest for joint, place in places.items()}
    vel = {joint: 0.0 * rest for joint in robot.joints}
    # Measured values can be constant: the Jacobian does not depend on them.
    log = Log(motion.times, motion.targets, pos, vel, {})
    problem = Problem(robot, [log], unknowns)
    noise = {"pos": POSITION_NOISE, "vel": VELOCITY_NOISE}
    problem.weights = np.array([1.0 / noise[c.signal] for c in problem.columns])
    return expected_half_widths(problem)


def _random_motion(
    robot: Robot,
    joints: Sequence[str],
    rng: np.random.Generator,
    seconds: float,
    share: float,
    period: float,
) -> Log:
    times = period * np.arange(round(seconds / period) + 1)
    fade = np.clip(np.minimum(times - _REST, times[-1] - times) / _FADE, 0.0, 1.0)
    targets = {}
    for joint in joints:
        start, low, high = _reach(robot, joint, share)
        wave = _sines(times, rng) + _steps(times, rng, seconds)
        wave /= np.abs(wave).max()
        size = np.where(wave > 0.0, high - start, start - low)
        targets[joint] = start + fade * wave * size
    return Log(times, targets, targets, {}, {})


def _reach(robot: Robot, joint: str, share: float) -> tuple[float, float, float]:
    """Return the initial target, and the lowest and highest target of a joint."""
    motor = robot.motor(joint)
    assert motor is not None
    model = robot.model
    named = model.joint(robot.prefix + joint)
    actuator = model.actuator(motor.actuator)
    if motor.command == "effort":
        limit = float(actuator.forcerange[1]) if actuator.forcelimited[0] else 1.0
        return 0.0, -share * limit, share * limit
    start = float(robot.qpos[named.qposadr[0]])
    is_hinge = int(named.type[0]) == int(mujoco.mjtJoint.mjJNT_HINGE)
    widest = 1.0 if is_hinge else 0.1
    low, high = start - widest, start + widest
    if bool(named.limited[0]):
        low, high = map(float, named.range)
    return start, start - share * (start - low), start + share * (high - start)


def _sines(times: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    wave = np.zeros_like(times)
    for frequency in _SINES:
        exact = frequency * rng.uniform(0.8, 1.2)
        size = rng.uniform(0.3, 1.0) / np.sqrt(frequency)
        phase = rng.uniform(0.0, 2.0 * np.pi)
        wave += size * np.sin(2.0 * np.pi * exact * times + phase)
    return wave


def _steps(times: np.ndarray, rng: np.random.Generator, seconds: float) -> np.ndarray:
    count = max(2, round(seconds / 1.2))
    ends = np.sort(rng.uniform(0.0, seconds, count))
    heights = rng.uniform(-2.0, 2.0, count + 1)
    return heights[np.searchsorted(ends, times)]
