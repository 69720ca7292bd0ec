"""Policies of this framework: their managers receive the exam's readings."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.exam.conduct import conduct
from mjlab.exam.policy import Readings
from mjlab.exam.robot import build_robot
from mjlab.exam.rules import LEVELS
from mjlab.exam.tables import G1_EXAM, GO1_EXAM
from mjlab.exam.trained import TrainedPolicy
from mjlab.names import UnknownNameError
from mjlab.tasks.velocity import VelocityGo1FlatCfg

EXAM = replace(GO1_EXAM, targets=replace(GO1_EXAM.targets, number=1, seconds=0.2))
ACTION = 0.3
WORLDS = 2


class _Constant:
    """Policy with a constant action that stores its observations."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        self.env, self.seen = env, []
        shape = env.num_envs, env.action_manager.total_action_dim
        self._action = torch.full(shape, ACTION)

    def __call__(self, observations: Any) -> torch.Tensor:
        self.seen.append(observations["actor"].clone())
        return self._action

    def reset(self, dones: torch.Tensor | None = None) -> None:
        self.seen.clear()


class _Kept:
    """Policy whose readings and targets are stored."""

    def __init__(self, policy: TrainedPolicy) -> None:
        self.policy, self.readings, self.targets = policy, [], []
        self.command, self.owned = policy.command, policy.owned
        self.kp, self.kd, self.described = policy.kp, policy.kd, policy.described

    def reset(self, runs: int) -> None:
        self.policy.reset(runs)

    def act(self, seen: Readings) -> np.ndarray:
        self.readings.append(seen)
        self.targets.append(self.policy.act(seen).copy())
        return self.targets[-1]


@pytest.fixture(scope="module")
def sat() -> Iterator[tuple[_Kept, _Constant]]:
    policy = TrainedPolicy(
        VelocityGo1FlatCfg(), _Constant, EXAM, worlds=WORLDS, groups=("actor",)
    )
    kept = _Kept(policy)
    conduct(build_robot(EXAM), LEVELS["B"], kept, range(WORLDS), threads=1)
    constant = policy._policy
    assert isinstance(constant, _Constant)
    yield kept, constant
    policy.close()


def _term(constant: _Constant, step: int, name: str) -> np.ndarray:
    group = constant.env.observation_manager.groups["actor"]
    start = 0
    for slot in group.slots:
        if slot.name == name:
            return constant.seen[step][:, start : start + slot.width].numpy()
        start += slot.width
    raise KeyError(name)


def test_observations_are_the_readings_of_the_exam(sat: Any) -> None:
    kept, constant = sat
    robot = constant.env.scene["robot"]
    order = [EXAM.joints.index(name) for name in robot.joint_names]
    default = np.array(EXAM.stance)
    assert len(kept.readings) == len(constant.seen) == 10
    for step in (0, 1, 7, 9):
        reading = kept.readings[step]
        for name, value in {
            "base_lin_vel": reading.lin_vel,
            "base_ang_vel": reading.gyro,
            "projected_gravity": reading.gravity,
            "joint_pos": (reading.joint_pos - default)[:, order],
            "joint_vel": reading.joint_vel[:, order],
            "command": reading.command,
        }.items():
            found = _term(constant, step, name)
            # Single precision.
            np.testing.assert_allclose(found, value, rtol=1e-5, atol=2e-5, err_msg=name)


def test_last_action_is_observed_from_the_second_step_on(sat: Any) -> None:
    _, constant = sat
    assert (_term(constant, 0, "actions") == 0.0).all()
    np.testing.assert_allclose(_term(constant, 1, "actions"), ACTION)


def test_targets_are_those_of_the_action_term(sat: Any) -> None:
    kept, constant = sat
    scale = constant.env.cfg.actions["joint_pos"].scale
    factor = [
        next(by for key, by in scale.items() if name.endswith(key.removeprefix(".*")))
        for name in EXAM.joints
    ]
    expected = np.array(EXAM.stance) + ACTION * np.array(factor)
    for targets in kept.targets:
        np.testing.assert_allclose(targets, np.tile(expected, (2, 1)), rtol=1e-6)


def test_gains_and_ranges_are_those_of_the_task(sat: Any) -> None:
    kept, _ = sat
    # Motors of the Go1: rotor inertia times gear squared, at 10 Hz with damping 2.
    armature = 0.000111842 * np.array((36.0, 36.0, 81.0))
    np.testing.assert_allclose(kept.kp[:3], armature * (20 * np.pi) ** 2, rtol=1e-6)
    np.testing.assert_allclose(kept.kd[:3], 4 * armature * 20 * np.pi, rtol=1e-6)
    ranges = VelocityGo1FlatCfg().commands["twist"].ranges
    assert kept.command.lin_vel_x == ranges.lin_vel_x
    assert kept.command.ang_vel_z == ranges.ang_vel_z


def test_robot_of_another_exam_is_refused() -> None:
    with pytest.raises(
        UnknownNameError, match="needs the joint 'left_hip_pitch_joint'"
    ):
        TrainedPolicy(VelocityGo1FlatCfg(), _Constant, G1_EXAM, worlds=1)


def test_policy_of_another_rate_is_refused() -> None:
    cfg = VelocityGo1FlatCfg()
    cfg.decimation *= 2
    with pytest.raises(ValueError, match=r"acts every 0.04 s"):
        TrainedPolicy(cfg, _Constant, EXAM, worlds=1)
