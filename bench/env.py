"""Cost of the managers: `env.step` compared with the same physics alone.

    python bench/env.py --task Cartpole-Balance --num-envs 1024
    python bench/env.py --task synthetic --num-envs 1024

Blocks of environment steps alternate with blocks of the same engine calls, from the
same state, so that other load on the machine affects both alike.
"""

import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

from bench.record import save
from mjlab.cli.progress import tell_progress
from mjlab.cli.speed import measure
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.registry import load_task


def main() -> None:
    """Run the measurement, print the figures and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="Cartpole-Balance")
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--blocks", type=int, default=12, help="pairs of blocks")
    parser.add_argument("--steps", type=int, default=10, help="steps of a block")
    args = parser.parse_args()
    cfg = task_cfg(args.task)
    cfg.scene.num_envs = args.num_envs
    cfg.seed = 0
    with torch_threads(1):
        env = ManagerBasedRlEnv(cfg)
        env.reset()
        tell = tell_progress(args.task, "block", every=1)
        measured = measure(env, args.blocks, args.steps, tell)
    shares = measured.shares_of_managers
    figures = {
        "task": args.task,
        "num_envs": args.num_envs,
        "engine": env.sim.backend.engine,
        "mode": env.mode,
        "torch_threads": 1,
        "blocks": args.blocks,
        "steps_per_block": args.steps,
        "step_ms": 1e3 * statistics.median(measured.step_s),
        "physics_ms": 1e3 * statistics.median(measured.physics_s),
        "env_steps_per_s": measured.env_steps_per_s,
        "share_of_managers": statistics.median(shares),
        "share_of_managers_spread": [min(shares), max(shares)],
    }
    path = save(f"env_{args.task.lower()}_{args.num_envs}", figures)
    print(
        f"{args.task} x {args.num_envs} on {figures['engine']} ({env.mode}): "
        f"{figures['step_ms']:.2f} ms per step, physics "
        f"{figures['physics_ms']:.2f} ms, "
        f"fraction of managers {figures['share_of_managers']:.3f} "
        f"(blocks {min(shares):.3f} to {max(shares):.3f}); "
        f"{figures['env_steps_per_s']:,.0f} env steps/s"
    )
    print(f"saved {path}")


def task_cfg(name: str) -> ManagerBasedRlEnvCfg:
    """Return the configuration of a registered task, or of the synthetic test task."""
    if name == "synthetic":
        from tests.worlds.synthetic import SyntheticCfg

        return SyntheticCfg()
    return load_task(name).env()


if __name__ == "__main__":
    main()
