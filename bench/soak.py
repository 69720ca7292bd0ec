"""Hours of an environment in which everything goes wrong, beside a twin in peace.

    python bench/soak.py --task Velocity-G1-Flat --minutes 60

Half of the worlds are troubled: numbers that are not finite are written into them, and
they are reset and put back to earlier moments under masks. Model fields are expanded
late; now and then a small environment is built, recorded, shown in a browser's viewer,
and closed. The other half, and all worlds of the twin, are left alone: both have to
agree bit for bit. Memory, descriptors, threads and objects are noted all the while;
growth is that of the second half, of which the first has warmed everything up.
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

import numpy as np
import torch

from bench.env import task_cfg
from bench.record import save
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.envs.rollout import RandomPolicy, ZeroPolicy
from mjlab.managers import RecorderTermCfg
from mjlab.mdp import raw_actions
from mjlab.recording import RecordingCfg
from mjlab.viewer import Player, WebViewer

TROUBLES = ("nan", "inf", "reset", "restore", "nothing")
LATE_FIELDS = ("geom_friction", "body_mass", "dof_damping")
NOTE_STEPS = 20
"""Steps from one note of what the process takes to the next."""

Notes = list[dict[str, float]]


def quiet_cfg(task: str, num_envs: int) -> ManagerBasedRlEnvCfg:
    """Return a task without what couples its worlds, and that is never stopped."""
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
    """An environment in trouble and its twin."""

    def __init__(self, task: str, num_envs: int, seed: int) -> None:
        """Build both."""
        self.task = task
        cfg = quiet_cfg(task, num_envs)
        self.env, self.twin = (ManagerBasedRlEnv(cfg, device="cpu") for _ in range(2))
        self.policy = RandomPolicy(self.env, seed=seed, clip=1.0)
        self.troubled = torch.arange(num_envs) % 2 == 0
        self.counts: Counter[str] = Counter()
        self.steps = self.differences = 0
        self._chance = random.Random(seed)
        self._late = list(LATE_FIELDS)
        self.env.reset()
        self.twin.reset()
        self._kept = self.env.get_state()

    def step(self) -> None:
        """Trouble some worlds, step both environments, and compare the others."""
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
        """Give a model field a value for each world, which is the one that it had."""
        if self._late:
            self.env.sim.expand(self._late.pop())
            self.counts["expand"] += 1

    def visit(self) -> None:
        """Build, record, show and close a small environment."""
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
            env.close()
        self.counts["visit"] += 1

    def note(self) -> dict[str, float]:
        """Return what the process takes now."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return {
            "step": self.steps,
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
    """Return what a step shows of each world."""
    tensors = [value.reward, value.terminated, value.truncated]
    for group in value.observations.values():
        tensors += group.values() if isinstance(group, dict) else [group]
    return tensors


def slopes(notes: Notes) -> dict[str, float]:
    """Return the growth of the second half in 1,000 steps, by what grows."""
    late = notes[(len(notes) - 1) // 2 :]
    steps = np.array([note["step"] for note in late])
    kinds = [kind for kind in notes[0] if kind != "step"]
    return {
        kind: 1000.0 * float(np.polyfit(steps, [note[kind] for note in late], 1)[0])
        for kind in kinds
    }


def soak(task: str, num_envs: int, minutes: float, seed: int) -> dict[str, Any]:
    """Go on for a time; return the figures.

    Args:
        task: The task's id.
        num_envs: Worlds, half of which are troubled.
        minutes: How long.
        seed: Seed of the troubles and of the actions.
    """
    run = Soak(task, num_envs, seed)
    notes = [run.note()]
    begun = time.monotonic()
    visits = max(2, int(minutes / 2))
    while (share := (time.monotonic() - begun) / (60.0 * minutes)) < 1.0:
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
    return {
        "task": task,
        "worlds": num_envs,
        "minutes": minutes,
        "steps": run.steps,
        "troubles": dict(run.counts),
        "differences": run.differences,
        "first": notes[0],
        "last": notes[-1],
        "growth_in_1000_steps": slopes(notes),
    }


def main() -> None:
    """Soak, print and save."""
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
        sys.exit(f"{figures['differences']} tensors differ from the twin's.")


if __name__ == "__main__":
    main()
