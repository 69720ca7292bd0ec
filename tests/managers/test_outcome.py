"""Outcomes: success and failure, from their declaration to logs and evaluations."""

from typing import Any

import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import OutcomeTermCfg, TermError
from mjlab.names import UnknownNameError
from mjlab.rl.config import EvaluationCfg, PpoAgentCfg
from mjlab.rl.evaluation import Evaluation
from tests.worlds import gym_tasks


def scripted(num_envs: int = 3) -> ManagerBasedRlEnv:
    """World i ends after 3 + i steps; step 2 succeeds, and from step 4 on it fails."""
    cfg = gym_tasks.scripted()
    cfg.scene.num_envs = num_envs
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset(seed=0)
    return env


def test_outcomes_hold_in_a_step_and_once_in_an_episode() -> None:
    env = scripted()
    outcomes = env.outcome_manager
    seen = []
    for _ in range(4):
        env.step(torch.zeros(3, 1))
        seen.append([outcomes.now(n).tolist() for n in ("success", "fail")])
    assert seen[1] == [[True] * 3, [False] * 3]
    # World 0 has begun anew after its third step.
    assert seen[3] == [[False, False, False], [False, True, True]]
    assert outcomes.once("success").tolist() == [False, False, True]


def test_log_contains_fractions_of_finished_episodes() -> None:
    env = scripted()
    env.take_log()
    for _ in range(5):
        env.step(torch.zeros(3, 1))
    log = env.take_log()
    assert log["Metrics/success_once"] == 1.0 and log["Metrics/success_at_end"] == 0.0
    # Episodes of 3, 4 and 5 steps: two of three fail, and still do at their end.
    assert log["Metrics/fail_once"] == log["Metrics/fail_at_end"]
    assert log["Metrics/fail_once"] == pytest.approx(2 / 3)


def test_a_snapshot_contains_the_reached_value() -> None:
    env = scripted()
    for _ in range(2):
        env.step(torch.zeros(3, 1))
    state = env.get_state()
    env.reset()
    assert not env.outcome_manager.once("success").any()
    env.set_state(state)
    assert env.outcome_manager.once("success").all()


def test_an_evaluation_counts_one_episode_of_each_world() -> None:
    cfg = PpoAgentCfg(evaluation=EvaluationCfg(every=1))
    cfg.obs_groups = {"actor": ("actor",)}

    class Still:
        def __call__(self, observations: Any) -> torch.Tensor:
            return torch.zeros(3, 1)

        def reset(self, dones: torch.Tensor) -> None:
            pass

    figures = Evaluation(lambda: scripted(), cfg).run(Still())
    # World 0 ends after 3 steps, and its next episode does not count.
    assert figures["Eval/success_once"] == 1.0
    assert figures["Eval/success_at_end"] == 0.0
    assert float(figures["Eval/fail_at_end"]) == pytest.approx(2 / 3)


def test_a_task_without_outcomes_adds_no_work() -> None:
    cfg = gym_tasks.scripted()
    cfg.outcomes = {}
    env = ManagerBasedRlEnv(cfg, device="cpu")
    everyone = torch.ones(1, dtype=torch.bool)
    env.outcome_manager.compute()
    env.outcome_manager.reset(everyone)
    assert not env.outcome_manager.state()
    with pytest.raises(UnknownNameError, match="The task declares no outcomes"):
        env.outcome_manager.now("success")


def not_bools(env: Any) -> torch.Tensor:
    return torch.zeros(env.num_envs)


def test_an_invalid_outcome_is_refused_with_the_reason() -> None:
    cfg = gym_tasks.scripted()
    cfg.outcomes = {"sucess": OutcomeTermCfg(func=gym_tasks.succeeds)}
    with pytest.raises(TermError, match=r"no outcome 'sucess'.*'success'"):
        ManagerBasedRlEnv(cfg)
    cfg.outcomes = {"success": OutcomeTermCfg(func=not_bools)}
    with pytest.raises(TermError, match=r"'success'.*has to be torch\.bool"):
        ManagerBasedRlEnv(cfg)
