"""Measures a task's speed: `python scripts/bench.py Velocity-G1-Flat`."""

import dataclasses
import datetime
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from mjlab.cli import Answer, Line, Program, UsageError, read_line, run_program
from mjlab.cli.hardware import choose_worlds, processors
from mjlab.cli.help import reference
from mjlab.registry import entries, find_entry, load_task
from mjlab.settings.change import apply
from mjlab.threads import prepare_threads, torch_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv

STUDIES = {
    "velocity": "velocity.py",
    "cartpole": "cartpole_scaling.py",
    "cartpole-learning": "cartpole_learning.py",
    "scaling": "task_scaling.py",
    "recording": "recording.py",
    "wrappers": "wrappers.py",
    "variants": "variants.py",
    "placement": "placement.py",
    "muscle": "muscle.py",
}
"""Benchmarks of their own by name: a file of `bench`, which gets all that follows."""


@dataclass(kw_only=True)
class Options:
    """Options of `bench.py`."""

    blocks: int = 10
    """Pairs of blocks: of the environment, and of its physics alone."""

    steps: int = 10
    """Steps of a block."""

    device: str | None = None
    """Where to simulate, such as "cpu" or "cuda:1". Default: a GPU if available."""

    out: Path | None = None
    """JSON file for the figures, with machine and versions. Default: no file."""


PROGRAM = Program(
    name="bench.py",
    summary="Measure a task: steps per second with random actions, the physics that "
    "is the floor, what each term costs, tensor operations, memory. Or run a study: "
    f"{', '.join(STUDIES)} (--help after its name).",
    subject="TASK",
    options=Options,
    configs=("env",),
    examples=(
        "Velocity-G1-Flat --env.scene.num-envs 256",
        "Velocity-G1 --blocks 20 --out g1.json",
        "Velocity-G1-Flat --disable rewards.pose --env.sim.num-threads 2",
        *STUDIES,
    ),
)


def main(arguments: Sequence[str]) -> None:
    """Measure."""
    if arguments and arguments[0] in STUDIES:
        run_study(STUDIES[arguments[0]], arguments[1:])
        return
    line = read_line(PROGRAM, arguments, [f"tasks: {', '.join(entries())}"])
    if line.subject is None:
        known = ", ".join((*entries(), *STUDIES))
        raise UsageError(
            f"Name a task first: bench.py TASK [options]. Tasks and studies: {known}."
        )
    entry = find_entry(line.subject)
    configs = {"env": load_task(entry.id).env()}
    configs = apply(configs, line.settings, line.disabled)
    if line.reference is not None:
        raise Answer(reference(configs, line.reference))
    check(line)
    show(line, entry.id, measure(line, configs["env"]))


def run_study(file: str, arguments: Sequence[str]) -> None:
    """Run a file of `bench` as if it had been called itself."""
    path = ROOT / "bench" / file
    if not path.is_file():
        raise UsageError(
            f"bench/{file} is in the repository, from which studies are run; what is "
            "installed measures tasks."
        )
    # In a process of its own, since here the name `bench` means this file.
    command = [sys.executable, str(path), *arguments]
    code = subprocess.run(command).returncode
    if code:
        raise SystemExit(code)


def check(line: Line) -> None:
    """Refuse what cannot be measured."""
    for name in ("blocks", "steps"):
        value = getattr(line.options, name)
        if value < 1:
            raise UsageError(f"--{name} has to be 1 or more, not {value}.")
    out = line.options.out
    if out is not None and not out.resolve().parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.resolve().parent}.")


def build(line: Line, env_cfg: Any) -> "ManagerBasedRlEnv":
    """The environment, with as many worlds as were asked for or suit the machine."""
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.sim.backend import resolve_backend

    backend = resolve_backend(env_cfg.sim.backend, line.options.device)
    number = env_cfg.scene.num_envs
    if not line.sets("env.scene.num_envs"):
        suits = choose_worlds(
            number,
            on_gpu=backend.device != "cpu",
            cores=processors(),
            backend=backend.engine,
        )
        number = suits.number
    scene = dataclasses.replace(env_cfg.scene, num_envs=number)
    env_cfg = dataclasses.replace(env_cfg, scene=scene, seed=env_cfg.seed or 0)
    return ManagerBasedRlEnv(env_cfg, device=backend.device)


def measure(line: Line, env_cfg: Any) -> dict[str, Any]:
    """All figures. Physics uses all processors, so torch uses one."""
    import torch

    from mjlab.cli import speed
    from mjlab.sim.backend import resolve_backend

    blocks, steps = line.options.blocks, line.options.steps
    with torch_threads(1):
        device = resolve_backend(env_cfg.sim.backend, line.options.device).device
        before = speed.memory(torch.device(device))
        env = build(line, env_cfg)
        env.reset()
        measured = speed.measure(env, blocks, steps, show_progress(blocks))
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


def show_progress(blocks: int) -> Callable[[int], None]:
    """Return what tells a person the progress; a file or a pipe is not told."""

    def tell(block: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if block == blocks else ""
            print(f"\rblock {block}/{blocks}", end=end, file=sys.stderr, flush=True)

    return tell


def show(line: Line, task: str, figures: dict[str, Any]) -> None:
    """Print the figures, and write them where that was asked for."""
    low, high = figures["share_of_managers_spread"]
    print(
        f"{task}, {figures['num_envs']} worlds on {figures['engine']} "
        f"({figures['device']}, {figures['mode']})\n"
        f"env steps/s         {figures['env_steps_per_s']:>12,.0f}\n"
        f"physics alone       {figures['physics_steps_per_s']:>12,.0f}\n"
        f"share of managers   {figures['share_of_managers']:>12.1%}"
        f"  (blocks {low:.1%} to {high:.1%})\n"
        f"operations a step   {figures['operations_per_step']:>12,}\n"
        f"memory a world, MB  {figures['memory_bytes_per_world'] / 2**20:>12.2f}\n"
    )
    print(figures["profile"])
    out = line.options.out
    if out is not None:
        save(out, task, figures)
        print(f"Written to {out}")


def save(path: Path, task: str, figures: dict[str, Any]) -> None:
    """Write the figures with what they depend on."""
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


if __name__ == "__main__":
    sys.exit(run_program(main))
