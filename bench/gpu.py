"""Every check that needs a CUDA device, in one call.

    python bench/gpu.py            # all of them, results to bench/results/gpu.json
    python bench/gpu.py --quick    # fewer worlds, to see whether everything runs

Each check stands alone: one that fails is reported and the next one runs.
"""

import argparse
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

import torch

from bench.record import save
from bench.sim import bare_warp, measure, robot_model, start_standing
from mjlab.envs import ManagerBasedRlEnv
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, Stage

G1 = MujocoCfg(timestep=0.005, iterations=10, ls_iterations=20)


def main() -> None:
    """Run the checks, print them and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", help="names of checks")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("bench/gpu.py: PyTorch sees no CUDA device.")
    worlds = [256] if args.quick else [1024, 4096, 16384]
    checks: dict[str, Callable[[], Any]] = {
        "verbs_equal_eager": lambda: verbs_equal_eager(worlds[min(1, len(worlds) - 1)]),
        "sim_step_against_bare": lambda: sim_step_against_bare(worlds[-1] // 4 or 64),
        "fused_equals_eager": lambda: {t: fused_equals_eager(t) for t in TASKS},
        "one_graph_launch_a_step": lambda: graph_launches("synthetic"),
        "step_times": lambda: {t: [step_times(t, n) for n in worlds] for t in TASKS},
    }
    results: dict[str, Any] = {}
    for name, check in checks.items():
        if args.only and name not in args.only:
            continue
        start = time.perf_counter()
        try:
            results[name] = check()
        except Exception:
            results[name] = {"failed": traceback.format_exc()}
        seconds = time.perf_counter() - start
        print(f"{name} ({seconds:.0f} s): {results[name]}", flush=True)
        save("gpu", {"checks": results})


TASKS = ("Cartpole-Balance", "synthetic")


def verbs_equal_eager(num_envs: int) -> dict[str, float]:
    """Largest difference of recorded verbs from eager ones, from the same state."""
    ends = []
    for graphs in (True, False):
        cfg = SimulationCfg(backend="warp", mujoco=G1, graphs=graphs)
        sim = Simulation(robot_model("g1", cfg), num_envs, cfg, device="cuda:0")
        start_standing(sim)
        mask = torch.arange(num_envs, device=sim.device) % 3 == 0
        for _ in range(10):
            sim.step()
        sim.reset(mask)
        sim.forward(Stage.VELOCITY)
        sim.step(resume=True)
        sim.sense()
        ends.append({n: getattr(sim.data, n).clone() for n in ("qpos", "qvel", "xpos")})
    return {n: float((ends[0][n] - ends[1][n]).abs().max()) for n in ends[0]}


def sim_step_against_bare(num_envs: int) -> dict[str, float]:
    """Rate of `sim.step`, and its share of MuJoCo Warp's own step in a graph."""
    cfg = SimulationCfg(backend="warp", mujoco=G1)
    sim = Simulation(robot_model("g1", cfg), num_envs, cfg, device="cuda:0")
    start_standing(sim)
    ours, theirs = measure(sim, bare_warp(sim), 15, 50)
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return {
        "num_envs": num_envs,
        "steps_per_s": num_envs / statistics.median(ours),
        "share_of_bare": statistics.median(ratios),
    }


def make(task: str, num_envs: int, mode: str) -> ManagerBasedRlEnv:
    """An environment of a task on the GPU."""
    from bench.env import task_cfg

    cfg = task_cfg(task)
    cfg.scene.num_envs = num_envs
    cfg.sim.backend = "warp"
    cfg.seed, cfg.mode = 0, mode
    env = ManagerBasedRlEnv(cfg, device="cuda:0")
    env.reset()
    return env


def random_actions(env: ManagerBasedRlEnv, steps: int) -> torch.Tensor:
    """The same actions at every call, shape (steps, num_envs, action_dim)."""
    random = torch.Generator(device=env.device).manual_seed(0)
    size = (steps, env.num_envs, env.action_manager.total_action_dim)
    return 0.5 * torch.randn(size, generator=random, device=env.device)


def fused_equals_eager(task: str, num_envs: int = 64) -> dict[str, Any]:
    """Each of 100 steps, fused and eager, from the same state."""
    fused, eager = make(task, num_envs, "auto"), make(task, num_envs, "eager")
    worst: dict[str, float] = {"observation": 0.0, "reward": 0.0}
    different_dones = 0
    for action in random_actions(fused, 100):
        fused.set_state(eager.get_state())
        ours, theirs = fused.step(action), eager.step(action)
        different_dones += int((ours[2] != theirs[2]).sum())
        for group, value in ours[0].items():
            other = theirs[0][group]
            assert isinstance(value, torch.Tensor) and isinstance(other, torch.Tensor)
            difference = (value - other).abs().max()
            worst["observation"] = max(worst["observation"], float(difference))
        difference = (ours[1] - theirs[1]).abs().max()
        worst["reward"] = max(worst["reward"], float(difference))
    return {
        "mode": fused.mode,
        "reason": fused.mode_reason,
        "largest_difference": worst,
        "different_terminations": different_dones,
    }


def graph_launches(task: str) -> dict[str, Any]:
    """Graph launches and kernel launches of ten fused steps, as the profiler saw."""
    env = make(task, 1024, "auto")
    actions = random_actions(env, 12)
    env.step(actions[0])
    torch.cuda.synchronize()
    activities = [
        torch.profiler.ProfilerActivity.CPU,
        torch.profiler.ProfilerActivity.CUDA,
    ]
    with torch.profiler.profile(activities=activities) as trace:
        for action in actions[:10]:
            env.step(action)
        torch.cuda.synchronize()
    counts = {event.key: event.count for event in trace.key_averages()}
    return {
        "mode": env.mode,
        "graph_launches": counts.get("cudaGraphLaunch", 0) / 10,
        "kernel_launches": counts.get("cudaLaunchKernel", 0) / 10,
        "synchronisations": counts.get("cudaStreamSynchronize", 0) / 10,
    }


def step_times(task: str, num_envs: int) -> dict[str, Any]:
    """Milliseconds a step in each mode, and of physics alone."""
    from bench.env import run_physics

    times: dict[str, Any] = {"num_envs": num_envs}
    for mode in ("auto", "segmented", "eager"):
        env = make(task, num_envs, mode)
        actions = random_actions(env, 50)
        for action in actions[:5]:
            env.step(action)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for action in actions:
            env.step(action)
        torch.cuda.synchronize()
        times[env.mode] = 1e3 * (time.perf_counter() - start) / len(actions)
        if mode == "segmented":
            run_physics(env, 5)
            torch.cuda.synchronize()
            start = time.perf_counter()
            run_physics(env, 50)
            torch.cuda.synchronize()
            times["physics"] = 1e3 * (time.perf_counter() - start) / 50
        env.close()
        del env
    times["memory_mb"] = torch.cuda.max_memory_allocated() / 2**20
    return times


if __name__ == "__main__":
    main()
