"""Compare a muscle cascade with its first network, on a walker with a weak calf.

    python scripts/train.py docs/examples/weak_walker.py:TASK --num-envs 128 \
        --init-from Muscle-Walk-W18 --agent.hooks.muscles.earlier Muscle-Walk-W18 \
        --agent.max-iterations 25 --critic-first 5 --seed 1
    python bench/cascade.py logs/weak_walker/RUN

10 episodes of 10 s each, at 1.25 m/s: the run's policy with the whole cascade, the same
policy with the weight of the second network at 0, and the policy that ships with
Muscle-Walk-W18.
"""

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch

from bench.record import RESULTS, save
from mjlab.envs import ManagerBasedRlEnv, Rollout
from mjlab.registry import load_task
from mjlab.rl import load_policy
from mjlab.runs import Run, find
from mjlab.tasks.muscle.rl import walk_rl_on_cpu

SHIPPED = "Muscle-Walk-W18"
STRENGTHS = (0.5, 1.0)
EPISODES = 10
SPEED = 1.25


def example() -> Any:
    """Return docs/examples/weak_walker.py as a module."""
    path = ROOT / "docs/examples/weak_walker.py"
    spec = importlib.util.spec_from_file_location("weak_walker", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def only_the_first(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Return cascade weights that switch off the second network."""
    return torch.tensor([[1.0, 0.0]]).expand(env.num_envs, 2)


def episodes(control: str, strength: float, run: Path) -> dict[str, Any]:
    """Return the duration of episodes, and the mean torque residual."""
    weak = example().WeakWalkerCfg()
    agent: Any = walk_rl_on_cpu()
    agent.hooks["muscles"].earlier = SHIPPED
    cfg, place = weak, run
    if control == "shipped":
        cfg = load_task(SHIPPED).env()
        cfg.events = weak.events
        shipped = find(SHIPPED).run
        place, agent = shipped.path, shipped.configs()["agent"]
    if control == "first network":
        cfg.actions["muscles"].cascade_weights = only_the_first
    cfg.events["weak_calf"].params["strength_range"] = (strength, strength)
    cfg.commands["gait"].speed = (SPEED, SPEED)
    cfg.scene.num_envs, cfg.seed = EPISODES, 100
    env = ManagerBasedRlEnv(cfg, device="cpu")
    rollout = Rollout(env, load_policy(place, env, agent), seed=100)
    alive = torch.ones(EPISODES, dtype=torch.bool)
    steps, residuals = torch.zeros(EPISODES), []
    for _ in range(env.max_episode_length):
        rollout.step()
        alive &= ~env.termination_manager.terminated
        steps += alive
        residuals.append(env.metrics_manager.terms["torque_residual"]())
    row = {
        "control": control,
        "strength": strength,
        "episodes": EPISODES,
        "kept_going": int(alive.sum()),
        "seconds": [round(float(each), 2) for each in steps * env.step_dt],
        "torque_residual": round(float(torch.stack(residuals).mean()), 3),
    }
    print(row, flush=True)
    env.close()
    return row


def training(run: Run) -> dict[str, Any]:
    """Return the command that trained a run, and the iteration of its checkpoint."""
    iteration = run.checkpoints.iterations()[0]
    return {"command": run.info()["command"], "iteration": iteration}


def main() -> None:
    """Run the episodes, and save their figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder of the run with a cascade")
    given = parser.parse_args()
    with torch_threads(1), torch.no_grad():
        rows = [
            episodes(control, strength, Run(given.run).path)
            for strength in STRENGTHS
            for control in ("cascade", "first network", "shipped")
        ]
    found = {"training": training(Run(given.run)), "rows": rows}
    print(f"saved {save('muscle_cascade', found)} in {RESULTS}")


if __name__ == "__main__":
    main()
