"""Shipped tasks declare success and failure, which are displayed."""

import math
from typing import Any

import pytest
import torch

from mjlab.cli.episodes import summary as figures_of
from mjlab.cli.episodes import table
from mjlab.envs import ManagerBasedRlEnv, ZeroPolicy
from mjlab.envs.rollout import run_episodes
from mjlab.gym import ManagedWorlds, TorchVectorEnv, VectorEnv
from mjlab.registry import entries, load_task

_CANNOT_FAIL = {"Reach-Yam": {"fail"}, "Reach-Yam-Depth": {"fail"}}


def built(task: str, worlds: int = 4, seconds: float = 0.4) -> ManagerBasedRlEnv:
    cfg: Any = load_task(task).env()
    cfg.scene.num_envs, cfg.seed, cfg.episode_length_s = worlds, 0, seconds
    if "push_robot" in cfg.events:
        cfg.events["push_robot"] = None
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset(seed=0)
    return env


def now(env: ManagerBasedRlEnv) -> dict[str, list[bool]]:
    return {n: env.outcome_manager.now(n).tolist() for n in ("success", "fail")}


def last_step(env: ManagerBasedRlEnv) -> None:
    """Take zero actions until the time limit."""
    action = torch.zeros(env.num_envs, env.action_manager.total_action_dim)
    for _ in range(env.max_episode_length):
        env.step(action)


@pytest.mark.parametrize("task", sorted(entries()))
def test_a_shipped_task_declares_success_and_failure(task: str) -> None:
    outcomes = load_task(task).env().outcomes
    declared = {name for name, term in outcomes.items() if term}
    # Only the time limit ends reaching, and goals change during an episode.
    assert declared == {"success", "fail"} - ({"fail"} & _CANNOT_FAIL.get(task, set()))


def test_a_pole_is_upright_within_a_fifth_of_a_radian_or_hangs() -> None:
    env = built("Cartpole-Balance")
    angles = torch.tensor([0.15, -0.25, 1.5, 3.0])
    places = torch.tensor([0.5, 0.0, 0.0, 0.0])
    env.sim.data.qpos[:, 0], env.sim.data.qpos[:, 1] = places, angles
    env.sim.data.qvel.zero_()
    env.sim.forward()
    env.outcome_manager.compute()
    upright = [math.cos(a) > math.cos(0.2) for a in angles.tolist()]
    hanging = [abs(a) > math.pi / 2 for a in angles.tolist()]
    assert now(env) == {"success": upright, "fail": hanging}
    env.sim.data.qpos[:, 0] = 1.1
    env.outcome_manager.compute()
    assert not any(now(env)["success"])


def test_a_pole_that_hangs_when_time_is_over_was_not_swung_up() -> None:
    env = built("Cartpole-Swingup")
    action = torch.zeros(4, 1)
    env.step(action)
    assert not any(now(env)["fail"])
    last_step(env)
    episodes = run_episodes(env, ZeroPolicy(env), number=4, seed=0)
    assert all(e.seconds == e.steps * env.step_dt > 0.0 for e in episodes)
    assert all(e.figures["Metrics/fail_at_end"] == 1.0 for e in episodes)
    assert not any(e.success_once for e in episodes)


@pytest.mark.slow
def test_a_standing_robot_succeeds_at_zero_command_and_fails_by_a_fall() -> None:
    env = built("Velocity-Go1-Flat")
    command: Any = env.command_manager.term("twist")
    # Worlds 0 and 1 stand, 2 walks at 1 m/s, 3 turns at 1 rad/s.
    told = torch.tensor([[0.0] * 3, [0.0] * 3, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    action = torch.zeros(4, 12)
    for step in range(env.max_episode_length):
        command.command.copy_(told)
        command._drawn[:, :3] = told
        command.is_heading.zero_()
        if step == env.max_episode_length - 3:
            # On its back.
            env.sim.data.qpos[1, 3:7] = torch.tensor((0.0, 1.0, 0.0, 0.0))
        env.step(action)
        if step == env.max_episode_length - 3:
            assert now(env) == {
                "success": [False] * 4,
                "fail": [False, True] + [False] * 2,
            }
    assert now(env) == {"success": [True, False, False, False], "fail": [False] * 4}


@pytest.mark.slow
def test_an_arm_follows_when_its_mean_error_is_small() -> None:
    env = built("Muscle-Track-Arm6", seconds=1.0)
    errors = []
    command: Any = env.command_manager.term("target")
    for _ in range(env.max_episode_length):
        away = env.scene.entity("robot").data.joint_pos - command.command
        errors.append(away.square().mean(dim=1).sqrt())
        env.step(torch.zeros(4, env.action_manager.total_action_dim))
    # Figures of the last step are read after its outcome.
    mean = torch.stack(errors[1:]).mean(dim=0)
    followed = (mean < 0.07).tolist()
    assert now(env) == {"success": followed, "fail": [not f for f in followed]}


@pytest.mark.slow
def test_gymnasium_shows_success_once_and_so_does_the_table_of_an_evaluation() -> None:
    env = built("Cartpole-Balance")
    worlds = VectorEnv(TorchVectorEnv(ManagedWorlds(env)), record_metrics=True)
    worlds.reset(seed=0)
    info = worlds.step(torch.zeros(4, 1))[-1]
    assert info["episode"]["success_once"].tolist() == [True] * 4
    assert info["episode"]["fail_once"].tolist() == [False] * 4
    text = table(figures_of(run_episodes(env, ZeroPolicy(env), number=4, seed=0)))
    lines = {line.split("  ")[0]: line.split()[-1] for line in text.splitlines()}
    assert lines["success once"] == lines["success at end"] == "100.0%"
    assert "Metrics/fail_once" in text
