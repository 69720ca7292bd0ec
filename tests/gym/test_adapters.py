"""Adapters: seeds are used once, bounds are valid, and episode ends stop a world."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from mjlab.gym import ActionRepeat, NumpyVectorEnv, TorchVectorEnv
from mjlab.gym.worlds import LARGEST
from tests.worlds import gym_tasks


def test_seed_applies_only_to_worlds_of_the_mask() -> None:
    worlds = gym_tasks.worlds(gym_tasks.cartpole(), 4)
    worlds.reset(None, None)
    before = worlds.env.rng.world_seed.clone()
    mask = torch.tensor([True, True, False, False])
    worlds.reset([7, None, 9, None], mask)
    after = worlds.env.rng.world_seed
    assert after[0] == 7 and torch.equal(after[1:], before[1:])


def test_stable_baselines_uses_a_seed_for_one_reset() -> None:
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is missing")
    from docs.examples.sb3_env import Sb3VecEnv

    worlds = gym_tasks.worlds(gym_tasks.cartpole(), 3)
    env = Sb3VecEnv(NumpyVectorEnv(worlds, autoreset_mode="same_step"))
    env.seed(3)
    first = env.reset()
    assert not np.array_equal(env.reset(), first)
    env.seed(3)
    assert np.array_equal(env.reset(), first)


def test_torchrl_receives_bounds_if_both_are_finite() -> None:
    pytest.importorskip("torchrl", reason="TorchRL is not installed")
    from torchrl.data import Bounded, Unbounded

    from docs.examples.torchrl_env import to_spec

    def spec(low: list[float], high: list[float]) -> Any:
        box = spaces.Box(np.array(low, np.float32), np.array(high, np.float32))
        return to_spec(box, 2, torch.device("cpu"))

    assert isinstance(spec([-1.0, 0.0], [1.0, 2.0]), Bounded)
    assert isinstance(spec([-1.0, -LARGEST], [1.0, 2.0]), Unbounded)
    assert isinstance(spec([-1.0, 0.0], [1.0, LARGEST]), Unbounded)
    assert isinstance(spec([-LARGEST] * 2, [LARGEST] * 2), Unbounded)


@pytest.mark.parametrize("mode", ["same_step", "disabled"])
def test_a_repeated_action_stops_at_a_time_out_as_at_a_fall(mode: str) -> None:
    """Row 4 is truncated after 6 steps, in the second of four; row 3 falls then."""
    worlds = gym_tasks.worlds(gym_tasks.scripted(), 5)
    env = ActionRepeat(TorchVectorEnv(worlds, autoreset_mode=mode), 4)
    env.reset(seed=0)
    still = torch.zeros(5, 1)
    env.step(still)
    if mode == "disabled":
        rows = [0, 1]  # Rows that fell after three and four steps.
        env.reset(options={"env_idx": rows})
    seen, reward, terminated, truncated, info = env.step(still)
    last = info["final_obs"] if mode == "same_step" else seen
    assert terminated[3:].tolist() == [True, False]
    assert truncated[3:].tolist() == [True, True]
    assert reward[3:].tolist() == [11.0, 11.0]
    assert last[3:, 0].tolist() == [6.0, 6.0]
