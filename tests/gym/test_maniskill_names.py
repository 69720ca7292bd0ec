"""ManiSkill programs, with exactly ManiSkill's names.

The expected results are in the table of ManiSkill's documentation; numbers are those of
the task: at most 0.05 of reward per step, and five steps per episode.
"""

from pathlib import Path
from typing import Any

import gymnasium
import h5py
import pytest
import torch

import mjlab
from mjlab.gym import FlattenActionSpaceWrapper, ManiSkillVectorEnv
from mjlab.replay import RecordEpisode

ID = "mjlab/Cartpole-Balance-v0"
N, STEPS = 3, 5


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Episodes of five steps of 0.05 s."""
    from mjlab.tasks.cartpole import CartpoleBalanceCfg

    made = CartpoleBalanceCfg.__init__

    def init(self: Any, **given: Any) -> None:
        made(self, **{"episode_length_s": STEPS * 0.05, **given})

    monkeypatch.setattr(CartpoleBalanceCfg, "__init__", init)


def make(folder: Path, **kind: Any) -> Any:
    env: Any = gymnasium.make(ID, num_envs=N, backend="native", seed=1)
    env = FlattenActionSpaceWrapper(env)
    env = RecordEpisode(env, folder, save_video=False, trajectory_name="run")
    return ManiSkillVectorEnv(env, **kind)


def test_the_batch_of_make_is_an_env_with_the_steps_of_mjlab_make() -> None:
    env: Any = gymnasium.make(ID, num_envs=N, backend="native")
    assert env.num_envs == N
    assert isinstance(env.unwrapped, gymnasium.Env)
    assert env.unwrapped is env
    assert env.spec is not None and env.spec.max_episode_steps == STEPS
    twin: Any = mjlab.make("Cartpole-Balance", num_envs=N, backend="native")
    for left, right in ((env.reset(seed=3), twin.reset(seed=3)),):
        assert torch.equal(left[0], right[0])
    for _ in range(2 * STEPS):
        action = torch.full((N, 1), 0.3)
        for left, right in zip(
            env.step(action)[:4], twin.step(action)[:4], strict=True
        ):
            assert torch.equal(left, right)
    again: Any = FlattenActionSpaceWrapper(gymnasium.make(env.spec))  # pyright: ignore[reportArgumentType]
    assert again.num_envs == N and again.env.spec == env.spec
    assert gymnasium.make(ID, num_envs=1).num_envs == 1  # pyright: ignore[reportAttributeAccessIssue]


def test_maniskill_training_loop_runs(tmp_path: Path) -> None:
    env = make(
        tmp_path, auto_reset=True, ignore_terminations=False, record_metrics=True
    )
    env.reset(seed=0)
    for step in range(1, 2 * STEPS + 1):
        _, _, _, truncated, info = env.step(torch.zeros(N, 1))
        assert truncated.tolist() == [step % STEPS == 0] * N
        done = info["_final_info"]
        assert done.tolist() == truncated.tolist()
        if done.any():
            figures = info["final_info"]["episode"]
            assert figures["episode_len"][done].tolist() == [STEPS] * N
            assert (figures["return"][done] <= 0.05 * STEPS).all()
            assert info["final_observation"][done].shape == (N, 5)
            assert info["elapsed_steps"].tolist() == [0] * N
    env.close()


def test_maniskill_trajectories_are_recorded(tmp_path: Path) -> None:
    env = make(tmp_path, auto_reset=True)
    observations, _ = env.reset(seed=0)
    first = observations.clone()
    for _ in range(STEPS):
        env.step(torch.full((N, 1), 0.2))
    env.close()
    with h5py.File(tmp_path / "run.h5") as file:
        found: list[Any] = [file[name] for name in sorted(file)]
        assert [len(each["actions"]) for each in found] == [STEPS] * N
        assert [len(each["obs"]) for each in found] == [STEPS + 1] * N
        begun = torch.stack([torch.as_tensor(each["obs"][0]) for each in found])
    assert torch.equal(begun, first.cpu())
