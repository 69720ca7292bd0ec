"""Commands and hysteresis, by hand arithmetic."""

import math

import numpy as np
import pytest

from mjlab.exam.command import (
    CommandCfg,
    Reached,
    RelativeTarget,
    command_of,
    relative_target,
)


def _target(ahead: float, left: float, heading: float) -> RelativeTarget:
    return RelativeTarget(np.array([ahead]), np.array([left]), np.array([heading]))


def _command(cfg: CommandCfg, target: RelativeTarget) -> list[float]:
    return command_of(cfg, target, Reached(1, cfg))[0].tolist()


def test_command_is_a_gain_times_the_error() -> None:
    command = _command(CommandCfg(), _target(0.4, -0.2, 0.6))
    assert command == pytest.approx([0.6, -0.3, 0.9])


def test_speed_limit_keeps_the_direction_and_ranges_clamp_afterwards() -> None:
    cfg = CommandCfg(gain=(2.0, 1.0), speed=0.5, lin_vel_y=(-0.3, 0.3))
    # 2 x (0.3, 0.4) has norm 1, so it is halved to (0.3, 0.4); 0.4 is clamped.
    assert _command(cfg, _target(0.3, 0.4, 0.0))[:2] == pytest.approx([0.3, 0.3])


def test_target_is_in_the_frame_of_the_base_by_its_yaw() -> None:
    target = relative_target(
        np.array([[1.0, 2.0]]),
        np.array([math.pi / 2]),
        np.array([[1.0, 3.0]]),
        np.array([-3.0]),
    )
    assert target.ahead[0] == pytest.approx(1.0)
    assert target.left[0] == pytest.approx(0.0, abs=1e-12)
    assert target.heading[0] == pytest.approx(-3.0 - math.pi / 2 + 2 * math.pi)


def test_reached_has_hysteresis() -> None:
    reached = Reached(1, CommandCfg())
    seen = []
    for distance in (0.15, 0.09, 0.15, 0.199, 0.20, 0.15):
        reached.update(_target(distance, 0.0, 1.0))
        seen.append(bool(reached.place[0]))
    assert seen == [False, True, True, True, False, False]


def test_heading_error_counts_by_its_size() -> None:
    reached = Reached(1, CommandCfg())
    seen = []
    for heading in (-0.06, -0.04, 0.11, -0.12):
        reached.update(_target(1.0, 0.0, heading))
        seen.append(bool(reached.heading[0]))
    assert seen == [False, True, True, False]


def test_reached_position_and_reached_heading_stop_separately() -> None:
    cfg = CommandCfg()
    reached, near = Reached(1, cfg), _target(0.05, 0.0, 1.0)
    reached.update(near)
    assert command_of(cfg, near, reached)[0].tolist() == pytest.approx([0, 0, 1.5])
    reached.reset()
    assert command_of(cfg, near, reached)[0, 0] == pytest.approx(0.075)
