"""Success of walking policies by terrain kind and difficulty.

    python bench/tiles.py Velocity-Go1
    python bench/tiles.py Velocity-Go1-Flat --task Velocity-Go1 --episodes 128

Runs one episode per world, as in training: sensor noise, pushes, random friction,
changing commands. Worlds start on random terrain rows; `--kind flat` uses one kind of
tile. Success is the task's outcome "success". A policy of another task, such as a
flat-ground policy that does not observe terrain, can be tested if its observations have
the same names.
"""

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import save
from mjlab.envs import ManagerBasedRlEnv, Rollout
from mjlab.registry import load_task
from mjlab.rl import RslRlVecEnv
from mjlab.rl.config import PpoAgentCfg
from mjlab.rl.distributed import Ranks
from mjlab.rl.initial_weights import take_weights
from mjlab.rl.learners import Learner
from mjlab.runs import find


def main() -> None:
    """Run the measurement, print the figures and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("place", help="a task, a run's folder or checkpoint, latest")
    parser.add_argument(
        "--task", default=None, help="task to test in; default: the policy's task"
    )
    parser.add_argument("--episodes", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument(
        "--kind", default=None, help=("use only one kind of tile, such as flat")
    )
    parser.add_argument("--name", default="tiles", help="name of the results file")
    args = parser.parse_args()
    found = find(args.place)
    run = found.run
    task = args.task or run.task
    env = build(task, args.episodes, args.seed, args.kind)
    rows = measure(env, act(env, found.place, run.configs()["agent"]), args.seed)
    for name, row in rows.items():
        print(
            f"{name:20s} {row['episodes']:4d} episodes  success {row['success']:6.1%}  "
            f"failed {row['failed']:6.1%}  error {row['linear_error']:.2f} m/s, "
            f"{row['turning_error']:.2f} rad/s"
        )
    about = {"task": task, "run": run.info(), "seed": args.seed, "kind": args.kind}
    print(f"saved {save(args.name, {**about, 'tiles': rows})}")


def build(task: str, worlds: int, seed: int, kind: str | None) -> ManagerBasedRlEnv:
    """Build a task's environment as in training, with worlds on random terrain rows."""
    cfg: Any = load_task(task).env()
    terrain = cfg.scene.terrain
    generator = terrain.generator
    if kind is not None:
        tiles = {kind: generator.sub_terrains[kind]}
        generator = dataclasses.replace(generator, sub_terrains=tiles)
    terrain = dataclasses.replace(
        terrain, generator=generator, max_init_terrain_level=None
    )
    cfg.scene = dataclasses.replace(cfg.scene, num_envs=worlds, terrain=terrain)
    cfg.curriculum, cfg.seed = {}, seed
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    return env


def act(env: ManagerBasedRlEnv, place: Path, agent: PpoAgentCfg) -> Any:
    """Return the policy of a run, with weights matched by observation name."""
    worlds = RslRlVecEnv(env, groups=["actor", "critic"])
    learner = Learner(worlds, agent, Ranks())
    print("\n".join(take_weights(place, learner, worlds, agent)))
    learner.inference.follow(learner.policy)
    return learner.inference


def measure(env: ManagerBasedRlEnv, policy: Any, seed: int) -> dict[str, Any]:
    """Return fractions and velocity errors by tile kind and by thirds of the rows."""
    ground = env.scene.ground
    assert ground is not None
    kinds, rows = ground.terrain.column_kinds, ground.terrain.num_rows
    of = [kinds[i] for i in ground.columns.tolist()]
    third = (3 * ground.levels // rows).tolist()
    levels = [f"rows {'first middle last'.split()[i]} third" for i in third]
    ended = {name: torch.zeros(env.num_envs, dtype=torch.bool) for name in _OUTCOMES}
    metrics = env.command_manager.term("twist").metric_values
    errors = torch.zeros_like(metrics)
    with torch_threads(1):
        rollout = Rollout(env, policy, seed=seed)
        policy.reset()
        for _ in range(env.max_episode_length):
            errors = torch.where(rollout.running.unsqueeze(1), metrics, errors)
            stepped = rollout.step()
            for name, flags in ended.items():
                flags |= env.outcome_manager.now(name) & stepped
    found: dict[str, Any] = {}
    for label in ["all", *sorted(set(of)), *sorted(set(levels))]:
        chosen = [i for i in range(env.num_envs) if label in ("all", of[i], levels[i])]
        success, fail = (ended[name][chosen].double().mean() for name in _OUTCOMES)
        linear, turning = errors[chosen].mean(dim=0).tolist()
        found[label] = {
            "episodes": len(chosen),
            "success": float(success),
            "failed": float(fail),
            "linear_error": linear,
            "turning_error": turning,
        }
    return found


_OUTCOMES = ("success", "fail")


if __name__ == "__main__":
    main()
