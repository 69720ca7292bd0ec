"""One side of `paired.py`: steps worlds of the checkout in which it is started.

It imports no more of the checkout than it has to, since that may be of any age.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import mjlab

ORIGIN = Path(mjlab.__file__).parents[1]
if ORIGIN != Path.cwd():  # Said before anything that takes long is imported.
    raise RuntimeError(f"mjlab is imported from {ORIGIN}, not from {Path.cwd()}.")

import torch

from mjlab.envs import ManagerBasedRlEnv


def main() -> None:
    """Build worlds, then step as often as each line of the input says."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What libraries print is no answer.
    settings = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    env = build(settings)
    print("[]", file=answers, flush=True)
    random = torch.Generator().manual_seed(0)
    for line in sys.stdin:
        size = (int(line), env.num_envs, env.action_manager.total_action_dim)
        actions = torch.randn(size, generator=random)
        start = time.perf_counter(), time.process_time()
        for action in actions:
            env.step(action)
        end = time.perf_counter(), time.process_time()
        print(json.dumps([end[0] - start[0], end[1] - start[1]]), file=answers)
        answers.flush()
    env.close()


def build(settings: dict[str, Any]) -> ManagerBasedRlEnv:
    """The task on the native engine."""
    cfg = task_cfg(settings["task"])
    cfg.scene.num_envs, cfg.seed = settings["num_envs"], 0
    cfg.sim.backend, cfg.sim.num_threads = "native", settings["threads"]
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


def task_cfg(task: str) -> Any:
    """The configuration of a registered task, or of the synthetic one of the tests."""
    if task == "synthetic":
        return importlib.import_module("tests.worlds.synthetic").SyntheticCfg()
    # The table of tasks has not always been where it is.
    places = ("mjlab/registry.py", "tasks/registry.py")
    place = next(place for place in places if Path(place).exists())
    module = place.removesuffix(".py").replace("/", ".")
    return importlib.import_module(module).load_task(task).env()


if __name__ == "__main__":
    main()
