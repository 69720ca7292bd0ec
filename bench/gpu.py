"""Every check that needs a CUDA device, in one call.

    python bench/gpu.py                       # all of them, to bench/results/gpu.json
    python bench/gpu.py --quick               # fewer worlds, to see if everything runs
    python bench/gpu.py --device cpu --quick  # the same on Warp's CPU device: no speeds

Each check stands alone: one that fails is reported and the next one runs. A check that
compares says "passed", with what it measured and the tolerance beside it; the command
ends with 1 if one did not pass.
"""

import argparse
import gc
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.threads import prepare_threads

prepare_threads()

import torch

from bench.env import task_cfg
from bench.record import save
from bench.sim import bare_warp, measure, robot_model, start_standing
from mjlab.cli.speed import measure as measure_env
from mjlab.cli.speed import memory, random_actions
from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg
from mjlab.registry import load_task
from mjlab.rl import TrainingLoop
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, Stage

G1 = MujocoCfg(timestep=0.005, iterations=10, ls_iterations=20)
TASKS = ("Cartpole-Balance", "synthetic")
VELOCITY = ("Velocity-G1-Flat", "Velocity-G1")
MODES = ("fused", "segmented", "eager")
TOLERANCE = 1e-3
"""Largest difference, as a share of a tensor's scale, that counts as none: atomic
additions on a GPU come in no order."""


@dataclass(frozen=True)
class Plan:
    """The device and the size of each check."""

    device: str
    """Where."""

    worlds: tuple[int, ...]
    """Numbers of worlds of the small tasks."""

    velocity: tuple[str, ...]
    """Velocity tasks to measure."""

    walkers: tuple[int, ...]
    """Numbers of worlds of these."""

    compared: int
    """Worlds in which fused steps are compared with eager ones."""

    blocks: int
    """Blocks of steps that are timed."""

    steps: int
    """Steps of a block."""

    @property
    def on_gpu(self) -> bool:
        """Return whether speeds mean anything."""
        return self.device != "cpu"


def main() -> None:
    """Run the checks, print them and save them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default="cuda:0", help='"cpu" without a GPU')
    parser.add_argument("--only", nargs="*", help="names of checks")
    args = parser.parse_args()
    if args.device != "cpu" and not torch.cuda.is_available():
        raise SystemExit(
            "bench/gpu.py: PyTorch sees no CUDA device. --device cpu --quick shows "
            "whether the checks themselves run."
        )
    plan = make_plan(args.device, quick=args.quick)
    checks = all_checks(plan)
    for name in args.only or ():
        if name not in checks:
            known = ", ".join(checks)
            raise SystemExit(f"bench/gpu.py: no check {name!r}. Checks: {known}.")
    results: dict[str, Any] = {}
    for name, check in checks.items():
        if args.only and name not in args.only:
            continue
        start = time.perf_counter()
        try:
            results[name] = check()
        except Exception:
            results[name] = {"passed": False, "failed": traceback.format_exc()}
        seconds = time.perf_counter() - start
        print(f"{name} ({seconds:.0f} s): {results[name]}", flush=True)
        if plan.on_gpu:
            save("gpu", {"quick": args.quick, "checks": results})
    bad = [name for name, result in results.items() if not all(verdicts(result))]
    if bad:
        raise SystemExit(f"Not passed: {', '.join(bad)}.")


def make_plan(device: str, *, quick: bool) -> Plan:
    """Choose the size of each check."""
    if device == "cpu":
        return Plan(device, (8,), ("Velocity-G1-Flat",), (8,), 4, 1, 2)
    if quick:
        return Plan(device, (256,), VELOCITY, (256,), 64, 2, 10)
    return Plan(device, (1024, 4096, 16384), VELOCITY, (4096, 8192), 64, 5, 20)


def all_checks(plan: Plan) -> dict[str, Callable[[], Any]]:
    """The checks by name, the cheap ones first."""
    middle = plan.worlds[len(plan.worlds) // 2]
    return {
        "verbs_equal_eager": lambda: verbs_equal_eager(plan, middle),
        "sim_step_against_bare": lambda: sim_step_against_bare(plan, middle),
        "fused_equals_eager": lambda: {t: fused_equals_eager(plan, t) for t in TASKS},
        "one_graph_launch_a_step": lambda: graph_launches(plan, "synthetic"),
        "step_times": lambda: {
            task: [step_times(plan, task, number) for number in plan.worlds]
            for task in TASKS
        },
        "velocity": lambda: {
            task: [velocity(plan, task, number) for number in plan.walkers]
            for task in plan.velocity
        },
    }


def verdicts(result: Any) -> list[bool]:
    """All verdicts in a result."""
    if not isinstance(result, dict | list):
        return []
    parts = result.values() if isinstance(result, dict) else result
    own = [result["passed"]] if isinstance(result, dict) and "passed" in result else []
    return own + [each for part in parts for each in verdicts(part)]


# Comparisons.


def verbs_equal_eager(plan: Plan, num_envs: int) -> dict[str, Any]:
    """Recorded verbs against eager ones from the same state, rays cast included.

    A few worlds part ways even between two eager runs on a GPU, where contacts come in
    no order, so two of them say how many.
    """
    ends = [run_verbs(plan, num_envs, mode) for mode in ("segmented", "eager", "eager")]
    recorded, eager, again = ends
    return verdict(
        {name: share_of_rows(recorded[name], eager[name]) for name in eager},
        {name: share_of_rows(again[name], eager[name]) for name in eager},
    )


def run_verbs(plan: Plan, num_envs: int, mode: str) -> dict[str, torch.Tensor]:
    """State and sensors after each verb has run, twice so that graphs are replayed."""
    env = make(plan, "synthetic", num_envs, mode)
    sim = env.sim
    mask = torch.arange(num_envs, device=sim.device) % 3 == 0
    for _ in range(2):
        for _ in range(5):
            sim.step()
        sim.reset(mask)
        sim.forward(Stage.VELOCITY)
        sim.step(resume=True)
        sim.forward(Stage.ACCELERATION)
        sim.sense()
    ends = {n: getattr(sim.data, n).clone() for n in ("qpos", "qvel", "xpos", "qacc")}
    scan: Any = env.scene.sensor("scan")
    ends["scan"] = scan.data.distances.clone()
    env.close()
    return ends


def share_of_rows(value: torch.Tensor, expected: torch.Tensor) -> float:
    """Share of the worlds in which two tensors differ."""
    if not expected.is_floating_point():
        differs = value != expected
    else:
        limit = TOLERANCE * float(expected.abs().nan_to_num().max()) + 1e-6
        # What is not a number on one side only differs.
        differs = ~((value - expected).abs() <= limit)
        differs &= ~(value.isnan() & expected.isnan())
        differs &= value != expected  # Infinity less itself is no number.
    return float(differs.reshape(len(expected), -1).any(dim=1).double().mean())


def verdict(shares: dict[str, float], noise: dict[str, float]) -> dict[str, Any]:
    """Judge whether what differs is no more than between two eager runs."""
    allowed = {name: 0.01 + 3.0 * share for name, share in noise.items()}
    return {
        "passed": all(share <= allowed[name] for name, share in shares.items()),
        "tolerance": TOLERANCE,
        "share_of_worlds_that_differ": shares,
        "the_same_of_two_eager_runs": noise,
        "allowed": allowed,
    }


def fused_equals_eager(plan: Plan, task: str) -> dict[str, Any]:
    """Each of 100 steps, fused and eager, from the same state."""
    fused, eager, again = (
        make(plan, task, plan.compared, mode) for mode in ("auto", "eager", "eager")
    )
    steps = 100 if plan.on_gpu else 20
    random = torch.Generator(device=fused.device).manual_seed(0)
    shares: dict[str, float] = {}
    noise: dict[str, float] = {}
    ended = 0
    for action in 0.5 * random_actions(fused, steps, random):
        state = eager.get_state()
        fused.set_state(state)
        again.set_state(state)
        outputs = [named(env.step(action)) for env in (fused, again, eager)]
        for found, output in zip((shares, noise), outputs, strict=False):
            for name, value in output.items():
                share = share_of_rows(value, outputs[2][name]) / steps
                found[name] = found.get(name, 0.0) + share
        ended += int((outputs[2]["terminated"] | outputs[2]["truncated"]).sum())
    found = verdict(shares, noise)
    # Without a GPU there is no graph to compare, and verbs alone are recorded.
    found["passed"] &= (fused.mode == "fused" or not plan.on_gpu) and ended > 0
    return found | {"mode": fused.mode, "reason": fused.runner.reason, "ended": ended}


def named(output: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    """Return what a step returned, by name."""
    observations, reward, terminated, truncated, _ = output
    own = {"reward": reward, "terminated": terminated, "truncated": truncated}
    return own | {f"observation/{group}": v for group, v in observations.items()}


# Speeds.


def sim_step_against_bare(plan: Plan, num_envs: int) -> dict[str, Any]:
    """Rate of `sim.step`, and its share of MuJoCo Warp's own step in a graph."""
    cfg = SimulationCfg(backend="warp", mujoco=G1)
    sim = Simulation(robot_model("g1", cfg), num_envs, cfg, device=plan.device)
    start_standing(sim)
    blocks = (15, 50) if plan.on_gpu else (2, 2)
    ours, theirs = measure(sim, bare_warp(sim), *blocks)
    share = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
    figures = {
        "num_envs": num_envs,
        "steps_per_s": num_envs / statistics.median(ours),
        "share_of_bare": share,
    }
    return figures | ({"passed": share >= 0.97} if plan.on_gpu else {})


def make(plan: Plan, task: str, num_envs: int, mode: str) -> ManagerBasedRlEnv:
    """An environment of a task on Warp, with episodes that end while it is watched."""
    cfg = configured(task, num_envs, mode)
    cfg.episode_length_s = min(cfg.episode_length_s, 0.6)
    env = ManagerBasedRlEnv(cfg, device=plan.device)
    env.reset()
    env.episode_length_buf.copy_(
        torch.arange(num_envs, device=env.device) * env.max_episode_length // num_envs
    )
    return env


def configured(task: str, num_envs: int, mode: str) -> ManagerBasedRlEnvCfg:
    """A task as it is, on Warp."""
    cfg = task_cfg(task)
    cfg.scene.num_envs, cfg.seed = num_envs, 0
    cfg.sim.backend = "warp"
    cfg.mode = mode  # pyright: ignore[reportAttributeAccessIssue]
    if num_envs < 64:  # The pool of contacts is shared, and small with few worlds.
        cfg.sim.nconmax = 256
    return cfg


def graph_launches(plan: Plan, task: str) -> dict[str, Any]:
    """Graph launches and kernel launches of ten fused steps, as the profiler saw."""
    env = make(plan, task, plan.worlds[0], "auto")
    random = torch.Generator(device=env.device).manual_seed(0)
    actions = random_actions(env, 11, random)
    env.step(actions[0])
    activities = [torch.profiler.ProfilerActivity.CPU]
    if plan.on_gpu:
        torch.cuda.synchronize()
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities) as trace:
        for action in actions[1:]:
            env.step(action)
        if plan.on_gpu:
            torch.cuda.synchronize()
    counts = {event.key: event.count for event in trace.key_averages()}
    launches = counts.get("cudaGraphLaunch", 0) / 10
    figures = {
        "mode": env.mode,
        "graph_launches": launches,
        "kernel_launches": counts.get("cudaLaunchKernel", 0) / 10,
        "synchronisations": counts.get("cudaStreamSynchronize", 0) / 10,
    }
    return figures | ({"passed": launches == 1.0} if plan.on_gpu else {})


def step_times(plan: Plan, task: str, num_envs: int) -> dict[str, Any]:
    """Milliseconds a step in each mode, of physics alone, and memory."""
    found: dict[str, Any] = {"num_envs": num_envs}
    for mode in MODES:
        found[mode] = mode_speed(plan, task, num_envs, mode)
    return found


def mode_speed(plan: Plan, task: str, num_envs: int, mode: str) -> dict[str, Any]:
    """Speed of a task in one mode; why not, where the mode cannot be had."""
    gc.collect()  # An environment and its terms hold each other.
    before = memory(torch.device(plan.device))
    # "fused" alone would refuse to run in another mode, without its figures.
    env = make(plan, task, num_envs, "auto" if mode == "fused" else mode)
    if env.mode != mode:
        reason = env.runner.reason
        env.close()
        return {"missing": f"ran {env.mode}: {reason}"}
    speed = measure_env(env, plan.blocks, plan.steps)
    whole, physics = (statistics.median(s) for s in (speed.step_s, speed.physics_s))
    figures = {
        "step_ms": 1e3 * whole,
        "physics_ms": 1e3 * physics,
        "of_the_floor": whole / physics,
        "env_steps_per_s": speed.env_steps_per_s,
        "physics_env_steps_per_s": speed.physics_steps_per_s,
        "memory_mb": (memory(env.device) - before) / 2**20,
    }
    env.close()
    return figures


def velocity(plan: Plan, task: str, num_envs: int) -> dict[str, Any]:
    """A velocity task in each mode, and training steps per second."""
    found = step_times(plan, task, num_envs)
    found["training"] = training_speed(plan, task, num_envs)
    return found


def training_speed(plan: Plan, task: str, num_envs: int) -> dict[str, Any]:
    """Steps per second of acting and learning, and memory, over some iterations."""
    gc.collect()
    before = memory(torch.device(plan.device))
    env = ManagerBasedRlEnv(configured(task, num_envs, "auto"), device=plan.device)
    make_rl = load_task(task).rl
    assert make_rl is not None
    cfg = make_rl()
    cfg.evaluation.every = 0
    cfg.max_iterations = 12 if plan.on_gpu else 2
    loop = TrainingLoop(env, cfg)
    curve = Curve()
    loop.writers = [curve]
    loop.run()
    taken = (memory(env.device) - before) / 2**20
    env.close()
    late = curve.figures[len(curve.figures) // 3 :]  # The first ones warm up.
    keys = ("Perf/steps_per_s", "Perf/collect_s", "Perf/learn_s")
    median = {key: statistics.median(f[key] for f in late) for key in keys}
    return {
        "mode": env.mode,
        "training_steps_per_s": median["Perf/steps_per_s"],
        "collect_s": median["Perf/collect_s"],
        "learn_s": median["Perf/learn_s"],
        "memory_mb": taken,
    }


class Curve:
    """Keeps the figures of each iteration."""

    def __init__(self) -> None:
        self.figures: list[dict[str, float]] = []

    def write(self, iteration: int, figures: Mapping[str, float]) -> None:
        """Keep them."""
        self.figures.append(dict(figures))

    def close(self) -> None:
        """There is nothing to close."""


if __name__ == "__main__":
    main()
