"""`bench`: measure the speed of a task."""

import dataclasses
import datetime
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.hardware import check_device, choose_worlds, processors, with_worlds
from mjlab.cli.line import Line, TaskOptions, read_line
from mjlab.cli.progress import tell_progress
from mjlab.cli.tasks import need_task
from mjlab.registry import load_task
from mjlab.settings.bounds import at_least
from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv

STUDIES = {
    "velocity": "velocity.py",
    "cartpole": "cartpole_study.py",
    "scaling": "task_scaling.py",
    "recording": "recording.py",
    "placement": "placement.py",
    "muscle": "muscle.py",
}
"""Files in the folder `bench`, by name of the study. Each study has its own options."""


@dataclass(kw_only=True)
class BenchOptions(TaskOptions):
    """Measure the speed of a task.

    Prints steps per second with random actions, physics steps per second, the cost of
    each term, tensor operations, and memory per world. A study of the repository can be
    named instead of a task.
    """

    program = "bench.py"
    examples = (
        "Velocity-G1-Flat --env.scene.num-envs 256",
        "Velocity-G1 --blocks 20 --out g1.json",
        "Velocity-G1-Flat --disable rewards.pose --env.sim.num-threads 2",
        "cartpole --help",
    )

    task: Positional[str | None] = None
    """Task id, such as Velocity-G1, or name of a study."""

    blocks: Annotated[int, at_least(1)] = 10
    """Pairs of timed blocks: one of the environment, one of physics only."""

    steps: Annotated[int, at_least(1)] = 10
    """Steps per block."""

    device: str | None = None
    """Where to simulate, such as "cpu" or "cuda:1". Default: a GPU if available."""

    out: Path | None = None
    """JSON file for the figures, with machine and versions. Default: no file."""

    @classmethod
    def closing(cls) -> str:
        """Return the names of studies and tasks."""
        return f"studies:\n{', '.join(STUDIES)}\n\n{super().closing()}"


def main(arguments: Sequence[str]) -> None:
    """Measure a task, or run a study."""
    if arguments and arguments[0] in STUDIES:
        run_study(STUDIES[arguments[0]], arguments[1:])
        return
    line = read_line(BenchOptions, arguments)
    options = line.options
    entry = need_task(options.task, options.program)
    cfg = line.apply({"env": load_task(entry.id).env()})["env"]
    out = options.out
    if out is not None and not out.resolve().parent.is_dir():
        raise UsageError(f"--out {out}: folder {out.resolve().parent} does not exist.")
    show(options, entry.id, measure(line, cfg))


def run_study(file: str, arguments: Sequence[str]) -> None:
    """Run a file in the folder `bench` as a script."""
    path = Path(__file__).resolve().parents[2] / "bench" / file
    if not path.is_file():
        raise UsageError(
            f"bench/{file} is not in the installed package. Run this study from a "
            "checkout of the repository; measuring a task needs no checkout."
        )
    # A separate process: in scripts/bench.py, `import bench` would import that script.
    command = [sys.executable, str(path), *arguments]
    code = subprocess.run(command).returncode
    if code:
        raise SystemExit(code)


def build(line: Line[BenchOptions], env_cfg: Any) -> "ManagerBasedRlEnv":
    """Build the environment; choose the number of worlds unless the user sets it."""
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.sim.backend import resolve_backend

    backend = resolve_backend(env_cfg.sim.backend, check_device(line.options.device))
    if not line.sets("env.scene.num_envs"):
        suits = choose_worlds(
            env_cfg.scene.num_envs,
            on_gpu=backend.device != "cpu",
            cores=processors(),
            backend=backend.engine,
        )
        env_cfg = with_worlds(env_cfg, suits.number)
    env_cfg = dataclasses.replace(env_cfg, seed=env_cfg.seed or 0)
    return ManagerBasedRlEnv(env_cfg, device=backend.device)


def measure(line: Line[BenchOptions], env_cfg: Any) -> dict[str, Any]:
    """Measure speed, memory and tensor operations, and profile the step.

    Physics uses all processors, so PyTorch runs with one thread.
    """
    import torch

    from mjlab.cli import speed
    from mjlab.sim.backend import resolve_backend

    blocks, steps = line.options.blocks, line.options.steps
    with torch_threads(1):
        device = resolve_backend(
            env_cfg.sim.backend, check_device(line.options.device)
        ).device
        before = speed.memory(torch.device(device))
        env = build(line, env_cfg)
        env.reset()
        tell = tell_progress("measuring", "block", every=1)
        measured = speed.measure(env, blocks, steps, tell)
        used = speed.memory(env.device) - before
        operations = speed.count_operations(env)
        profile = env.profile(steps)
    managers = measured.shares_of_managers
    env.close()
    return {
        "num_envs": env.num_envs,
        "engine": env.sim.backend.engine,
        "device": str(env.device),
        "mode": env.mode,
        "blocks": blocks,
        "steps_per_block": steps,
        "env_steps_per_s": measured.env_steps_per_s,
        "physics_steps_per_s": measured.physics_steps_per_s,
        "share_of_managers": statistics.median(managers),
        "share_of_managers_spread": [min(managers), max(managers)],
        "operations_per_step": operations,
        "memory_bytes_per_world": used / env.num_envs,
        "step_s": profile.total,
        "parts_s": profile.seconds,
        "profile": str(profile),
    }


def show(options: BenchOptions, task: str, figures: dict[str, Any]) -> None:
    """Print the figures, and write them to --out if it is given."""
    low, high = figures["share_of_managers_spread"]
    print(
        f"{task}, {figures['num_envs']} worlds on {figures['engine']} "
        f"({figures['device']}, {figures['mode']})\n"
        f"env steps/s         {figures['env_steps_per_s']:>12,.0f}\n"
        f"physics only        {figures['physics_steps_per_s']:>12,.0f}\n"
        f"time outside physics{figures['share_of_managers']:>12.1%}"
        f"  (blocks {low:.1%} to {high:.1%})\n"
        f"operations per step {figures['operations_per_step']:>12,}\n"
        f"MB per world        {figures['memory_bytes_per_world'] / 2**20:>12.2f}\n"
    )
    print(figures["profile"])
    if options.out is not None:
        save(options.out, task, figures)
        print(f"Written to {options.out}")


def save(path: Path, task: str, figures: dict[str, Any]) -> None:
    """Write the figures with machine, versions and command."""
    from mjlab.provenance import command, hardware, versions

    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    record = {
        "task": task,
        "date": now,
        "command": command(),
        "hardware": hardware(),
        "versions": versions(),
        **{name: value for name, value in figures.items() if name != "profile"},
    }
    path.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
