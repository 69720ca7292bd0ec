"""Speed of the velocity tasks on a CPU, relative to MuJoCo without managers.

    python bench/velocity.py
    python bench/velocity.py --tasks Velocity-G1-Flat --blocks 20 --no-training

For each task, blocks of `env.step` with random actions alternate with blocks of a bare
persistent `mujoco.batch` of the same model, with the physics of training: for each
environment step, its physics steps and one `forward` to the velocity stage. A bare
block starts from the initial states of the environment's block and uses the same
controls, so the same robots fall on both sides. It has no resets, random pushes or
per-world model fields, and binds only the controls. Processor time of all threads
is also recorded, because it is more reliable than rates on a busy machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import numpy as np
import pytest
import torch
from mujoco import batch as mj_batch

from bench.record import save
from mjlab.cli.progress import tell_progress
from mjlab.cli.speed import random_actions
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import load_task
from mjlab.rl import TrainingLoop
from mjlab.sim import Stage
from tests.tools.step_watch import StepWatch, watch

TASKS = ("Velocity-G1-Flat", "Velocity-Go1-Flat", "Velocity-G1", "Velocity-Go1")
LEARNS = ("Velocity-G1-Flat", "Velocity-Go1-Flat")
START = ("Velocity-G1-Flat", "--env.scene.num-envs", "64", "--agent.max-iterations")


def main() -> None:
    """Run the measurement, print the figures and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2, help="physics threads")
    parser.add_argument("--blocks", type=int, default=15, help="pairs of blocks")
    parser.add_argument("--steps", type=int, default=10, help="steps of a block")
    parser.add_argument("--no-training", action="store_true")
    args = parser.parse_args()
    figures: dict[str, Any] = {
        "load_before": os.getloadavg(),
        "nice": os.nice(0),
        "num_envs": args.num_envs,
        "threads": args.threads,
        "torch_threads": 1,
        "blocks": args.blocks,
        "steps_per_block": args.steps,
        "tasks": {},
    }
    for task in args.tasks:
        found = step_figures(task, args) | operation_figures(task)
        if task in LEARNS and not args.no_training:
            found |= training_figures(task, args)
        figures["tasks"][task] = found
        print(described(task, found), flush=True)
        write(figures)
    if not args.no_training:
        figures["first_iteration"] = first_iteration()
        print("from the command to", figures["first_iteration"])
    print(f"saved {write(figures)}")


def write(figures: dict[str, Any]) -> Path:
    """Save the figures so far."""
    return save("velocity", figures | {"load_after": os.getloadavg()})


def build(task: str, num_envs: int, threads: int | None) -> ManagerBasedRlEnv:
    """Return the task as in training, on the native engine."""
    cfg = load_task(task).env().for_training()
    cfg.scene.num_envs = num_envs
    cfg.seed = 0
    cfg.sim.backend = "native"
    cfg.sim.num_threads = threads
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


# Steps per second of the environment and of the bare engine.


class Bare:
    """MuJoCo's batch of the model, without a framework."""

    def __init__(self, env: ManagerBasedRlEnv, threads: int) -> None:
        """Allocate one MjData per world."""
        model = env.sim.mj_model
        self.decimation = env.cfg.decimation
        self.batch = mj_batch.Batch(model, env.num_envs, threads, persistent=True)
        self.controls = self.batch.bind("ctrl")

    def run(self, controls: list[Any]) -> None:
        """Run one step per set of controls."""
        for control in controls:
            self.controls[...] = control
            for _ in range(self.decimation):
                self.batch.step()
            self.batch.forward(stage=int(Stage.VELOCITY))


def step_figures(task: str, args: argparse.Namespace) -> dict[str, Any]:
    """Return env steps per second compared with the bare engine."""
    with torch_threads(1):
        env = build(task, args.num_envs, args.threads)
        bare = Bare(env, args.threads)
        times = measure(env, bare, args.blocks, args.steps)
        env.close()
    ours, theirs = [t.ours for t in times], [t.bare for t in times]
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return {
        "env_steps_per_s": args.num_envs / statistics.median(ours),
        "bare_env_steps_per_s": args.num_envs / statistics.median(theirs),
        "share_of_bare": statistics.median(ratios),
        "share_of_bare_spread": [min(ratios), max(ratios)],
        "share_of_bare_blocks": ratios,
        "processor_s_per_step": statistics.median(t.ours_processor for t in times),
        "bare_processor_s_per_step": statistics.median(t.bare_processor for t in times),
    }


class Times(NamedTuple):
    """Wall time and processor time of all threads per step in a pair of blocks, s."""

    ours: float
    ours_processor: float
    bare: float
    bare_processor: float


def measure(env: ManagerBasedRlEnv, bare: Bare, blocks: int, steps: int) -> list[Times]:
    """Time the environment and the bare engine in alternating blocks."""
    random = torch.Generator().manual_seed(0)
    engine: Any = env.sim.engine
    found: list[Times] = []
    tell = tell_progress("bare engine", "block", every=1)
    for block in range(blocks + 1):
        actions = random_actions(env, steps, random)
        bare.batch.state[...] = engine.batch.state
        controls: list[Any] = []
        ours = clock()
        for action in actions:
            env.step(action)
            # A copy of a few kilobytes; the bare side copies the controls as well.
            controls.append(env.sim.data.ctrl.numpy().copy())
        ours = clock() - ours
        theirs = clock()
        bare.run(controls)
        theirs = clock() - theirs
        if block:  # The first pair warms up.
            found.append(Times(*(ours / steps).tolist(), *(theirs / steps).tolist()))
        tell(block, blocks)
    return found


def clock() -> np.ndarray:
    """Return the time, and the processor time of all threads, s."""
    return np.array([time.perf_counter(), time.process_time()])


# Parts of a step.


def operation_figures(task: str) -> dict[str, Any]:
    """Count tensor operations and host reads in a step that ends an episode."""
    env = build(task, 4, None)
    action = torch.zeros(4, env.action_manager.total_action_dim)
    env.episode_length_buf[0] = env.max_episode_length - 1
    with watch(env, pytest.MonkeyPatch()) as step:
        env.step(action)
    env.close()
    return {
        "operations_per_step": step.launches,
        "host_reads_per_step": len(step.problems),
    }


# Learning.


def training_figures(task: str, args: argparse.Namespace) -> dict[str, Any]:
    """Measure the time of rollout and update, and reads from the device."""
    env = build(task, args.num_envs, args.threads)
    make_rl = load_task(task).rl
    assert make_rl is not None
    cfg = make_rl()
    cfg.max_iterations = 4
    cfg.evaluation.every = 0
    collect: list[float] = []
    learn: list[float] = []
    loop = TrainingLoop(env, cfg)
    update = loop.learner.algorithm.update
    reads: list[int] = []

    def watched(*inputs: Any) -> Any:
        if loop.iteration < cfg.max_iterations - 1:  # StepWatch is slow.
            return update(*inputs)
        with StepWatch() as seen:
            losses = update(*inputs)
        reads.append(len(seen.problems))
        return losses

    loop.learner.algorithm.update = watched
    loop.writers = [_Curve(collect, learn)]
    loop.run()
    env.close()
    # The first iteration is warm-up; in the last one, StepWatch was active.
    collect, learn = collect[1:-1], learn[1:-1]
    seconds = statistics.median(collect) + statistics.median(learn)
    return {
        "iteration_s": seconds,
        "learner_share": statistics.median(learn) / seconds,
        "training_steps_per_s": args.num_envs * cfg.num_steps_per_env / seconds,
        "host_reads_in_update": reads[0],
    }


class _Curve:
    """Metrics writer that stores the times of each iteration."""

    def __init__(self, collect: list[float], learn: list[float]) -> None:
        self.collect = collect
        self.learn = learn

    def write(self, iteration: int, figures: Any) -> None:
        """Record the times of an iteration."""
        self.collect.append(figures["Perf/collect_s"])
        self.learn.append(figures["Perf/learn_s"])

    def close(self) -> None:
        """Do nothing: no resource has to be released."""


def first_iteration() -> dict[str, float]:
    """Return seconds from the command to the first iteration, and to the end."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "scripts/train.py"), *START, "1"]
        start = time.perf_counter()
        running = subprocess.Popen(
            [*command, "--logs", folder], stdout=subprocess.DEVNULL
        )
        first = None
        while running.poll() is None and first is None:
            if any(map(_has_iteration, Path(folder).glob("*/*/metrics.jsonl"))):
                first = time.perf_counter() - start
            time.sleep(0.02)
        code = running.wait()
        end = time.perf_counter() - start
    if code != 0 or first is None:
        raise RuntimeError(f"{' '.join(command)} ended with {code}, iteration: {first}")
    return {"first_iteration_s": first, "end_s": end}


def _has_iteration(metrics: Path) -> bool:
    lines = metrics.read_text("utf-8").splitlines()
    return bool(lines) and "Perf/seconds" in json.loads(lines[0])


def described(task: str, found: dict[str, Any]) -> str:
    """Format the figures of a task in a few lines."""
    low, high = found["share_of_bare_spread"]
    text = (
        f"{task}: {found['env_steps_per_s']:,.0f} env steps/s, bare "
        f"{found['bare_env_steps_per_s']:,.0f}; ratio "
        f"{found['share_of_bare']:.3f} (blocks {low:.3f} to {high:.3f}); "
        f"{found['operations_per_step']} operations and "
        f"{found['host_reads_per_step']} host reads per step"
    )
    if "learner_share" in found:
        text += (
            f"\n  an iteration takes {found['iteration_s']:.2f} s, "
            f"{found['learner_share']:.0%} of it learning; "
            f"{found['training_steps_per_s']:,.0f} "
            f"steps/s; {found['host_reads_in_update']} host reads in RSL-RL's update"
        )
    return text


if __name__ == "__main__":
    main()
