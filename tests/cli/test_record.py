"""Recorded episodes, tested by the written files."""

import json
from collections import Counter
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from mjlab.cli import record, replay
from mjlab.cli.answers import UsageError, run_program
from mjlab.cli.recorded import record as record_episodes
from mjlab.envs import ManagerBasedRlEnv
from mjlab.tasks.cartpole import CartpoleBalanceCfg

TASK = "Cartpole-Balance"
SHORT = ("--env.episode-length-s", "0.4", "--env.scene.num-envs", "3")


def recorded(folder, *options, task=TASK):
    file = folder / "a.h5"
    arguments = [task, "--out", str(file), *options]
    assert run_program(record.main, arguments) == 0
    return file


def test_the_requested_number_of_episodes_is_written_evenly_from_all_worlds(tmp_path):
    file = recorded(tmp_path, "--policy", "random", "--episodes", "7", *SHORT)
    with h5py.File(file) as found:
        assert len(found) == 7
        worlds = Counter(int(each.attrs["world"]) for each in found.values())
        assert worlds == {0: 3, 1: 2, 2: 2}
        first = {int(e.attrs["world"]): e for e in reversed([*found.values()])}
        assert [int(first[i].attrs["episode_seed"]) for i in range(3)] == [0, 1, 2]
        steps = found["traj_0"].attrs["elapsed_steps"]
        assert found["traj_0/obs/actor"].shape == (steps + 1, 5)
        assert found["traj_0/actions"].shape == (steps, 1)
        assert found["traj_0/actions"][:].std() > 0.1
    about = json.loads(file.with_suffix(".json").read_text())
    assert about["source_desc"] == f"{TASK}, random actions"


def test_actions_of_a_trained_policy_are_replayed_bit_for_bit(tmp_path, capsys):
    file = recorded(tmp_path, "--episodes", "4", *SHORT)
    assert run_program(replay.main, [str(file)]) == 0
    assert "All 4 episodes are exact" in capsys.readouterr().out


def test_recording_uses_the_seed_of_the_command_line(tmp_path):
    file = recorded(tmp_path, "--seed", "7", "--episodes", "3", *SHORT)
    with h5py.File(file) as found:
        seeds = {int(e.attrs["episode_seed"]) for e in found.values()}
    assert seeds == {7, 8, 9}


class Counting:
    """Policy with state: its action is a tenth of its number of calls."""

    def __init__(self, num_envs: int, remembered: float) -> None:
        self._steps = torch.full((num_envs, 1), remembered)

    def __call__(self, observations: Any) -> torch.Tensor:
        self._steps += 1.0
        return 0.1 * self._steps

    def reset(self, dones: torch.Tensor | None = None) -> None:
        self._steps[... if dones is None else dones] = 0.0


def test_recurrent_policy_is_reset_before_each_episode(tmp_path):
    cfg = CartpoleBalanceCfg(episode_length_s=0.4)
    cfg.scene.num_envs = 2
    env = ManagerBasedRlEnv(cfg, device="cpu")
    file = tmp_path / "a.h5"
    policy = Counting(2, remembered=5.0)
    line = {"episodes": 4, "keep": "all", "groups": None, "about": ""}
    assert record_episodes(env, policy, file, **line) == 4
    with h5py.File(file) as found:
        for episode in found.values():
            actions = episode["actions"][:, 0]
            assert len(actions) == 8
            assert actions == pytest.approx(0.1 * np.arange(1, 9))


def test_episodes_that_fail_the_filter_are_run_and_not_written(tmp_path, capsys):
    # A hanging pole is never upright, so no episode succeeds.
    line = ("--policy", "zero", "--episodes", "3", *SHORT)
    file = recorded(tmp_path, "--keep", "failed", *line, task="Cartpole-Swingup")
    with h5py.File(file) as found:
        assert len(found) == 3
    (tmp_path / "b").mkdir()
    recorded(tmp_path / "b", "--keep", "succeeded", *line, task="Cartpole-Swingup")
    assert "Wrote 0 of 3 episodes" in capsys.readouterr().out


def test_a_single_group_is_written_on_request(tmp_path):
    line = ("--policy", "zero", "--episodes", "1", "--groups", "critic", *SHORT)
    with h5py.File(recorded(tmp_path, *line)) as found:
        assert list(found["traj_0/obs"]) == ["critic"]


@pytest.mark.slow
def test_scripted_controller_is_recorded(tmp_path):
    line = ("--policy", "script", "--keep", "succeeded", "--episodes", "2")
    with h5py.File(recorded(tmp_path, *line, task="Lift-Yam-IK")) as found:
        assert [bool(each["success"][-1]) for each in found.values()] == [True, True]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--policy", "script"],
            "no scripted controller .* trained, zero or random",
        ),
        (["--episodes", "0"], "has to be 1 or more"),
        (["--out", "a.hdf5"], "must end in .h5"),
        (
            ["--keep", "failed", "--disable", "outcomes.success"],
            "needs a success criterion",
        ),
    ],
)
def test_unrecordable_settings_are_refused(options, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=said):
        record.main([TASK, *options])
    assert not list(tmp_path.rglob("*.h5"))


def test_existing_file_is_kept(tmp_path):
    (tmp_path / "a.h5").write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        record.main([TASK, "--out", str(tmp_path / "a.h5")])
    assert (tmp_path / "a.h5").read_text() == "mine"
