"""Time and result of a PPO update, in float32 and in bfloat16.

    python bench/update.py
    python bench/update.py --task Velocity-Go1-Flat --num-envs 512

All variants start from the same weights and the same rollout, and alternate. The result
    of an update is evaluated in float32: the gain of the clipped objective, and the KL
    divergence from the acting policy.
"""

import argparse
import copy
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch
from rsl_rl.algorithms import PPO

from bench.record import save
from mjlab.envs import ManagerBasedRlEnv
from mjlab.registry import load_task
from mjlab.rl import PpoAgentCfg, TrainingLoop
from mjlab.rl.algorithms.ppo import round_layers

WARM_UP = 3


class Filled(Exception):
    """A rollout waits for its update."""


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--task", default="Velocity-G1-Flat")
    parser.add_argument("--num-envs", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    collect, algorithm = rollout(args.task, args.num_envs, args.steps)
    forms = {
        "float32": algorithm,
        "autocast": autocast(algorithm),
        "mixed precision": mixed(algorithm),
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in forms}
    for seed in range(args.rounds):
        for name, form in forms.items():
            found[name].append(judged(form, seed))
            figures = "  ".join(f"{k} {v:.4g}" for k, v in found[name][-1].items())
            print(f"{name:16s} {figures}", flush=True)
    base = statistics.median(each["seconds"] for each in found["float32"])
    steps = args.num_envs * args.steps
    for name, runs in found.items():
        seconds = statistics.median(each["seconds"] for each in runs)
        print(
            f"{name:16s} {seconds / base:.2f} of float32; training "
            f"{steps / (collect + seconds):,.0f} steps/s"
        )
    about = {"task": args.task, "num_envs": args.num_envs, "steps": args.steps}
    path = save("update", {**about, "collect_seconds": collect, "updates": found})
    print(f"saved {path.relative_to(ROOT)}")


def rollout(task_id: str, num_envs: int, num_steps: int) -> tuple[float, PPO]:
    """Return the time of a rollout in seconds, and an algorithm with its data."""
    task = load_task(task_id)
    cfg, agent = task.env(), task.on_cpu.rl()  # type: ignore[union-attr]
    assert isinstance(agent, PpoAgentCfg)
    cfg.scene.num_envs, agent.num_steps_per_env = num_envs, num_steps
    agent.evaluation.every = 0
    loop = TrainingLoop(ManagerBasedRlEnv(cfg), agent, writers=[])
    update, began = loop.learner.update, time.perf_counter()

    def stop(iteration: int) -> dict[str, float]:
        nonlocal began
        if iteration == WARM_UP:
            raise Filled
        losses, began = update(iteration), time.perf_counter()
        return losses

    loop.learner.update = stop  # type: ignore[method-assign]
    try:
        loop.run()
    except Filled:
        pass
    algorithm = loop.learner.algorithm
    assert isinstance(algorithm, PPO)
    return time.perf_counter() - began, algorithm


def autocast(algorithm: PPO) -> PPO:
    """Return a copy with RSL-RL's own mixed precision."""
    own = copy.deepcopy(algorithm)
    own.use_mixed_precision = True
    return own


def mixed(algorithm: PPO) -> PPO:
    """Return a copy with the mixed precision of this project."""
    own = copy.deepcopy(algorithm)
    round_layers(own.actor.mlp, outputs=False)
    round_layers(own.critic.mlp, outputs=True)
    return own


def judged(form: PPO, seed: int) -> dict[str, float]:
    """Return the time of an update in seconds, and its result."""
    own = copy.deepcopy(form)
    torch.manual_seed(seed)
    # Updates of the observation statistics would hide the effect of the weights.
    for network in (own.actor, own.critic):
        network.update_normalization = lambda observations: None  # type: ignore
    began, used = time.perf_counter(), time.process_time()
    own.update()
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    rollout = own.storage
    with torch.no_grad():
        own.actor(rollout.observations.flatten(0, 1), stochastic_output=True)
        now = own.actor.get_output_log_prob(rollout.actions.flatten(0, 1))
        ratio = torch.exp(now - rollout.actions_log_prob.flatten())
        gain = rollout.advantages.flatten() * ratio
        clipped = rollout.advantages.flatten() * ratio.clamp(0.8, 1.2)
        acted = rollout.distribution_params or ()
        before = tuple(p.flatten(0, 1) for p in acted)
        after = tuple(own.actor.output_distribution_params)
        moved = own.actor.get_kl_divergence(before, after).mean()
    return {
        "seconds": seconds,
        "processor_seconds": processor,
        "gain": torch.min(gain, clipped).mean().item(),
        "divergence": moved.item(),
        "learning_rate": own.learning_rate,
    }


if __name__ == "__main__":
    main()
