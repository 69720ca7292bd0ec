"""The four-line program with several action terms, recorded (T-01)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import pytest
import torch
from gymnasium import spaces

from mjlab.gym import FlattenActionSpace, TorchVectorEnv, VectorEnv
from mjlab.replay import RecordEpisode
from tests.worlds import gym_tasks


def tensors(tree: Any, name: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(tree, dict):
        for key, part in tree.items():
            yield from tensors(part, f"{name}.{key}")
    else:
        yield name, tree


@pytest.mark.parametrize("num_envs", [1, 4, 16])
def test_the_four_line_program_of_two_episodes_with_dict_actions(
    num_envs: int, tmp_path: Path
) -> None:
    """T-01. The first line calls `mjlab.make`, for a task of the tests."""
    env: Any = TorchVectorEnv(gym_tasks.worlds(gym_tasks.two_terms(), num_envs))
    space = env.single_action_space
    assert isinstance(space, spaces.Dict)
    assert {name: part.shape for name, part in space.items()} == {
        "rear": (6,),
        "front": (6,),
    }
    env = FlattenActionSpace(env)
    env = RecordEpisode(env, tmp_path, save_video=False, trajectory_name="run")
    env = VectorEnv(env, auto_reset=True, record_metrics=True)
    env.reset(seed=1)
    env.action_space.seed(0)
    names: set[frozenset[str]] = set()
    for step in range(1, 13):  # Two episodes of six steps.
        outcome = env.step(torch.as_tensor(env.action_space.sample()))
        ended = outcome[4]["_final_info"].tolist()
        assert ended == [step % 6 == 0] * num_envs
        leaves = set()
        for part in (*outcome[:4], outcome[4]):
            for name, value in tensors(part):
                assert isinstance(value, torch.Tensor), name
                assert len(value) == num_envs and value.device == env.device, name
                leaves.add(name)
        names.add(frozenset(leaves))
    assert len(names) == 1  # The same keys in every step.
    assert outcome[0].shape == env.observation_space.shape
    assert outcome[4]["final_observation"].shape == env.observation_space.shape
    figures = outcome[4]["final_info"]["episode"]
    assert {"return", "episode_len", "reward"} <= figures.keys()
    assert figures["episode_len"].tolist() == [6] * num_envs
    assert {"final_obs", "final_observation", "final_info", "episode"} <= {
        *outcome[4]
    } and {"_final_obs", "_final_observation", "_final_info"} <= {*outcome[4]}
    env.close()
    with h5py.File(tmp_path / "run.h5") as file:
        lengths = [len(group["actions"]) for group in file.values()]  # pyright: ignore[reportIndexIssue, reportArgumentType]
        assert lengths == [6] * (2 * num_envs)
