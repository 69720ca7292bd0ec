"""Scores of a level with 95% confidence intervals, and the table of all levels."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mjlab.exam.falls import causes
from mjlab.exam.results import LevelResults, RunResult
from mjlab.files import finite

_Z = 1.959964
"""Quantile of the normal distribution for a 95% interval."""

LEAST_COMPLETED = 0.2
"""Minimum fraction of completed runs at which energy, vibration, touchdown speed and
peak force are reported. Below it they are NaN."""


@dataclass(frozen=True)
class Estimate:
    """Mean and bounds of its 95% confidence interval; NaN if there are no values."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class LevelScores:
    """Scores of a level. Energy and later fields are means over completed runs."""

    runs: int
    completed: Estimate
    """Fraction of runs without a fall, with a Wilson interval."""
    survival: Estimate
    """Time to the fall or to the end of the run, s."""
    position: Estimate
    """Distance to the target at the end of its time or at the fall, m."""
    heading: Estimate
    """Heading error at the end of a target's time or at the fall, degrees."""
    reached: Estimate
    """Number of targets per run whose position and heading were reached."""
    energy: Estimate
    """Energy of completed runs, kJ."""
    vibration: Estimate
    """Vibration of completed runs, 10^6 rad/s^2."""
    touchdown_speed: Estimate
    """Touchdown speed of completed runs, m/s."""
    peak_force: Estimate
    """Peak force of completed runs, body weights."""


def wilson(successes: int, number: int) -> Estimate:
    """Return a proportion with its 95% Wilson interval."""
    if number == 0:
        return Estimate(math.nan, math.nan, math.nan)
    share, z2 = successes / number, _Z * _Z
    centre = (share + z2 / (2 * number)) / (1 + z2 / number)
    spread = share * (1 - share) / number + z2 / (4 * number * number)
    half = _Z * math.sqrt(spread) / (1 + z2 / number)
    return Estimate(share, max(0.0, centre - half), min(1.0, centre + half))


def mean_of(values: Sequence[float]) -> Estimate:
    """Return the mean of finite values with its 95% normal interval.

    No metric can be negative, so the interval is clipped at zero.
    """
    known = np.array([v for v in values if math.isfinite(v)], float)
    if not len(known):
        return Estimate(math.nan, math.nan, math.nan)
    mean = float(known.mean())
    if len(known) == 1:
        return Estimate(mean, math.nan, math.nan)
    half = _Z * float(known.std(ddof=1)) / math.sqrt(len(known))
    return Estimate(mean, max(0.0, mean - half), mean + half)


def weighted_mean(runs: Sequence[Sequence[float]]) -> Estimate:
    """Return the mean of all values with a 95% interval clustered by run."""
    clusters = [values for values in runs if len(values)]
    counts = np.array([len(values) for values in clusters], float)
    if not len(counts):
        return Estimate(math.nan, math.nan, math.nan)
    sums = np.array([sum(values) for values in clusters])
    mean = float(sums.sum() / counts.sum())
    number = len(counts)
    if number == 1:
        return Estimate(mean, math.nan, math.nan)
    residuals = sums - mean * counts
    spread = float((residuals**2).sum()) * number / (number - 1)
    half = _Z * math.sqrt(spread) / float(counts.sum())
    return Estimate(mean, max(0.0, mean - half), mean + half)


def score(runs: Sequence[RunResult]) -> LevelScores:
    """Compute the scores of a level from the results of its runs."""
    done = [run for run in runs if run.completed]
    costs = done if len(done) >= LEAST_COMPLETED * len(runs) else []
    return LevelScores(
        runs=len(runs),
        completed=wilson(len(done), len(runs)),
        survival=mean_of([run.survival for run in runs]),
        position=weighted_mean([[t.distance for t in run.targets] for run in runs]),
        heading=weighted_mean(
            [[math.degrees(t.heading) for t in run.targets] for run in runs]
        ),
        reached=mean_of([float(run.reached) for run in runs]),
        energy=mean_of([run.energy for run in costs]),
        vibration=mean_of([run.vibration for run in costs]),
        touchdown_speed=mean_of([run.touchdown_speed for run in costs]),
        peak_force=mean_of([run.peak_force for run in costs]),
    )


# Tables and files.

_COLUMNS: tuple[tuple[str, str, float, int], ...] = (
    ("completed %", "completed", 100.0, 0),
    ("survival s", "survival", 1.0, 1),
    ("position cm", "position", 100.0, 0),
    ("heading deg", "heading", 1.0, 0),
    ("reached", "reached", 1.0, 1),
    ("energy kJ", "energy", 1.0, 1),
    ("vibration", "vibration", 1.0, 2),
    ("touchdown m/s", "touchdown_speed", 1.0, 2),
    ("peak BW", "peak_force", 1.0, 2),
)


def table(levels: Sequence[LevelResults]) -> list[list[str]]:
    """Return the cells of the score table: a header row, then one row per level."""
    rows = [["level", "runs", *(heading for heading, *_ in _COLUMNS)]]
    for level in levels:
        scores = score(level.runs)
        cells = [
            _cell(getattr(scores, name), factor, digits)
            for _, name, factor, digits in _COLUMNS
        ]
        rows.append([level.level, str(scores.runs), *cells])
    return rows


def as_json(levels: Sequence[LevelResults]) -> dict[str, Any]:
    """Return scores, causes of falls and runs by level, for a JSON file."""
    return {
        level.level: finite(
            {
                "scores": asdict(score(level.runs)),
                "falls": causes(level.runs),
                "runs": [asdict(run) for run in level.runs],
            }
        )
        for level in levels
    }


def _cell(estimate: Estimate, factor: float, digits: int) -> str:
    mean, low, high = (factor * v for v in (estimate.mean, estimate.low, estimate.high))
    if not math.isfinite(mean):
        return "-"
    shown = f"{mean:.{digits}f}"
    if not math.isfinite(low):
        return shown
    return f"{shown} ({low:.{digits}f}-{high:.{digits}f})"
