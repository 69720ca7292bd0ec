"""Limits of a natural gait, applied to published and to shuffling policies."""

from typing import Any

import pytest

from mjlab.gait.commands import COMMANDS
from mjlab.gait.limits import AS_TRAINED, QUIET, Limit, failures
from mjlab.gait.table import failure_text, gait_tables, text, tracking_table, verdict

NATURAL: dict[str, Any] = {
    "feet": 2,
    "falls": 0,
    "steps_per_s": 2.0,
    "step_length": 0.36,
    "clearance": 0.086,
    "double_support": 0.15,
    "flight": 0.0,
    "slip": 0.034,
    "impact": 2.2,
    "vibration": 0.9,
    "asymmetry": 0.02,
    "linear_error": 0.06,
    "turning_error": 0.03,
    "mean_linear_error": 0.06,
    "mean_turning_error": 0.03,
}
"""Published G1 policy (holosoma's FastSAC), with allowed errors."""

SHUFFLE = NATURAL | {
    "steps_per_s": 9.6,
    "step_length": 0.05,
    "clearance": 0.045,
    "double_support": 0.0,
    "flight": 0.14,
    "slip": 0.02,
    "impact": 1.8,
    "vibration": 6.7,
    "asymmetry": 0.01,
}
"""Velocity-G1-Flat of November 2026."""

STANDING = NATURAL | {"steps_per_s": 0.0, "foot_drift": 0.01, "step_length": None}


def worlds(**changed: dict[str, Any]) -> dict[str, Any]:
    """Return measures of a natural gait, with changes for some quiet commands."""
    quiet = {name: dict(NATURAL) for name in COMMANDS} | {"stand": dict(STANDING)}
    for name, figures in changed.items():
        quiet[name.replace("_", " ")] |= figures
    return {QUIET: quiet, AS_TRAINED: {name: dict(NATURAL) for name in COMMANDS}}


def failed(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return world, command and measure of each failure."""
    return [(one.world, one.command, one.measure) for one in failures(found)]


def test_a_natural_gait_passes_all_limits() -> None:
    assert failed(worlds()) == []
    assert verdict(failures(worlds())).startswith("natural gait")


def test_a_shuffle_fails_in_six_measures() -> None:
    found = worlds()
    found[QUIET]["forward 1.0"] = SHUFFLE
    assert failed(found) == [
        (QUIET, "forward 1.0", name)
        for name in (
            "steps_per_s",
            "step_length",
            "clearance",
            "double_support",
            "flight",
            "vibration",
        )
    ]
    lines = verdict(failures(found)).splitlines()
    assert lines[0] == "not a natural gait: 6 measures fail"
    assert lines[1] == "  forward 1.0, quiet: steps 9.60, allowed 1.6 to 3.6 1/s"
    assert lines[2] == "  forward 1.0, quiet: step length 5.0, at least 22 cm"
    assert lines[5] == "  forward 1.0, quiet: flight 14.0, at most 2 %"
    assert verdict(failures(found), most=2).splitlines() == [
        *lines[:3],
        "  and 4 more",
    ]


def test_steps_may_be_shorter_at_half_the_speed() -> None:
    found = worlds()
    for command in ("forward 0.5", "forward 1.0"):
        found[QUIET][command]["step_length"] = 0.15
    assert failed(found) == [(QUIET, "forward 1.0", "step_length")]


def test_gait_limits_apply_forward_in_the_nominal_world_only() -> None:
    found = worlds()
    for world, command in ((QUIET, "left 0.5"), (AS_TRAINED, "forward 1.0")):
        found[world][command] |= {"steps_per_s": 9.0, "asymmetry": 0.5}
    assert failed(found) == []


@pytest.mark.parametrize(
    ("command", "linear", "turning"),
    [("left 0.5", 0.15, 0.2), ("forward 0.2", 0.1, 0.1)],
)
def test_velocity_errors_have_limits_in_both_conditions(
    command: str, linear: float, turning: float
) -> None:
    found = worlds()
    for world, prefix in ((QUIET, ""), (AS_TRAINED, "mean_")):
        names = f"{prefix}linear_error", f"{prefix}turning_error"
        found[world][command] |= {names[0]: linear, names[1]: turning}
        assert failed(found) == []
        found[world][command] |= {names[0]: linear + 0.001, names[1]: turning + 0.001}
        assert failed(found) == [(world, command, name) for name in names]
        found = worlds()


def test_feet_stay_in_place_at_zero_command() -> None:
    found = worlds()
    found[QUIET]["stand"] |= {"steps_per_s": 0.1, "foot_drift": 0.05}
    assert failed(found) == [
        (QUIET, "stand", "steps_per_s"),
        (QUIET, "stand", "foot_drift"),
    ]


def test_one_fall_in_a_world_exceeds_the_limit() -> None:
    found = worlds()
    found[AS_TRAINED]["backward 1.0"]["falls"] = 1
    (one,) = failures(found)
    assert failure_text(one) == "all commands, as trained: falls 1, at most 0"


def test_a_measure_without_a_value_fails() -> None:
    found = worlds()
    found[QUIET]["forward 1.0"]["step_length"] = None
    (one,) = failures(found)
    said = "step length not measured: the robots fell, or took no steps"
    assert failure_text(one) == f"forward 1.0, quiet: {said}"


def test_a_quadruped_has_its_own_limits() -> None:
    found = worlds()
    trot = {"feet": 4, "steps_per_s_per_leg": 2.5, "clearance": 0.06, "flight": 0.1}
    trot |= {"duty_factor": 0.5, "diagonal_lag": 0.02, "impact": 1.4, "slip": 0.01}
    for command in ("forward 0.5", "forward 1.0"):
        found[QUIET][command] |= trot
    assert failed(found) == []
    found[QUIET]["forward 1.0"] |= {"diagonal_lag": 0.5, "steps_per_s_per_leg": 6.0}
    assert [one.measure for one in failures(found)] == [
        "steps_per_s_per_leg",
        "diagonal_lag",
    ]


def test_bounds_are_allowed_values() -> None:
    assert Limit(1.0, 2.0).holds(1.0) and Limit(1.0, 2.0).holds(2.0)
    assert not Limit(1.0, 2.0).holds(2.001)
    assert not Limit(high=1.0).holds(float("nan"))


def test_tables_show_figures_in_the_units_of_their_headings() -> None:
    (table,) = gait_tables({"mine": NATURAL})
    row = dict(zip(table[0], table[1], strict=True))
    assert row["steps 1/s"] == "2.0" and row["length cm"] == "36"
    assert row["double %"] == "15" and row["slip cm"] == "3.4"
    assert row["cost"] == "-"
    both = gait_tables({"mine": NATURAL, "dog": {"feet": 4, "phases": [0.0, 0.5]}})
    assert both[1][1][0] == "dog" and both[1][1][-1] == "0.00 0.50"
    lines = text(tracking_table(worlds())).splitlines()
    assert lines[1].split() == ["forward", "0.5", *("0.06", "0.03", "0") * 2]
    assert len(lines) == 1 + len(COMMANDS)
