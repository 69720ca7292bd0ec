"""Speed checks of `bench/gpu.py`: functions that take a `Plan`."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch

from bench.gpu_worlds import SMALL, Plan, close
from bench.peer import Side
from bench.sim import bare_warp, robot_model, start_standing
from bench.sim import measure as measure_sim
from mjlab.cli.speed import measure, memory, random_actions, run_physics, run_steps
from mjlab.cli.speed import seconds as seconds_of
from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.runner import GraphRunner
from mjlab.registry import load_task
from mjlab.rl import TrainingLoop
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg

ROOT = Path(__file__).resolve().parents[1]
FLOOR = 1.15
"""Target ratio of step time to the time of its physics."""
G1 = MujocoCfg(timestep=0.005, iterations=10, ls_iterations=20)

Result = dict[str, Any]


def speed(plan: Plan, task: str, num_envs: int) -> Result:
    """Measure the time of fused steps, and of a graph with their physics only."""
    from mjlab.sim.graphs import record_with_torch

    before = memory(torch.device(plan.device))
    env = plan.make(plan.configured(task, num_envs), "fused")
    taken = memory(env.device) - before
    state = env.get_state()
    graph, _of_warp = record_with_torch(lambda: run_physics(env, 1), env.device)
    env.set_state(state)

    def replay(_: ManagerBasedRlEnv, steps: int) -> None:
        for _step in range(steps):
            graph.replay()

    blocks = plan.pick(7, 1), plan.pick(20, 2)
    found = _times(env, *blocks, physics=replay)
    found["runner"] = env.runner.reason
    reason = ""
    if plan.on_gpu and found["of_the_floor"] > FLOOR:
        reason = f"{found['of_the_floor']:.2f} times its physics; the target is {FLOOR}"
    counted = _kernels(plan, env)
    return {
        "passed": not reason,
        "reason": reason,
        **found,
        "memory_mb": taken / 2**20,
        **counted,
    }


def joined(plan: Plan, task: str, num_envs: int) -> Result:
    """Compare step graphs with and without joined row-wise operations.

    Both graphs are captured from one environment and replayed alternately. The check
    fails if the environment chose a graph without joined operations.
    """
    env = plan.make(plan.configured(task, num_envs), "fused")
    graphs = {
        name: GraphRunner(
            env.program, env, env.state, [], reason="measured", joins_rows=joins
        )
        for name, joins in (("joined", True), ("apart", False))
    }
    steps = plan.pick(20, 2)

    def block(graph: GraphRunner) -> None:
        for _ in range(steps):
            graph.replay()

    times: dict[str, list[float]] = {name: [] for name in graphs}
    for _ in range(plan.pick(9, 2)):
        for name, graph in graphs.items():
            times[name].append(seconds_of(env, partial(block, graph)) / steps)
    found: Result = {f"{n}_ms": 1e3 * statistics.median(t) for n, t in times.items()}
    for name, graph in graphs.items():
        found[f"{name}_nodes"] = _nodes(plan, partial(block, graph)) / steps
    is_joined = "without joined" not in env.runner.reason
    return found | {"joins": {"passed": is_joined}, "runner": env.runner.reason}


def modes(plan: Plan, task: str, num_envs: int) -> Result:
    """Measure the step time of the modes other than `fused`."""
    found: Result = {}
    for mode in ("segmented", "eager"):
        env = plan.make(plan.configured(task, num_envs), mode)
        times = _times(env, plan.pick(3, 1), plan.pick(10, 2))
        found |= {f"{mode}_{name}": value for name, value in times.items()}
        close(env)
    return found


def _times(env: ManagerBasedRlEnv, blocks: int, steps: int, **settings: Any) -> Result:
    speed = measure(env, blocks, steps, **settings)
    whole, physics = (statistics.median(s) for s in (speed.step_s, speed.physics_s))
    return {
        "num_envs": env.num_envs,
        "step_ms": 1e3 * whole,
        "physics_ms": 1e3 * physics,
        "of_the_floor": whole / physics,
        "env_steps_per_s": speed.env_steps_per_s,
    }


def _kernels(plan: Plan, env: ManagerBasedRlEnv) -> Result:
    """Count the launches of ten steps, and list the slowest kernels."""
    random = torch.Generator(device=env.device).manual_seed(0)
    events = _profile(plan, lambda: run_steps(env, random_actions(env, 10, random)))
    counts = {event.key: event.count for event in events}
    on_device = _on_device(events)
    on_device.sort(key=lambda event: -event.self_device_time_total)
    return {
        "graphs_a_step": counts.get("cudaGraphLaunch", 0) / 10,
        "nodes_a_step": sum(event.count for event in on_device) / 10,
        "top": {e.key[:60]: e.self_device_time_total / 1e4 for e in on_device[:25]},
    }


def _nodes(plan: Plan, block: Callable[[], None]) -> int:
    """Return the number of kernels and copies that `block` runs on the device."""
    return sum(event.count for event in _on_device(_profile(plan, block)))


def _profile(plan: Plan, block: Callable[[], None]) -> Any:
    activities = [torch.profiler.ProfilerActivity.CPU]
    if plan.on_gpu:
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities) as trace:
        block()
        torch.cuda.synchronize()
    return trace.key_averages()


def _on_device(events: Any) -> list[Any]:
    return [e for e in events if e.device_type == torch.autograd.DeviceType.CUDA]


def training(plan: Plan, task: str, num_envs: int) -> Result:
    """Measure rollouts and updates over some iterations."""
    mode = "auto" if plan.rehearse else "fused"  # Warp's CPU device has no CUDA graphs.
    env = plan.make(plan.configured(task, num_envs), mode)
    make_rl = load_task(SMALL if plan.rehearse else task).rl
    assert make_rl is not None
    cfg = make_rl()
    cfg.evaluation.every = 0
    cfg.max_iterations = plan.pick(12, 2)
    loop = TrainingLoop(env, cfg)
    curve = Curve()
    loop.writers = [curve]
    loop.run()
    late = curve.figures[len(curve.figures) // 3 :]  # The first iterations are warm-up.
    keys = ("Perf/steps_per_s", "Perf/collect_s", "Perf/learn_s")
    return {key[5:]: statistics.median(f[key] for f in late) for key in keys}


class Curve:
    """Metrics writer that stores the figures of each iteration."""

    def __init__(self) -> None:
        self.figures: list[dict[str, float]] = []

    def write(self, iteration: int, figures: Mapping[str, float]) -> None:
        """Record the figures."""
        self.figures.append(dict(figures))

    def close(self, *, failed: bool = False) -> None:
        """Do nothing."""


def peer(plan: Plan, task: str, num_envs: int) -> Result:
    """Compare steps with mjlab's steps of the same task, in alternating blocks.

    PEER_SITE is the folder of mjlab's packages, which are searched before others.
    """
    if "PEER_SITE" not in os.environ and not plan.rehearse:
        raise RuntimeError("PEER_SITE is not a folder with mjlab and its dependencies")
    number = plan.pick(num_envs, 4)
    site = os.environ.get("PEER_SITE", str(ROOT))
    theirs_of = SMALL if plan.rehearse else task
    other = Side(theirs_of, number, plan.device, backend="warp", site=site)
    mode = "auto" if plan.rehearse else "fused"
    env = plan.make(plan.configured(task, num_envs), mode)
    steps = plan.pick(20, 2)
    random = torch.Generator(device=env.device).manual_seed(0)
    ours, theirs = [], []
    for block in range(plan.pick(8, 2)):
        actions = random_actions(env, steps, random)
        times = [
            seconds_of(env, lambda a=actions: run_steps(env, a)) / steps,
            other.step_s(steps),
        ]
        if block:  # The first pair is warm-up.
            ours.append(times[0])
            theirs.append(times[1])
    other.close()
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return {
        "num_envs": number,
        "step_ms": 1e3 * statistics.median(ours),
        "peer_step_ms": 1e3 * statistics.median(theirs),
        "times_as_fast": statistics.median(ratios),
        "peer": other.facts,
    }


def bare(plan: Plan) -> Result:
    """Compare `sim.step` with MuJoCo Warp's own step in a graph."""
    robot = "go1" if plan.rehearse else "g1"
    cfg = SimulationCfg(backend="warp", mujoco=G1)
    number = plan.pick(4096, 4)
    sim = Simulation(robot_model(robot, cfg), number, cfg, device=plan.device)
    start_standing(sim)
    blocks = plan.pick(15, 2), plan.pick(50, 2)
    ours, theirs = measure_sim(sim, bare_warp(sim), *blocks)
    share = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
    figures = {"steps_per_s": number / statistics.median(ours), "share_of_bare": share}
    return figures | ({"passed": share >= 0.97} if plan.on_gpu else {})


# Checks with their own command.


def tests(plan: Plan) -> Result:
    """Run the tests that need a device; a rehearsal only collects them."""
    how = ("--collect-only",) if plan.rehearse else ()
    return _command("-m", "pytest", "-m", "gpu", "-q", *how)


def muscle(plan: Plan) -> Result:
    """Train a muscle network on the device, with worlds in worker processes."""
    number, workers = plan.pick(1024, 4), plan.pick(8, 2)
    device = () if plan.rehearse else ("--device", "cuda:0")
    with tempfile.TemporaryDirectory() as logs:
        return _command(
            *("scripts/train.py", "Muscle-Track-Arm6", "--placement", "dual", *device),
            *("--num-envs", str(number), "--workers", str(workers), "--logs", logs),
            *("--agent.max-iterations", str(plan.pick(5, 1))),
        )


def classic(plan: Plan) -> Result:
    """Measure the classic cartpole, as tensors and as a kernel, up to 2^20 worlds."""
    counts = [str(4**power) for power in range(plan.pick(11, 2))]
    with tempfile.TemporaryDirectory() as out:
        ways = ("--only", "kernel", "tensors", "--counts", *counts)
        device = ("--device", plan.device, "--quick", "--out", out)
        return _command("bench/cartpole_scaling.py", *ways, *device)


def _command(*arguments: str) -> Result:
    """Run a Python program; return the end of its output."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(done.stdout)
    said = done.stdout.strip().splitlines()
    return {
        "passed": done.returncode == 0,
        "reason": f"code {done.returncode}: {said[-1]}" if done.returncode else "",
        "said": {"lines": said[-40:]},
    }
