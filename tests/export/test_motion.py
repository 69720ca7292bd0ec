"""Policies that track a clip, in a file that contains the clip."""

import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.export import ExportError, FilePolicy, OnnxPolicy, driven_by, open_file
from mjlab.export.clips import clips_of
from mjlab.export.drive import GROUP
from mjlab.motion import MotionCommandCfg, motion_command
from mjlab.registry import load_task
from mjlab.tasks.tracking import (
    TrackingG1Cfg,
    TrackingG1NoStateEstimationCfg,
    tracking_rl_on_cpu,
)
from tests.worlds.export_runs import write
from tests.worlds.motions import g1_robot, saved, standing

TASK, BLIND = "Tracking-G1", "Tracking-G1-No-State-Estimation"


def config(cfg: Any, clips: tuple[Path, ...] | None = None) -> Any:
    """The task from the first frame, without randomness."""
    watched = cfg.play()
    watched.scene.num_envs = 1
    watched.sim.num_threads = 1
    watched.events = {}
    watched.seed = 0
    command = watched.commands["motion"]
    assert isinstance(command, MotionCommandCfg)
    if clips is not None:
        command.clips = clips
    return watched


CONFIGS = {TASK: TrackingG1Cfg, BLIND: TrackingG1NoStateEstimationCfg}


class Files(dict[str, Path]):
    """Files with random policies, by task; written when a test reads them."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, task: str) -> Path:
        place = self.folder / task
        place.mkdir()
        # A clip that the task does not have.
        clips = saved(place, standing(g1_robot(), "arms", 5.0, 3.0))
        made = config(CONFIGS[task](), clips)
        self[task] = write(place, made, tracking_rl_on_cpu(), task)[1].path
        for clip in clips:
            clip.unlink()  # The file must be sufficient.
        return self[task]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("files"))


def test_the_contract_has_the_sources_of_the_clips(files: Files) -> None:
    policy = OnnxPolicy(files[TASK])
    about = policy.contract["motion"]
    assert [clip["name"] for clip in about["clips"]] == ["arms"]
    assert about["fps"] == 50.0 and about["anchor_body"] == "torso_link"
    assert len(about["sha256"]) == 64
    assert about["clips"][0]["frames"] == 251
    assert {"time_step", "anchor_pos_w", "anchor_quat_w"} < set(policy.input_names)
    assert {"reference_joint_pos", "reference_body_quat_w"} < set(policy.output_names)
    json.dumps(about)


def test_the_file_returns_the_reference_of_every_frame(files: Files) -> None:
    (found,) = clips_of(OnnxPolicy(files[TASK]))
    robot = g1_robot()
    made = robot.completed(standing(robot, "arms", 5.0, 3.0))
    assert found.joint_pos == pytest.approx(made.joint_pos, abs=1e-6)
    assert found.joint_vel == pytest.approx(made.joint_vel, abs=1e-4)
    chosen = made.body_columns(found.body_names)
    assert found.body_pos_w == pytest.approx(made.body_pos_w[:, chosen], abs=1e-6)


@pytest.mark.parametrize("task", [TASK, pytest.param(BLIND, marks=pytest.mark.slow)])
def test_play_performs_the_files_own_clip(files: Files, task: str) -> None:
    policy, cfg = open_file(files[task], as_trained=False)
    cfg.scene.num_envs = 2
    env = ManagerBasedRlEnv(cfg, device="cpu")
    observations, _ = env.reset()
    command = motion_command(env, "motion")
    assert command.table.names == ("arms",)
    acts = FilePolicy(env, policy)
    for _ in range(5):
        observations, *_ = env.step(acts(observations))
    seen = env.observation_manager.output[GROUP]
    assert isinstance(seen, dict)
    assert seen["time_step"].flatten().tolist() == command.frame.tolist()


@pytest.mark.slow
def test_file_of_another_task_is_refused_with_the_differing_terms(
    files: Files,
) -> None:
    knows, blind = (OnnxPolicy(files[task]).contract for task in CONFIGS)
    with pytest.raises(ExportError, match="file's policy observes 'actor/motion_anch"):
        driven_by(TrackingG1NoStateEstimationCfg(), knows)
    with pytest.raises(ExportError, match="This task observes 'actor/motion_anchor"):
        driven_by(TrackingG1Cfg(), blind)


# Without the environment: only onnxruntime and MuJoCo C.


def measured(
    model: mujoco.MjModel, data: mujoco.MjData, row: int
) -> dict[str, np.ndarray]:
    """Return the file's inputs, read from MuJoCo by the names of the contract."""
    torso = model.body("robot/torso_link").id

    def sensor(name: str) -> np.ndarray:
        return data.sensor(f"robot/{name}").data.copy()

    return {
        "time_step": np.array([row]),
        "anchor_pos_w": data.xpos[torso],
        "anchor_quat_w": data.xquat[torso],
        "imu_lin_vel": sensor("imu_lin_vel"),
        "imu_ang_vel": sensor("imu_ang_vel"),
        "joint_pos": data.qpos[7:].copy(),
        "joint_vel": data.qvel[6:].copy(),
    }


def test_file_in_plain_mujoco_moves_like_the_environment(
    files: Files, tmp_path: Path
) -> None:
    policy, cfg = open_file(files[TASK], as_trained=False)
    cfg.scene.num_envs, cfg.events, cfg.seed, cfg.sim.num_threads = 1, {}, 0, 1
    cfg.terminations = {"time_out": cfg.terminations["time_out"]}
    env = ManagerBasedRlEnv(cfg, device="cpu")
    observations, _ = env.reset(seed=0)
    model = env.sim.mj_model
    data = mujoco.MjData(model)
    data.qpos[:] = env.sim.data.qpos[0].double().numpy()
    data.qvel[:] = env.sim.data.qvel[0].double().numpy()
    mujoco.mj_forward(model, data)
    acts, alone, told = FilePolicy(env, policy), policy.another(), policy.another()
    targets = policy.contract["actions"][0]["targets"]
    actuators = [model.actuator(f"robot/{name}").id for name in targets]
    controls = model.actuator_ctrladr[actuators]
    for step in range(200):
        seen = env.observation_manager.output[GROUP]
        assert isinstance(seen, dict)
        recorded = {name: value[0].numpy().copy() for name, value in seen.items()}
        action = acts(observations)
        again = told(recorded)
        assert again["action"] == pytest.approx(action[0].numpy(), abs=1e-5)
        if step < 20:
            answer = alone(measured(model, data, step + 1))
            data.ctrl[controls] = answer["joint_pos_target"]
            for _ in range(cfg.decimation):
                mujoco.mj_step(model, data)
            mujoco.mj_forward(model, data)
        observations, *_ = env.step(action)
        if step < 20:
            place = env.sim.data.qpos[0].numpy()
            assert data.qpos == pytest.approx(place, abs=1e-4), step


@pytest.mark.slow
def test_one_file_contains_many_clips(tmp_path: Path) -> None:
    robot = g1_robot()
    clips = saved(
        tmp_path, standing(robot, "a", 0.5, 2.0), standing(robot, "b", 1.0, 5.0)
    )
    cfg = config(load_task("Tracking-G1-Clips").env(), clips)
    path = write(tmp_path, cfg, tracking_rl_on_cpu(), "Tracking-G1-Clips")[1].path
    found = clips_of(OnnxPolicy(path))
    assert [(clip.name, clip.num_frames) for clip in found] == [("a", 26), ("b", 51)]
    made = standing(robot, "b", 1.0, 5.0)
    assert found[1].joint_pos == pytest.approx(made.joint_pos, abs=1e-6)
    assert torch.tensor(found[0].joint_vel).isfinite().all()
