"""Environments of this project in other libraries, where installed."""

from typing import Any

import numpy as np
import pytest

from mjlab.gym import NumpyVectorEnv, SingleEnv
from tests.worlds import gym_tasks


def sb3() -> Any:
    return pytest.importorskip(
        "stable_baselines3", reason="Stable-Baselines3 is not installed"
    )


def arrays(num_envs: int = 4) -> NumpyVectorEnv:
    worlds = gym_tasks.worlds(gym_tasks.cartpole(), num_envs)
    return NumpyVectorEnv(worlds, autoreset_mode="same_step")


def test_stable_baselines_checker_accepts_the_single_form() -> None:
    sb3()
    import warnings

    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(SingleEnv(gym_tasks.worlds(gym_tasks.cartpole(), 1)))


def test_stable_baselines_receives_the_terminal_observation_of_each_episode() -> None:
    sb3()
    from docs.examples.sb3_env import Sb3VecEnv

    env, twin = Sb3VecEnv(arrays()), arrays()
    env.seed(3)
    assert np.array_equal(env.reset(), twin.reset(seed=3)[0])
    ends = 0
    for step in range(40):
        action = np.full((4, 1), 0.5 if step % 2 else -0.4, np.float32)
        seen, reward, dones, infos = env.step(action)
        others, gained, terminated, truncated, info = twin.step(action)
        assert np.array_equal(seen, others)
        assert np.array_equal(reward, gained.astype(np.float32))
        assert np.array_equal(dones, terminated | truncated)
        for row in np.flatnonzero(dones):
            ends += 1
            last = infos[row]["terminal_observation"]
            assert np.array_equal(last, info["final_obs"][row])
            cut = truncated[row] and not terminated[row]
            assert infos[row]["TimeLimit.truncated"] == cut
    assert ends >= 4
    with pytest.raises(ValueError, match="autoreset_mode='same_step'"):
        worlds = gym_tasks.worlds(gym_tasks.cartpole(), 1)
        Sb3VecEnv(NumpyVectorEnv(worlds))


def test_stable_baselines_bootstraps_no_row_that_falls_in_its_last_step() -> None:
    """Row i ends after 3 + i steps, and the time limit is 6: row 3 has both."""
    sb3()
    from docs.examples.sb3_env import Sb3VecEnv

    worlds = gym_tasks.worlds(gym_tasks.scripted(), 5)
    env = Sb3VecEnv(NumpyVectorEnv(worlds, autoreset_mode="same_step"))
    env.reset()
    told: dict[int, bool] = {}
    for _ in range(6):
        _, _, dones, infos = env.step(np.zeros((5, 1), np.float32))
        for row in np.flatnonzero(dones):
            told.setdefault(int(row), infos[row]["TimeLimit.truncated"])
    assert told == {0: False, 1: False, 2: False, 3: False, 4: True}


@pytest.mark.slow
def test_stable_baselines_learns_for_ten_iterations() -> None:
    library = sb3()
    from docs.examples.sb3_env import Sb3VecEnv

    model = library.PPO("MlpPolicy", Sb3VecEnv(arrays()), n_steps=16, batch_size=32)
    before = [value.clone() for value in model.policy.parameters()]
    model.learn(10 * 16 * 4)
    assert model.num_timesteps == 640
    after = list(model.policy.parameters())
    assert all(value.isfinite().all() for value in after)
    assert any((a != b).any() for a, b in zip(after, before, strict=True))
