"""The three Gymnasium forms: tensor vector, NumPy vector and single environment."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from gymnasium.vector import AutoresetMode

from docs.examples.check_vector_env import check_vector_env
from mjlab.envs import ManagerBasedRlEnvCfg
from mjlab.gym import NumpyVectorEnv, SingleEnv, TorchVectorEnv
from tests.worlds import gym_tasks

Form = type[NumpyVectorEnv] | type[TorchVectorEnv]
Make = Callable[[], ManagerBasedRlEnvCfg]


def conform(
    form: Form, make: Make, groups: Any, mode: AutoresetMode, steps: int
) -> None:
    """Compare a vector form with single environments, by the checker."""
    worlds = partial(gym_tasks.worlds, groups=groups)

    def vector(mode: AutoresetMode) -> Any:
        return form(worlds(make(), 3), autoreset_mode=mode)

    def single(row: int) -> Any:
        return SingleEnv(worlds(make(), 1, first_world=row))

    check_vector_env(
        vector, single, modes=(mode,), steps=steps, allow_popped_mask=False
    )


MODES = [pytest.param(mode, id=mode.name) for mode in AutoresetMode]
MOSTLY_SLOW = [
    pytest.param(
        mode,
        id=mode.name,
        marks=[] if mode is AutoresetMode.SAME_STEP else pytest.mark.slow,
    )
    for mode in AutoresetMode
]


@pytest.mark.parametrize("mode", MODES)
def test_cartpole_keeps_the_contract(mode: AutoresetMode) -> None:
    conform(NumpyVectorEnv, gym_tasks.cartpole, "actor", mode, 200)


@pytest.mark.parametrize("mode", MOSTLY_SLOW)
def test_tensors_keep_the_contract(mode: AutoresetMode) -> None:
    conform(TorchVectorEnv, gym_tasks.cartpole, "actor", mode, 60)


@pytest.mark.parametrize("mode", MOSTLY_SLOW)
def test_noise_delays_and_histories_keep_the_contract(mode: AutoresetMode) -> None:
    conform(NumpyVectorEnv, gym_tasks.remembering, None, mode, 70)


@pytest.mark.parametrize("mode", MOSTLY_SLOW)
def test_velocity_keeps_the_contract(mode: AutoresetMode) -> None:
    conform(NumpyVectorEnv, gym_tasks.go1, "actor", mode, 20)


@pytest.mark.parametrize("mode", MOSTLY_SLOW)
def test_dicts_of_actions_and_observations_keep_the_contract(
    mode: AutoresetMode,
) -> None:
    conform(TorchVectorEnv, gym_tasks.two_terms, ("actor", "critic"), mode, 20)
