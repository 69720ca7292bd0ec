"""Measure muscle-driven walking: rollout speed, and performance of a policy.

    python bench/muscle.py rollout
    python bench/muscle.py walk Muscle-Walk-W18

A rollout consists of steps of all worlds with random actions and all computations of
training: 20 physics steps with the muscle network, observations and rewards. `walk`
uses a run, or the shipped policy of the task, and runs episodes of 10 s in 10 worlds
per speed.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import RESULTS, save
from mjlab.envs import ManagerBasedRlEnv, Rollout
from mjlab.muscle import muscle_action
from mjlab.registry import load_task
from mjlab.rl import load_policy
from mjlab.runs import find

WALKERS = ("Muscle-Walk-W18", "Muscle-Walk-W54")
SPEEDS = (1.0, 1.25, 1.5)
EPISODES = 10
WARM_UP = 5


def main() -> None:
    """Run the selected measurement, and save it with the others."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("rollout", "walk"))
    parser.add_argument("task", nargs="?", default=WALKERS[0])
    parser.add_argument("--worlds", type=int, nargs="+", default=[256, 512, 1024])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--run", help="a run's folder; default: the task's newest run")
    given = parser.parse_args()
    with torch_threads(1), torch.no_grad():
        if given.what == "rollout":
            rows = [
                rollout(given.task, worlds, given.seconds) for worlds in given.worlds
            ]
            name, figures = "muscle", {"task": given.task, "rollouts": rows}
        else:
            name, figures = "muscle_walking", walking(given.task, given.run)
    print(f"saved {save(name, figures)} in {RESULTS}")


def rollout(task: str, worlds: int, seconds: float) -> dict[str, float]:
    """Return the steps per second of all worlds, and the time of each part."""
    cfg = load_task(task).env()
    cfg.scene.num_envs = worlds
    cfg.seed = 0
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    generator = torch.Generator().manual_seed(0)
    size = (worlds, env.action_manager.total_action_dim)
    for _ in range(WARM_UP):
        env.step(0.3 * torch.randn(size, generator=generator))
    term, begun, steps = muscle_action(env), time.perf_counter(), 0
    inside = Stopwatch(term)
    while time.perf_counter() - begun < seconds:
        env.step(0.3 * torch.randn(size, generator=generator))
        steps += 1
    taken = time.perf_counter() - begun
    env.close()
    row = {
        "worlds": worlds,
        "steps_per_s": steps * worlds / taken,
        "us_per_world_and_substep": 1e6 * taken / (steps * worlds * cfg.decimation),
        "share_of_muscle_control": inside.seconds / taken,
    }
    print(row)
    return row


class Stopwatch:
    """Measures the time that the muscle action takes within physics steps."""

    def __init__(self, term: Any) -> None:
        """Replace `apply_late` of the muscle action by a timed version."""
        self.seconds = 0.0
        self._inner = term.apply_late
        term.apply_late = self._run

    def _run(self) -> None:
        begun = time.perf_counter()
        self._inner()
        self.seconds += time.perf_counter() - begun


def walking(task: str, place: str | None) -> dict[str, Any]:
    """Run episodes of 10 s at each speed."""
    run = find(place or task).run
    print(f"run {run.path}")
    rows = [episodes(task, run, speed) for speed in SPEEDS]
    return {"task": task, "run": run.info()["seed"], "speeds": rows}


def episodes(task: str, run: Any, speed: float) -> dict[str, Any]:
    """Return the episode duration and mean speed of worlds at a commanded speed."""
    cfg = load_task(task).env()
    cfg.scene.num_envs = EPISODES
    cfg.seed = 100
    gait: Any = cfg.commands["gait"]
    gait.speed = (speed, speed)
    env = ManagerBasedRlEnv(cfg, device="cpu")
    policy = load_policy(run.path, env, run.configs()["agent"])
    rollout = Rollout(env, policy, seed=100)
    gait = env.command_manager.term("gait")
    alive = torch.ones(EPISODES, dtype=torch.bool)
    steps, metres = torch.zeros(EPISODES), torch.zeros(EPISODES)
    misses, efforts = [], []
    for _ in range(env.max_episode_length):
        # A finished world is reset in the same step.
        place = gait.root.place().clone()
        rollout.step()
        ended = env.termination_manager.terminated
        alive &= ~ended
        steps += alive
        last = env.termination_manager.time_outs
        moved = gait.root.place() - place
        metres += torch.where(alive & ~last, moved, speed * env.step_dt * alive)
        misses.append(env.metrics_manager.terms["torque_residual"]())
        efforts.append(env.metrics_manager.terms["effort"]())
    seconds = steps * env.step_dt
    mean_speed = metres / seconds.clamp_min(env.step_dt)
    keeps = alive & (mean_speed >= 1.0)
    row = {
        "speed": speed,
        "episodes": EPISODES,
        "kept_going": int(alive.sum()),
        "kept_going_at_1_m_s": int(keeps.sum()),
        "seconds": [round(float(s), 2) for s in seconds],
        "mean_speed": [round(float(v), 3) for v in mean_speed],
        "torque_residual": round(float(torch.stack(misses).mean()), 3),
        "mean_square_activation": round(float(torch.stack(efforts).mean()), 4),
    }
    print(row)
    env.close()
    return row


if __name__ == "__main__":
    main()
