"""Measure the training time until the cartpole task is solved.

    python bench/cartpole.py --seeds 0 1 2

The task is solved when the mean return of at least 100 recent episodes, with
exploration noise, reaches 0.9 of the maximum. The policy is then evaluated without
noise, for one episode in each of 64 other worlds.
"""

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import save
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import load_task
from mjlab.rl import EvaluationCfg, StopCfg, TrainingLoop
from mjlab.rl.evaluation import Evaluation

SHARE = 0.9
"""Fraction of the maximum mean return that counts as solved."""


def main() -> None:
    """Train with each seed, print and save the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per seed")
    args = parser.parse_args()
    runs = [solve(seed, args.num_envs, args.limit) for seed in args.seeds]
    for run in runs:
        print(
            f"seed {run['seed']}: {'solved' if run['solved'] else 'NOT SOLVED'} in "
            f"{run['seconds']:.1f} s, {run['seconds_with_start']:.1f} s with build; "
            f"{run['env_steps']:,} steps at {run['steps_per_s']:,.0f} per second, mean "
            f"return {run['mean_return']:.1f} of {run['most']:.0f}; without noise "
            f"{run['evaluation']:.1f}"
        )
    figures = {
        "task": "Cartpole-Balance",
        "num_envs": args.num_envs,
        "torch_threads": torch.get_num_threads(),
        "share_of_most": SHARE,
        "runs": runs,
    }
    print(f"saved {save('cartpole_train', figures)}")


def solve(seed: int, num_envs: int, limit: float) -> dict[str, Any]:
    """Train until the task is solved or `limit` seconds have passed."""
    start = time.perf_counter()
    task = load_task("Cartpole-Balance")
    env_cfg = task.env()
    env_cfg.scene.num_envs = num_envs
    env_cfg.seed = seed
    env = ManagerBasedRlEnv(env_cfg)
    # The reward rate is at most 1 per second.
    most = env.max_episode_length_s
    assert task.rl is not None
    cfg = task.rl()
    cfg.max_iterations = 10**6
    cfg.evaluation = EvaluationCfg(every=0, num_envs=64, seed=10**6)
    cfg.stop = StopCfg(max_seconds=limit, target=SHARE * most)
    curve = Curve()
    loop = TrainingLoop(env, cfg, writers=[curve])
    outcome = loop.run()
    seconds = time.perf_counter() - start
    return {
        "seed": seed,
        "solved": curve.rewards[-1] >= SHARE * most,
        "seconds": outcome.figures["Perf/seconds"],
        "seconds_with_start": seconds,
        "iterations": outcome.iteration,
        "env_steps": loop.env_steps,
        "steps_per_s": loop.env_steps / outcome.figures["Perf/seconds"],
        "mean_return": curve.rewards[-1],
        "most": most,
        "evaluation": evaluate(loop),
        "curve": {"seconds": curve.seconds, "mean_return": curve.rewards},
    }


def evaluate(loop: TrainingLoop) -> float:
    """Return the mean return without noise."""
    env_cfg = load_task("Cartpole-Balance").env()
    env_cfg.scene.num_envs = loop.cfg.evaluation.num_envs
    env_cfg.seed = loop.cfg.evaluation.seed
    evaluation = Evaluation(lambda: ManagerBasedRlEnv(env_cfg), loop.cfg)
    loop.learner.inference.follow(loop.learner.policy)
    with torch_threads(1):
        return float(evaluation.run(loop.learner.inference)["Eval/mean_reward"])


class Curve:
    """Metrics writer that stores the learning curve."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.rewards: list[float] = []

    def write(self, iteration: int, figures: Mapping[str, float]) -> None:
        """Record the time and the mean return."""
        self.seconds.append(round(figures["Perf/seconds"], 2))
        self.rewards.append(round(figures.get("Train/mean_reward", 0.0), 3))

    def close(self, *, failed: bool = False) -> None:
        """Do nothing: no resource has to be released."""


if __name__ == "__main__":
    main()
