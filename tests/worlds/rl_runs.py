"""Small runs for learning tests: cartpoles with episodes of a second."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from mjlab.cli import training
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.rl import (
    AgentCfg,
    CheckpointCfg,
    EvaluationCfg,
    GaussianCfg,
    Hook,
    MlpModelCfg,
    PpoCfg,
    Ranks,
    TrainingLoop,
    TrainingResult,
)
from mjlab.runs import Checkpoints, Run
from mjlab.tasks.cartpole.env import CartpoleBalanceCfg
from mjlab.tasks.cartpole.rl import CartpoleAgentCfg

STEPS = 6
WORLDS = 8


def env_cfg(seed: int = 3, worlds: int = WORLDS) -> ManagerBasedRlEnvCfg:
    cfg = CartpoleBalanceCfg(episode_length_s=1.0, seed=seed)
    cfg.scene.num_envs = worlds
    return cfg


def make_env(seed: int = 3, worlds: int = WORLDS, first: int = 0) -> ManagerBasedRlEnv:
    return ManagerBasedRlEnv(env_cfg(seed, worlds), first_world=first)


def network(**more: Any) -> MlpModelCfg:
    return MlpModelCfg(hidden_dims=(8,), obs_normalization=True, **more)


def agent_cfg(iterations: int = 2, **more: Any) -> CartpoleAgentCfg:
    given: dict[str, Any] = {
        "num_steps_per_env": STEPS,
        "actor": network(distribution_cfg=GaussianCfg()),
        "critic": network(),
        "algorithm": PpoCfg(num_learning_epochs=2, num_mini_batches=2),
        "evaluation": EvaluationCfg(every=0),
        "checkpoint": CheckpointCfg(),
    }
    return CartpoleAgentCfg(max_iterations=iterations, **(given | more))


class Display:
    """Training display that stores its input."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.shown: list[Any] = []

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def show(self, progress: Any, figures: Any) -> None:
        self.shown.append(progress)

    def say(self, text: str) -> None:
        self.said.append(text)


@contextlib.contextmanager
def no_export() -> Iterator[None]:
    """Skip the ONNX file at the end of trainings, which takes 3 to 12 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_export", lambda run, configs: "No ONNX file.")
        yield


def train_without_export(*args: Any, **settings: Any) -> tuple[Run, TrainingResult]:
    """Run `mjlab.cli.training.train`, but write no ONNX file."""
    with no_export():
        return training.train(*args, **settings)


def make_loop(
    cfg: AgentCfg | None = None,
    *,
    folder: Path | None = None,
    hooks: Sequence[Hook] = (),
    evaluates: bool = False,
    ranks: Ranks | None = None,
    seed: int = 3,
    env: ManagerBasedRlEnvCfg | None = None,
    **more: Any,
) -> TrainingLoop:
    ranks = ranks or Ranks()
    first = ranks.index * WORLDS
    return TrainingLoop(
        ManagerBasedRlEnv(env or env_cfg(seed), first_world=first),
        cfg or agent_cfg(),
        checkpoints=None if folder is None else Checkpoints(folder),
        make_eval_env=(lambda: make_env(worlds=4)) if evaluates else None,
        hooks=hooks,
        ranks=ranks,
        **more,
    )


def flat_state(loop: TrainingLoop) -> dict[str, torch.Tensor]:
    """Return every tensor and number that affects the future of a run, by path."""
    found: dict[str, torch.Tensor] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, torch.Tensor):
            found[path] = value.detach().clone()
        elif isinstance(value, dict):
            for key, item in value.items():
                walk(item, f"{path}/{key}")
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                walk(item, f"{path}/{index}")
        elif isinstance(value, int | float):
            found[path] = torch.tensor(value, dtype=torch.float64)

    walk(loop.learner.shared_state(), "shared")
    walk(loop.learner.own_state(), "own")
    walk(loop.worlds.state(), "worlds")
    walk([hook.state() for hook in loop.hooks], "hooks")
    walk(torch.get_rng_state(), "random")
    figures = {k: v for k, v in loop.figures.items() if not k.startswith("Perf/")}
    walk(figures, "figures")
    return found


def differing(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> list:
    """Return the names of different tensors, and of missing ones."""
    names = sorted(first.keys() ^ second.keys())
    return names + [
        name
        for name in first.keys() & second.keys()
        if not torch.equal(first[name], second[name])
    ]
