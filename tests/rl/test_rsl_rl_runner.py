"""RSL-RL's own runner with our worlds, and its log of episodes and curricula."""

from pathlib import Path

import pytest
import torch
from rsl_rl.runners import OnPolicyRunner
from rsl_rl.utils import LogWriter

from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import (
    CurriculumTermCfg,
    ManagerTermBase,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.rl import RslRlVecEnv
from mjlab.rl.learners import to_rsl_rl
from tests.worlds.rl_runs import agent_cfg, env_cfg

STEPS, LENGTH, DT = 4, 6, 0.05


class Lines(LogWriter):
    """Stores scalars by iteration."""

    kept: dict[int, dict[str, float]]

    def __init__(self, log_dir: str) -> None:
        Lines.kept = {}

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        if not tag.endswith("/time"):  # These are by seconds, not by iterations.
            Lines.kept.setdefault(global_step, {})[tag] = float(scalar_value)


class level(ManagerTermBase):
    """Number of started episodes."""

    def __init__(self, cfg: CurriculumTermCfg, env: ManagerBasedRlEnv) -> None:
        super().__init__(cfg, env)
        self.begun = torch.zeros((), device=env.device)

    def __call__(self, env: ManagerBasedRlEnv, mask: torch.Tensor) -> torch.Tensor:
        return self.begun.add_(mask.sum())

    def state(self) -> dict[str, torch.Tensor]:
        return {"begun": self.begun}


@pytest.fixture
def logged(tmp_path: Path) -> dict[int, dict[str, float]]:
    """Scalars of three iterations of four steps, of 4 worlds with six-step episodes."""
    cfg = env_cfg(worlds=4)
    cfg.episode_length_s = LENGTH * DT
    cfg.rewards = {"alive": RewardTermCfg(func=mdp.is_alive, weight=3.0)}
    cfg.terminations = {
        "time_out": TerminationTermCfg(func=mdp.time_out, time_out=True)
    }
    cfg.curriculum = {"level": CurriculumTermCfg(func=level)}
    settings = to_rsl_rl(agent_cfg(num_steps_per_env=STEPS)) | {
        "save_interval": 100,
        "logger": {"class_name": Lines},
    }
    worlds = RslRlVecEnv(ManagerBasedRlEnv(cfg))
    runner = OnPolicyRunner(worlds, settings, log_dir=str(tmp_path), device="cpu")
    # World 0 is a step ahead of the others: it ends alone, in steps 5 and 11.
    worlds.env.episode_length_buf[0] = 1
    runner.learn(3)
    return Lines.kept


def test_an_iteration_without_an_ended_episode_logs_no_episode_figures(logged) -> None:
    names = [
        {name for name in scalars if name.startswith("Episode_")}
        for scalars in logged.values()
    ]
    assert names[0] == set()
    both = {"Episode_Reward/alive", "Episode_Termination/time_out"}
    assert names[1] == names[2] == both


def test_every_episode_counts_once_in_its_iteration(logged) -> None:
    """World 0 ends in steps 5 and 11, after five and six, the others in 6 and 12."""
    for iteration, lengths in ((1, [5, 6, 6, 6]), (2, [6, 6, 6, 6])):
        found = logged[iteration]["Episode_Reward/alive"]
        # The reward is 3 per second; its figure is the sum divided by the maximum
        # length.
        assert found == pytest.approx(3.0 * sum(lengths) / 4 / LENGTH)
        assert logged[iteration]["Episode_Termination/time_out"] == 1.0


def test_curriculum_level_is_logged_in_every_iteration(logged) -> None:
    assert [line["Curriculum/level"] for line in logged.values()] == [4.0, 8.0, 12.0]
