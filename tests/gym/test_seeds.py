"""Independent worlds, portable specs, and messages for missing packages."""

import pickle
import subprocess
import sys
from typing import Any

import gymnasium
import pytest
import torch
from gymnasium.envs.registration import find_highest_version
from gymnasium.utils.env_checker import data_equivalence

import mjlab.gym  # noqa: F401 - makes the ids known
from mjlab.gym import FrameStack, TorchVectorEnv, VectorEnv
from tests.worlds import gym_tasks

STEPS = 40


def stacked(num_envs: int) -> VectorEnv:
    """Noise, delays, histories, a stack and figures."""
    worlds = gym_tasks.worlds(gym_tasks.remembering(), num_envs, groups="actor")
    stack = FrameStack(TorchVectorEnv(worlds), 3)
    return VectorEnv(stack, record_metrics=True)


def draw(num_envs: int) -> torch.Tensor:
    """Return the same actions for row i for any number of rows."""
    random = torch.Generator().manual_seed(1)
    return torch.rand((STEPS, 64, 1), generator=random)[:, :num_envs] * 2 - 1


def told(result: Any, row: int) -> list[Any]:
    """Return all results of a step for one world."""
    observations, reward, terminated, truncated, info = result
    figures = info["final_info"]["episode"]
    return [
        observations[row].tolist(),
        info["final_observation"][row].tolist(),
        *(value[row].item() for value in (reward, terminated, truncated)),
        *(figures[key][row].item() for key in sorted(figures) if key[0] != "_"),
    ]


def test_world_does_not_depend_on_the_number_of_other_worlds() -> None:
    """T-19, with 1, 4, 16 and 64 rows."""
    lives = []
    for num_envs in (1, 4, 16, 64):
        env = stacked(num_envs)
        env.reset(seed=3)
        lives.append([told(env.step(action), 0) for action in draw(num_envs)])
    assert sum(step[3] or step[4] for step in lives[0]) >= 2  # It ends during the test.
    assert all(life == lives[0] for life in lives[1:])


@pytest.mark.parametrize("num_envs", [4, 16])
@pytest.mark.parametrize("how", ["thrown", "lost"])
def test_changes_of_one_world_affect_no_other_world(how: str, num_envs: int) -> None:
    """T-13. One row is 1 km away, or NaN."""
    calm, rough = stacked(num_envs), stacked(num_envs)
    calm.reset(seed=3)
    rough.reset(seed=3)
    differs = False
    for step, action in enumerate(draw(num_envs)):
        if step % 7 == 2:
            data = rough.unwrapped.worlds.env.sim.data  # pyright: ignore[reportAttributeAccessIssue]
            data.qpos[1, 0] = 1000.0 if how == "thrown" else float("nan")
        ours, theirs = calm.step(action), rough.step(action)
        differs |= told(ours, 1) != told(theirs, 1)
        for row in range(num_envs):
            same = told(ours, row) == told(theirs, row)
            assert same or row == 1, f"row {row}, step {step}"
    assert differs


# Specs.


def test_a_spec_survives_a_pickle() -> None:
    """T-15."""
    made: dict[str, Any] = {"backend": "native", "seed": 1}
    name = "mjlab/Cartpole-Balance-v0"
    env = gymnasium.make(name, max_episode_steps=7, **made)
    again = gymnasium.make(pickle.loads(pickle.dumps(env.spec)))
    assert again.spec == env.spec
    assert data_equivalence(env.reset(seed=5), again.reset(seed=5), exact=True)
    many = gymnasium.make_vec(name, num_envs=2, numpy=True, **made)
    more: Any = gymnasium.make_vec(pickle.loads(pickle.dumps(many.spec)))
    assert more.spec == many.spec and more.num_envs == 2
    assert data_equivalence(many.reset(seed=5), more.reset(seed=5), exact=True)


def test_the_namespace_is_searched_for_names_and_versions() -> None:
    """T-15."""
    assert find_highest_version("mjlab", "Cartpole-Balance") == 0
    listed = gymnasium.pprint_registry(disable_print=True) or ""
    assert "mjlab/Cartpole-Balance-v0" in listed
    with pytest.raises(gymnasium.error.NameNotFound, match="`Cartpole-Balance`"):
        gymnasium.make("mjlab/Cartpole-Balanse-v0")
    with pytest.raises(gymnasium.error.VersionNotFound, match="`v0`"):
        gymnasium.make("mjlab/Cartpole-Balance-v7")


# Packages.


def test_a_package_that_is_missing_is_named_with_the_way_to_install_it() -> None:
    """T-15."""
    program = """
import sys
sys.modules["h5py"] = None
from mjlab.replay import RecordEpisode
from tests.worlds import gym_tasks
from mjlab.gym import TorchVectorEnv
env = TorchVectorEnv(gym_tasks.worlds(gym_tasks.scripted(), 1))
try:
    RecordEpisode(env, "nowhere", save_video=False)
except ImportError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=240
    )
    needs = 'needs h5py, which is not installed: pip install "mjlab-fused[gym]".'
    assert result.stdout == f"Recording episodes {needs}\n", result.stderr
