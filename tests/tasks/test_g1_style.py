"""Velocity-G1-Style: its clips, features and first iteration."""

import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.motion import MotionRobot, load_motion
from mjlab.motion.clips import load_clips
from mjlab.rl import TrainingLoop
from mjlab.tasks.robots.g1 import G1, MIRROR
from mjlab.tasks.robots.symmetry import Reflection
from mjlab.tasks.velocity import G1StyleCfg, VelocityG1StyleCfg, g1_style_rl
from mjlab.tasks.velocity.clips import G1_HELD_OUT, G1_WALK


@pytest.fixture(scope="module")
def env() -> ManagerBasedRlEnv:
    cfg = VelocityG1StyleCfg(seed=3)
    cfg.scene.num_envs = 8
    return ManagerBasedRlEnv(cfg.for_training(), "cpu")


def test_mirrored_clips_have_mirrored_features(env: ManagerBasedRlEnv):
    found = G1StyleCfg().clip_features(env, ("style",))
    assert len(found) == 10
    reflection = Reflection(env, MIRROR)
    for clip, image in zip(found[:5], found[5:], strict=True):
        wanted = reflection.group("style", clip)
        torch.testing.assert_close(image, wanted, atol=1e-5, rtol=0.0)
        assert not torch.allclose(image, clip, atol=1e-3)


def test_clips_are_crouched_walks_of_this_robot(env: ManagerBasedRlEnv):
    robot = MotionRobot(G1.entity_cfg(), "G1")
    stance = env.scene["robot"].data.default_root_state[0, 2].item()
    told = {"stand": 0.0, "walk_slow": 0.5, "walk_fast": 1.0, "walk_aside": 0.4}
    told |= {"walk_turn": 0.5, "g1_walk": 0.75}
    speeds = {}
    for path in (*G1_WALK.glob("*.npz"), G1_HELD_OUT):
        motion = load_motion(path)
        robot.check(motion)
        assert np.median(motion.root_pos[:, 2]) < stance - 0.05
        way = np.linalg.norm(motion.root_pos[-1, :2] - motion.root_pos[0, :2])
        speeds[path.stem] = way / motion.duration
    assert speeds == pytest.approx(told, abs=0.1)


def test_no_clip_of_the_training_is_the_held_out_one():
    held_out = load_motion(G1_HELD_OUT)
    for motion in load_clips((G1_WALK,)):
        shared = min(motion.num_frames, held_out.num_frames)
        apart = motion.joint_pos[:shared] - held_out.joint_pos[:shared]
        assert np.abs(apart).max() > 0.1


def test_an_iteration_trains_policy_and_discriminator(env: ManagerBasedRlEnv):
    agent = g1_style_rl()
    agent.num_steps_per_env, agent.algorithm.num_mini_batches = 6, 2
    loop = TrainingLoop(env, agent)
    prior = loop.learner.algorithm.prior  # type: ignore
    before = {k: v.clone() for k, v in prior.discriminator.state_dict().items()}
    loop.cfg.max_iterations = 1
    loop.run()
    after = prior.discriminator.state_dict()
    assert all(not torch.equal(before[name], after[name]) for name in before)
    for name in ("style", "style_reward", "style_reward_of_clips"):
        assert 0.0 < loop.figures[f"Loss/{name}"] < 5.0
