"""Worker of `paired.py`: steps worlds, or runs updates, in its checkout.

It imports little of the checkout, which can be an old version.
"""

import contextlib
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mjlab

ORIGIN = Path(mjlab.__file__).parents[1]
if ORIGIN != Path.cwd():  # Check before slow imports.
    raise RuntimeError(f"mjlab is imported from {ORIGIN}, not from {Path.cwd()}.")

import torch

from mjlab.envs import ManagerBasedRlEnv


def main() -> None:
    """Build worlds, then run the number of steps or updates in each input line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Libraries print to standard error, so answers stay separate.
    settings = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    env = build(settings)
    does = updates(env, settings) if settings["updates"] else stepping(env)
    print("[]", file=answers, flush=True)
    for line in sys.stdin:
        once = does(int(line))
        start = time.perf_counter(), time.process_time()
        for _ in once:
            pass
        end = time.perf_counter(), time.process_time()
        print(json.dumps([end[0] - start[0], end[1] - start[1]]), file=answers)
        answers.flush()
    env.close()


def stepping(env: ManagerBasedRlEnv) -> Callable[[int], Iterator[None]]:
    """Run steps with random actions, drawn in advance."""
    random = torch.Generator().manual_seed(0)

    def steps(number: int) -> Iterator[None]:
        size = (number, env.num_envs, env.action_manager.total_action_dim)
        actions = torch.randn(size, generator=random)
        return (env.step(action) and None for action in actions)

    return steps


class Filled(Exception):
    """Raised when a rollout is complete, to stop the training before its update."""


def updates(
    env: ManagerBasedRlEnv, settings: dict[str, Any]
) -> Callable[[int], Iterator[None]]:
    """Run updates of the task's CPU learner, always from the same rollout."""
    agent = load_task(settings["task"]).on_cpu.rl()
    agent.evaluation.every = 0
    loop = importlib.import_module("mjlab.rl").TrainingLoop(env, agent, writers=[])
    algorithm = loop.learner.algorithm
    update = algorithm.update

    def stop(*_: Any) -> None:
        raise Filled

    algorithm.update = stop
    with contextlib.suppress(Filled):
        loop.run()
    torch.set_num_threads(settings["threads"] or os.cpu_count() or 1)
    return lambda number: (update() and None for _ in range(number))


def build(settings: dict[str, Any]) -> ManagerBasedRlEnv:
    """Return the task's environment on the native engine."""
    cfg = task_cfg(settings["task"])
    cfg.scene.num_envs, cfg.seed = settings["num_envs"], 0
    cfg.sim.backend, cfg.sim.num_threads = "native", settings["threads"]
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


def task_cfg(task: str) -> Any:
    """Return the settings of a registered task, or of the tests' synthetic task."""
    if task == "synthetic":
        return importlib.import_module("tests.worlds.synthetic").SyntheticCfg()
    return load_task(task).env()


def load_task(task: str) -> Any:
    """Return a registered task; the registry's location differs between versions."""
    places = ("mjlab/registry.py", "tasks/registry.py")
    place = next(place for place in places if Path(place).exists())
    module = place.removesuffix(".py").replace("/", ".")
    return importlib.import_module(module).load_task(task)


if __name__ == "__main__":
    main()
