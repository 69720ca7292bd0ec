"""Lifting policies as ONNX files: with recorded inputs, and in plain MuJoCo."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from mjlab.envs import ManagerBasedRlEnv
from mjlab.export import OnnxPolicy
from mjlab.rl import RslRlVecEnv
from mjlab.rl.learners import InferencePolicy
from mjlab.rl.policy import load_network
from mjlab.tasks.manipulation import LiftYamCfg
from mjlab.tasks.manipulation.mdp import goal_command
from mjlab.tasks.manipulation.reach import GOAL
from mjlab.tasks.manipulation.rl import manipulation_rl
from tests.worlds.export_runs import errors, record, write

STEPS = 20


def nominal() -> LiftYamCfg:
    """The play configuration, with the compiled cube in all worlds."""
    cfg = LiftYamCfg(seed=1).play()
    cfg.events = {
        name: term for name, term in cfg.events.items() if term and term.mode == "reset"
    }
    return cfg


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> tuple[Path, OnnxPolicy]:
    """Policy with random weights: checkpoint and file."""
    folder = tmp_path_factory.mktemp("exported")
    checkpoint, found = write(folder, nominal(), manipulation_rl())
    return checkpoint, OnnxPolicy(found.path)


@pytest.mark.slow
def test_with_recorded_inputs_the_file_acts_like_the_network(exported):
    checkpoint, file = exported
    moments = record(
        checkpoint,
        nominal(),
        manipulation_rl(),
        file.contract,
        entity="robot",
        steps=200,
    )
    by_action, by_target = errors(file, moments)
    assert by_action < 1e-5 and by_target < 1e-5


def measured(
    said: dict[str, Any], data: mujoco.MjData, goal: np.ndarray
) -> dict[str, np.ndarray]:
    """The file's inputs, from MuJoCo's own state."""
    names = [joint["name"] for joint in said["entities"]["robot"]["joints"]]
    joints = [data.joint(f"robot/{name}") for name in names]
    thing = data.body("object/thing")
    grasp = data.site("robot/grasp_site").xpos
    turn = 4.0 * np.arctan2(thing.xmat[3], thing.xmat[0])
    return {
        "joint_pos": np.concatenate([joint.qpos for joint in joints]),
        "joint_vel": np.concatenate([joint.qvel for joint in joints]),
        "gripper_to_object": thing.xpos - grasp,
        "object_heading": np.array([np.cos(turn), np.sin(turn)]),
        "object_to_goal": goal - thing.xpos,
    }


@pytest.mark.slow
def test_in_plain_mujoco_the_file_moves_the_arm_as_in_the_environment(exported):
    checkpoint, file = exported
    cfg = nominal()
    cfg.scene.num_envs = 1
    env = ManagerBasedRlEnv(cfg, device="cpu")
    worlds = RslRlVecEnv(env, groups=("actor",))
    policy = InferencePolicy(load_network(checkpoint, env, manipulation_rl()))
    observations = worlds.reset(seed=4)
    model = env.sim.mj_model
    data = mujoco.MjData(model)
    data.qpos[:] = env.sim.data.qpos[0].numpy()
    data.qvel[:] = env.sim.data.qvel[0].numpy()
    goal = goal_command(env, GOAL).goal_pos_w[0].numpy().astype(float)
    controls = {
        model.joint(model.actuator_trnid[index, 0]).name: index
        for index in range(model.nu)
    }
    file.reset()
    (term,) = file.contract["actions"]
    for _ in range(STEPS):
        observations = worlds.step(policy(observations))[0]
        mujoco.mj_forward(model, data)
        found = file(measured(file.contract, data, goal))
        for name, target in zip(term["targets"], found[term["output"]], strict=True):
            data.ctrl[controls[f"robot/{name}"]] = target
        for _ in range(file.contract["rates"]["decimation"]):
            mujoco.mj_step(model, data)
        ours = env.sim.data.qpos[0].numpy()
        np.testing.assert_allclose(ours, data.qpos, rtol=0, atol=1e-4)
    env.close()
