"""Checker of vector environments: Gymnasium's own pass, and faults are found."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv, VectorWrapper

from docs.examples.check_vector_env import (
    MODES,
    ConformanceError,
    InconclusiveError,
    check_vector_env,
)

SAME, NEXT, DISABLED = (
    AutoresetMode.SAME_STEP,
    AutoresetMode.NEXT_STEP,
    AutoresetMode.DISABLED,
)


class Walk(gymnasium.Env):
    """Random walk that ends randomly, or after nine steps."""

    observation_space = gymnasium.spaces.Box(-1e6, 1e6, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.place, self.time = self.np_random.normal(size=1), 0
        return self._seen(), {"time": 0}

    def step(self, action: Any) -> Any:
        self.place = self.place + action + 0.1 * self.np_random.normal()
        self.time += 1
        ends = bool(self.np_random.random() < 0.1)
        return self._seen(), 1.5, ends, self.time >= 9, {"time": self.time}

    def _seen(self) -> np.ndarray:
        return np.array([self.place[0], self.time], np.float32)


def sync(mode: AutoresetMode) -> VectorEnv:
    return SyncVectorEnv([Walk] * 3, autoreset_mode=mode)


def check(make: Callable[[AutoresetMode], VectorEnv], *modes: AutoresetMode) -> None:
    check_vector_env(make, lambda index: Walk(), modes=modes or MODES, steps=60)


def test_gymnasiums_own_vector_environment_passes_in_all_modes() -> None:
    check(sync)


def test_gymnasiums_vector_environment_of_a_custom_task_passes() -> None:
    def make(mode: AutoresetMode) -> VectorEnv:
        fns = [lambda: gymnasium.make("CartPole-v1")] * 3
        return SyncVectorEnv(fns, autoreset_mode=mode)

    check_vector_env(make, lambda index: gymnasium.make("CartPole-v1"), steps=120)


def test_check_fails_if_no_episode_ends() -> None:
    with pytest.raises(InconclusiveError, match="episodes of a row ended in 3 steps"):
        check_vector_env(sync, lambda index: Walk(), modes=(SAME,), steps=3)


class Planted(VectorWrapper):
    """Vector environment with a fault."""

    def __init__(self, env: VectorEnv) -> None:
        super().__init__(env)
        self.kept: Any = None

    def step(self, actions: Any) -> Any:
        *most, info = self.env.step(actions)
        return self.plant(*most, info)

    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        return obs, reward, ended, cut, info


class StaleFinal(Planted):
    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        if "final_obs" in info:
            if self.kept is not None:
                for row in np.flatnonzero(info["_final_obs"]):
                    info["final_obs"][row] = self.kept
            rows = np.flatnonzero(info["_final_obs"])
            self.kept = np.array(info["final_obs"][rows[0]])
        return obs, reward, ended, cut, info


class ResetAsFinal(Planted):
    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        for row in np.flatnonzero(info.get("_final_obs", [])):
            info["final_obs"][row] = obs[row].copy()
        return obs, reward, ended, cut, info


class NoLastReward(Planted):
    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        return obs, np.where(ended | cut, 0.0, reward), ended, cut, info


class InvertedMask(Planted):
    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        if "_final_obs" in info:
            info["_final_obs"] = ~info["_final_obs"]
        return obs, reward, ended, cut, info


class InvertedResetMask(Planted):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        if options and "reset_mask" in options and not options["reset_mask"].all():
            if options["reset_mask"].any() and options["reset_mask"].dtype == bool:
                options = {"reset_mask": ~options["reset_mask"]}
        return self.env.reset(seed=seed, options=options)


class ChangedOptions(Planted):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        result = self.env.reset(seed=seed, options=dict(options or {}))
        if options and "reset_mask" in options:
            options["reset_mask"][:] = False
        return result


class SharedMemory(Planted):
    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        self.kept = obs if self.kept is None else self.kept
        self.kept[...] = obs
        return self.kept, reward, ended, cut, info


class SharedTensor(Planted):
    """As above, in memory that `np.shares_memory` does not detect."""

    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        import torch

        self.kept = torch.zeros(3) if self.kept is None else self.kept
        self.kept.copy_(torch.as_tensor(reward))
        return obs, self.kept, ended, cut, info


class WrongType(Planted):
    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        return obs.astype(np.float64), reward, ended, cut, info


class NumbersForFlags(Planted):
    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        return obs, reward, ended.astype(np.float32), cut, info


class IgnoredSeed(Planted):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return self.env.reset(seed=None, options=options)


class FirstSeedForAll(Planted):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        if isinstance(seed, list) and len(seed) == 3:
            seed = seed[0]
        return self.env.reset(seed=seed, options=options)


class NoMask(Planted):
    def plant(self, obs: Any, reward: Any, ended: Any, cut: Any, info: Any) -> Any:
        info.pop("_time", None)
        return obs, reward, ended, cut, info


FAULTS = [
    (StaleFinal, SAME, "final_obs of row . is not its last observation"),
    (ResetAsFinal, SAME, "final_obs of row . is not its last observation"),
    (NoLastReward, SAME, r"reward of row . is 0\.0, not 1\.5"),
    (NoLastReward, NEXT, r"reward of row . is 0\.0, not 1\.5"),
    (InvertedMask, SAME, "_final_obs is true for row ., which did not end"),
    (
        InvertedResetMask,
        DISABLED,
        "row . was not reset, although its reset_mask is true",
    ),
    (ChangedOptions, DISABLED, "reset changed the options it was given"),
    (SharedMemory, SAME, "share memory"),
    (SharedTensor, NEXT, "share memory"),
    (WrongType, SAME, "observation has type float64, not float32"),
    (NumbersForFlags, NEXT, "terminated has type float32, not bool"),
    (IgnoredSeed, SAME, "equal seeds give different runs"),
    (FirstSeedForAll, NEXT, "the seed of the last row|differs from a single"),
    (NoMask, SAME, "comes without a mask '_time'"),
]


@pytest.mark.parametrize(
    "fault, mode, words", FAULTS, ids=[f"{f[0].__name__}-{f[1].name}" for f in FAULTS]
)
def test_a_planted_fault_is_found(
    fault: type[Planted], mode: AutoresetMode, words: str
) -> None:
    with pytest.raises(ConformanceError, match=words):
        check(lambda mode: fault(sync(mode)), mode)


def test_a_mask_removed_from_the_options_is_an_error_when_requested() -> None:
    """Gymnasium 1.4 does so itself, which wrappers around it misinterpret."""
    with pytest.raises(ConformanceError, match="reset changed the options"):
        check_vector_env(
            sync, lambda index: Walk(), modes=(SAME,), steps=60, allow_popped_mask=False
        )


def test_a_wrapper_without_a_fault_passes() -> None:
    check(lambda mode: Planted(sync(mode)))


def test_checker_imports_no_module_of_this_project() -> None:
    import ast
    from pathlib import Path

    import docs.examples.check_vector_env as checker

    assert checker.__file__ is not None
    tree = ast.parse(Path(checker.__file__).read_text("utf-8"))
    modules = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or "mjlab"]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
        )
    }
    assert modules == set(
        "collections copy functools gymnasium itertools numpy traceback typing".split()
    )
