"""Velocity-Go1-Stairs and Velocity-Go1-Sight: terrain, camera, past images, teacher."""

import copy
import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
import torch

from bench import crossings
from mjlab.envs import ManagerBasedRlEnv
from mjlab.rl import TrainingLoop
from mjlab.tasks.velocity import VelocityGo1SightCfg, VelocityGo1StairsCfg
from mjlab.tasks.velocity.foot_height import FootHeightSensorCfg
from mjlab.tasks.velocity.go1_sight import (
    FARTHEST,
    IMAGES,
    MOMENT_STRIDE,
    MOMENTS,
    PERIOD,
    go1_sight_rl,
)
from mjlab.tasks.velocity.scene import FOOT_HEIGHT
from mjlab.tensors.buffers import DelayCfg


def make(cfg: Any, worlds: int = 2) -> ManagerBasedRlEnv:
    """Build an environment with two rows of terrain, which builds faster."""
    cfg.seed, cfg.scene.num_envs = 5, worlds
    assert cfg.scene.terrain is not None
    cfg.scene.terrain.generator.num_rows = 2
    cfg.scene.terrain.max_init_terrain_level = 0
    cfg.sim.backend = "native"
    return ManagerBasedRlEnv(cfg, device="cpu")


def still(env: ManagerBasedRlEnv) -> torch.Tensor:
    return torch.zeros(env.num_envs, env.action_manager.total_action_dim)


def observed_images(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Step once, and return the images that the policy observes."""
    observed = env.step(still(env))[0]["camera"]
    assert isinstance(observed, torch.Tensor)
    return observed


def test_worlds_are_on_all_kinds_of_tiles() -> None:
    cfg = VelocityGo1StairsCfg()
    assert cfg.scene.terrain is not None
    assert cfg.scene.terrain.max_init_terrain_level == 4
    ground = make(cfg, 200).scene.ground
    assert ground is not None
    kinds = [ground.terrain.column_kinds[i] for i in ground.columns.tolist()]
    assert set(kinds) == {"stairs_down", "stairs_up", "blocks", "gaps"}
    assert kinds.count("gaps") / 200 == pytest.approx(0.4, abs=0.1)


def test_the_command_is_constant_during_an_episode_and_points_forward() -> None:
    env = make(VelocityGo1StairsCfg(), 8)
    env.reset()
    term = env.command_manager.term("twist")
    first = term.command[:, 0].clone()
    for _ in range(40):
        env.step(still(env))
    assert (env.episode_length_buf == 40).all()
    assert torch.equal(term.command[:, 0], first)
    assert (term.command[:, 1] == 0.0).all()
    moving = first > 0.0
    assert (first[moving] >= 0.5).all() and (first <= 1.0).all()


def test_the_height_of_a_foot_above_a_gap_is_limited() -> None:
    cfg = VelocityGo1StairsCfg()
    (sensor,) = (s for s in cfg.scene.sensors if isinstance(s, FootHeightSensorCfg))
    env = make(cfg)
    env.reset()
    high = torch.zeros(2, 7)
    high[:, 2], high[:, 3] = 2.0, 1.0
    high[:, :2] = env.scene.spawn_origins[:, :2]
    everyone = torch.ones(2, dtype=torch.bool)
    env.scene.entity("robot").write_root_pose_w(everyone, high)
    env.sim.forward()
    env.sim.sense()
    heights = env.scene.sensor(FOOT_HEIGHT).data
    limit = sensor.max_distance - sensor.start_offset[2]
    assert limit == pytest.approx(0.2)
    assert torch.allclose(heights, torch.full_like(heights, limit))


def test_the_teacher_observes_what_the_policy_of_stairs_observes_in_its_order() -> None:
    trained = VelocityGo1StairsCfg().observations["actor"]
    groups, sets = VelocityGo1SightCfg().observations, go1_sight_rl().obs_groups
    assert trained is not None
    named = {
        network: [term for name in names for term in groups[name].terms]  # type: ignore
        for network, names in sets.items()
    }
    assert named["teacher"] == list(trained.terms)
    assert set(named["teacher"]) - set(named["student"]) == {"height_scan"}
    assert set(named["student"]) - set(named["teacher"]) == {"depth"}
    # The past velocities cover the time of the past images.
    motion = groups["motion"]
    assert motion is not None and (MOMENTS - 1) * MOMENT_STRIDE >= (IMAGES - 1) * PERIOD
    for name, term in motion.terms.items():
        now = groups["actor"].terms[name]  # type: ignore[union-attr]
        assert term is not None and now is not None
        assert (term.history_length, term.history_stride) == (MOMENTS, MOMENT_STRIDE)
        assert now.history_length == 0 and term.noise == now.noise


def test_the_camera_sees_the_ground_at_the_depth_of_its_height_and_pitch() -> None:
    cfg = VelocityGo1SightCfg()
    cfg.observations["camera"].terms["depth"].params |= {"noise": 0.0, "holes": 0.0}  # type: ignore
    env = make(cfg, 4)
    env.reset()
    for _ in range(45):
        env.step(still(env))
    image = observed_images(env)
    camera = env.sim.mj_model.camera("eye").id
    height = env.sim.data.cam_xpos[:, camera, 2]
    # The camera looks along -z: its third column points backward and up.
    back = env.sim.data.cam_xmat[:, camera].view(-1, 3, 3)[:, :, 2]
    pitch = torch.asin(back[:, 2])
    assert torch.rad2deg(pitch).sub(40.0).abs().max() < 8.0
    assert env.scene.ground is not None
    ground = env.scene.spawn_origins[:, 2]
    expected = (height - ground) / torch.sin(pitch)
    rows = image[:, -1, 11:13, 15:17].float().flatten(1).mean(dim=1)
    assert torch.allclose(rows / 255.0 * FARTHEST, expected, atol=0.03)
    # The top of the image is further away than the bottom.
    assert (image[:, -1, 4].float().mean(1) > image[:, -1, -1].float().mean(1)).all()


def test_the_policy_observes_past_images_the_newest_last() -> None:
    cfg = VelocityGo1SightCfg()
    images = cfg.observations["camera"].terms["depth"]  # type: ignore
    assert images is not None
    images.params |= {"noise": 0.0, "holes": 0.0}
    images.delay = DelayCfg()
    env = make(cfg)
    first = env.reset()[0]["camera"]
    assert isinstance(first, torch.Tensor)
    seen = [first[:, -1].clone()]
    seen += [observed_images(env)[:, -1].clone() for _ in range(69)]
    image = observed_images(env)
    seen.append(image[:, -1].clone())
    assert (env.episode_length_buf == 70).all()
    assert image.shape == (2, IMAGES, 24, 32) and image.dtype == torch.uint8
    for index in range(IMAGES):
        past = 70 - PERIOD * (IMAGES - 1 - index)
        assert torch.equal(image[:, index], seen[past])
    # A new image every fifth step.
    changes = [not torch.equal(a, b) for a, b in pairwise(seen)]
    assert {step % PERIOD for step, is_new in enumerate(changes, 1) if is_new} == {0}


def test_images_of_play_have_no_noise_and_no_holes() -> None:
    played = VelocityGo1SightCfg().play().observations["camera"]
    trained = VelocityGo1SightCfg().observations["camera"]
    assert played is not None and trained is not None
    params = [group.terms["depth"].params for group in (played, trained)]  # type: ignore
    assert (params[0]["noise"], params[0]["holes"]) == (0.0, 0.0)
    assert (params[1]["noise"], params[1]["holes"]) == (0.02, 0.05)
    assert math.isclose(params[0]["cutoff"], FARTHEST)


@pytest.mark.slow
def test_shipped_policy_crosses_most_tiles_of_new_terrain() -> None:
    tiles = crossings.measure("Velocity-Go1-Stairs", 60, lambda cfg: None)["tiles"]
    assert set(tiles) == {"all", "stairs_down", "stairs_up", "blocks", "gaps"}
    assert tiles["all"]["episodes"] == 60
    assert tiles["all"]["crossed"] >= 0.8 * 60


@pytest.mark.slow
def test_student_learns_the_actions_of_the_teacher_in_a_minute() -> None:
    cfg = go1_sight_rl()
    cfg.max_iterations, cfg.evaluation.every = 12, 0
    cfg.algorithm.num_updates_per_iteration = 50  # type: ignore[union-attr]
    rows: list[Mapping[str, float]] = []

    class Rows:
        def write(self, iteration: int, figures: Mapping[str, float]) -> None:
            rows.append(figures)

        def close(self, *, failed: bool = False) -> None: ...

    loop = TrainingLoop(make(VelocityGo1SightCfg(), 96), cfg, writers=[Rows()])
    algorithm: Any = loop.learner.algorithm
    untrained = copy.deepcopy(algorithm.student)
    loop.run()
    untrained.start_from(algorithm.teacher)
    seen = loop.worlds.get_observations()
    with torch.no_grad():
        wanted = algorithm.teacher(seen)
        actions, estimates = [], []
        for network in (untrained, algorithm.student):
            actions.append(float((network(seen) - wanted).square().mean()))
            error = network.estimation_error(seen, network.estimate(seen))
            estimates.append(float(error))
    loop.env.close()
    lengths = [row["Train/mean_episode_length"] for row in rows]
    assert lengths[-1] > 2 * lengths[1]
    # Measured ratios: 0.64 and 0.62.
    assert actions[1] < 0.8 * actions[0]
    assert estimates[1] < 0.8 * estimates[0]
