"""Cost of the Gymnasium environment and its wrappers, relative to `env.step`.

    python bench/wrappers.py --task Velocity-Go1-Flat --num-envs 256

The environment's step is timed inside the step of the wrapper, so that both times
belong to the same step. The cost of terminal observations is measured separately, in
alternating blocks with and without them, from the same state. Two external figures are
Gymnasium's own benchmark of vector environments, and the protocol of ManiSkill: uniform
actions, and a reset of all worlds every 200 steps.
"""

import argparse
import resource
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

import torch
from gymnasium.utils.performance import benchmark_vector_step

from bench.record import save
from mjlab.envs import ManagerBasedRlEnv
from mjlab.gym import (
    FlattenActionSpace,
    FrameStack,
    ManagedWorlds,
    NumpyVectorEnv,
    TorchVectorEnv,
    VectorEnv,
)
from mjlab.registry import load_task


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--task", default="Velocity-Go1-Flat")
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--steps", type=int, default=200, help="steps per form")
    parser.add_argument("--pairs", type=int, default=10, help="pairs of blocks")
    args = parser.parse_args()
    with torch_threads(1):
        env = build(args.task, args.num_envs)
        worlds = ManagedWorlds(env)
        arrays = NumpyVectorEnv(worlds, autoreset_mode="same_step")
        tensors = TorchVectorEnv(worlds)
        stack = VectorEnv(
            FrameStack(FlattenActionSpace(tensors), 4), record_metrics=True
        )
        spent = {
            "tensors": time_above(env, tensors, args.steps),
            "tensors_frame_stack_metrics": time_above(env, stack, args.steps),
            "arrays": time_above(env, arrays, args.steps),
        }
        last = cost_of_last_observations(env, args.pairs, steps=10)
        env.choose_resets("same_step", final_obs=True)
        outside = throughput(env, tensors, arrays, args.steps)
    shares = {k: [above / own for above, own in v] for k, v in spent.items()}
    own_ms = [1e3 * own for times in spent.values() for _, own in times]
    figures = {
        "task": args.task,
        "num_envs": args.num_envs,
        "engine": env.sim.backend.engine,
        "torch_threads": 1,
        "steps": args.steps,
        "env_step_ms": statistics.median(own_ms),
        "above_ms": {
            k: 1e3 * statistics.median(above for above, _ in v)
            for k, v in spent.items()
        },
        "share_of_env_step": {k: statistics.median(v) for k, v in shares.items()},
        "share_of_env_step_quartiles": {
            k: statistics.quantiles(v, n=4)[::2] for k, v in shares.items()
        },
        "last_observations_share": statistics.median(last),
        "last_observations_spread": [min(last), max(last)],
        **outside,
    }
    path = save(f"wrappers_{args.task.lower()}_{args.num_envs}", figures)
    for name, share in figures["share_of_env_step"].items():
        above = figures["above_ms"][name]
        print(f"{name}: {above:.3f} ms, {share:.2%} of env.step")
    print(f"env.step: {figures['env_step_ms']:.1f} ms")
    print(
        f"terminal observations: {figures['last_observations_share']:.2%} of env.step"
    )
    for name, value in outside.items():
        print(f"{name}: {value:,.0f}")
    print(f"saved {path}")


def build(task: str, num_envs: int) -> ManagerBasedRlEnv:
    """Return worlds at different steps of their episodes, so some end in most steps."""
    cfg = load_task(task).env()
    cfg.scene.num_envs, cfg.seed = num_envs, 0
    cfg.final_obs = True
    env = ManagerBasedRlEnv(cfg)
    env.reset()
    lengths = torch.arange(num_envs) % env.max_episode_length
    env.episode_length_buf.copy_(lengths)
    return env


def time_above(
    env: ManagerBasedRlEnv,
    outer: TorchVectorEnv | NumpyVectorEnv | VectorEnv,
    steps: int,
) -> list[tuple[float, float]]:
    """Return seconds per step outside and inside the environment's own step."""
    spent = [0.0]
    original = env.step

    def timed(action: torch.Tensor) -> object:
        start = now(env)
        result = original(action)
        spent[0] = now(env) - start
        return result

    outer.reset(seed=0)
    action = torch.as_tensor(outer.action_space.sample())
    env.step = timed  # pyright: ignore[reportAttributeAccessIssue]
    times = []
    try:
        for _ in range(steps):
            start = now(env)
            outer.step(action)
            times.append((now(env) - start - spent[0], spent[0]))
    finally:
        del env.step
    return times


def cost_of_last_observations(
    env: ManagerBasedRlEnv, pairs: int, steps: int
) -> list[float]:
    """Return the relative cost of blocks with terminal observations, by pair."""
    size = (env.num_envs, env.action_manager.total_action_dim)
    action = torch.zeros(size, device=env.device)
    state = env.get_state()
    ratios = []
    for _ in range(pairs):
        spent = []
        for asked in (False, True):
            env.choose_resets("same_step", final_obs=asked)
            env.set_state(state)
            env.step(action)
            start = now(env)
            for _ in range(steps):
                env.step(action)
            spent.append(now(env) - start)
        ratios.append(spent[1] / spent[0] - 1.0)
    return ratios


def throughput(
    env: ManagerBasedRlEnv, tensors: TorchVectorEnv, arrays: NumpyVectorEnv, steps: int
) -> dict[str, float]:
    """Return world steps per second by external protocols, and the memory at the end.

    Args:
        env: The environment.
        tensors: Its vector form with tensors.
        arrays: Its vector form with arrays, for Gymnasium's benchmark.
        steps: Number of steps in ManiSkill's protocol, originally 1000.
    """
    size = tuple(tensors.action_space.shape or ())
    random = torch.Generator(device=env.device).manual_seed(0)
    found = {}
    for name, every in (("steps_per_s", steps + 1), ("steps_with_resets_per_s", 200)):
        tensors.reset(seed=0)
        start = now(env)
        for step in range(steps):
            draw = torch.rand(size, generator=random, device=env.device)
            tensors.step(2.0 * draw - 1.0)
            if (step + 1) % every == 0:
                tensors.reset()
        found[name] = env.num_envs * steps / (now(env) - start)
    return {
        "gymnasium_steps_per_s": benchmark_vector_step(
            arrays, target_duration=5, seed=0
        ),
        **found,
        "memory_mb": _memory_mb(env),
    }


def _memory_mb(env: ManagerBasedRlEnv) -> float:
    """Return the peak memory: of torch on a CUDA device, otherwise of the process."""
    if env.device.type == "cuda":
        return torch.cuda.max_memory_allocated(env.device) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def now(env: ManagerBasedRlEnv) -> float:
    """Return the time in seconds after the device has finished."""
    if env.device.type == "cuda":
        torch.cuda.synchronize(env.device)
    return time.perf_counter()


if __name__ == "__main__":
    main()
