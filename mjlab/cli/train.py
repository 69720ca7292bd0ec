"""`train`: train a policy for a task."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional

from mjlab.cli import hardware, mjlab_options
from mjlab.cli.answers import BY_SIGNAL, UsageError, as_called
from mjlab.cli.line import Line, TaskOptions, read_line
from mjlab.cli.tasks import need_task
from mjlab.driver import unused_gpu
from mjlab.registry import Entry, Task, entries, load_task
from mjlab.runs import Found, Run, find
from mjlab.settings.bounds import at_least
from mjlab.task_file import typed_task
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from mjlab.viewer.training_video import VideoSchedule
    from mjlab.workers.placement import Placement


@dataclass(kw_only=True)
class TrainOptions(TaskOptions):
    """Train a policy for a task.

    Results go to logs/TASK/TIME_NAME.
    """

    program = "train.py"
    examples = (
        "Velocity-G1 --env.scene.num-envs 4096",
        "Velocity-G1 --agent.max-iterations 3000 --agent.algorithm.learning-rate 5e-4",
        "Velocity-G1 --env.rewards.upright.weight 2.0 --disable rewards.foot_slip",
        "Velocity-G1 --agent.actor RnnModelCfg --agent.critic RnnModelCfg",
        "Velocity-G1 --resume latest --agent.max-iterations 5000",
        "Velocity-Go1 --init-from Velocity-Go1-Flat",
        "Velocity-Go1-Flat --video --video-interval 4000 --video-length 500",
        "Velocity-G1 --help-config env.rewards",
    )

    configs = ("env", "agent")
    of_mjlab = mjlab_options.TRAIN

    task: Positional[str | None] = None
    """The task, or a file with a configuration: my_env.py:MyTaskCfg. Default with
    --resume: the run's task."""

    name: str = ""
    """Name of the run, appended to the time in its folder name."""

    seed: int | None = None
    """Random seed (same as --env.seed). Default: drawn at random."""

    device: str | None = None
    """Where to train, such as "cpu" or "cuda:1". Default: a GPU if available."""

    gpus: tuple[int, ...] = ()
    """Train on several GPUs of this machine, such as 0 1."""

    placement: Literal["gpu", "dual", "cpu", "warp-cpu"] | None = None
    """Where simulation and learning run: both on a GPU (gpu), simulation in worker
    processes and learning on a GPU if available (dual), both on the CPU (cpu), or
    simulation on Warp's CPU device (warp-cpu). Default: chosen from --device."""

    workers: Annotated[int | None, at_least(1)] = None
    """Number of worker processes (placement dual). Default: one per processor."""

    resume: str | None = None
    """Resume a run in its folder and with its configuration: "latest", the folder, its
    name, or a checkpoint in it. Options on the command line replace saved values."""

    exact: bool = True
    """Resume bit for bit. With --no-exact a resumed run starts new episodes, so that
    the seed, the number of worlds and the scene can change."""

    init_from: str | None = None
    """Initialise the weights from another run, where observations and actions have the
    same names: "latest", the folder, a checkpoint in it, or a task."""

    critic_first: Annotated[int, at_least(0)] = 0
    """Iterations in which only the critic learns, for --init-from a policy without a
    critic, such as a cloned policy."""

    video: bool = False
    """Record videos during training and of the last policy, for the run's folder, its
    report and W&B. Needs no display."""

    video_interval: Annotated[int, at_least(1)] = 2000
    """Environment steps from the start of a video to the start of the next."""

    video_length: Annotated[int, at_least(1)] = 200
    """Environment steps of a video."""

    accept_changes: bool = False
    """Resume a run whose task has changed, with the current version of the task."""

    logs: Path = Path("logs")
    """Folder of all runs."""


def main(arguments: Sequence[str]) -> None:
    """Train, and print where the results are."""
    line = read_line(TrainOptions, arguments)
    options = line.options
    entry = need_task(find_task(options), options.program)
    weights = find_weights(options)
    resumed = find_resumed(options, entry)
    run = None if resumed is None else resumed.run
    configs = read_configs(line, entry, run)
    # Imported late: a wrong setting is reported before the learners' long imports.
    from mjlab.cli.memory import keep_freed_memory
    from mjlab.cli.training import next_commands, train
    from mjlab.rl import Ranks

    keep_freed_memory()
    placement = find_place(options)
    device = choose_device(line, configs) if placement is None else placement.physics
    env_cfg, notes = settle_worlds(line, entry, run, configs["env"], device)
    if options.device is None and options.placement is None and unused_gpu():
        notes = [f"The GPU is not used: {unused_gpu()}.", *notes]
    if placement is not None:
        placement = placement.for_worlds(env_cfg.scene.num_envs)
    folder, outcome = train(
        env_cfg,
        configs["agent"],
        task=entry.id,
        name=options.name,
        root=options.logs,
        device=device,
        resume=None if resumed is None else resumed.place,
        exact=options.exact,
        chosen=[setting.name for setting in line.settings],
        init_from=weights,
        critic_first=options.critic_first,
        defaults=None if run is not None else find_defaults(line, entry),
        placement=placement,
        notes=notes,
        video=find_schedule(options),
    )
    ranks = Ranks.from_environment()
    if not ranks.is_first:
        return
    print(f"{'Stopped' if outcome.interrupted else 'Done'}: {outcome.reason}.")
    print(as_called(next_commands(folder, stopped=outcome.interrupted)))
    # With several processes, torchrun decides about the exit code.
    if outcome.interrupted and ranks.is_alone:
        raise SystemExit(BY_SIGNAL + outcome.signal)


def find_task(options: TrainOptions) -> str | None:
    """Return the named task, else the task of the run to resume, if any."""
    if options.task is not None or options.resume is None:
        return options.task
    task = find(options.resume, options.logs, shipped=False).run.task
    if task not in entries():
        raise UsageError(
            f"The run's task {task!r} is not installed. If it is from a file, type "
            f"{options.program} path/to/{task}.py:TASK --resume {options.resume}: "
            "files named in a run are never imported."
        )
    return task


def find_resumed(options: TrainOptions, entry: Entry) -> Found | None:
    """Return the run to resume, None without --resume."""
    if options.resume is None:
        return None
    return find(options.resume, options.logs, task=entry.id, shipped=False)


def find_schedule(options: TrainOptions) -> "VideoSchedule | None":
    """Return the video schedule, None without --video."""
    from mjlab.viewer.training_video import VideoSchedule

    if not options.video:
        return None
    return VideoSchedule(interval=options.video_interval, length=options.video_length)


def find_weights(options: TrainOptions) -> Path | None:
    """Return the run or checkpoint with the initial weights, if any."""
    place = options.init_from
    if place is None:
        if options.critic_first:
            raise UsageError("--critic-first needs --init-from.")
        return None
    if options.resume is not None:
        raise UsageError(
            "--init-from starts a new run and --resume continues one: pass only one "
            "of them."
        )
    return find(typed_task(place), options.logs).choose_checkpoint()


def read_configs(
    line: Line[TrainOptions], entry: Entry, run: Run | None
) -> dict[str, Any]:
    """Return env and agent of the task or of the run, with the settings of the line."""
    if run is not None:
        configs = run.configs(accept_changes=line.options.accept_changes)
    else:
        task = load_task(entry.id)
        if task.rl is None:
            raise UsageError(f"Task {entry.id!r} has no learner configuration.")
        configs = {"env": task.env(), "agent": learner_of(line, task)()}
    configs = line.apply(configs)
    if line.options.seed is not None:
        env = dataclasses.replace(configs["env"], seed=line.options.seed)
        configs = {**configs, "env": env}
    return configs


def find_defaults(line: Line[TrainOptions], entry: Entry) -> dict[str, Any] | None:
    """Return the task's own configurations, for the report to compare with."""
    task = load_task(entry.id)
    rl = None if task.rl is None else learner_of(line, task)
    return None if rl is None else {"env": task.env(), "agent": rl()}


def learner_of(line: Line[TrainOptions], task: Task) -> Callable[[], Any]:
    """Return the factory of the learner's settings, which depend on the device."""
    options = line.options
    if options.placement is not None:
        on_gpu = options.placement == "gpu"
    elif options.gpus:
        on_gpu = options.device != "cpu"
    else:
        on_gpu = hardware.will_use_gpu(options.device, line.settings)
    return hardware.choose_learner(task, on_gpu=on_gpu)


def choose_device(line: Line[TrainOptions], configs: dict[str, Any]) -> str:
    """Choose this process's device; with --gpus, start one process per GPU and exit."""
    from mjlab.rl import relaunch

    hardware.check_device(line.options.device)
    if line.options.gpus:
        relaunch(line.options.gpus)
    return hardware.choose_device(line.options.device, configs["env"])


def find_place(options: TrainOptions) -> "Placement | None":
    """Return the placement, None without --placement."""
    from mjlab.rl import Ranks
    from mjlab.workers.placement import find_placement

    if options.placement is None:
        if options.workers is not None:
            raise UsageError("--workers needs --placement dual.")
        return None
    ranks = Ranks.from_environment()
    return find_placement(
        options.placement,
        workers=options.workers,
        cores=hardware.processors(ranks.local_world),
        device=options.device,
        ranks=ranks,
    )


def settle_worlds(
    line: Line[TrainOptions],
    entry: Entry,
    run: Run | None,
    env_cfg: Any,
    physics: str,
) -> tuple[Any, list[str]]:
    """Choose the number of worlds for this machine, unless it is set or resumed.

    Returns:
        The environment's configuration, and lines to show.
    """
    from mjlab.rl import Ranks

    if run is not None or line.sets("env.scene.num_envs"):
        return env_cfg, []
    on_cpu = load_task(entry.id).on_cpu
    worlds = hardware.choose_worlds(
        env_cfg.scene.num_envs,
        on_gpu=physics != "cpu",
        cores=hardware.processors(Ranks.from_environment().local_world),
        backend=env_cfg.sim.backend,
        on_cpu=None if on_cpu is None else on_cpu.num_envs,
    )
    return hardware.with_worlds(env_cfg, worlds.number), [worlds.reason]
