"""Recordings contain their task and settings, so a replay needs no arguments."""

from pathlib import Path
from typing import Any

import gymnasium
import pytest
import torch

import mjlab
from mjlab.cli import UsageError
from mjlab.cli import replay as script
from mjlab.cli.line import read_line
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.gym import TorchVectorEnv
from mjlab.gym.record_episode import RecordEpisode
from mjlab.managers import RecorderTermCfg, RewardTermCfg
from mjlab.recording.config import RecordingCfg
from mjlab.recording.reader import Recording
from mjlab.registry import load_task
from mjlab.replay.replay_report import ReplayReport


def record_by_terms(folder: Path, **settings: Any) -> Path:
    """Record a registered task by `cfg.recorders`; return the file."""
    cfg = load_task("Cartpole-Balance").env()
    cfg.episode_length_s, cfg.seed = 0.3, 7
    cfg.scene.num_envs, cfg.sim.backend = 3, "native"
    cfg.recording = RecordingCfg(folder=str(folder), name="terms")
    cfg.recorders = {
        "actions": RecorderTermCfg(func=mdp.raw_actions),
        "start": RecorderTermCfg(func=mdp.world_states, when="post_reset"),
    }
    for name, value in settings.items():
        setattr(cfg, name, value)
    env = ManagerBasedRlEnv(cfg, "cpu", task="Cartpole-Balance")
    env.reset(seed=3)
    random = torch.Generator().manual_seed(0)
    for _ in range(25):
        env.step(torch.rand((3, 1), generator=random) * 2.0 - 1.0)
    env.close()
    return folder / "terms.h5"


def replayed_by_script(path: Path, *options: str) -> ReplayReport:
    """Run `scripts/replay.py` on a file, in this process."""
    line = read_line(script.ReplayOptions, [str(path), *options])
    with Recording(path) as recording:
        cfg = script.find_config(recording, line.options)
        return script.replay(recording, cfg, line)


def test_recorded_terms_are_replayed_without_naming_the_task(
    tmp_path: Path,
) -> None:
    path = record_by_terms(tmp_path)
    with Recording(path) as recording:
        assert (recording.env_id, recording.seed) == ("Cartpole-Balance", 7)
        assert recording.backend == "native"
        cfg = script.find_config(recording, script.ReplayOptions())
        assert cfg.episode_length_s == 0.3
        assert len(recording) == 15
    written = path.read_bytes()
    account = replayed_by_script(path)
    assert account.is_as_claimed
    assert "exact" in "\n".join(account.lines())
    # A replay does not record, in particular not over its input.
    assert [file.name for file in sorted(tmp_path.iterdir())] == [
        "terms.h5",
        "terms.json",
    ]
    assert path.read_bytes() == written


def test_a_recording_of_mjlab_make_contains_the_task(tmp_path: Path) -> None:
    made = mjlab.make(
        "Cartpole-Balance", num_envs=3, seed=2, max_episode_steps=6, groups=None
    )
    assert isinstance(made, TorchVectorEnv)
    assert made.spec is not None
    assert made.spec.id == "mjlab/Cartpole-Balance-v0"
    assert made.spec == gymnasium.make_vec(made.spec).spec
    venv = RecordEpisode(made, tmp_path, save_video=False, trajectory_name="made")
    venv.reset(seed=1)
    for _ in range(15):
        venv.step(torch.full((3, 1), 0.3))
    venv.close()
    with Recording(tmp_path / "made.h5") as recording:
        assert recording.env_id == "mjlab/Cartpole-Balance-v0"
        assert recording.seed == 2
        assert recording.env_kwargs["max_episode_steps"] == 6
    account = replayed_by_script(tmp_path / "made.h5")
    assert account.is_as_claimed
    # The task's own configuration builds the same worlds.
    again = replayed_by_script(tmp_path / "made.h5", "--task", "Cartpole-Balance")
    assert again.lines() == account.lines()


def custom_reward(env: Any) -> torch.Tensor:
    """Term of a program that is not a package."""
    return torch.ones(env.num_envs)


def test_an_unreadable_configuration_suggests_passing_the_task(
    tmp_path: Path,
) -> None:
    rewards = {"own": RewardTermCfg(func=custom_reward, weight=1.0)}
    path = record_by_terms(tmp_path, rewards=rewards)
    with Recording(path) as recording, pytest.raises(UsageError) as error:
        script.find_config(recording, script.ReplayOptions())
    assert "env.rewards.own: in the file, but not in the current task." in str(
        error.value
    )
    assert str(error.value).endswith(
        "Pass --task Cartpole-Balance to use the task's own configuration."
    )
