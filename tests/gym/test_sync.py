"""The vector environment, compared with Gymnasium's vector of single ones (T-03)."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from mjlab.gym import NumpyVectorEnv
from mjlab.gym.build import make_single


def beside(task: str, mode: AutoresetMode, steps_each: int) -> tuple[Any, Any]:
    """Return three rows of a task in the mode, in both vector environments."""
    made: dict[str, Any] = {
        "backend": "native",
        "seed": 4,
        "max_episode_steps": steps_each,
    }
    name = f"mjlab/{task}-v0"
    ours = gymnasium.make_vec(
        name, num_envs=3, numpy=True, autoreset_mode=mode.value, **made
    )
    singles = [
        # With `gymnasium.make`, the wrapper TimeLimit would count the steps, and the
        # task's time limit, which some outcomes read, would not.
        lambda row=row: make_single(task, first_world=row, **made)
        for row in range(3)
    ]
    assert isinstance(ours, NumpyVectorEnv)
    return ours, SyncVectorEnv(singles, autoreset_mode=mode)


def same_run(task: str, mode: AutoresetMode, seed: Any, steps: int, each: int) -> None:
    ours, theirs = beside(task, mode, each)
    assert data_equivalence(ours.reset(seed=seed), theirs.reset(seed=seed), exact=True)
    theirs.action_space.seed(0)
    ends = np.zeros(3, int)
    for step in range(steps):
        action = theirs.action_space.sample()
        mine, others = ours.step(action), theirs.step(action)
        assert data_equivalence(mine, others, exact=True), f"step {step}"
        ended = mine[2] | mine[3]
        ends += ended
        if mode is AutoresetMode.DISABLED and step in (2, 30):
            # Rows that have not ended are also reset, so that rows differ in age.
            ended = ended | (np.arange(3) == step % 4)
        if mode is AutoresetMode.DISABLED and ended.any():
            # Gymnasium removes the mask from its options.
            pair = [env.reset(options={"reset_mask": ended}) for env in (ours, theirs)]
            assert data_equivalence(*pair, exact=True), f"reset after {step}"
    assert (ends >= 2).all()
    ours.close()
    theirs.close()


SEEDS = [pytest.param(7, id="int"), pytest.param([9, 2, 40], id="list")]
MODES = [pytest.param(mode, id=mode.name) for mode in AutoresetMode]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", MODES)
def test_cartpole_is_gymnasiums_vector_of_single_ones(
    mode: AutoresetMode, seed: Any
) -> None:
    same_run("Cartpole-Balance", mode, seed, steps=200, each=45)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mode", MODES)
def test_velocity_is_gymnasiums_vector_of_single_ones(
    mode: AutoresetMode, seed: Any
) -> None:
    same_run("Velocity-Go1-Flat", mode, seed, steps=20, each=6)
