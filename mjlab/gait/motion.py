"""Recorded motion of a legged robot, and gait metrics of the motion.

Feet are sampled at every physics step, base and joints at every control step. A foot is
on the ground while its vertical contact force exceeds `CONTACT_FORCE` body weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mjlab.gait.commands import Figures

GRAVITY = 9.81
"""Gravitational acceleration, m/s²."""

CONTACT_FORCE = 30.0 / (33.34 * GRAVITY)
"""Minimum vertical force of a foot on the ground, in body weights: 30 N for a G1."""

SHORTEST_SWING = 0.04
"""Minimum duration of a swing, s. Shorter losses of contact are bounces."""

SLOWEST = 0.05
"""Minimum speed, m/s, at which the cost of transport is defined."""

Array = np.ndarray


@dataclass(frozen=True, kw_only=True)
class LeggedMotion:
    """Motion of several robots under one command.

    Letters in shapes: s physics samples, k control steps, n robots, f feet, j joints.
    """

    feet: tuple[str, ...]
    """Names of the feet."""

    weight: float
    """Weight of the robot, N."""

    physics_dt: float
    """Time between physics samples, s."""

    step_dt: float
    """Time between control steps, s."""

    foot_pos: Array
    """Positions of the feet in the world, m, shape (s, n, f, 3)."""

    foot_force: Array
    """Vertical contact forces of the feet, N, shape (s, n, f)."""

    foot_heading: Array
    """Yaw of the base at physics samples, rad, shape (s, n)."""

    velocity: Array
    """Velocity of the base in its yaw frame, forward and left, m/s, shape (k, n, 2)."""

    heading: Array
    """Yaw of the base at control steps, rad, shape (k, n)."""

    joint_vel: Array
    """Joint velocities, rad/s, shape (k, n, j)."""

    joint_torque: Array
    """Actuator torques at the joints, after clipping, N m, shape (k, n, j)."""

    fell: Array
    """Whether each robot fell, shape (n,). Gait metrics exclude robots that fell."""

    def after(self, seconds: float) -> "LeggedMotion":
        """Return the motion without its first `seconds`."""
        sample = round(seconds / self.physics_dt)
        step = round(seconds / self.step_dt)
        return self._map(slice(sample, None), slice(step, None), slice(None))

    def of(self, robots: Array) -> "LeggedMotion":
        """Return the motion of some robots, selected by mask or index."""
        return self._map(slice(None), slice(None), robots)

    def _map(
        self, samples: slice, steps: slice, robots: Array | slice
    ) -> "LeggedMotion":
        return LeggedMotion(
            feet=self.feet,
            weight=self.weight,
            physics_dt=self.physics_dt,
            step_dt=self.step_dt,
            foot_pos=self.foot_pos[samples][:, robots],
            foot_force=self.foot_force[samples][:, robots],
            foot_heading=self.foot_heading[samples][:, robots],
            velocity=self.velocity[steps][:, robots],
            heading=self.heading[steps][:, robots],
            joint_vel=self.joint_vel[steps][:, robots],
            joint_torque=self.joint_torque[steps][:, robots],
            fell=self.fell[robots],
        )

    @cached_property
    def on_ground(self) -> Array:
        """Whether each foot is on the ground, shape (s, n, f)."""
        return self.foot_force > CONTACT_FORCE * self.weight

    @property
    def seconds(self) -> float:
        """Duration of the recording, s."""
        return len(self.foot_pos) * self.physics_dt


# Steps of one foot.


@dataclass(frozen=True, kw_only=True)
class FootSteps:
    """Steps of one foot of one robot. All arrays are one-dimensional."""

    touchdowns: Array
    """Physics sample indices of all touchdowns."""

    landings: Array
    """Physics sample indices of touchdowns that end a complete swing."""

    swings: Array
    """Duration of each complete swing, s."""

    clearances: Array
    """Maximum foot height in each swing, above the median height in contact, m."""

    lengths: Array
    """Distance of the foot ahead of the opposite foot at each landing, m."""

    speeds: Array
    """Downward foot speed before each landing, m/s."""

    slips: Array
    """Horizontal distance that the foot slides in each complete stance phase, m."""

    peaks: Array
    """Maximum vertical force in each complete stance phase, body weights."""


def fill_gaps(on_ground: Array, longest: int) -> Array:
    """Fill gaps of fewer than `longest` samples between two contacts."""
    filled = on_ground.copy()
    lost, made = _edges(on_ground)
    for start in lost:
        later = made[made > start]
        if len(later) and later[0] - start < longest:
            filled[start : later[0]] = True
    return filled


def _edges(state: Array) -> tuple[Array, Array]:
    """Return the sample indices of lift-offs and of touchdowns."""
    change = np.diff(state.astype(np.int8))
    return np.flatnonzero(change < 0) + 1, np.flatnonzero(change > 0) + 1


def foot_steps(motion: LeggedMotion, robot: int, foot: int, opposite: int) -> FootSteps:
    """Find the steps of a foot.

    Args:
        motion: The motion.
        robot: Index of the robot.
        foot: Index of the foot.
        opposite: Index of the opposite foot, from which step lengths are measured.
    """
    dt = motion.physics_dt
    contact = motion.on_ground[:, robot, foot]
    state = fill_gaps(contact, max(round(SHORTEST_SWING / dt), 1))
    lost, made = _edges(state)
    pos = motion.foot_pos[:, robot, foot]
    force = motion.foot_force[:, robot, foot] / motion.weight
    ground = np.median(pos[contact, 2]) if contact.any() else np.nan
    swings = [(lost[lost < end].max(), end) for end in made if (lost < end).any()]
    stances = [
        (start, lost[lost > start].min())
        for start in made
        if lost.max(initial=-1) > start
    ]
    landings = np.array([end for _, end in swings], dtype=int)
    before = np.maximum(landings - 1, 0)
    path = np.r_[0.0, np.linalg.norm(np.diff(pos[:, :2], axis=0), axis=1).cumsum()]
    ahead = pos[:, :2] - motion.foot_pos[:, robot, opposite, :2]
    yaw = motion.foot_heading[:, robot]
    length = ahead[:, 0] * np.cos(yaw) + ahead[:, 1] * np.sin(yaw)
    return FootSteps(
        touchdowns=made,
        landings=landings,
        swings=np.array([(end - start) * dt for start, end in swings]),
        clearances=np.array([pos[a : b + 1, 2].max() - ground for a, b in swings]),
        lengths=length[landings],
        speeds=(pos[np.maximum(before - 1, 0), 2] - pos[before, 2]) / dt,
        slips=np.array([path[end] - path[start] for start, end in stances]),
        peaks=np.array([force[start:end].max() for start, end in stances]),
    )


# Left and right feet.


def pair_feet(motion: LeggedMotion) -> tuple[Array, Array]:
    """Return the indices of the left and the right feet, each from front to back.

    Sides and order are found from the mean positions of the feet relative to the centre
    of all feet, in the yaw frame of the base.
    """
    offset = motion.foot_pos[..., :2] - motion.foot_pos[..., :2].mean(2, keepdims=True)
    yaw = motion.foot_heading[..., None]
    ahead = offset[..., 0] * np.cos(yaw) + offset[..., 1] * np.sin(yaw)
    beside = offset[..., 1] * np.cos(yaw) - offset[..., 0] * np.sin(yaw)
    order = np.argsort(-beside.mean((0, 1)))
    front = ahead.mean((0, 1))
    left, right = order[: len(order) // 2], order[len(order) // 2 :]
    return left[np.argsort(-front[left])], right[np.argsort(-front[right])]


# Metrics.


def measure(motion: LeggedMotion, command: Sequence[float]) -> Figures:
    """Compute the metrics of a gait, in SI units; fractions are 0 to 1.

    An undefined metric is None, such as the step length of a robot that takes no steps.
    If all robots fell, only the numbers of feet, robots and falls are returned.

    Args:
        motion: The motion, without its start from rest.
        command: Commanded forward and left velocity, m/s, and yaw rate, rad/s.
    """
    robots = len(motion.fell)
    upright = motion.of(~motion.fell)
    falls = int(motion.fell.sum())
    figures: Figures = {"feet": len(motion.feet), "robots": robots, "falls": falls}
    if not len(upright.fell):
        return figures
    return (
        figures
        | _tracking(upright, np.asarray(command, dtype=float))
        | _stepping(upright)
        | _effort(upright)
    )


def _stepping(motion: LeggedMotion) -> Figures:
    robots, feet = len(motion.fell), len(motion.feet)
    left, right = pair_feet(motion)
    every, others = np.r_[left, right], np.r_[right, left]
    steps = {
        f: [foot_steps(motion, r, f, other) for r in range(robots)]
        for f, other in zip(every.tolist(), others.tolist(), strict=True)
    }

    def pooled(name: str, chosen: Array) -> Array:
        return np.concatenate([getattr(s, name) for f in chosen for s in steps[f]])

    touchdowns = len(pooled("touchdowns", every))
    rate = touchdowns / (robots * motion.seconds)
    on_ground = motion.on_ground
    moved = motion.foot_pos[..., :2] - motion.foot_pos[:1, ..., :2]
    differences = [
        _difference(pooled(name, left), pooled(name, right))
        for name in ("clearances", "swings", "lengths")
    ]
    figures: Figures = {
        "steps_per_s": rate,
        "step_length": _mean(pooled("lengths", every)),
        "clearance": _mean(pooled("clearances", every)),
        "flight": float((~on_ground).all(2).mean()),
        "slip": _mean(pooled("slips", every)),
        "impact": _mean(pooled("peaks", every)),
        "touchdown_speed": _mean(pooled("speeds", every)),
        "swing": _mean(pooled("swings", every)),
        "asymmetry": max((d for d in differences if d is not None), default=None),
        "asymmetry_clearance": differences[0],
        "asymmetry_swing": differences[1],
        "asymmetry_length": differences[2],
        "foot_drift": float(np.linalg.norm(moved, axis=-1).max()),
    }
    if feet == 2:
        return figures | {"double_support": float(on_ground.all(2).mean())}
    phases = _phases([steps[f] for f in range(feet)])
    return figures | {
        "steps_per_s_per_leg": rate / feet,
        "duty_factor": float(on_ground.mean()),
        "phases": phases,
        "diagonal_lag": _diagonal_lag(phases, left, right),
    }


def _phases(steps: list[list[FootSteps]]) -> list[float] | None:
    """Return the mean landing time of each foot, as a fraction of the first's stride.

    None if a foot does not land within a stride of the first foot.
    """
    found = []
    for of_foot in steps:
        turns = []
        for first, other in zip(steps[0], of_foot, strict=True):
            begins = first.touchdowns
            at = np.searchsorted(begins, other.touchdowns, side="right") - 1
            whole = (at >= 0) & (at < len(begins) - 1)
            at, landed = at[whole], other.touchdowns[whole]
            turns.append((landed - begins[at]) / (begins[at + 1] - begins[at]))
        turn = np.concatenate(turns)
        if not len(turn):
            return None
        mean = np.exp(2j * np.pi * turn).mean()
        found.append(float(np.angle(mean) / (2 * np.pi) % 1.0))
    return found


def _diagonal_lag(
    phases: list[float] | None, left: Array, right: Array
) -> float | None:
    """Return the largest phase difference within two groups of feet, in strides.

    The groups are the diagonal pairs of a quadruped and the tripods of a hexapod. The
    difference is 0 for a trot and for a tripod gait. Return None if the phases are
    undefined, or if the robot has more feet on one side than on the other.
    """
    if phases is None or len(left) != len(right):
        return None
    turns = np.array(phases)
    even = np.arange(len(left)) % 2 == 0
    lags = []
    for group in (np.where(even, left, right), np.where(even, right, left)):
        apart = turns[group][:, None] - turns[group]
        lags.append(np.abs((apart + 0.5) % 1.0 - 0.5).max())
    return float(max(lags))


def _effort(motion: LeggedMotion) -> Figures:
    acceleration = np.diff(motion.joint_vel, axis=0) / motion.step_dt
    jerk = np.abs(np.diff(acceleration, axis=0)).sum(2).mean()
    power = np.abs(motion.joint_torque * motion.joint_vel).sum(2).mean()
    speed = np.linalg.norm(motion.velocity, axis=2).mean()
    return {
        "vibration": float(jerk * 90.0 / motion.step_dt / 1e6),
        "power": float(power),
        "cost_of_transport": float(power / (motion.weight * speed))
        if speed > SLOWEST
        else None,
    }


def _tracking(motion: LeggedMotion, command: Array) -> Figures:
    per_second = round(1.0 / motion.step_dt)
    whole = len(motion.velocity) // per_second
    rows = motion.velocity[: whole * per_second]
    each = rows.reshape(whole, per_second, -1, 2).mean(1)
    yaw = np.unwrap(motion.heading, axis=0)
    last = len(yaw) - 1
    marks = np.minimum(np.arange(whole + 1) * per_second, last)
    spans = np.diff(marks)[:, None] * motion.step_dt
    turned = np.diff(yaw[marks], axis=0) / spans
    mean = motion.velocity.mean(0)
    turning = (yaw[-1] - yaw[0]) / (last * motion.step_dt)
    return {
        "speed": float(motion.velocity[..., 0].mean()),
        "velocity": [*mean.mean(0).tolist(), float(turning.mean())],
        "linear_error": float(np.linalg.norm(each - command[:2], axis=2).mean()),
        "turning_error": float(np.abs(turned - command[2]).mean()),
        "mean_linear_error": float(np.linalg.norm(mean - command[:2], axis=1).mean()),
        "mean_turning_error": float(np.abs(turning - command[2]).mean()),
    }


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _difference(left: Array, right: Array) -> float | None:
    """Return the difference of the means of left and right, relative to their mean."""
    if not len(left) or not len(right):
        return None
    a, b = left.mean(), right.mean()
    return float(2.0 * abs(a - b) / abs(a + b)) if a + b else None
