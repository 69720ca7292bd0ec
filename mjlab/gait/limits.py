"""Limits of a natural gait, and the verdict on a policy."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mjlab.gait.commands import LARGE, SMALL, STAND, Figures
from mjlab.gait.size import relative_size, scaled_name

QUIET = "quiet"
"""Name of the test condition without noise, pushes and randomisation."""

AS_TRAINED = "as trained"
"""Name of the test condition with the noise, pushes and randomisation of training."""

SLOW, FAST = "forward 0.5", "forward 1.0"
"""Names of the commands under which gait metrics are compared with limits."""


@dataclass(frozen=True)
class Limit:
    """Inclusive lower and upper bound of a gait metric."""

    low: float = -math.inf
    high: float = math.inf

    def holds(self, value: float) -> bool:
        """Return whether a value is within the bounds."""
        return self.low <= value <= self.high

    def times(self, factor: float) -> "Limit":
        """Return the bounds multiplied by a positive factor."""
        return Limit(factor * self.low, factor * self.high)


BIPED: dict[str, Limit] = {
    "steps_per_s": Limit(1.6, 3.6),
    "step_length": Limit(low=0.22),
    "clearance": Limit(low=0.06),
    "double_support": Limit(0.05, 0.35),
    "flight": Limit(high=0.02),
    "slip": Limit(high=0.05),
    "impact": Limit(high=2.2),
    "vibration": Limit(high=1.8),
    "asymmetry": Limit(high=0.1),
}
"""Gait of a G1-sized biped at 1 m/s.

Five published G1 policies take 2.0 to 3.4 steps/s of 26 to 36 cm, lift their feet by 6
to 11 cm, have 10 to 21 % double support and no flight, slip 2 to 6 cm per step, land
with 1.6 to 2.5 body weights, and have a vibration of 0.8 to 3.0 (10^6 rad/s^2 in 90 s).
The limits cover these ranges, except for impact and vibration, where they admit only
the better half of the range.
"""

BIPED_SLOW = BIPED | {"step_length": Limit(low=0.14)}
"""Gait of a G1-sized biped at 0.5 m/s, with shorter steps."""

QUADRUPED: dict[str, Limit] = {
    # Quadrupeds of 12 kg change from trot to gallop at 3.2 strides/s (269 M^-0.14 per
    # minute, Heglund, Taylor and McMahon 1974); the shipped Go1 takes 3.7.
    "steps_per_s_per_leg": Limit(1.5, 3.8),
    # The shipped policies lift their feet by 10 and 11 cm, MuJoCo Playground's Go1 by
    # 6 cm.
    "clearance": Limit(0.04, 0.12),
    # Shipped policies: 28 and 29 %. A trot below 50 % is a running trot (Hildebrand
    # 1965).
    "duty_factor": Limit(low=0.27),
    # 0 for a trot, and for a tripod gait of six legs. Shipped policies: at most 0.02
    # strides.
    "diagonal_lag": Limit(high=0.1),
    # Shipped policies: 42 and 36 % of the time.
    "flight": Limit(high=0.43),
    # Shipped policies: 0.7 and 0.8 cm per step. Playground's Go1: 1.4 cm, with rolling
    # feet.
    "slip": Limit(high=0.02),
    # Shipped policies: 1.8 and 1.9 body weights.
    "impact": Limit(high=2.0),
    # Shipped policies: 5.5 and 5.8 (10^6 rad/s^2 in 90 s).
    "vibration": Limit(high=5.9),
    "asymmetry": Limit(high=0.1),
}
"""Gait of a Go1-sized quadruped at 1 m/s.

The limits admit the policies that shipped in November 2026 (Velocity-Go1-Flat and
Velocity-Go1). These have more flight than animals. Robots with more legs have the same
limits, except that the limit of the vibration is proportional to the number of legs.
"""

QUADRUPED_SLOW = QUADRUPED | {
    # Shipped policies: duty factor 37 and 33 %, flight 23 and 32 %, impact 1.3 and 1.5
    # body weights, vibration 3.3 and 4.0.
    "duty_factor": Limit(low=0.32),
    "flight": Limit(high=0.33),
    "impact": Limit(high=1.6),
    "vibration": Limit(high=4.1),
}
"""Gait of a Go1-sized quadruped at 0.5 m/s."""

LARGE_ERRORS = {"linear": Limit(high=0.15), "turning": Limit(high=0.2)}
"""Maximum errors under large commands, m/s and rad/s."""

SMALL_ERRORS = {"linear": Limit(high=0.1), "turning": Limit(high=0.1)}
"""Maximum errors under small commands, m/s and rad/s."""

STANDING = {"steps_per_s": Limit(high=0.0), "foot_drift": Limit(high=0.03)}
"""Limits at zero command in the condition `QUIET`: no steps, and foot drift in m."""

SIZE_EXPONENTS = {
    "step_length": 1.0,
    "clearance": 1.0,
    "slip": 1.0,
    "foot_drift": 1.0,
    "steps_per_s": -0.5,
    "steps_per_s_per_leg": -0.5,
    "linear_error": 0.5,
    "mean_linear_error": 0.5,
    "vibration": -1.5,
}
"""Exponents by metric: a limit is multiplied by the relative size to this power.

Times are proportional to the square root of the leg length (`mjlab.gait.size`).
Vibration has the dimension of a jerk, which is inversely proportional to the cube of a
time.
"""

FALLS = Limit(high=0.0)
"""Maximum number of falls, summed over all episodes of a condition."""

ERRORS = {
    QUIET: {"linear": "linear_error", "turning": "turning_error"},
    AS_TRAINED: {"linear": "mean_linear_error", "turning": "mean_turning_error"},
}
"""Error metrics by condition.

A push changes the velocity by as much as the limits. So in the condition with pushes,
the mean velocity of each episode is compared with the command.
"""


@dataclass(frozen=True)
class Failure:
    """Gait metric outside its limit."""

    world: str
    """Test condition, `QUIET` or `AS_TRAINED`."""

    command: str
    """Name of the command with the robot's speed, or "all commands"."""

    measure: str
    """Name of the metric."""

    value: float | None
    """Value of the metric. None means undefined, which is a failure too."""

    limit: Limit
    """Limit of the metric."""


def failures(worlds: Mapping[str, Mapping[str, Figures]]) -> list[Failure]:
    """Return the metrics outside their limits; empty for a natural gait.

    Args:
        worlds: Metrics by test condition and command.
    """
    found: list[Failure] = []
    for world, commands in worlds.items():
        falls = sum(_number(figures, "falls") or 0 for figures in commands.values())
        if not FALLS.holds(falls):
            found.append(Failure(world, "all commands", "falls", falls, FALLS))
        for command, figures in commands.items():
            for measure, limit in limits_of(world, command, figures).items():
                value = _number(figures, measure)
                if value is None or not limit.holds(value):
                    name = scaled_name(command, relative_size(figures))
                    found.append(Failure(world, name, measure, value, limit))
    return found


def limits_of(world: str, command: str, figures: Figures) -> dict[str, Limit]:
    """Return the limits of the metrics under a command, by metric name.

    Args:
        world: Test condition, `QUIET` or `AS_TRAINED`.
        command: Name of the command.
        figures: Metrics under the command. The number of feet decides between limits of
            bipeds and quadrupeds; limits of robots with short legs are scaled.
    """
    limits: dict[str, Limit] = {}
    errors = LARGE_ERRORS if command in LARGE else SMALL_ERRORS
    if command in LARGE or command in SMALL:
        limits |= {ERRORS[world][kind]: limit for kind, limit in errors.items()}
    if world == QUIET and command in (FAST, SLOW):
        limits |= _gait_limits(command, _number(figures, "feet") or 4)
    elif world == QUIET and command == STAND:
        limits |= STANDING
    size = relative_size(figures)
    return {
        measure: limit.times(size ** SIZE_EXPONENTS.get(measure, 0.0))
        for measure, limit in limits.items()
    }


def _gait_limits(command: str, feet: float) -> dict[str, Limit]:
    if feet == 2:
        return BIPED if command == FAST else BIPED_SLOW
    limits = QUADRUPED if command == FAST else QUADRUPED_SLOW
    return limits | {"vibration": limits["vibration"].times(feet / 4)}


def _number(figures: Figures, measure: str) -> float | None:
    value = figures.get(measure)
    return value if isinstance(value, int | float) else None
