"""Gait measures of motions with known measures."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from mjlab.gait.motion import LeggedMotion, fill_gaps, measure
from tests.gait.hand_made_gait import Walk, biped, hexapod, quadruped

WEIGHT = 300.0
DT, STEP_DT = 0.002, 0.02
SECONDS = 8.0
"""Ten strides of 0.8 s."""


def motion_of(walk: Walk, *, robots: int = 1, **changes: Any) -> LeggedMotion:
    """Return a synthetic motion of feet under a base at constant velocity.

    A foot carries 0.6 body weights, and 1.4 in one sample of each stance.
    """
    time = np.arange(round(SECONDS / DT)) * DT
    steps = round(SECONDS / STEP_DT)
    ahead_w = np.array([np.cos(walk.yaw), np.sin(walk.yaw)])
    left_w = np.array([-np.sin(walk.yaw), np.cos(walk.yaw)])
    places, forces = [], []
    for foot in walk.feet:
        ahead, height, on_ground = walk.along(foot, time)
        flat = ahead[:, None] * ahead_w + foot.beside * left_w
        places.append(np.column_stack((flat, height + 0.03)))
        force = np.where(on_ground, 0.6 * WEIGHT, 0.0)
        landed = np.flatnonzero(np.diff(on_ground.astype(int)) == 1)
        force[np.minimum(landed + 50, len(force) - 1)] = 1.4 * WEIGHT
        forces.append(force)
    one = {
        "foot_pos": np.stack(places, axis=1),
        "foot_force": np.stack(forces, axis=1),
        "foot_heading": np.full(len(time), walk.yaw),
        "velocity": np.tile((walk.speed, 0.0), (steps, 1)),
        "heading": np.full(steps, walk.yaw),
        "joint_vel": np.zeros((steps, 3)),
        "joint_torque": np.zeros((steps, 3)),
    } | changes
    return LeggedMotion(
        feet=tuple(foot.name for foot in walk.feet),
        weight=WEIGHT,
        physics_dt=DT,
        step_dt=STEP_DT,
        fell=np.zeros(robots, dtype=bool),
        **{name: np.stack([value] * robots, axis=1) for name, value in one.items()},
    )


def gait(walk: Walk, **changes: Any) -> dict[str, Any]:
    """Return the measures of a synthetic motion."""
    return measure(motion_of(walk, **changes), (walk.speed, 0.0, 0.0))


def test_steps_have_the_rate_length_and_height_of_the_formula() -> None:
    found = gait(Walk(feet=biped()), robots=3)
    assert (found["feet"], found["robots"], found["falls"]) == (2, 3, 0)
    assert found["steps_per_s"] == pytest.approx(2 / 0.8)
    # The other foot landed half a stride ago.
    assert found["step_length"] == pytest.approx(0.9 * 0.8 / 2)
    assert found["clearance"] == pytest.approx(0.08, abs=1e-4)
    assert found["swing"] == pytest.approx(0.4 * 0.8)
    assert found["impact"] == pytest.approx(1.4)
    assert found["slip"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("stance", "double", "flight"), [(0.6, 0.2, 0.0), (0.5, 0.0, 0.0), (0.4, 0.0, 0.2)]
)
def test_double_support_and_flight_follow_from_the_duty_factor(
    stance: float, double: float, flight: float
) -> None:
    found = gait(Walk(feet=biped(), stance=stance))
    assert found["double_support"] == pytest.approx(double, abs=2e-3)
    assert found["flight"] == pytest.approx(flight, abs=2e-3)


@pytest.mark.parametrize("speed", [0.9, -0.5])
def test_slip_is_the_path_of_a_foot_in_its_stance(speed: float) -> None:
    """Of 4 cm, the last sample of the stance lacks the last of 240 parts."""
    feet = tuple(dataclasses.replace(foot, slip=0.04) for foot in biped())
    found = gait(Walk(feet=feet, speed=speed))
    assert found["slip"] == pytest.approx(0.04, rel=0.01)
    assert found["step_length"] == pytest.approx(
        speed * 0.8 / 2 - 0.04 * 5 / 6, abs=2e-3
    )


def test_asymmetry_is_the_largest_difference_of_the_two_sides() -> None:
    """The left foot lifts 8 cm, the right one 10 cm; the left lands 3 cm further."""
    left, right = biped()
    feet = (
        dataclasses.replace(left, front=0.03),
        dataclasses.replace(right, lift=0.1),
    )
    found = gait(Walk(feet=feet))
    assert found["asymmetry_clearance"] == pytest.approx(2 * 0.02 / 0.18, rel=0.01)
    assert found["asymmetry_swing"] == pytest.approx(0.0, abs=1e-6)
    assert found["asymmetry_length"] == pytest.approx(2 * 0.06 / 0.72)
    assert found["asymmetry"] == found["asymmetry_clearance"]


def test_a_foot_lands_with_the_speed_of_its_descent() -> None:
    """A foot that falls 3 cm in the last 20 ms, uniformly, lands at 1.5 m/s."""
    walk = Walk(feet=biped(lift=0.0))
    motion = motion_of(walk)
    for foot in range(2):
        on_ground = motion.on_ground[:, 0, foot]
        for end in np.flatnonzero(np.diff(on_ground.astype(int)) == 1) + 1:
            before = np.arange(max(end - 10, 0), end)
            motion.foot_pos[before, 0, foot, 2] = 0.03 + 1.5 * DT * (end - before)
    assert measure(motion, (0.9, 0.0, 0.0))["touchdown_speed"] == pytest.approx(1.5)


def test_a_loss_of_contact_below_40_ms_is_no_step() -> None:
    on_ground = np.array(
        [1] * 10 + [0] * 19 + [1] * 10 + [0] * 20 + [1] * 5, dtype=bool
    )
    filled = fill_gaps(on_ground, 20)
    assert filled[:39].all() and filled[-5:].all()
    assert not filled[39:59].any()
    still = np.array([0, 0, 1, 1, 0, 0], dtype=bool)
    assert (fill_gaps(still, 20) == still).all()


def test_bounce_adds_no_steps_but_counts_as_support() -> None:
    motion = motion_of(Walk(feet=biped()))
    calm: dict[str, Any] = measure(motion, (0.9, 0.0, 0.0))
    landed = np.flatnonzero(np.diff(motion.on_ground[:, 0, 0].astype(int)) == 1) + 1
    for start in landed[landed < len(motion.foot_pos) - 60]:
        motion.foot_force[start + 25 : start + 40, 0, 0] = 0.0
    bounced = measure(dataclasses.replace(motion), (0.9, 0.0, 0.0))
    assert bounced["steps_per_s"] == calm["steps_per_s"]
    lost = len(landed) * 15 / len(motion.foot_pos)
    assert bounced["double_support"] == pytest.approx(
        calm["double_support"] - lost, abs=1e-3
    )


def test_clearance_counts_from_the_median_height_on_the_ground() -> None:
    """A foot that rolls over its toe for a fifth of its stance rises 2 cm."""
    motion = motion_of(Walk(feet=biped()))
    for foot in range(2):
        on_ground = motion.on_ground[:, 0, foot]
        for lost in np.flatnonzero(np.diff(on_ground.astype(int)) == -1) + 1:
            motion.foot_pos[max(lost - 48, 0) : lost, 0, foot, 2] += 0.02
    found = measure(motion, (0.9, 0.0, 0.0))
    assert found["clearance"] == pytest.approx(0.08, abs=1e-4)


def test_a_trot_has_diagonal_feet_in_phase() -> None:
    found = gait(Walk(feet=quadruped(0.2, 0.7, 0.7, 0.2), stance=0.55))
    assert found["phases"] == pytest.approx([0.0, 0.5, 0.5, 0.0], abs=5e-3)
    assert found["diagonal_lag"] == pytest.approx(0.0, abs=5e-3)
    assert found["duty_factor"] == pytest.approx(0.55, abs=2e-3)
    assert found["steps_per_s_per_leg"] == pytest.approx(1 / 0.8)
    assert found["step_length"] == pytest.approx(0.9 * 0.8 / 2)
    assert "double_support" not in found


def test_phases_are_those_of_the_formula_and_wrap_around() -> None:
    """A walk with phases 0.1, 0.6, 0.35 and 0.85, relative to the front right foot."""
    found = gait(Walk(feet=quadruped(0.1, 0.6, 0.35, 0.85), stance=0.75))
    assert found["phases"] == pytest.approx([0.0, 0.5, 0.25, 0.75], abs=5e-3)
    # Front left and rear right land a quarter of a stride apart.
    assert found["diagonal_lag"] == pytest.approx(0.25, abs=5e-3)


def test_tripod_feet_of_a_hexapod_are_in_phase() -> None:
    one, other = 0.2, 0.7
    feet = hexapod(one, other, one, other, one, other)
    assert gait(Walk(feet=feet))["diagonal_lag"] == pytest.approx(0.0, abs=5e-3)
    wave = hexapod(0.0, 0.3, 0.6, 0.5, 0.8, 0.1)
    assert gait(Walk(feet=wave))["diagonal_lag"] == pytest.approx(0.4, abs=5e-3)


def test_sides_follow_from_the_places_of_feet_and_not_from_their_order() -> None:
    left, right = biped(lift=0.05)
    one = gait(Walk(feet=(left, right)))
    other = gait(Walk(feet=(right, left), yaw=-2.5))
    for name in ("steps_per_s", "step_length", "clearance", "asymmetry"):
        assert other[name] == pytest.approx(one[name]), name


def test_vibration_is_the_change_of_joint_accelerations_over_90_seconds() -> None:
    """Alternating speeds of ±0.1 rad/s: accelerations of ±10 rad/s² change by 20."""
    steps = round(SECONDS / STEP_DT)
    speed = np.tile(0.1 * (-1.0) ** np.arange(steps)[:, None], (1, 3))
    found = gait(Walk(feet=biped()), joint_vel=speed)
    assert found["vibration"] == pytest.approx(3 * 20.0 * 4500 / 1e6)


def test_cost_of_transport_is_power_by_weight_and_speed() -> None:
    steps = round(SECONDS / STEP_DT)
    speed, torque = np.full((steps, 3), -0.5), np.full((steps, 3), 20.0)
    found = gait(Walk(feet=biped()), joint_vel=speed, joint_torque=torque)
    assert found["power"] == pytest.approx(30.0)
    assert found["cost_of_transport"] == pytest.approx(30.0 / (WEIGHT * 0.9))


def test_tracking_errors_are_those_of_the_mean_of_each_second() -> None:
    """A sway of 1 Hz is not an error; a speed deviation every other second is."""
    steps = round(SECONDS / STEP_DT)
    time = np.arange(steps) * STEP_DT
    off = np.where(np.floor(time) % 2 == 0, 0.1, -0.1)
    velocity = np.column_stack((0.9 + off, 0.3 * np.sin(2 * np.pi * time)))
    heading = 3.0 + 0.2 * time  # The yaw passes pi.
    walk = Walk(feet=biped())
    motion = motion_of(
        walk, velocity=velocity, heading=(heading + np.pi) % 6.28318530718 - np.pi
    )
    found = measure(motion, (0.9, 0.0, 0.5))
    assert found["linear_error"] == pytest.approx(0.1)
    assert found["mean_linear_error"] == pytest.approx(0.0, abs=1e-9)
    assert found["turning_error"] == pytest.approx(0.3, rel=1e-6)
    assert found["velocity"] == pytest.approx([0.9, 0.0, 0.2], abs=1e-6)


def test_a_standing_robot_takes_no_steps_and_its_feet_stay() -> None:
    motion = motion_of(Walk(feet=biped(lift=0.0), speed=0.0, stance=1.0))
    motion.foot_pos[:, 0, 1, 0] += np.linspace(0.0, 0.012, len(motion.foot_pos))
    found = measure(motion, (0.0, 0.0, 0.0))
    assert found["steps_per_s"] == 0.0
    assert found["foot_drift"] == pytest.approx(0.012)
    assert found["double_support"] == 1.0
    for name in ("step_length", "clearance", "slip", "asymmetry", "cost_of_transport"):
        assert found[name] is None, name


def test_a_robot_that_fell_counts_as_a_fall_and_in_no_measure() -> None:
    motion = motion_of(Walk(feet=biped()), robots=2)
    motion.foot_pos[:, 1] = 0.0
    motion.fell[1] = True
    found = measure(motion, (0.9, 0.0, 0.0))
    assert (found["robots"], found["falls"]) == (2, 1)
    assert found["step_length"] == pytest.approx(0.36)
    motion.fell[0] = True
    assert measure(motion, (0.9, 0.0, 0.0)) == {"feet": 2, "robots": 2, "falls": 2}


def test_start_is_excluded_and_robots_can_be_selected() -> None:
    motion = motion_of(Walk(feet=biped()), robots=2).after(3.0)
    assert motion.seconds == pytest.approx(5.0)
    assert len(motion.velocity) == 250
    chosen = motion.of(np.array([False, True]))
    assert chosen.foot_pos.shape == (2500, 1, 2, 3)
    assert chosen.joint_vel.shape == (250, 1, 3)
