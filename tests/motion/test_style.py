"""Features of clips, and episodes that start in their frames."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    TerminationTermCfg,
)
from mjlab.motion import Motion, load_motion
from mjlab.motion.style import clip_features, reset_to_clips
from mjlab.scene import SceneCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity.clips import G1_WALK
from mjlab.tensors import UniformNoiseCfg
from mjlab.terrain import TerrainCfg

WORLDS = 5
CLIP = G1_WALK / "walk_turn.npz"


def cfg(**more) -> ManagerBasedRlEnvCfg:
    """The G1 on a plane, with noisy observations."""
    noise = UniformNoiseCfg(n_min=-1.0, n_max=1.0)
    terms = {
        "joint_pos": ObservationTermCfg(func=mdp.joint_pos, noise=noise),
        "gravity": ObservationTermCfg(func=mdp.projected_gravity),
        "velocity": ObservationTermCfg(func=mdp.base_lin_vel),
    }
    height = {"height": ObservationTermCfg(func=mdp.base_height)}
    scene = SceneCfg(
        num_envs=WORLDS, terrain=TerrainCfg(), entities={"robot": G1.entity_cfg()}
    )
    return ManagerBasedRlEnvCfg(
        scene=scene,
        sim=SimulationCfg(backend="native", mujoco=MujocoCfg(timestep=0.005)),
        decimation=4,
        seed=2,
        observations={
            "pose": ObservationGroupCfg(terms=terms, enable_corruption=True, **more),
            "height": ObservationGroupCfg(terms=height),
        },
        actions={"joint_pos": mdp.JointPositionActionCfg(joint_names=(".*",))},
        terminations={"time_out": TerminationTermCfg(func=mdp.time_out, time_out=True)},
    )


@pytest.fixture(scope="module")
def motion() -> Motion:
    return load_motion(CLIP)


def test_features_equal_the_frames_of_the_clip(motion: Motion):
    env = ManagerBasedRlEnv(cfg(), "cpu")
    env.reset()
    env.step(torch.randn(WORLDS, env.action_manager.total_action_dim))
    before, noise = env.get_state(), torch.get_rng_state()
    both = [motion, motion.frames(0, 70)]
    whole, part = clip_features(env, ("pose", "height"), both)
    assert whole.shape == (motion.num_frames, 29 + 3 + 3 + 1)
    torch.testing.assert_close(part, whole[:70], atol=2e-6, rtol=0.0)

    columns = motion.joint_columns(env.scene.entity("robot").joint_names)
    np.testing.assert_allclose(whole[:, :29], motion.joint_pos[:, columns], atol=1e-6)
    np.testing.assert_allclose(whole[:, 35], motion.root_pos[:, 2], atol=1e-6)
    for frame in (0, 63, 64, 200):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, motion.root_quat[frame])
        body = turn.reshape(3, 3).T
        np.testing.assert_allclose(whole[frame, 29:32], -body[:, 2], atol=1e-6)
        speed = body @ motion.body_lin_vel_w[frame, 0]
        np.testing.assert_allclose(whole[frame, 32:35], speed, atol=1e-5)

    after = env.get_state()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert torch.equal(noise, torch.get_rng_state())


def test_clips_are_resampled_to_the_control_rate(motion: Motion):
    settings = cfg()
    settings.decimation = 8
    env = ManagerBasedRlEnv(settings, "cpu")
    (found,) = clip_features(env, ("height",), [motion])
    assert found.shape == (101, 1)
    np.testing.assert_allclose(found[:, 0], motion.root_pos[::2, 2], atol=1e-6)


def test_features_with_history_are_refused(motion: Motion):
    env = ManagerBasedRlEnv(cfg(history_length=3), "cpu")
    with pytest.raises(ValueError, match="'pose' has a history of 3 steps"):
        clip_features(env, ("pose",), [motion])


def starts(probability: float, seed: int = 2) -> ManagerBasedRlEnv:
    settings = cfg()
    settings.scene.num_envs, settings.seed = 40, seed
    settings.events = {
        "reset": EventTermCfg(func=mdp.reset_scene_to_default, mode="reset"),
        "clips": EventTermCfg(
            func=reset_to_clips,
            mode="reset",
            params={"clips": (Path(CLIP),), "probability": probability},
        ),
    }
    env = ManagerBasedRlEnv(settings, "cpu")
    env.reset()
    return env


def test_episodes_start_in_frames_of_the_clip_with_any_yaw(motion: Motion):
    env = starts(1.0)
    data = env.scene.entity("robot").data
    columns = motion.joint_columns(env.scene.entity("robot").joint_names)
    frames = motion.joint_pos[:, columns]
    found = data.joint_pos.double().numpy()
    away = np.abs(found[:, None] - frames[None]).max(-1)
    assert away.min(1).max() < 1e-6
    chosen = away.argmin(1)
    assert len(set(chosen)) > 20
    yaws = []
    for world, frame in enumerate(chosen):
        # Gravity and velocity in the robot's frame do not depend on the yaw.
        for values, w in (
            (data.projected_gravity_b, np.array([0.0, 0.0, -1.0])),
            (data.root_lin_vel_b, motion.body_lin_vel_w[frame, 0]),
            (data.root_ang_vel_b, motion.body_ang_vel_w[frame, 0]),
        ):
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, motion.root_quat[frame])
            wanted = turn.reshape(3, 3).T @ w
            np.testing.assert_allclose(values[world], wanted, atol=2e-5)
        yaws.append(float(data.heading_w[world]))
    assert min(yaws) < -2.0 and max(yaws) > 2.0
    default = env.scene.spawn_origins[:, :2]
    torch.testing.assert_close(data.root_pos_w[:, :2], default)


def test_some_episodes_start_in_clips():
    env = starts(0.5)
    robot = env.scene.entity("robot").data
    away = (robot.joint_pos - robot.default_joint_pos).abs().amax(1)
    assert 8 <= int((away > 1e-6).sum()) <= 32
    assert int((away == 0.0).sum()) >= 8
