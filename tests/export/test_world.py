"""Inputs that are measured as a whole, and commands, in plain MuJoCo."""

from pathlib import Path

import numpy as np
import pytest

from mjlab.export.runner.policy import Arrays, ContractPolicy
from mjlab.export.runner.robot import MujocoRobot
from tests.worlds.shipped import shipped


def ran(path: Path) -> tuple[ContractPolicy, list[Arrays]]:
    """Run a file in plain MuJoCo from its first recorded state; return its inputs."""
    policy = ContractPolicy(path)
    robot, record = MujocoRobot(policy), policy.record()
    robot.start(record["qpos"][0], record["qvel"][0])
    robot.world = policy.world
    commands = {c["name"]: np.array(c["start"]) for c in policy.contract["commands"]}
    policy.reset()
    measured = []
    for _ in range(policy.contract["record"]["steps"]):
        measured.append(robot.read(commands))
        robot.write(policy(measured[-1]))
        robot.wait()
    return policy, measured


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("Reach-Yam", ["gripper_to_goal"]),
        ("Lift-Yam", ["gripper_to_object", "object_heading", "object_to_goal"]),
        ("Muscle-Walk-W18", ["gait", "pace_lag", "capacity"]),
    ],
)
def test_measured_inputs_and_commands_equal_the_environment(task, names, tmp_path):
    policy, measured = ran(shipped(task, tmp_path).path)
    record = policy.record()
    assert {e["name"] for e in policy.contract["world"]["outputs"]} == set(names)
    for step, inputs in enumerate(measured[:20]):
        for name in names:
            wanted = record[f"input {name}"][step]
            np.testing.assert_allclose(inputs[name], wanted, atol=1e-3)
    # A reach, a lift and a gait move these inputs, so constants would fail.
    moved = [np.ptp(record[f"input {name}"][:20], axis=0).max() for name in names]
    assert min(moved) > 0.005


@pytest.mark.slow
def test_lift_yam_lifts_the_cube_in_plain_mujoco(tmp_path):
    _, measured = ran(shipped("Lift-Yam", tmp_path).path)
    distances = [np.linalg.norm(inputs["object_to_goal"]) for inputs in measured]
    assert distances[0] > 0.1
    assert distances[-1] < 0.01


def test_policy_with_sensor_inputs_has_no_world_model(go1):
    assert ContractPolicy(go1).world is None
