"""`sweep`: search hyperparameters of a training run."""

import dataclasses
import importlib.util
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.hardware import check_device, choose_learner, processors, will_use_gpu
from mjlab.cli.line import Line, TaskOptions, read_line
from mjlab.cli.tasks import need_task
from mjlab.extras import missing
from mjlab.registry import load_task
from mjlab.settings.bounds import at_least
from mjlab.settings.change import Setting, apply
from mjlab.settings.tree import SettingError
from mjlab.sweep.folder import Search, find_sweep, lock_sweep
from mjlab.sweep.ranges import FORMS, Range, read_ranges
from mjlab.threads import prepare_threads

prepare_threads()


_RATE = "agent.algorithm.learning-rate:log:1e-5..1e-3"


@dataclass(kw_only=True)
class SweepOptions(TaskOptions):
    """Search hyperparameters of a training run.

    Trains a task many times with settings that Optuna samples, and writes one page of
    results. A trial is an ordinary run, scored by its evaluations. Settings on the
    command line apply to all trials.
    """

    program = "sweep.py"
    examples = (
        f"Cartpole-Balance --tune {_RATE} --processes 4",
        f"Cartpole-Balance --tune {_RATE} --processes 4 --resume",
        "Velocity-G1 --tune agent.num-steps-per-env:int:16..48 "
        "agent.actor.activation:choice:elu,relu",
    )

    configs = ("env", "agent")

    task: Positional[str | None] = None
    """Task id, such as Cartpole-Balance."""

    tune: tuple[str, ...] = ()
    """Settings to search, each with its range: PATH:a..b, PATH:log:a..b, PATH:int:a..b
    or PATH:choice:x,y,z."""

    trials: Annotated[int, at_least(1)] = 20
    """Total number of trials, including pruned ones."""

    processes: Annotated[int, at_least(1)] = 1
    """Number of trials that train at the same time, each in its own process."""

    resume: str | bool = False
    """Resume the newest sweep of the task, or the sweep in a folder."""

    prune: bool = True
    """Stop a trial early if its evaluation is below the median of earlier trials."""

    engine: Literal["optuna", "ray"] = "optuna"
    """Scheduler of the trials: Optuna, or Ray Tune with Optuna's search."""

    seed: int | None = None
    """Random seed of the search and of each training. Default: drawn at random."""

    device: str | None = None
    """Where to train, such as "cpu" or "cuda:1". Default: a GPU if available."""

    name: str = ""
    """Name of the sweep, appended to the time in its folder name."""

    logs: Path = Path("logs")
    """Folder of all runs; sweeps are in its folder `sweeps`."""

    @classmethod
    def closing(cls) -> str:
        """Return the forms of a range, and the names of all tasks."""
        return f"ranges:\n{FORMS}\n\n{super().closing()}"


_NEEDS = {"optuna": ("optuna",), "ray": ("ray", "optuna", "pandas", "pyarrow")}
_MORE = {"optuna": "", "ray": ' Then pip install "ray[tune]".'}


def main(arguments: Sequence[str]) -> None:
    """Run or resume the hyperparameter search."""
    line = read_line(SweepOptions, arguments)
    options = line.options
    entry = need_task(options.task, options.program)
    check_line(options)
    ranges = tuple(read_ranges(options.tune))
    # Imported late: torch takes seconds to import.
    configs = read_configs(line, entry.id)
    check_ranges(ranges, line, configs)
    search = Search(
        task=entry.id,
        ranges=ranges,
        arguments=shared_arguments(line),
        metric=metric_of(configs["agent"]),
        seed=secrets.randbits(31) if options.seed is None else options.seed,
        prunes=options.prune,
        engine=options.engine,
    )
    is_shared = options.processes > 1 and not line.sets("env.sim.num_threads")
    threads = processors(options.processes) if is_shared else None
    sweep(search, options, threads)


def check_line(options: SweepOptions) -> None:
    """Raise if --tune or a package that the search needs is missing."""
    if not options.tune and options.help_config is False:
        raise UsageError(
            "--tune is missing: pass a setting and its range, such as --tune "
            f"{_RATE}. A range is {FORMS}."
        )
    needed = _NEEDS[options.engine]
    absent = [name for name in needed if importlib.util.find_spec(name) is None]
    if absent:
        what, packages = f"A sweep by {options.engine}", " and ".join(absent)
        raise UsageError(missing(what, packages, "sweep") + _MORE[options.engine])


def read_configs(line: Line[SweepOptions], task_id: str) -> dict[str, Any]:
    """Return env and agent of the task with the settings of the line."""
    task = load_task(task_id)
    if task.rl is None:
        raise UsageError(f"Task {task_id!r} has no learner configuration.")
    on_gpu = will_use_gpu(check_device(line.options.device), line.settings)
    return line.apply(
        {"env": task.env(), "agent": choose_learner(task, on_gpu=on_gpu)()}
    )


def check_ranges(
    ranges: Sequence[Range], line: Line[SweepOptions], configs: dict[str, Any]
) -> None:
    """Raise for an unknown setting, or a range with values invalid for its setting."""
    for one in ranges:
        setting = Setting(one.path, [])
        if line.sets(setting.name):
            raise UsageError(
                f"--{one.path} is both set and searched: remove one of them."
            )
        for text in one.examples:
            try:
                apply(configs, [dataclasses.replace(setting, values=[text])])
            except SettingError as error:
                said = explained(one, configs, error)
                raise UsageError(f"--tune {one}: {said}") from None


def explained(one: Range, configs: dict[str, Any], error: SettingError) -> str:
    """Return an error message for a range of the wrong type, with a range that fits."""
    said = str(error).removeprefix(f"--{one.path}: ").removeprefix(f"--{one.path} ")
    whole = [text for text in map(str, map(math.trunc, one.ends))]
    try:
        apply(configs, [Setting(one.path, [text]) for text in whole])
    except SettingError:
        return said
    if one.kind in ("linear", "log"):
        return f"it {said} Write {one.path}:int:{'..'.join(whole)}."
    return said


def shared_arguments(line: Line[SweepOptions]) -> tuple[str, ...]:
    """Return the options of `train.py` that apply to all trials."""
    options = line.options
    words = [word for s in line.settings for word in (f"--{s.option}", *s.values)]
    if options.disable:
        words += ["--disable", *options.disable]
    for name in ("device", "seed"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    return tuple(words)


def metric_of(agent: Any) -> str:
    """Return the metric that scores a trial, which also selects its best checkpoint."""
    every = agent.evaluation.every
    metric = agent.stop.metric or ("Eval/mean_reward" if every else "Train/mean_reward")
    if metric.startswith("Eval/") and not 0 < every <= agent.max_iterations:
        tenth = max(1, agent.max_iterations // 10)
        raise UsageError(
            f"A trial of {agent.max_iterations} iterations with an evaluation every "
            f"{every} has no score. Add --agent.evaluation.every {tenth}."
        )
    return metric


def sweep(search: Search, options: SweepOptions, threads: int | None) -> None:
    """Start or resume a sweep, and print where the results are.

    Args:
        search: The sweep.
        options: The user's options.
        threads: Threads of each trial's physics. None keeps the trial's default.
    """
    from mjlab.sweep.page import write_page
    from mjlab.sweep.study import SweepRunner, open_study

    if options.resume:
        place = "latest" if options.resume is True else str(options.resume)
        folder = find_sweep(options.logs, search.task, place)
        found = Search.read(folder)
        search.check_goes_on(found, folder)
        search = found
    else:
        folder = search.begin(options.logs, options.name)
    print(f"Sweep folder {folder}.", flush=True)
    trials = search.trials(folder, threads=threads)
    with lock_sweep(folder):
        study = open_study(folder, seed=search.seed, prunes=search.prunes)

        def write() -> Path:
            return write_page(folder, search, study)

        if search.engine == "ray":
            from mjlab.sweep.ray_tune import search_by_ray

            search_by_ray(search, trials, study, options.trials, options.processes)
        else:
            runner = SweepRunner(
                study,
                trials,
                search.ranges,
                say=lambda text: print(text, flush=True),
                after_trial=write,
            )
            runner.run(options.trials, processes=options.processes)
        print(f"Results page: {write()}")
