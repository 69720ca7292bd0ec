"""Counted episodes: seeds, endings, and random actions."""

from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.rollout import RandomPolicy, ZeroPolicy, run_episodes
from mjlab.managers import TerminationTermCfg
from tests.worlds import gym_tasks


def counter(**terminations: Any) -> ManagerBasedRlEnv:
    """Three worlds; world i ends after 3 + i steps."""
    cfg = gym_tasks.scripted()
    cfg.scene.num_envs = 3
    cfg.outcomes = {}
    cfg.terminations |= terminations
    return ManagerBasedRlEnv(cfg, device="cpu")


def test_each_episode_has_the_next_seed_in_every_round() -> None:
    env = counter()
    found = run_episodes(env, ZeroPolicy(env), number=8, seed=5)
    assert [episode.seed for episode in found] == list(range(5, 13))
    assert [episode.steps for episode in found] == [3, 4, 5, 3, 4, 5, 3, 4]


def test_rounds_start_from_different_states() -> None:
    env = ManagerBasedRlEnv(gym_tasks.cartpole(), device="cpu")
    count = env.num_envs
    found = run_episodes(env, ZeroPolicy(env), number=2 * count, seed=0)
    totals = [episode.total for episode in found]
    assert len(set(totals)) == 2 * count


def test_termination_by_success_is_not_a_fall() -> None:
    done = TerminationTermCfg(func=gym_tasks.is_over)
    env = counter(over=None, success=done)
    for episode in run_episodes(env, ZeroPolicy(env), number=3, seed=0):
        assert episode.ended_by == ("success",)
        assert (episode.fell, episode.success_once) == (False, True)
    env = counter()
    for episode in run_episodes(env, ZeroPolicy(env), number=3, seed=0):
        assert episode.ended_by == ("over",) and episode.fell


@pytest.mark.parametrize("distribution", ["uniform", "normal"])
def test_random_actions_have_both_signs(distribution: Any) -> None:
    env = counter()
    policy = RandomPolicy(env, seed=0, distribution=distribution, clip=0.75)
    drawn = torch.cat([policy(None) for _ in range(300)])
    assert abs(float(drawn.mean())) < 0.06
    assert float(drawn.min()) == -0.75 and float(drawn.max()) == 0.75
