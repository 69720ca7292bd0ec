"""Checks of `bench/gpu.py`: functions that take a `Plan`, run in separate processes.

A result contains the measured values, and "passed" if the check has a criterion.
"""

import contextlib
import gc
import subprocess
import time
from pathlib import Path
from typing import Any

from mjlab.threads import prepare_threads

prepare_threads()

import torch

from bench import gpu_speeds
from bench.gpu_worlds import (
    Plan,
    begin_at_all_ages,
    close,
    compare,
    sensed,
    share_of_rows,
    verdict,
)
from bench.sim import robot_model, start_standing
from mjlab.cli.speed import memory, random_actions, run_steps
from mjlab.driver import driver_cuda
from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import RecorderTermCfg, RewardTermCfg
from mjlab.mdp.randomize.inertia import principal_axes
from mjlab.provenance import hardware, versions
from mjlab.random import WorldRng
from mjlab.recording import RecordingCfg
from mjlab.sensor import CameraSensorCfg
from mjlab.sim import MujocoCfg, Simulation, SimulationCfg, Stage
from mjlab.tasks.cartpole import CartpoleBalanceCfg

ROOT = Path(__file__).resolve().parents[1]
Result = dict[str, Any]


def run(device: str, rehearse: bool, name: str, *arguments: Any) -> Result:
    """Run a check by name: a function of this file, or of `bench.gpu_speeds`."""
    plan = Plan("cpu" if rehearse and device == "cpu" else "cuda:0", rehearse)
    around: Any = contextlib.nullcontext()
    if rehearse and device == "stand-in":
        from tests.tools.cuda_stand_in import stand_in

        around = stand_in()
    elif not rehearse and not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no CUDA device. --rehearse runs without one.")
    functions = vars(gpu_speeds) | globals()
    start = time.perf_counter()
    with around:
        result: Result = functions[name](plan, *arguments)
    seconds = time.perf_counter() - start
    built = sum(plan.build_s)
    times = {"build_s": built, "check_s": seconds - built}
    wrong = [k for k, part in result.items() if not all(verdicts(part))]
    reason = result.get("reason") or f"not passed: {', '.join(wrong)}" * bool(wrong)
    passed = {"passed": all(verdicts(result)), "reason": reason}
    return result | times | passed


def verdicts(result: Any) -> list[bool]:
    """Return all values of "passed" in a nested result."""
    if not isinstance(result, dict | list):
        return []
    parts = result.values() if isinstance(result, dict) else result
    own = [result["passed"]] if isinstance(result, dict) and "passed" in result else []
    return own + [each for part in parts for each in verdicts(part)]


# Prerequisites of all other checks.


def facts(plan: Plan) -> Result:
    """Report the device, the versions, the memory in use, and the memory bandwidth."""
    free, total = torch.cuda.mem_get_info(plan.device)
    used = total - free
    size = plan.pick(2**28, 2**20)
    source = torch.ones(size, device=plan.device)
    target = torch.empty_like(source)
    target.copy_(source)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(10):
        target.copy_(source)
    torch.cuda.synchronize()
    rate = 10 * 2 * source.nbytes / (time.perf_counter() - start)
    name = torch.cuda.get_device_name(0)
    return {
        "name": name,
        "driver": _driver(),
        "copied_gb_per_s": rate / 1e9,
        "used_mb_before": used / 2**20,
        "facts": {"hardware": hardware(), "versions": versions()},
    }


def _driver() -> str:
    """Return the version of the driver and of its CUDA."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except OSError:
        return f"nvidia-smi is missing; CUDA {driver_cuda()}"
    return f"{done.stdout.strip()}; CUDA {driver_cuda()}"


def capture(plan: Plan) -> Result:
    """Check a torch CUDA graph that contains a Warp loop: its sum must be exact.

    Between replays, other memory is allocated and freed, which must not overlap the
    graph's memory.
    """
    import warp as wp

    from bench.gpu_kernels import add_one
    from mjlab.sim.graphs import Graphs, record_with_torch

    number, turns = 1000, 5
    x = torch.zeros(number, device=plan.device)
    y, out = torch.zeros_like(x), torch.zeros_like(x)
    left = torch.zeros(1, dtype=torch.int32, device=plan.device)
    arrays = [wp.from_torch(left), wp.from_torch(y)]
    graphs = Graphs(plan.device, lambda: (), enabled=True)

    def turn() -> None:
        wp.launch(add_one, number, arrays)

    def run() -> None:
        y.copy_(x * 2.0)
        left.fill_(turns)
        graphs.run("loop", lambda: wp.capture_while(arrays[0], while_body=turn))
        both = torch.cat([y, y + 1.0])
        out.copy_(both[number:] + both[:number])

    graph, _of_warp = record_with_torch(run, torch.device(plan.device))
    sizes = torch.randint(1, 2**20, (100,), generator=torch.Generator().manual_seed(0))
    wrong = []
    for i, size in enumerate(sizes.tolist()):
        torch.empty(size, device=plan.device).fill_(torch.nan)
        x.fill_(i)
        graph.replay()
        if not torch.equal(out.cpu(), torch.full((number,), 4.0 * i + 2 * turns + 1)):
            wrong.append(i)
    reason = f"replays {wrong[:5]} have different results" * bool(wrong)
    return {"passed": not wrong, "reason": reason, "replays": len(sizes)}


def shared(plan: Plan) -> Result:
    """Run precompiled functions of Warp: scan, sort, sum, and a loop in a graph.

    Success shows that Warp's library has code for the device: `bench/gpu_bundle.py`
    keeps the code of one architecture only.
    """
    import numpy as np
    import warp as wp

    device = wp.get_device(plan.device)
    values = np.random.default_rng(0).integers(0, 1000, 100_000).astype(np.int32)
    number = len(values)
    source = wp.array(values, device=device)
    scanned = wp.zeros_like(source)
    wp.utils.array_scan(source, scanned, inclusive=True)
    keys = wp.zeros(2 * number, dtype=wp.int32, device=device)
    places = wp.zeros_like(keys)
    wp.copy(keys, source, count=number)
    wp.utils.radix_sort_pairs(keys, places, number)
    total: Any = wp.utils.array_sum(wp.array(values.astype(np.float64), device=device))
    runtime = wp._src.context.runtime  # pyright: ignore[reportAttributeAccessIssue]
    return {
        "scan": {"passed": bool((scanned.numpy() == values.cumsum()).all())},
        "sort": {"passed": bool((keys.numpy()[:number] == np.sort(values)).all())},
        "sum": {"passed": int(total) == int(values.sum())},
        "loops": {"passed": plan.rehearse or wp.is_conditional_graph_supported()},
        "toolkit": runtime.toolkit_version,
        "driver": runtime.driver_version,
        "output": device.get_cuda_output_format(),
    }


def engines(plan: Plan, robot: str, num_envs: int) -> Result:
    """Compare a physics step of MuJoCo Warp with a native one from the same state.

    Differences are relative to the largest value of a world. The controls are random.
    """
    options = MujocoCfg(timestep=0.005, iterations=50, ls_iterations=50)
    number = plan.pick(num_envs, 4)
    native, warp = (
        _standing(robot, number, SimulationCfg(backend=name, mujoco=options), device)
        for name, device in (("native", "cpu"), ("warp", plan.device))
    )
    random = torch.Generator().manual_seed(0)
    stance = native.data.ctrl.clone()
    errors: dict[str, list[torch.Tensor]] = {"qpos": [], "qvel": []}
    for _ in range(plan.pick(60, 10)):
        noise = torch.randn(stance.shape, generator=random)
        native.data.ctrl.copy_(stance + 0.15 * noise)
        for name in ("qpos", "qvel", "ctrl", "qacc_warmstart"):
            getattr(warp.data, name).copy_(getattr(native.data, name))
        native.step()
        warp.step()
        for name, found in errors.items():
            expected = getattr(native.data, name).double()
            difference = getattr(warp.data, name).cpu().double() - expected
            scale = expected.abs().amax(dim=1).clamp(min=1.0)
            found.append(difference.abs().amax(dim=1) / scale)
    shares = torch.tensor([0.5, 0.9, 0.99], dtype=torch.float64)
    result: Result = {}
    for name, limit in (("qpos", 1e-5), ("qvel", 1e-3)):
        median, p90, p99 = torch.cat(errors[name]).quantile(shares).tolist()
        quantiles = {"median": median, "p90": p90, "p99": p99}
        result[name] = {"passed": median < limit, **quantiles}
    medians = {f"{name}_median": result[name]["median"] for name in errors}
    return result | medians


def _standing(robot: str, num_envs: int, cfg: SimulationCfg, device: str) -> Simulation:
    if num_envs < 64 and cfg.backend == "warp":
        cfg.nconmax = 256
    sim = Simulation(robot_model(robot, cfg), num_envs, cfg, device=device)
    start_standing(sim)
    return sim


def bits(plan: Plan) -> Result:
    """Compare random numbers bit for bit, and principal axes, with the CPU."""
    host, there = WorldRng(3000, 11, "cpu"), WorldRng(3000, 11, plan.device)
    found: Result = {}
    for name in ("uniform", "normal"):
        ours, theirs = (getattr(r, name)(0.0, 1.0, (5, 6), "a") for r in (there, host))
        found[name] = {"passed": torch.equal(ours.cpu(), theirs)}
    ours, theirs = (rng.integers(0, 1000, (7,), "b") for rng in (there, host))
    found["integers"] = {"passed": torch.equal(ours.cpu(), theirs)}
    half = host.normal(0.0, 1.0, (2, 3, 3), "c").double()
    inertia = half @ half.mT
    everyone = torch.ones(3000, dtype=torch.bool)
    moments, axes = principal_axes(inertia.to(plan.device), everyone.to(plan.device))
    moments, axes = moments.cpu(), axes.cpu()
    rebuilt = axes @ torch.diag_embed(moments) @ axes.mT
    error = float((rebuilt - inertia).abs().max() / inertia.abs().max())
    found["principal_axes"] = {"passed": error < 1e-12, "error": error}
    wrong = [name for name, part in found.items() if not part["passed"]]
    return found | {
        "reason": f"different from the CPU: {', '.join(wrong)}" * bool(wrong)
    }


def reads_a_number(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Return a reward that reads a number in Python, so it cannot be captured."""
    return env.episode_length_buf * float(env.common_step_counter.item())


def counts_steps(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Return a reward that reads nothing on the host, so it can be captured."""
    return env.episode_length_buf.float()


def failed_capture(plan: Plan) -> Result:
    """Make a capture fail; afterwards, another capture must succeed."""
    cfg = CartpoleBalanceCfg(seed=0)
    cfg.scene.num_envs, cfg.sim.backend = 64, "warp"
    cfg.rewards["planted"] = RewardTermCfg(func=counts_steps, weight=1.0)
    env = plan.make(cfg, "fused")
    env.cfg.mode = "auto"
    term: Any = env.reward_manager.term("planted")
    term.function = reads_a_number
    env.record_anew()
    failed = {"mode": env.mode, "why": env.runner.reason}
    is_named = env.mode == "segmented" and "reward term 'planted'" in env.runner.reason
    is_default = torch.cuda.current_stream() == torch.cuda.default_stream()
    term.function = counts_steps
    env.record_anew()
    modes = {"after": env.mode, "why_after": env.runner.reason}
    other = plan.make(plan.briefly("Velocity-G1-Flat"), "fused")
    run_steps(other, random_actions(other, 3, torch.Generator(device=plan.device)))
    parts = {
        "named": {"passed": is_named},
        "stream_restored": {"passed": is_default},
        "recorded_afterwards": {"passed": env.mode == "fused"},
    }
    wrong = [name for name, part in parts.items() if not part["passed"]]
    reason = f"not {', '.join(wrong)}: {failed | modes}" * bool(wrong)
    return parts | failed | modes | {"reason": reason}


# Fused steps compared with other steps.


def fused(plan: Plan, task: str) -> Result:
    """Compare each of 100 fused and eager steps, from the same state."""
    envs = [plan.make(plan.briefly(task), m) for m in ("fused", *plan.twins)]
    return compare(envs[0], envs[1:], plan.pick(100, 16))


def two_fused(plan: Plan, task: str) -> Result:
    """Replay a graph after another graph was freed and its modules were unloaded."""
    import warp as wp

    other, kept = (plan.make(plan.briefly(task), "fused") for _ in range(2))
    for env in (other, kept):
        run_steps(env, random_actions(env, 2, torch.Generator(device=plan.device)))
    close(other)
    del other, env
    gc.collect()
    modules = wp._src.context.user_modules  # pyright: ignore[reportAttributeAccessIssue]
    for module in list(modules.values()):
        module.unload()
    twins = [plan.make(plan.briefly(task), mode) for mode in plan.twins]
    return compare(kept, twins, plan.pick(100, 16))


def between_replays(plan: Plan, task: str) -> Result:
    """Compare steps, with resets, other reset modes and expanded fields in between."""
    field = "geom_friction"

    def meddle(env: ManagerBasedRlEnv, step: int) -> None:
        if step == 4:
            env.choose_resets("next_step")
        if step == 7:
            env.sim.expand(field)
        if step == 10:
            env.choose_resets("same_step", final_obs=True)
        if step % 3 == 2:
            env.reset(mask=torch.arange(env.num_envs, device=env.device) % 3 == 0)

    envs = [plan.make(plan.briefly(task), m) for m in ("fused", *plan.twins)]
    return compare(envs[0], envs[1:], plan.pick(100, 16), meddle)


def isolated(plan: Plan, task: str) -> Result:
    """Write NaN into every eighth world before each fused step; others must not change.

    A step must start new, finite episodes in the poisoned worlds.
    """
    envs = [plan.make(plan.briefly(task), m) for m in ("fused", *plan.twins)]
    fused = envs[0]
    worlds = torch.arange(fused.num_envs, device=fused.device)
    poisoned = worlds % plan.pick(8, 2) == 0

    def poison(env: ManagerBasedRlEnv, step: int) -> None:
        if env is fused:
            env.sim.data.qvel.masked_fill_(poisoned[:, None], torch.nan)

    found = compare(fused, envs[1:], plan.pick(60, 16), poison, worlds=~poisoned)
    finite = bool(fused.sim.data.qpos.cpu().isfinite().all())
    return found | {"recovered": {"passed": finite}}


def senses(plan: Plan) -> Result:
    """Compare camera images of fused and eager steps, while episodes are recorded."""
    import tempfile

    folder = tempfile.mkdtemp()

    def make(mode: str, name: str) -> ManagerBasedRlEnv:
        cfg = plan.briefly("Cartpole-Balance")
        eye = CameraSensorCfg(
            name="eye", width=16, height=12, data_types=("rgb", "depth")
        )
        cfg.scene.sensors = (*cfg.scene.sensors, eye)
        cfg.recorders = {"actions": RecorderTermCfg(func=mdp.raw_actions)}
        cfg.recording = RecordingCfg(folder=folder, name=name)
        return plan.make(cfg, mode)

    modes = ("fused", *plan.twins)
    envs = [make(mode, name) for mode, name in zip(modes, "abc", strict=False)]
    seen = {"sensor/eye/rgb", "sensor/eye/depth"} & sensed(envs[0]).keys()
    found = compare(envs[0], envs[1:], plan.pick(60, 16))
    close(*envs)
    size = (Path(folder) / "a.h5").stat().st_size
    return found | {"pictures": len(seen), "drawn": {"passed": len(seen) == 2 < size}}


def soak(plan: Plan, task: str) -> Result:
    """Run thousands of steps; memory must be constant, and all values finite."""
    env = plan.make(plan.configured(task, 4096), "fused")
    steps = plan.pick(2000, 20)
    random = torch.Generator(device=plan.device).manual_seed(0)
    used = []
    for _ in range(2):
        for _ in range(steps // 20):
            run_steps(env, random_actions(env, 10, random))
        used.append(memory(env.device))
    values = env.get_state().items()  # Limits can be infinite, physics cannot.
    physics = [value for name, value in values if name.startswith("sim.data.")]
    sound = all(bool(value.isfinite().all()) for value in physics)
    sound &= not any(bool(value.isnan().any()) for _, value in values)
    growth = used[1] - used[0]
    return {
        "steps": steps,
        "memory": {"passed": growth <= 2**24, "growth_mb": growth / 2**20},
        "finite": {"passed": sound},
    }


def verbs(plan: Plan) -> Result:
    """Compare captured engine calls, rays included, with eager ones."""
    ends = [_verbs(plan, mode) for mode in ("segmented", "eager", "eager")]
    recorded, eager, again = ends
    return verdict(
        {name: share_of_rows(recorded[name], eager[name]) for name in eager},
        {name: share_of_rows(again[name], eager[name]) for name in eager},
    )


def _verbs(plan: Plan, mode: str) -> dict[str, torch.Tensor]:
    """Return state and sensors after each engine call, run twice to replay graphs."""
    env = plan.make(plan.briefly("synthetic", 4096), mode)
    begin_at_all_ages(env)
    sim = env.sim
    mask = torch.arange(env.num_envs, device=sim.device) % 3 == 0
    for _ in range(2):
        for _ in range(5):
            sim.step()
        sim.reset(mask)
        sim.forward(Stage.VELOCITY)
        sim.finish_step()
        sim.forward(Stage.ACCELERATION)
        sim.sense()
    names = ("qpos", "qvel", "xpos", "qacc")
    ends = {name: getattr(sim.data, name).clone() for name in names}
    with sim.reads.allow_late():
        ends |= sensed(env)
    close(env)
    return ends
