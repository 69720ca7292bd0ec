"""Cost of worlds in worker processes: `dual` compared with `cpu`.

    python bench/placement.py --task Cartpole-Balance --num-envs 1024 --workers 2

Blocks of steps in worker processes alternate with blocks of the same steps in this
process, so that background load affects both alike. The time to publish 1 MB of weights
is measured too.
"""

import argparse
import multiprocessing
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import save
from mjlab.envs import ManagerBasedRlEnv
from mjlab.muscle import MuscleNetwork, WeightStore
from mjlab.parallel.memory import ArraySpec, SharedArrays
from mjlab.registry import load_task
from mjlab.rl import TrainingEnv, terms_of
from mjlab.workers import WorkerEnv


def main() -> None:
    """Run the measurement, print the figures and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="Cartpole-Balance")
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--blocks", type=int, default=8, help="blocks of each side")
    parser.add_argument("--steps", type=int, default=20, help="steps of a block")
    args = parser.parse_args()
    figures: dict[str, Any] = {
        "task": args.task,
        "num_envs": args.num_envs,
        "publish": publish_ms(),
        "placements": {},
    }
    for workers in args.workers:
        rates = steps_per_s(args.task, args.num_envs, workers, args.blocks, args.steps)
        figures["placements"][str(workers)] = rates
    print(f"publishing 1 MB: {figures['publish']}")
    for workers, rates in figures["placements"].items():
        print(f"{workers} workers: {rates}")
    path = save(f"placement_{args.task.lower()}_{args.num_envs}", figures)
    print(f"saved {path}")


# Worlds.


def steps_per_s(
    task: str, num_envs: int, workers: int, blocks: int, steps: int
) -> dict[str, float]:
    """Return the env steps per second of both placements, and their ratio.

    Also returns start times and memory of the workers.
    """
    cfg: Any = load_task(task).env()
    cfg.scene.num_envs, cfg.seed, cfg.sim.backend = num_envs, 0, "native"
    one = ManagerBasedRlEnv(cfg, device="cpu")
    begun = time.perf_counter()
    envs: dict[str, TrainingEnv] = {"cpu": one, "dual": WorkerEnv(cfg, workers)}
    cost = {
        "start_s": time.perf_counter() - begun,
        "megabytes_a_worker": statistics.fmean(
            own_bytes(child.pid) / 1e6 for child in multiprocessing.active_children()
        ),
    }
    try:
        with torch_threads(1), torch.no_grad():
            rounds = [
                {name: block_s(env, steps) for name, env in envs.items()}
                for _ in range(blocks + 1)
            ]
    finally:
        for env in envs.values():
            env.close()
    # The first block includes one-time costs.
    rounds = rounds[1:]
    rates = {
        name: num_envs * steps / statistics.median(times[name] for times in rounds)
        for name in envs
    }
    ratios = [times["cpu"] / times["dual"] for times in rounds]
    return rates | {"dual_over_cpu": statistics.median(ratios)} | cost


def own_bytes(pid: int | None) -> int:
    """Return the proportional set size (PSS) of a process, in bytes."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("Pss:"))
    return 1024 * int(kilobytes)


def block_s(env: TrainingEnv, steps: int) -> float:
    """Return the time of a block of steps with random actions, s."""
    size = terms_of(env).action_manager.total_action_dim
    actions = torch.rand(env.num_envs, size) * 2.0 - 1.0
    begun = time.perf_counter()
    for _ in range(steps):
        env.step(actions)
    return time.perf_counter() - begun


# Weights.


def publish_ms() -> dict[str, float]:
    """Return the time to publish 1 MB of weights, and to fetch it."""
    network = MuscleNetwork(72, 13, 54, hidden=(420, 340, 256))
    nbytes = WeightStore.nbytes_for(network)
    block = SharedArrays({"weights": ArraySpec((nbytes,), "uint8")})
    store = WeightStore(network, block["weights"].data)
    state = network.state_dict()
    times: dict[str, list[float]] = {"publish": [], "fetch": []}
    with torch_threads(1), torch.no_grad():
        for _ in range(500):
            begun = time.perf_counter()
            store.publish(state)
            published = time.perf_counter()
            store.fetch(network)
            times["publish"].append(published - begun)
            times["fetch"].append(time.perf_counter() - published)
    return {
        "megabytes": nbytes / 2e6,
        "publish_ms_median": 1e3 * statistics.median(times["publish"]),
        "fetch_ms_median": 1e3 * statistics.median(times["fetch"]),
        "publish_ms_least": 1e3 * min(times["publish"]),
        "fetch_ms_least": 1e3 * min(times["fetch"]),
    }


if __name__ == "__main__":
    main()
