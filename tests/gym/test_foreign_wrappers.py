"""Wrappers of users and of Gymnasium between ours, and ManiSkill's constructor."""

import json
from typing import Any

import gymnasium
import pytest
import torch
from gymnasium.vector import VectorObservationWrapper, VectorRewardWrapper
from gymnasium.wrappers import TimeLimit

import mjlab
from mjlab.gym import (
    FlattenActionSpaceWrapper,
    FrameStack,
    ManiSkillVectorEnv,
    RecordEpisode,
)

ID = "mjlab/Cartpole-Balance-v0"
N, STEPS = 3, 4
SMALL = {"num_envs": N, "backend": "native", "seed": 1}
STILL = torch.zeros(N, 1)


class Doubled(gymnasium.RewardWrapper):
    """A user's wrapper of a single environment."""

    def reward(self, reward: Any) -> Any:
        return 2.0 * reward


class DoubledRows(VectorRewardWrapper):
    """A user's wrapper of a vector environment."""

    def rewards(self, rewards: Any) -> Any:
        return 2.0 * rewards


class Shifted(gymnasium.ObservationWrapper):
    def observation(self, observation: Any) -> Any:
        return observation + 1.0


class ShiftedRows(VectorObservationWrapper):
    def observations(self, observations: Any) -> Any:
        return observations + 1.0


def truncations(env: Any, steps: int) -> list[list[bool]]:
    return [env.step(STILL)[3].tolist() for _ in range(steps)]


@pytest.fixture
def limited():
    env: Any = gymnasium.make(ID, max_episode_steps=STEPS, **SMALL)
    assert isinstance(env, TimeLimit)
    return env


def test_a_limit_of_make_counts_the_steps_of_each_row(limited):
    env = ManiSkillVectorEnv(FlattenActionSpaceWrapper(limited))
    assert env.spec is not None and env.spec.max_episode_steps == STEPS
    env.reset(seed=0)
    env.step(STILL)
    env.reset(options={"env_idx": [0]})
    # Row 0 began a step later than the others, and all begin again at their ends.
    late, others = [True, False, False], [False, True, True]
    none = [False] * N
    assert truncations(env, 8) == [none, none, others, late] * 2
    env.close()


def test_a_limit_gives_the_same_episodes_as_that_of_mjlab_make(limited):
    env = FlattenActionSpaceWrapper(limited)
    twin = mjlab.make("Cartpole-Balance", max_episode_steps=STEPS, **SMALL)
    left, right = env.reset(seed=3)[0], twin.reset(seed=3)[0]
    assert torch.equal(left, right)
    for _ in range(2 * STEPS):
        for one, other in zip(env.step(STILL)[:4], twin.step(STILL)[:4], strict=True):
            assert torch.equal(one, other)


@pytest.mark.parametrize("kind", [Doubled, DoubledRows])
def test_user_reward_wrapper_is_applied(kind):
    env: Any = FlattenActionSpaceWrapper(gymnasium.make(ID, **SMALL))
    env = ManiSkillVectorEnv(FrameStack(kind(env), 2), record_metrics=True)
    plain: Any = mjlab.make("Cartpole-Balance", **SMALL)
    seen = env.reset(seed=0)[0]
    plain.reset(seed=0)
    assert seen.shape == (N, 2, 5)
    total = torch.zeros(N)
    for _ in range(3):
        reward, info = (result := env.step(STILL))[1], result[4]
        expected = plain.step(STILL)[1]
        assert torch.equal(reward, 2.0 * expected)
        total += 2.0 * expected
    torch.testing.assert_close(info["episode"]["return"], total)
    assert env.device == plain.device


def test_a_wrapper_between_a_limit_and_ours_keeps_its_place(limited):
    env = ManiSkillVectorEnv(Doubled(limited))
    env.reset(seed=0)
    assert truncations(env, STEPS)[-1] == [True] * N


@pytest.mark.parametrize("kind", [Shifted, ShiftedRows])
def test_an_observation_wrapper_that_misses_terminal_observations_is_refused(kind):
    # Gymnasium refuses its own class in the mode "same_step" before we are asked.
    mode = "same_step" if kind is Shifted else "next_step"
    env: Any = kind(gymnasium.make(ID, autoreset_mode=mode, **SMALL))
    with pytest.raises(TypeError, match=r"info\['final_obs'\].*TensorWrapper"):
        ManiSkillVectorEnv(env)


def test_observation_wrapper_is_accepted_in_modes_without_final_obs():
    env: Any = gymnasium.make(ID, autoreset_mode="next_step", **SMALL)
    plain: Any = mjlab.make("Cartpole-Balance", autoreset_mode="next_step", **SMALL)
    stacked = FrameStack(Shifted(env), 2)
    seen, expected = stacked.reset(seed=0)[0], plain.reset(seed=0)[0]
    torch.testing.assert_close(seen[:, -1], expected + 1.0)


def test_time_limit_outside_a_recording_is_refused_with_advice(limited, tmp_path):
    env = RecordEpisode(
        FlattenActionSpaceWrapper(gymnasium.make(ID, **SMALL)),
        tmp_path,
        save_video=False,
    )
    with pytest.raises(RuntimeError, match=r"pass max_episode_steps to mjlab\.make"):
        ManiSkillVectorEnv(TimeLimit(env, STEPS))
    env.close()


def test_a_recording_of_a_limited_environment_has_its_episodes(limited, tmp_path):
    env = RecordEpisode(limited, tmp_path, save_video=False, trajectory_name="run")
    env = ManiSkillVectorEnv(env)
    env.reset(seed=0)
    truncations(env, STEPS)
    env.close()
    episodes = json.loads((tmp_path / "run.json").read_text())["episodes"]
    assert [episode["elapsed_steps"] for episode in episodes] == [STEPS] * N


def test_single_environment_is_refused_with_advice():
    single = gymnasium.make(ID, backend="native")
    with pytest.raises(TypeError, match=r"gymnasium\.make\(id, num_envs=N\)"):
        FlattenActionSpaceWrapper(single)


def test_an_id_makes_the_environment_as_in_maniskill():
    env = ManiSkillVectorEnv(ID, N, backend="native", max_episode_steps=STEPS)
    assert env.num_envs == N and env.base_env.num_envs == N
    env.reset(seed=0)
    assert truncations(env, STEPS)[-1] == [True] * N


def test_the_number_of_rows_can_be_repeated_and_not_changed():
    env: Any = gymnasium.make(ID, **SMALL)
    assert ManiSkillVectorEnv(env, N, True, False, True).record_metrics
    with pytest.raises(
        ValueError, match="num_envs=7, but the environment has 3 worlds"
    ):
        ManiSkillVectorEnv(env, 7)
    with pytest.raises(TypeError, match="render_mode can be set only if env is an id"):
        ManiSkillVectorEnv(env, render_mode="rgb_array")
