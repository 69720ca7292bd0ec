"""Group falls by the last punch: its joint, direction, gait phase and impulse."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from mjlab.exam.results import Punch, RunResult

WITHOUT_PUNCH = "no punch"
"""Class of falls in runs without punches."""

_IMPULSE_STEP = 10.0
"""Bin width of impulses, N s."""

Counts = dict[str, tuple[int, int]]
"""(falls, punches) by class of punch."""


def part_of(punch: Punch) -> str:
    """Return the punched body part: the joint's name without side and suffix."""
    name = punch.joint.removesuffix("_joint")
    for side in ("left_", "right_", "FL_", "FR_", "RL_", "RR_"):
        name = name.removeprefix(side)
    return name.replace("_", " ")


def side_of(punch: Punch) -> str:
    """Return the side of the robot that the force comes from."""
    ahead, left, up = punch.direction
    if abs(up) > math.sqrt(0.5):
        return "above" if up < 0.0 else "below"
    if abs(ahead) >= abs(left):
        return "behind" if ahead > 0.0 else "the front"
    return "the right" if left > 0.0 else "the left"


def phase_of(punch: Punch) -> str:
    """Return the gait phase at the start of the punch."""
    down = sum(punch.feet)
    if len(punch.feet) == 2:
        return ("flight", "single support", "double support")[down]
    return "flight" if down == 0 else f"{down} of {len(punch.feet)} feet down"


def impulse_of(punch: Punch) -> str:
    """Return the name of the impulse's bin, such as "10-20 N s"."""
    low = _IMPULSE_STEP * (punch.impulse // _IMPULSE_STEP)
    return f"{low:.0f}-{low + _IMPULSE_STEP:.0f} N s"


KINDS: dict[str, Callable[[Punch], str]] = {
    "joint": part_of,
    "side": side_of,
    "phase": phase_of,
    "impulse": impulse_of,
}
"""Functions that classify a punch, by table title."""


def counts(runs: Sequence[RunResult], kind: Callable[[Punch], str]) -> Counts:
    """Count punches of each class, and falls whose last punch is of this class."""
    found: Counts = {}
    for run in runs:
        for punch in run.punches:
            name = kind(punch)
            falls, punches = found.get(name, (0, 0))
            found[name] = falls + (punch is run.last_punch), punches + 1
    return dict(sorted(found.items()))


def causes(runs: Sequence[RunResult]) -> dict[str, Counts]:
    """Count falls and punches for each entry of `KINDS`, and falls without punches."""
    found = {name: counts(runs, kind) for name, kind in KINDS.items()}
    unpunched = sum(not run.completed and not run.punches for run in runs)
    return found | {WITHOUT_PUNCH: {"falls": (unpunched, unpunched)}}


def survival_curve(
    runs: Sequence[RunResult], seconds: float, points: int = 181
) -> tuple[list[float], list[float]]:
    """Return times, s, and the fraction of runs that have not fallen at each time."""
    times = np.linspace(0.0, seconds, points)
    falls = np.array([math.inf if r.completed else r.survival for r in runs])
    return times.tolist(), [float((falls > time).mean()) for time in times]
