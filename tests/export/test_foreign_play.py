"""A policy of another project in a task of ours."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import torch

from mjlab.cli.export import main
from mjlab.envs import ManagerBasedRlEnv
from mjlab.export import ExportError, FilePolicy, OnnxPolicy, open_file
from mjlab.export.foreign.robot_model import RobotModel, model_file
from mjlab.export.web import write_page
from mjlab.registry import load_task
from tests.export.foreign_policies import MJLAB, write_network

TASK = "Velocity-Go1-Flat"


def ported(folder: Path) -> Path:
    """Write a policy with metadata of mjlab for the Go1, and turn it into our file."""
    joints = RobotModel(model_file(load_task(TASK).env())).joints
    texts = MJLAB | {
        "joint_names": ",".join(joints),
        "joint_stiffness": "31.000",
        "joint_damping": "0.700",
        "default_joint_pos": "0.100,0.900,-1.800," * 3 + "0.100,0.900,-1.800",
        "action_scale": "0.300",
    }
    write_network(folder / "policy.onnx", 9 + 3 * len(joints), 12, texts)
    words = ["--as", "mjlab", "--task", TASK, "--out", str(folder / "go1.onnx")]
    main([str(folder / "policy.onnx"), *words])
    return folder / "go1.onnx"


def test_file_plays_in_a_task_with_the_gains_of_the_policy(tmp_path):
    file, cfg = open_file(ported(tmp_path), as_trained=False)
    assert file.task == TASK
    cfg.scene.num_envs = 2
    with closing(ManagerBasedRlEnv(cfg, device="cpu")) as env:
        robot = env.scene.entity("robot")
        assert torch.allclose(robot.actuators.stiffness, torch.tensor(31.0))
        assert torch.allclose(robot.actuators.damping, torch.tensor(0.7))
        policy = FilePolicy(env, file)
        observations, _ = env.reset(seed=0)
        policy.reset()
        for _ in range(3):
            action = policy(observations)
            observations, *_ = env.step(action)
        own = np.tile([0.1, 0.9, -1.8], 4) + 0.3 * action[0].numpy()
        # The policy's targets are in encoder coordinates.
        sent = (robot.data.targets.joint_pos + robot.data.encoder_bias)[0].numpy()
        np.testing.assert_allclose(sent, own, atol=1e-5)


def test_file_runs_in_a_web_page(tmp_path):
    page = write_page([ported(tmp_path)], tmp_path / "walk.html")
    assert page.policies == ("go1",)


def test_joints_in_another_order_than_the_task_are_refused(tmp_path):
    path = ported(tmp_path)
    file, cfg = open_file(path, as_trained=False)
    cfg.scene.num_envs = 1
    (entry,) = [e for e in file.contract["inputs"] if e["name"] == "joint_pos"]
    entry["elements"] = entry["elements"][::-1]
    with closing(ManagerBasedRlEnv(cfg, device="cpu")) as env:
        with pytest.raises(ExportError, match="for the robot model of the task"):
            FilePolicy(env, file)


def test_converted_policy_file_is_compared_like_an_exported_one(tmp_path):
    policy = OnnxPolicy(ported(tmp_path))
    assert policy.contract["network"]["format"] == "mjlab"
    assert policy.contract["made"]["checkpoint"] == "policy.onnx"
