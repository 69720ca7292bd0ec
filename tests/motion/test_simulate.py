"""Motions tracked in simulation with an assistive wrench."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mjlab.motion import Motion, MotionError
from mjlab.motion.tools.simulate import STRENGTHS, _Hands, simulated
from mjlab.tasks.robots.g1 import g1_cfg
from tests.worlds.motions import g1_robot, standing


def raised(motion: Motion, heights: np.ndarray) -> Motion:
    """The same with its root higher, by metres in each frame."""
    up = np.stack((0.0 * heights, 0.0 * heights, heights), axis=1)
    return Motion.from_root(
        motion.name,
        motion.fps,
        motion.root_pos + up,
        motion.root_quat,
        motion.joint_pos,
        root_body=motion.root_body,
        joint_names=motion.joint_names,
        info=motion.info,
    )


def test_a_standing_robot_needs_no_support_and_one_in_the_air_its_full_weight():
    robot, told = g1_robot(), []
    motion = standing(robot, "arms", 0.6, 4.0)
    found = simulated(motion, g1_cfg(), robot, lambda *part: told.append(part))
    assert found.feasibility is not None and not found.feasibility.any()
    assert found.name == "arms_simulated" and "at most 0%" in found.info.log[-1]
    assert told[-1] == (31, 31) and found.num_frames == 31
    assert np.abs(found.joint_pos - motion.joint_pos).max() < 0.1
    # What a motor does takes time: the robot is not just told where to be.
    assert np.abs(found.joint_pos - motion.joint_pos).max() > 1e-3
    flying = simulated(raised(motion, np.full(31, 0.3)), g1_cfg(), robot)
    assert flying.feasibility is not None
    assert flying.feasibility[5:].mean() == pytest.approx(1.0, abs=0.02)
    # A hand that carries just the weight sags a little, and no more.
    sunk = motion.root_pos[-1, 2] + 0.3 - flying.root_pos[-1, 2]
    assert 0.0 < sunk < 0.25


def test_distant_root_counts_as_lost_with_any_wrench():
    robot = g1_robot()
    motion = standing(robot, "jump", 0.4, 4.0)
    away = raised(motion, 20.0 * (np.arange(21) / 50.0) ** 2)
    with pytest.raises(MotionError, match=r"'jump' fails after 0\.\d\d s even with"):
        simulated(away, g1_cfg(), robot)


def test_assistive_torque_is_limited_by_force_times_radius():
    """The reference is rotated by 1 rad or displaced by 1 m, along each axis."""
    robot = g1_robot()
    hands = _Hands(g1_cfg(), standing(robot, "arms", 0.4, 4.0).resampled(200.0))
    still = torch.zeros(13)
    still[3] = 1.0
    state = still.expand(len(STRENGTHS), 13)
    model = robot.sim.mj_model
    weight = float(model.body_subtreemass[1] * 9.81)
    strengths = torch.tensor(STRENGTHS)
    for axis in range(3):
        asked = still.clone()
        asked[3], asked[4 + axis] = np.cos(0.5), np.sin(0.5)
        force, torque, share = hands._pull(state, asked)
        # A critically damped oscillator of 2 Hz at a radius of 0.07 m.
        whole = weight / 9.81 * 0.07**2 * (4.0 * np.pi) ** 2
        most = torch.minimum(strengths * weight * 0.07, torch.tensor(whole))
        assert torque[:, axis].tolist() == pytest.approx(most.tolist(), rel=1e-4)
        assert not force.any()
        expected = (most / 0.07 / weight).tolist()
        assert share.tolist() == pytest.approx(expected, rel=1e-4, abs=1e-7)
        asked = still.clone()
        asked[axis] = 1.0
        force, torque, share = hands._pull(state, asked)
        assert force[:, axis].tolist() == pytest.approx(
            (strengths * weight).tolist(), rel=1e-4
        )
        assert share.tolist() == pytest.approx(STRENGTHS, rel=1e-4, abs=1e-7)


def test_frames_that_are_not_whole_steps_of_physics_are_refused():
    robot = g1_robot()
    motion = replace(standing(robot, "arms", 0.4, 4.0), fps=60.0)
    with pytest.raises(MotionError, match="60 fps, which does not divide"):
        simulated(motion, g1_cfg(), robot)
