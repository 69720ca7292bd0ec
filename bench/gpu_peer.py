"""Worlds of mjlab 1.6, or of this project, stepped in a process of their own.

The peer has this project's import name and other versions of MuJoCo, so it lies in a
folder of its own, named by the environment variable PEER_SITE.
"""

import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TASK = "Mjlab-Velocity-Flat-Unitree-G1"
"""The peer's name of `Velocity-G1-Flat`."""


class Side:
    """Worlds that wait while others run, and take blocks of steps when told."""

    def __init__(self, task: str, num_envs: int, device: str) -> None:
        """Build the worlds; without PEER_SITE, those of this checkout."""
        site = os.environ.get("PEER_SITE", str(ROOT))
        settings = json.dumps({"task": task, "num_envs": num_envs, "device": device})
        self._process = subprocess.Popen(
            [sys.executable, __file__, settings],
            env=os.environ | {"PYTHONPATH": site, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.facts = self._answer()

    def step_s(self, steps: int) -> float:
        """Return seconds that a step takes in a block of some."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        return self._answer() / steps

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The other side ended with {self._process.wait()}.")
        return json.loads(line)


def main() -> None:
    """Build worlds, then step as often as each line of the input says."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What libraries print is no answer.
    settings = json.loads(sys.argv[1])
    start = time.perf_counter()
    env = build(**settings)
    env.reset()
    import torch

    import mjlab

    facts = {"from": Path(str(mjlab.__file__)).parent.name}
    facts |= {"build_s": time.perf_counter() - start}
    print(json.dumps(facts), file=answers, flush=True)
    wait = (lambda: None) if settings["device"] == "cpu" else torch.cuda.synchronize
    for line in sys.stdin:
        size = (int(line), env.num_envs, env.action_manager.total_action_dim)
        actions = torch.randn(size, device=settings["device"])
        wait()
        start = time.perf_counter()
        for action in actions:
            env.step(action)
        wait()
        print(time.perf_counter() - start, file=answers, flush=True)


def build(task: str, num_envs: int, device: str) -> Any:
    """The task, in the peer's table or in ours."""
    envs = importlib.import_module("mjlab.envs")
    if "PEER_SITE" in os.environ:
        importlib.import_module("mjlab.tasks")
        cfg = importlib.import_module("mjlab.tasks.registry").load_env_cfg(TASK)
    else:
        cfg = importlib.import_module("mjlab.registry").load_task(task).env()
        cfg.sim.backend = "warp"
        cfg.sim.nconmax = 256
    cfg.scene.num_envs = num_envs
    return envs.ManagerBasedRlEnv(cfg, device=device)


if __name__ == "__main__":
    main()
