"""Small trainings with a planted fault, and their diagnosis."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from mjlab.doctor.training import Course
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import RewardTermCfg, SceneEntityCfg, TerminationTermCfg
from mjlab.rl import TrainingLoop
from mjlab.rl.logging import JsonlWriter
from mjlab.runs.metrics import METRICS, read_metrics
from mjlab.settings.file import read_out
from tests.worlds.rl_runs import agent_cfg, env_cfg

SLIDER = SceneEntityCfg("cartpole", joint_names=("slider",))

Change = Callable[[Any, Any], None]
"""Plants a fault in environment and learner."""


def planted(change: Change) -> tuple[Any, Any]:
    """Return the configurations of a small task with a fault."""
    env, agent = env_cfg(), agent_cfg(16)
    change(env, agent)
    return env, agent


def train_course(folder: Path, change: Change) -> Course:
    """Train a small task with a fault, and read its figures."""
    env, agent = planted(change)
    writer = JsonlWriter(folder / METRICS)
    TrainingLoop(ManagerBasedRlEnv(env), agent, writers=[writer]).run()
    settings = read_out({"env": env, "agent": agent})
    return Course(read_metrics(folder / METRICS), settings)


class Does:
    """Policy that samples actions around a mean."""

    def __init__(self, *mean: float, spread: float = 0.01) -> None:
        self._mean = torch.tensor(mean)
        self._spread = spread
        self._random = torch.Generator().manual_seed(0)

    def __call__(self, observations: Any, /) -> torch.Tensor:
        number = next(iter(observations.values())).shape[0]
        size = (number, len(self._mean))
        noise = torch.randn(size, generator=self._random)
        return self._mean + self._spread * noise

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: there is no state."""


# Faults of a training.


def nothing(env: Any, agent: Any) -> None:
    """Leave the task unchanged."""


def ending_pays(env: Any, agent: Any) -> None:
    """Every step has a cost, and leaving the rail ends the episode, so leaving pays."""
    env.scene.num_envs = 32
    env.rewards = {"alive": RewardTermCfg(func=mdp.is_alive, weight=-1.0)}
    env.terminations["away"] = TerminationTermCfg(
        func=mdp.joint_pos_out_of_range,
        params={"bounds": (-0.8, 0.8), "asset_cfg": SLIDER},
    )
    env.episode_length_s = 3.0
    agent.max_iterations, agent.num_steps_per_env = 20, 16
    agent.algorithm.learning_rate, agent.algorithm.schedule = 1e-2, "fixed"
    agent.algorithm.num_learning_epochs = 5


def dead_term(env: Any, agent: Any) -> None:
    """Only the time limit ends an episode here, which is not a failure."""
    env.rewards["failed"] = RewardTermCfg(func=mdp.is_terminated, weight=-1.0)


def drowning_term(env: Any, agent: Any) -> None:
    env.rewards["rate"] = RewardTermCfg(func=mdp.action_rate_l2, weight=-1000.0)


def sign(env: Any, agent: Any) -> None:
    env.rewards["rate"] = RewardTermCfg(func=mdp.action_rate_l2, weight=0.1)


def noise_explodes(env: Any, agent: Any) -> None:
    agent.algorithm.entropy_coef = 10.0
    agent.algorithm.schedule, agent.algorithm.learning_rate = "fixed", 0.1


def noise_gone(env: Any, agent: Any) -> None:
    agent.actor.distribution_cfg.init_std = 0.01
    agent.algorithm.schedule, agent.algorithm.learning_rate = "fixed", 1e-6


def rate_at_bound(env: Any, agent: Any) -> None:
    agent.algorithm.schedule, agent.algorithm.desired_kl = "adaptive", 1e-12


def value_loss(env: Any, agent: Any) -> None:
    """The critic does not learn; returns are large enough to detect this."""
    agent.algorithm.value_loss_coef = 0.0
    env.rewards["smooth"].weight = 100.0


def one_end(env: Any, agent: Any) -> None:
    env.terminations["fast"] = TerminationTermCfg(
        func=mdp.joint_vel_out_of_limit,
        params={"max_velocity": 0.02, "asset_cfg": SLIDER},
    )


def nonfinite(env: Any, agent: Any) -> None:
    env.rewards["log"] = RewardTermCfg(func=logarithm, weight=0.1)
    env.max_nonfinite_share = 1.0


def logarithm(env: Any) -> torch.Tensor:
    """NaN for carts left of the centre."""
    return env.scene.entity("cartpole").data.joint_pos[:, 0].log()
