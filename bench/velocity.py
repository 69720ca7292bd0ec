"""Speed of the velocity tasks on a CPU, against bare MuJoCo, and what they do.

    python bench/velocity.py
    python bench/velocity.py --tasks Velocity-G1-Flat --blocks 20 --no-training

For each task, blocks of `env.step` with random actions take turns with blocks of a bare
persistent `mujoco.batch` of the same model, with the physics of training: for each step
of the environment, its physics steps and one `forward` to the velocity stage. A bare
block starts from the states from which the environment's block started, and gets the
controls that the environment computed there, step by step, so that the same robots fall
on both sides; what it lacks are the resets of those that fell, random pushes, and
whatever differs between worlds in the model. It binds nothing but the controls.

Processor time, of all threads, is noted too: on a busy machine it says more than rates.
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
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2, help="of physics")
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
    """Save what is known so far."""
    return save("velocity", figures | {"load_after": os.getloadavg()})


def build(task: str, num_envs: int, threads: int | None) -> ManagerBasedRlEnv:
    """The task as it is trained, on the native engine."""
    cfg = load_task(task).env().for_training()
    cfg.scene.num_envs = num_envs
    cfg.seed = 0
    cfg.sim.backend = "native"
    cfg.sim.num_threads = threads
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    return env


# Steps per second, and the bare engine's.


class Bare:
    """MuJoCo's own batch of the model, without a framework around it."""

    def __init__(self, env: ManagerBasedRlEnv, threads: int) -> None:
        """Allocate one MjData a world."""
        model = env.sim.mj_model
        self.decimation = env.cfg.decimation
        self.batch = mj_batch.Batch(model, env.num_envs, threads, persistent=True)
        self.controls = self.batch.bind("ctrl")

    def run(self, controls: list[Any]) -> None:
        """As many steps as there are controls."""
        for control in controls:
            self.controls[...] = control
            for _ in range(self.decimation):
                self.batch.step()
            self.batch.forward(stage=int(Stage.VELOCITY))


def step_figures(task: str, args: argparse.Namespace) -> dict[str, Any]:
    """Env steps per second against the bare engine, in turns."""
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
    """Seconds a step in one pair of blocks: passed, and of all threads together."""

    ours: float
    ours_processor: float
    bare: float
    bare_processor: float


def measure(env: ManagerBasedRlEnv, bare: Bare, blocks: int, steps: int) -> list[Times]:
    """Time both, block by block in turns."""
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
            # A copy of a few kilobytes; the bare side copies them in.
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
    """The time, and the processor time of all threads, s."""
    return np.array([time.perf_counter(), time.process_time()])


# What a step consists of.


def operation_figures(task: str) -> dict[str, Any]:
    """Tensor operations and host reads of a step in which a world ends."""
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
    """Measure how long acting and learning take, and what reads from the device."""
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
        if loop.iteration < cfg.max_iterations - 1:  # Watching takes time.
            return update(*inputs)
        with StepWatch() as seen:
            losses = update(*inputs)
        reads.append(len(seen.problems))
        return losses

    loop.learner.algorithm.update = watched
    loop.writers = [_Curve(collect, learn)]
    loop.run()
    env.close()
    collect, learn = collect[1:-1], learn[1:-1]  # Warming up, and watched.
    seconds = statistics.median(collect) + statistics.median(learn)
    return {
        "iteration_s": seconds,
        "learner_share": statistics.median(learn) / seconds,
        "training_steps_per_s": args.num_envs * cfg.num_steps_per_env / seconds,
        "host_reads_in_update": reads[0],
    }


class _Curve:
    """Notes the times of each iteration."""

    def __init__(self, collect: list[float], learn: list[float]) -> None:
        self.collect = collect
        self.learn = learn

    def write(self, iteration: int, figures: Any) -> None:
        """Note the times."""
        self.collect.append(figures["Perf/collect_s"])
        self.learn.append(figures["Perf/learn_s"])

    def close(self) -> None:
        """There is nothing to close."""


def first_iteration() -> dict[str, float]:
    """Seconds from the command to the first finished iteration, and to the end."""
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
    """The figures of a task in a few lines."""
    low, high = found["share_of_bare_spread"]
    text = (
        f"{task}: {found['env_steps_per_s']:,.0f} env steps/s, bare "
        f"{found['bare_env_steps_per_s']:,.0f}; share of bare "
        f"{found['share_of_bare']:.3f} (blocks {low:.3f} to {high:.3f}); "
        f"{found['operations_per_step']} operations and "
        f"{found['host_reads_per_step']} host reads a step"
    )
    if "learner_share" in found:
        text += (
            f"\n  an iteration takes {found['iteration_s']:.2f} s, learner's share "
            f"{found['learner_share']:.2f}, {found['training_steps_per_s']:,.0f} "
            f"steps/s; {found['host_reads_in_update']} host reads in RSL-RL's update"
        )
    return text


if __name__ == "__main__":
    main()
