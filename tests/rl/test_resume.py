"""An interrupted robot training equals an uninterrupted one, bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import load_task
from mjlab.rl import MlpModelCfg, TrainingLoop
from mjlab.rl.learners import network_names
from mjlab.runs import Checkpoints
from tests.worlds.rl_runs import differing, flat_state


def make_loop(task: str, iterations: int, folder: Path | None = None) -> TrainingLoop:
    """A task with all features: noise, delays, pushes, randomisation, curricula."""
    found = load_task(task)
    assert found.rl is not None
    cfg: Any = found.env()
    cfg.scene.num_envs, cfg.seed = 8, 3
    # Episodes end and start in every iteration, and robots are pushed in most.
    cfg.episode_length_s = 0.2
    if "push_robot" in cfg.events:
        cfg.events["push_robot"].interval_range_s = (0.04, 0.1)
    agent: Any = found.rl()
    agent.max_iterations, agent.num_steps_per_env = iterations, 4
    for network in network_names(agent):
        if isinstance(getattr(agent, network), MlpModelCfg):
            getattr(agent, network).hidden_dims = (16,)
    agent.evaluation.every = 0
    return TrainingLoop(
        ManagerBasedRlEnv(cfg, device="cpu"),
        agent,
        checkpoints=None if folder is None else Checkpoints(folder),
    )


@pytest.mark.parametrize(
    "task",
    [
        "Velocity-Go1-Flat",
        pytest.param("Velocity-G1", marks=pytest.mark.slow),
        pytest.param("Lift-Yam-Taught", marks=pytest.mark.slow),
        pytest.param("Lift-Yam-Depth", marks=pytest.mark.slow),
    ],
)
def test_ten_iterations_of_a_robot_equal_five_and_five_bit_for_bit(
    task: str, tmp_path: Path
) -> None:
    whole = make_loop(task, 10)
    whole.run()
    make_loop(task, 5, tmp_path).run()
    # Operations in between must have no effect.
    torch.manual_seed(99)
    np.random.seed(99)
    second = make_loop(task, 10, tmp_path)
    second.resume(tmp_path)
    assert second.iteration == 5
    second.run()
    state = flat_state(whole)
    assert len(state) > 100
    assert any("qpos" in name or "sim.state" in name for name in state)
    assert differing(state, flat_state(second)) == []
