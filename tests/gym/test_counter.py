"""Counter in plain Python in Gymnasium's vector environment, compared with ours.

`gym_tasks.scripted` is the same counter as a task. Observations, rewards and infos of
its rows are known for every step.
"""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from mjlab.gym import NumpyVectorEnv, TorchVectorEnv, VectorEnv
from tests.worlds import gym_tasks

STEPS = 20
COUNTS = pytest.mark.parametrize("num_envs", [1, 4, 16])


class Counter(gymnasium.Env[Any, Any]):
    """Row i ends after 3 + i steps, and the time limit is 6."""

    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, row: int) -> None:
        self.row, self.steps = row, 0

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self.seen(), {"elapsed_steps": 0, "success": False, "fail": False}

    def step(self, action: Any) -> Any:
        self.steps += 1
        info = {
            "elapsed_steps": self.steps,
            "success": self.steps == 2,
            "fail": self.steps >= 4,
        }
        terminated = self.steps >= 3 + self.row
        return self.seen(), float(self.steps), terminated, self.steps >= 6, info

    def seen(self) -> np.ndarray:
        return np.array([self.steps], np.float32)


def model(num_envs: int, mode: AutoresetMode) -> Any:
    rows = [partial(Counter, row) for row in range(num_envs)]
    return SyncVectorEnv(rows, autoreset_mode=mode)


@COUNTS
@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
def test_every_value_of_every_step_equals_gymnasium(
    mode: AutoresetMode, num_envs: int
) -> None:
    """T-04."""
    worlds = gym_tasks.worlds(gym_tasks.scripted(), num_envs)
    ours, theirs = NumpyVectorEnv(worlds, autoreset_mode=mode), model(num_envs, mode)
    assert data_equivalence(ours.reset(seed=0), theirs.reset(seed=0), exact=True)
    action, ends = np.zeros((num_envs, 1), np.float32), np.zeros(num_envs, int)
    for step in range(STEPS):
        mine, others = ours.step(action), theirs.step(action)
        assert data_equivalence(mine, others, exact=True), f"step {step}"
        ended = mine[2] | mine[3]
        ends += ended
        if mode is AutoresetMode.DISABLED and ended.any():
            pair = [env.reset(options={"reset_mask": ended}) for env in (ours, theirs)]
            assert data_equivalence(*pair, exact=True), f"reset after step {step}"
    assert (ends >= 2).all()


@COUNTS
@pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)
def test_tensors_equal_the_numpy_values(mode: AutoresetMode, num_envs: int) -> None:
    """T-04. Final data exist for all rows, in every step."""
    worlds = gym_tasks.worlds(gym_tasks.scripted(), num_envs)
    ours, theirs = TorchVectorEnv(worlds, autoreset_mode=mode), model(num_envs, mode)
    ours.reset(seed=0)
    theirs.reset(seed=0)
    for step in range(STEPS):
        *mine, info = ours.step(torch.zeros(num_envs, 1))
        *others, other = theirs.step(np.zeros((num_envs, 1), np.float32))
        for one, two in zip(mine, others, strict=True):
            assert isinstance(one, torch.Tensor)
            assert one.tolist() == two.tolist(), f"step {step}"
        for key in ("elapsed_steps", "success", "fail"):
            assert info[key].tolist() == other[key].tolist(), f"{key}, step {step}"
        ended = others[1 + 1] | others[3]
        if mode is AutoresetMode.SAME_STEP:
            assert info["_final_obs"].tolist() == ended.tolist()
            assert info["final_obs"].shape == (num_envs, 1)
            for row in np.flatnonzero(ended):
                assert info["final_obs"][row].tolist() == other["final_obs"][row]
                for key, value in info["final_info"].items():
                    if not key.startswith("_"):
                        assert value[row].item() == other["final_info"][key][row]
        if mode is AutoresetMode.DISABLED and ended.any():
            for env, mask in ((ours, torch.as_tensor(ended)), (theirs, ended)):
                env.reset(options={"reset_mask": mask})


@COUNTS
def test_episode_metrics_equal_gymnasiums_statistics(num_envs: int) -> None:
    """T-07, and the outcomes by hand arithmetic."""
    worlds = gym_tasks.worlds(gym_tasks.scripted(), num_envs)
    ours = VectorEnv(TorchVectorEnv(worlds), record_metrics=True)
    theirs = RecordEpisodeStatistics(model(num_envs, AutoresetMode.SAME_STEP))
    ours.reset(seed=0)
    theirs.reset(seed=0)
    ends = 0
    for _ in range(STEPS):
        *_, info = ours.step(torch.zeros(num_envs, 1))
        *_, other = theirs.step(np.zeros((num_envs, 1), np.float32))
        figures, ended = info["final_info"]["episode"], info["_final_info"]
        if not ended.any():
            continue
        expected = (other.get("final_info", {}) | other)["episode"]
        for row in ended.nonzero()[:, 0].tolist():
            ends += 1
            assert figures["return"][row].item() == expected["r"][row]
            assert figures["episode_len"][row].item() == expected["l"][row]
            length = int(expected["l"][row])
            mean = figures["reward"][row].item()
            assert mean == pytest.approx((length + 1) / 2)
            assert figures["success_once"][row].item() is True
            assert figures["fail_once"][row].item() is (length >= 4)
    assert ends >= 3 * num_envs


@COUNTS
def test_ignored_terminations_leave_all_rows_the_same_length(num_envs: int) -> None:
    """T-07. Only the time limit ends an episode; outcomes are still recorded."""
    worlds = gym_tasks.worlds(gym_tasks.scripted(), num_envs)
    env = VectorEnv(
        TorchVectorEnv(worlds), ignore_terminations=True, record_metrics=True
    )
    env.reset(seed=0)
    #        step: success_once, success_at_end, fail_once, fail_at_end
    table = {
        1: (False, False, False, False),
        2: (True, True, False, False),
        3: (True, False, False, False),
        4: (True, False, True, True),
        5: (True, False, True, True),
        6: (True, False, True, True),
    }
    for step in range(1, 13):
        *_, terminated, truncated, info = env.step(torch.zeros(num_envs, 1))
        number = (step - 1) % 6 + 1
        assert terminated.tolist() == [False] * num_envs
        assert truncated.tolist() == [number == 6] * num_envs
        assert info["_final_info"].tolist() == [number == 6] * num_envs
        keys = ("success_once", "success_at_end", "fail_once", "fail_at_end")
        for place in (info["episode"], info["final_info"]["episode"]):
            for key, value in zip(keys, table[number], strict=True):
                assert place[key].tolist() == [value] * num_envs, f"{key}, {step}"
            assert place["return"].tolist() == [number * (number + 1) / 2] * num_envs
