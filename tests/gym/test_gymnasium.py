"""Gymnasium's wrappers around `NumpyVectorEnv` (T-08).

A wrapper around three worlds gives the same results as around each single world.
"""

from collections.abc import Callable
from typing import Any

import gymnasium
import gymnasium.wrappers as alone
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as together

from mjlab.gym import NumpyVectorEnv, SingleEnv
from tests.worlds import gym_tasks

LOW, HIGH = np.full(5, -2.0, np.float32), np.full(5, 2.0, np.float32)
Wrap = Callable[[Any], Any]


def box(env: Any) -> spaces.Box:
    space = env.get_wrapper_attr("single_observation_space")
    return spaces.Box(space.low, space.high, dtype=np.float32)


CASES: dict[str, tuple[Wrap, Wrap]] = {
    "nothing": (lambda env: env, lambda env: env),
    "clip_reward": (
        lambda env: together.ClipReward(env, 0.0, 0.9),
        lambda env: alone.ClipReward(env, 0.0, 0.9),
    ),
    "transform_reward": (
        lambda env: together.TransformReward(env, lambda reward: 2.0 * reward),
        lambda env: alone.TransformReward(env, lambda reward: 2.0 * reward),
    ),
    "clip_action": (together.ClipAction, alone.ClipAction),
    "rescale_action": (
        lambda env: together.RescaleAction(env, -2.0, 3.0),
        lambda env: alone.RescaleAction(env, np.float32(-2.0), np.float32(3.0)),
    ),
    "transform_action": (
        lambda env: together.TransformAction(env, lambda action: -action),
        lambda env: alone.TransformAction(env, lambda action: -action, None),
    ),
    "transform_observation": (
        lambda env: together.TransformObservation(env, lambda seen: seen * 0.5),
        lambda env: alone.TransformObservation(env, lambda seen: seen * 0.5, None),
    ),
    "dtype": (
        lambda env: together.DtypeObservation(env, np.float64),
        lambda env: alone.DtypeObservation(env, np.float64),
    ),
    "flatten": (together.FlattenObservation, alone.FlattenObservation),
    "reshape": (
        lambda env: together.ReshapeObservation(env, (5, 1)),
        lambda env: alone.ReshapeObservation(env, (5, 1)),
    ),
}


@pytest.fixture(scope="module")
def rows() -> list[SingleEnv]:
    cfg = gym_tasks.cartpole
    return [SingleEnv(gym_tasks.worlds(cfg(), 1, first_world=row)) for row in range(3)]


@pytest.fixture(scope="module")
def arrays() -> NumpyVectorEnv:
    return NumpyVectorEnv(gym_tasks.worlds(gym_tasks.cartpole(), 3))


@pytest.mark.parametrize("case", CASES)
def test_vector_wrapper_equals_a_wrapper_of_each_environment(
    case: str, rows: list[SingleEnv], arrays: NumpyVectorEnv
) -> None:
    many, one = CASES[case]
    ours = many(arrays)
    theirs = SyncVectorEnv([lambda row=row: one(row) for row in rows])
    assert ours.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert data_equivalence(ours.reset(seed=2), theirs.reset(seed=2), exact=True)
    random, ends = np.random.default_rng(0), 0
    for step in range(50):
        # Partly outside of the space, to test clipping.
        action = random.uniform(-1.5, 1.5, (3, 1)).astype(np.float32)
        mine, others = ours.step(action), theirs.step(action)
        assert data_equivalence(mine, others, exact=True), f"step {step}"
        ends += int((mine[2] | mine[3]).sum())
    assert ends >= 6


def test_statistics_of_episodes_are_those_of_each_row(
    rows: list[SingleEnv], arrays: NumpyVectorEnv
) -> None:
    ours = together.RecordEpisodeStatistics(arrays)
    theirs = SyncVectorEnv(
        [lambda row=row: alone.RecordEpisodeStatistics(row) for row in rows]
    )
    ours.reset(seed=5)
    theirs.reset(seed=5)
    ends = 0
    for _ in range(50):
        action = np.full((3, 1), 0.3, np.float32)
        *flags, info = ours.step(action)
        *_, other = theirs.step(action)
        ended = flags[2] | flags[3]
        assert ended.any() == ("episode" in other)
        for row in np.flatnonzero(ended):
            ends += 1
            mine, own = info["episode"], other["episode"]
            assert mine["l"][row] == own["l"][row]
            # This project sums in float32, Gymnasium in float64.
            assert mine["r"][row] == pytest.approx(own["r"][row], rel=1e-6)
    assert ends >= 6


@pytest.mark.parametrize(
    "wrap",
    [
        together.NormalizeObservation,
        together.NormalizeReward,
        together.DictInfoToList,
    ],
)
def test_vector_functions_give_the_same_results_for_our_worlds(
    wrap: Any, rows: list[SingleEnv], arrays: NumpyVectorEnv
) -> None:
    """These have no single form, so Gymnasium's vector is wrapped too."""
    singles = SyncVectorEnv([lambda row=row: row for row in rows])
    ours, theirs = wrap(arrays), wrap(singles)
    first, other_first = ours.reset(seed=3), theirs.reset(seed=3)
    assert data_equivalence(first, other_first, exact=True)
    for step in range(50):
        action = np.full((3, 1), 0.2, np.float32)
        mine, others = ours.step(action), theirs.step(action)
        assert data_equivalence(mine, others, exact=True), f"step {step}"


def test_an_entry_point_of_a_user_is_made_again_from_its_spec() -> None:
    def wrapped() -> gymnasium.Env[Any, Any]:
        return gymnasium.wrappers.FlattenObservation(
            gymnasium.make("mjlab/Cartpole-Balance-v0")
        )

    gymnasium.register("mjlab-test/Wrapped-v0", entry_point=wrapped)
    try:
        env = gymnasium.make("mjlab-test/Wrapped-v0")
        assert env.spec is not None and "max_episode_steps" not in env.spec.kwargs
        again = gymnasium.make(env.spec)
        first, second = (each.reset(seed=4)[0] for each in (env, again))
        assert np.array_equal(first, second)
    finally:
        del gymnasium.registry["mjlab-test/Wrapped-v0"]
