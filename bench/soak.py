"""Long run of an environment with injected faults, compared with an undisturbed twin.

    python bench/soak.py --task Velocity-G1-Flat --minutes 60

Half of the worlds are disturbed: non-finite numbers are written into them, and they are
reset and restored to earlier states by masks. Model fields are expanded late; from
time to time a small environment is built, recorded, shown in the web viewer,
evaluated and closed. The other half must agree with the twin bit for bit. The
script records memory, descriptors, threads, objects, and the used part of MuJoCo's
arenas; growth is measured after ten minutes, or in the second half of a shorter
run.
"""

import argparse
import dataclasses
import gc
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import mujoco
import numpy as np
import torch

from bench.env import task_cfg
from bench.record import save
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.rollout import RandomPolicy, ZeroPolicy
from mjlab.managers import RecorderTermCfg
from mjlab.mdp import raw_actions
from mjlab.recording import RecordingCfg
from mjlab.registry import load_task
from mjlab.rl.config import EvaluationCfg
from mjlab.rl.evaluation import Evaluation
from mjlab.sim.native_engine import NativeEngine
from mjlab.viewer import Player, WebViewer

TROUBLES = ("nan", "inf", "reset", "restore", "nothing")
LATE_FIELDS = ("geom_friction", "body_mass", "dof_damping")
NOTE_STEPS = 20
"""Number of steps between two records of resource use."""
WARM_MINUTES = 10.0
"""Warm-up in minutes, after which memory should be constant."""

Notes = list[dict[str, float]]


def quiet_cfg(task: str, num_envs: int) -> ManagerBasedRlEnvCfg:
    """Return a task without curricula and without a limit of diverged world steps."""
    cfg = task_cfg(task)
    return dataclasses.replace(
        cfg,
        scene=dataclasses.replace(cfg.scene, num_envs=num_envs),
        sim=dataclasses.replace(cfg.sim, backend="native"),
        curriculum={},
        seed=7,
        max_nonfinite_share=1.0,
    )


class Soak:
    """A disturbed environment and its twin."""

    def __init__(self, task: str, num_envs: int, seed: int) -> None:
        """Build the disturbed environment and its twin."""
        self.task = task
        agent = load_task(task).rl
        assert agent is not None
        self._agent = dataclasses.replace(
            agent(), evaluation=EvaluationCfg(max_steps=20)
        )
        cfg = quiet_cfg(task, num_envs)
        self.env, self.twin = (ManagerBasedRlEnv(cfg, device="cpu") for _ in range(2))
        self.policy = RandomPolicy(self.env, seed=seed, clip=1.0)
        self.troubled = torch.arange(num_envs) % 2 == 0
        self.counts: Counter[str] = Counter()
        self.steps = self.differences = 0
        self._chance = random.Random(seed)
        self._late = list(LATE_FIELDS)
        self._begun = time.monotonic()
        self.engines = [self._engine(env) for env in (self.env, self.twin)]
        self._data = mujoco.MjData(self.engines[0].mj_model)
        # A reset clears the used size of a world's arena, but the memory stays
        # allocated.
        self._touched = np.zeros((2, num_envs))
        self.env.reset()
        self.twin.reset()
        self._kept = self.env.get_state()

    @staticmethod
    def _engine(env: ManagerBasedRlEnv) -> NativeEngine:
        engine = env.sim.engine
        assert isinstance(engine, NativeEngine)
        return engine

    def minutes(self) -> float:
        """Return the elapsed time, min."""
        return (time.monotonic() - self._begun) / 60.0

    def _arena_mb(self) -> float:
        """Return the used size of all worlds' MuJoCo arenas, MB."""
        for row, engine in zip(self._touched, self.engines, strict=True):
            for world in range(len(row)):
                used = engine.batch.get_data(world, self._data).maxuse_arena
                row[world] = max(row[world], used)
        return float(self._touched.sum()) / 1e6

    def step(self) -> None:
        """Disturb some worlds, step both environments, and compare the other worlds."""
        self._trouble(self._chance.choice(TROUBLES))
        action = self.policy(None)
        found, wanted = self.env.step(action), self.twin.step(action)
        spared = ~self.troubled
        for mine, its in zip(_tensors(found), _tensors(wanted), strict=True):
            self.differences += int(not torch.equal(mine[spared], its[spared]))
        self.steps += 1
        if self.steps % 50 == 0:
            self._kept = self.env.get_state()
            self.env.take_log()
            self.twin.take_log()

    def _trouble(self, kind: str) -> None:
        chosen = torch.rand(len(self.troubled)) < 0.2
        mask = self.troubled & chosen
        self.counts[kind] += int(mask.sum())
        if kind in ("nan", "inf"):
            velocity = self.env.sim.data.qvel
            velocity[mask, 0] = float(kind)
        elif kind == "reset":
            self.env.reset(mask=mask)
        elif kind == "restore":
            self.env.set_state(self._kept, mask=mask)

    def expand(self) -> None:
        """Give a model field one value per world, equal to the shared value."""
        if self._late:
            self.env.sim.expand(self._late.pop())
            self.counts["expand"] += 1

    def visit(self) -> None:
        """Build, record, show, evaluate and close a small environment."""
        with tempfile.TemporaryDirectory() as folder:
            cfg = dataclasses.replace(
                quiet_cfg(self.task, 2),
                recorders={"actions": RecorderTermCfg(func=raw_actions)},
                recording=RecordingCfg(folder=folder, name="soak"),
            )
            env = ManagerBasedRlEnv(cfg, device="cpu")
            viewer = WebViewer(Player(env, ZeroPolicy(env), seed=0), port=0)
            viewer.run(steps=3)
            viewer.close()
            Evaluation(lambda: env, self._agent).run(ZeroPolicy(env))
            env.close()
        self.counts["visit"] += 1

    def note(self) -> dict[str, float]:
        """Return the current resource use."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return {
            "step": self.steps,
            "minute": self.minutes(),
            "arena_mb": self._arena_mb(),
            "rss_mb": pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
            "descriptors": len(os.listdir("/proc/self/fd")),
            "threads": threading.active_count(),
            "objects": len(gc.get_objects()),
        }

    def close(self) -> None:
        """Close both environments."""
        self.env.close()
        self.twin.close()


def _tensors(value: Any) -> list[torch.Tensor]:
    """Return the tensors of a step's results: flags, reward and observations."""
    tensors = [value.reward, value.terminated, value.truncated]
    for group in value.observations.values():
        tensors += group.values() if isinstance(group, dict) else [group]
    return tensors


def growth(notes: Notes, by: str, times: float) -> dict[str, float]:
    """Return the growth in `times` steps or minutes, after warm-up."""
    warm = min(WARM_MINUTES, notes[-1]["minute"] / 2.0)
    late = [note for note in notes if note["minute"] >= warm]
    ends = [note[by] for note in late]
    return {
        kind: times * float(np.polyfit(ends, [note[kind] for note in late], 1)[0])
        for kind in notes[0]
        if kind not in ("step", "minute")
    }


def soak(task: str, num_envs: int, minutes: float, seed: int) -> dict[str, Any]:
    """Run for a duration; return the figures.

    Args:
        task: The task's id.
        num_envs: Number of worlds; half of them are disturbed.
        minutes: Duration.
        seed: Seed of the disturbances and of the actions.
    """
    run = Soak(task, num_envs, seed)
    notes = [run.note()]
    visits = max(2, int(minutes / 2))
    while (share := run.minutes() / minutes) < 1.0:
        run.step()
        if run.counts["visit"] < share * visits:
            run.visit()
        if run.counts["expand"] < 2.0 * share * len(LATE_FIELDS):
            run.expand()
        if run.steps % NOTE_STEPS == 0:
            notes.append(run.note())
            shown = ", ".join(f"{key} {value:,.0f}" for key, value in notes[-1].items())
            print(f"\r{share:4.0%}  {shown}", end="", flush=True)
    print()
    notes.append(run.note())
    run.close()
    arena = int(run.engines[0].mj_model.narena)
    some = notes[:: max(1, len(notes) // 60)]
    return {
        "task": task,
        "worlds": num_envs,
        "minutes": minutes,
        "steps": run.steps,
        "troubles": dict(run.counts),
        "differences": run.differences,
        "first": notes[0],
        "last": notes[-1],
        "growth_in_1000_steps": growth(notes, "step", 1000.0),
        "growth_in_an_hour": growth(notes, "minute", 60.0),
        # Upper bound of the memory growth: all arenas of both environments.
        "arena_reserve_mb_of_a_world": arena / 1e6,
        "arena_reserve_mb": 2 * num_envs * arena / 1e6,
        "minutes_of_notes": [round(note["minute"], 2) for note in some],
        "rss_mb_of_notes": [round(note["rss_mb"], 1) for note in some],
    }


def main() -> None:
    """Run the test, print the figures and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="Velocity-G1-Flat")
    parser.add_argument("--num-envs", type=int, default=32)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with torch_threads(1):
        figures = soak(args.task, args.num_envs, args.minutes, args.seed)
    path = save(f"soak_{args.task.lower().replace('-', '_')}", figures)
    for key, value in figures.items():
        print(f"{key}: {value}")
    print(f"saved {path}")
    if figures["differences"]:
        sys.exit(f"{figures['differences']} tensors differ from the twin.")


if __name__ == "__main__":
    main()
