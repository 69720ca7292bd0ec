"""Scores, intervals and causes of falls, by hand arithmetic and published values."""

import math

import numpy as np
import pytest

from mjlab.exam.falls import causes, phase_of, side_of, survival_curve
from mjlab.exam.results import Punch, RunResult, TargetResult
from mjlab.exam.scores import mean_of, score, weighted_mean, wilson


def _punch(direction: tuple[float, float, float], feet: tuple[bool, ...]) -> Punch:
    return Punch(0, "left_knee_joint", 25.0, direction, feet, 0.1)


def _run(run: int, survival: float, **more: object) -> RunResult:
    result = RunResult(run, survival, survival == 90.0)
    for name, value in more.items():
        setattr(result, name, value)
    return result


def test_wilson_interval_has_its_textbook_values() -> None:
    # 9 of 10: 0.596 to 0.982 (Newcombe 1998, method 3, and R's binom.wilson).
    found = wilson(9, 10)
    assert found.low == pytest.approx(0.5958, abs=5e-5)
    assert found.high == pytest.approx(0.9821, abs=5e-5)
    assert wilson(0, 64).low == 0.0
    assert wilson(0, 64).high == pytest.approx(1.96**2 / (64 + 1.96**2), rel=1e-3)


def test_mean_has_a_normal_interval() -> None:
    found = mean_of([1.0, 2.0, 3.0, math.nan])
    assert found.mean == 2.0
    assert found.high - found.mean == pytest.approx(1.959964 / math.sqrt(3))


def test_mean_over_targets_is_weighted_by_targets() -> None:
    assert weighted_mean([[1.0], [4.0, 4.0, 3.0]]).mean == 3.0
    # With one target per run it is the usual interval.
    single, usual = weighted_mean([[1.0], [2.0], [6.0]]), mean_of([1.0, 2.0, 6.0])
    assert single.low == pytest.approx(usual.low)


def test_costs_are_omitted_if_fewer_than_a_fifth_completed() -> None:
    fallen = [_run(i, 10.0, energy=1.0) for i in range(9)]
    few = score([*fallen, _run(9, 90.0, energy=8.0)])
    enough = score([*fallen[:4], _run(9, 90.0, energy=8.0)])
    assert math.isnan(few.energy.mean)
    assert enough.energy.mean == 8.0
    assert few.completed.mean == pytest.approx(0.1)


def test_errors_count_started_targets_only() -> None:
    targets = [TargetResult(0.1, math.pi / 2, True), TargetResult(0.3, 0.0, False)]
    found = score([_run(0, 7.0, targets=targets)])
    assert found.position.mean == pytest.approx(0.2)
    assert found.heading.mean == pytest.approx(45.0)
    assert found.reached.mean == 1.0


def test_fall_counts_for_the_last_punch_before_it() -> None:
    front, back = (-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    punches = [_punch(front, (True, True)), _punch(back, (True, False))]
    fallen, stands = _run(0, 7.0, punches=punches), _run(1, 90.0, punches=punches[:1])
    found = causes([fallen, stands, _run(2, 3.0)])
    assert found["side"] == {"behind": (1, 1), "the front": (0, 2)}
    assert found["phase"] == {"double support": (0, 2), "single support": (1, 1)}
    assert found["joint"] == {"knee": (1, 3)}
    assert found["impulse"] == {"20-30 N s": (1, 3)}
    assert found["no punch"] == {"falls": (1, 1)}


@pytest.mark.parametrize(
    ("direction", "side"),
    [
        ((0.0, 1.0, 0.0), "the right"),
        ((0.0, -1.0, 0.0), "the left"),
        ((0.1, 0.1, -0.9), "above"),
        ((0.1, 0.1, 0.9), "below"),
    ],
)
def test_side_of_a_punch_is_where_its_force_comes_from(
    direction: tuple[float, float, float], side: str
) -> None:
    assert side_of(_punch(direction, (True, True))) == side


def test_phase_of_four_feet_counts_them() -> None:
    down = (True, False, False, True)
    assert phase_of(_punch((1.0, 0.0, 0.0), down)) == "2 of 4 feet down"


def test_survival_curve_steps_down_at_falls() -> None:
    times, shares = survival_curve([_run(0, 30.0), _run(1, 90.0)], 90.0, 4)
    assert times == [0.0, 30.0, 60.0, 90.0]
    assert np.allclose(shares, (1.0, 0.5, 0.5, 0.5))
