"""Trains a task: `python scripts/train.py Velocity-G1 --env.scene.num-envs 4096`."""

import dataclasses
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Answer, Line, Program, UsageError, read_line, run_program
from mjlab.cli.answers import as_called
from mjlab.cli.hardware import (
    choose_learner,
    choose_worlds,
    processors,
    will_use_gpu,
)
from mjlab.cli.help import reference
from mjlab.registry import Entry, Task, entries, find_entry, load_task
from mjlab.settings.change import apply
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.rl import RunFolder
    from mjlab.workers.placement import Placement


@dataclass(kw_only=True)
class Options:
    """Options of `train.py`."""

    name: str = ""
    """Name of the run, appended to its time."""

    seed: int | None = None
    """Random seed (same as --env.seed). Default: drawn at random."""

    device: str | None = None
    """Where to train, such as "cpu" or "cuda:1". Default: a GPU if available."""

    gpus: tuple[int, ...] = ()
    """Train on several GPUs of this machine, such as 0,1."""

    placement: Literal["gpu", "dual", "cpu", "warp-cpu"] | None = None
    """Where simulation and learning run: both on a GPU (gpu), simulation in worker
    processes and learning on a GPU if available (dual), both on the CPU (cpu), or
    simulation on Warp's CPU device (warp-cpu). Default: chosen from --device."""

    workers: int | None = None
    """Worker processes (placement dual). Default: one per processor."""

    resume: str | None = None
    """Resume a run in its folder and with its configuration: "latest", the folder, its
    name, or a checkpoint in it. Options that are typed replace saved values."""

    exact: bool = True
    """Resume bit for bit. With --no-exact a resumed run starts new episodes, which lets
    the seed, the number of worlds and the scene change."""

    init_from: str | None = None
    """Initialise the weights from another run, where observations and actions have the
    same names: "latest", the folder, a checkpoint in it, or a task."""

    critic_first: int = 0
    """Iterations in which only the critic learns, for --init-from a policy without a
    critic, such as a cloned policy."""

    video: bool = False
    """Record a film of the policy at the end, for the run's folder and its report."""

    accept_changes: bool = False
    """Open a run whose task has changed since in more than values: the task counts as
    it is now."""

    logs: Path = Path("logs")
    """Folder of all runs."""


PROGRAM = Program(
    name="train.py",
    summary="Train a policy for a task. Results go to logs/TASK/TIME_NAME.",
    subject="TASK",
    options=Options,
    configs=("env", "agent"),
    examples=(
        "Velocity-G1 --env.scene.num-envs 4096",
        "Velocity-G1 --agent.max-iterations 3000 --agent.algorithm.learning-rate 5e-4",
        "Velocity-G1 --env.rewards.upright.weight 2.0 --disable rewards.foot_slip",
        "Velocity-G1 --agent.actor RnnModelCfg --agent.critic RnnModelCfg",
        "Velocity-G1 --resume latest --agent.max-iterations 5000",
        "Velocity-Go1 --init-from Velocity-Go1-Flat",
        "Velocity-G1 --help-config env.rewards",
    ),
)


def main(arguments: Sequence[str]) -> None:
    """Train."""
    line = read_line(PROGRAM, arguments, [f"tasks: {', '.join(entries())}"])
    if line.subject is None:
        known = ", ".join(entries())
        raise UsageError(f"Name a task first: train.py TASK [options]. Tasks: {known}.")
    entry = find_entry(line.subject)
    # From here on it takes seconds, because torch is imported.
    weights = find_weights(line)
    run = find_run(line, entry)
    configs = read_configs(line, entry, run)
    if line.reference is not None:
        raise Answer(reference(configs, line.reference))
    learn(line, entry, run, configs, weights)


def find_run(line: Line, entry: Entry) -> "RunFolder | None":
    """The run to go on with, if that is asked for."""
    from mjlab.rl import RunFolder

    place = line.options.resume
    if place is None:
        return None
    logs = line.options.logs
    if place == "latest" and not (logs / entry.id / place / "run.json").is_file():
        raise UsageError(
            f"There is no run of {entry.id!r} in {logs} to resume. "
            f"Train one with train.py {entry.id}."
        )
    # A run is named as it is below its task's folder, or by a path.
    own = logs / entry.id / place
    run = RunFolder.find(own if own.is_dir() else place, logs)
    task = run.info()["task"]
    if task != entry.id:
        raise UsageError(f"{run.path} is a run of {task!r}, not of {entry.id!r}.")
    return run


def find_weights(line: Line) -> Path | None:
    """The run or the checkpoint whose weights to begin with, if that is asked for."""
    place = line.options.init_from
    if line.options.critic_first < 0 or (place is None and line.options.critic_first):
        raise UsageError(
            f"--critic-first {line.options.critic_first}: it has to be 0 or more, and "
            "above 0 it is for --init-from."
        )
    if place is None:
        return None
    if line.options.resume is not None:
        raise UsageError(
            "--init-from begins a run and --resume goes on with one: take one of them."
        )
    from mjlab.cli.runs import find_run as find_any_run

    return checkpoint_or_run(place, find_any_run(place, line.options.logs))


def checkpoint_or_run(place: str, run: "RunFolder") -> Path:
    """The checkpoint that a user names, or the folder of the run."""
    return Path(place) if Path(place).is_file() else run.path


def read_configs(line: Line, entry: Entry, run: "RunFolder | None") -> dict[str, Any]:
    """Environment and learner, of the task or of the run, with the user's settings."""
    if run is not None:
        configs = run.configs(accept_changes=line.options.accept_changes)
    else:
        task = load_task(entry.id)
        if task.rl is None:
            raise UsageError(f"The task {entry.id!r} has no settings of a learner.")
        configs = {"env": task.env(), "agent": learner_of(line, task)()}
    configs = apply(configs, line.settings, line.disabled)
    if line.options.seed is not None:
        env = dataclasses.replace(configs["env"], seed=line.options.seed)
        configs = {**configs, "env": env}
    return configs


def find_defaults(line: Line, entry: Entry) -> dict[str, Any] | None:
    """Configurations of the task as they come, for the report to compare with."""
    task = load_task(entry.id)
    rl = None if task.rl is None else learner_of(line, task)
    return None if rl is None else {"env": task.env(), "agent": rl()}


def learner_of(line: Line, task: Task) -> Callable[[], Any]:
    """Return the factory of the learner's settings: they differ without a GPU."""
    return choose_learner(task, on_gpu=wants_gpu(line))


def wants_gpu(line: Line) -> bool:
    """Return whether to train on a GPU, as far as is known before anything is built."""
    if line.options.placement is not None:
        return line.options.placement == "gpu"
    if line.options.gpus:
        return line.options.device != "cpu"
    return will_use_gpu(line.options.device, line.settings)


def choose_device(line: Line, configs: dict[str, Any]) -> str:
    """Choose this process's device; does not return where it starts others instead."""
    from mjlab.rl import Ranks, relaunch

    wanted = line.options.device
    if wanted is not None and not re.fullmatch(r"cpu|cuda(:\d+)?", wanted):
        hint = 'Valid: "cpu", "cuda", "cuda:0", "cuda:1" and so on.'
        raise UsageError(f"--device cannot be {wanted!r}. {hint}")
    if line.options.gpus:
        relaunch(line.options.gpus)
    if wanted is None and configs["env"].sim.backend == "native":
        return "cpu"
    return Ranks.from_environment().device(wanted)


def find_place(line: Line) -> "Placement | None":
    """The placement, if one is asked for."""
    from mjlab.rl import Ranks
    from mjlab.workers.placement import find_placement

    options = line.options
    if options.placement is None:
        if options.workers is not None:
            raise UsageError("--workers is for --placement dual.")
        return None
    ranks = Ranks.from_environment()
    return find_placement(
        options.placement,
        workers=options.workers,
        cores=processors(ranks.local_world),
        device=options.device,
        ranks=ranks,
    )


def settle_worlds(
    line: Line, entry: Entry, run: "RunFolder | None", env_cfg: Any, physics: str
) -> tuple[Any, str]:
    """The environment with a number of worlds that suits the machine, and why."""
    from mjlab.rl import Ranks

    if run is not None or line.sets("env.scene.num_envs"):
        return env_cfg, ""
    on_cpu = load_task(entry.id).on_cpu
    worlds = choose_worlds(
        env_cfg.scene.num_envs,
        on_gpu=physics != "cpu",
        cores=processors(Ranks.from_environment().local_world),
        backend=env_cfg.sim.backend,
        on_cpu=None if on_cpu is None else on_cpu.num_envs,
    )
    scene = dataclasses.replace(env_cfg.scene, num_envs=worlds.number)
    return dataclasses.replace(env_cfg, scene=scene), worlds.reason


def check(env_cfg: Any, agent_cfg: Any) -> None:
    """Refuse what cannot work, as far as that is known before anything is built."""
    from mjlab.envs.config import check_config
    from mjlab.rl import check_agent, groups_of

    check_config(env_cfg)
    check_agent(agent_cfg, groups_of(env_cfg), env_cfg.scene.num_envs)


def learn(
    line: Line,
    entry: Entry,
    run: "RunFolder | None",
    configs: dict[str, Any],
    weights: Path | None,
) -> None:
    """Train, and say where the results are."""
    from mjlab.cli.memory import keep_freed_memory
    from mjlab.cli.train import next_commands, record_film, train
    from mjlab.rl import Ranks

    keep_freed_memory()
    placement = find_place(line)
    device = choose_device(line, configs) if placement is None else placement.physics
    env_cfg, reason = settle_worlds(line, entry, run, configs["env"], device)
    check(env_cfg, configs["agent"])
    if placement is not None:
        placement = placement.for_worlds(env_cfg.scene.num_envs)
    is_first = Ranks.from_environment().is_first
    if is_first and reason:
        print(reason, flush=True)
    resume = None if run is None else checkpoint_or_run(line.options.resume, run)
    folder, outcome = train(
        env_cfg,
        configs["agent"],
        task=entry.id,
        name=line.options.name,
        root=line.options.logs,
        device=device,
        resume=resume,
        exact=line.options.exact,
        chosen=[setting.name for setting in line.settings],
        init_from=weights,
        critic_first=line.options.critic_first,
        defaults=None if run is not None else find_defaults(line, entry),
        placement=placement,
    )
    if not is_first:
        return
    if line.options.video and not outcome.interrupted:
        print(record_film(folder), flush=True)
    print(f"{'Stopped' if outcome.interrupted else 'Done'}: {outcome.reason}.")
    print(as_called(next_commands(folder)))


if __name__ == "__main__":
    sys.exit(run_program(main))
