"""Searches settings of a training: `python scripts/sweep.py TASK --tune PATH:RANGE`."""

import dataclasses
import importlib.util
import math
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Answer, Line, Program, UsageError, read_line, run_program
from mjlab.cli.hardware import choose_learner, processors, will_use_gpu
from mjlab.cli.help import reference
from mjlab.extras import missing
from mjlab.registry import entries, find_entry, load_task
from mjlab.settings.change import Setting, apply
from mjlab.settings.tree import SettingError
from mjlab.sweep.folder import Search, find_sweep, lock_sweep
from mjlab.sweep.ranges import FORMS, Range, read_ranges
from mjlab.threads import prepare_threads

prepare_threads()


@dataclass(kw_only=True)
class Options:
    """Options of `sweep.py`."""

    tune: tuple[str, ...] = ()
    """Settings to search, each with its range: PATH:a..b, PATH:log:a..b, PATH:int:a..b
    or PATH:choice:x,y,z."""

    trials: int = 20
    """Trials in all, those that were pruned counted."""

    processes: int = 1
    """Trials that train at the same time, each in a process of its own."""

    resume: str | bool = False
    """Go on with the newest sweep of the task, or with that in a folder."""

    prune: bool = True
    """Whether a trial ends early whose evaluation is below the median of those before
    it."""

    engine: Literal["optuna", "ray"] = "optuna"
    """What chooses and runs the trials: Optuna, or Ray Tune with Optuna's search."""

    seed: int | None = None
    """Random seed of the search and of each training. Default: drawn at random."""

    device: str | None = None
    """Where to train, such as "cpu" or "cuda:1". Default: a GPU if available."""

    name: str = ""
    """What to call the sweep, after its time."""

    logs: Path = Path("logs")
    """Folder of all runs; a sweep gets one in its folder `sweeps`."""


_RATE = "agent.algorithm.learning-rate:log:1e-5..1e-3"
PROGRAM = Program(
    name="sweep.py",
    summary=(
        "Train a task again and again with settings that Optuna chooses, and write one "
        "page about it. A trial is an ordinary run, scored by its evaluations. What is "
        "given as --env. or --agent. holds for all trials."
    ),
    subject="TASK",
    options=Options,
    configs=("env", "agent"),
    examples=(
        f"Cartpole-Balance --tune {_RATE} --processes 4",
        f"Cartpole-Balance --tune {_RATE} --processes 4 --resume",
        "Velocity-G1 --tune agent.num-steps-per-env:int:16..48 "
        "agent.actor.activation:choice:elu,relu",
    ),
)
_NEEDS = {"optuna": ("optuna",), "ray": ("ray", "optuna", "pandas", "pyarrow")}
_MORE = {"optuna": "", "ray": ' Then pip install "ray[tune]".'}


def main(arguments: Sequence[str]) -> None:
    """Search."""
    line = read_line(PROGRAM, arguments, [f"A range is {FORMS}."])
    if line.subject is None:
        known = ", ".join(entries())
        raise UsageError(f"Name a task first: sweep.py TASK --tune ... Tasks: {known}.")
    entry = find_entry(line.subject)
    check_line(line, arguments)
    ranges = tuple(read_ranges(line.options.tune))
    # From here on it takes seconds, because torch is imported.
    configs = read_configs(line, entry.id)
    if line.reference is not None:
        raise Answer(reference(configs, line.reference))
    check_ranges(ranges, line, configs)
    search = Search(
        task=entry.id,
        ranges=ranges,
        arguments=shared_arguments(line),
        metric=metric_of(configs["agent"]),
        seed=secrets.randbits(31) if line.options.seed is None else line.options.seed,
        prunes=line.options.prune,
        engine=line.options.engine,
    )
    is_shared = line.options.processes > 1 and not line.sets("env.sim.num_threads")
    threads = processors(line.options.processes) if is_shared else None
    sweep(search, line.options, threads)


def check_line(line: Line, arguments: Sequence[str]) -> None:
    """Refuse what cannot work, as far as that is known without a configuration."""
    options = line.options
    if sum(word.partition("=")[0] == "--tune" for word in arguments) > 1:
        raise UsageError("Give all ranges after one --tune, with spaces between them.")
    if not options.tune and line.reference is None:
        raise UsageError(f"Say what to search: --tune {_RATE}. A range is {FORMS}.")
    for name in ("trials", "processes"):
        if getattr(options, name) < 1:
            raise UsageError(
                f"--{name} {getattr(options, name)}: it has to be 1 or more."
            )
    needed = _NEEDS[options.engine]
    absent = [name for name in needed if importlib.util.find_spec(name) is None]
    if absent:
        what, packages = f"A sweep by {options.engine}", " and ".join(absent)
        raise UsageError(missing(what, packages, "sweep") + _MORE[options.engine])


def read_configs(line: Line, task_id: str) -> dict[str, Any]:
    """Environment and learner of the task with the user's settings, as trials begin."""
    task = load_task(task_id)
    if task.rl is None:
        raise UsageError(f"The task {task_id!r} has no settings of a learner.")
    on_gpu = will_use_gpu(line.options.device, line.settings)
    configs = {"env": task.env(), "agent": choose_learner(task, on_gpu=on_gpu)()}
    return apply(configs, line.settings, line.disabled)


def check_ranges(ranges: Sequence[Range], line: Line, configs: dict[str, Any]) -> None:
    """Refuse ranges of what there is not, or of values that it cannot take."""
    for one in ranges:
        setting = Setting(one.path, [])
        if line.sets(setting.name):
            raise UsageError(
                f"--{one.path} is both set and searched: take one of them."
            )
        for text in one.examples:
            try:
                apply(configs, [dataclasses.replace(setting, values=[text])])
            except SettingError as error:
                said = explained(one, configs, error)
                raise UsageError(f"--tune {one}: {said}") from None


def explained(one: Range, configs: dict[str, Any], error: SettingError) -> str:
    """Say why a range does not fit, and which would."""
    said = str(error).removeprefix(f"--{one.path}: ").removeprefix(f"--{one.path} ")
    whole = [text for text in map(str, map(math.trunc, one.ends))]
    try:
        apply(configs, [Setting(one.path, [text]) for text in whole])
    except SettingError:
        return said
    if one.kind in ("linear", "log"):
        return f"it {said} Write {one.path}:int:{'..'.join(whole)}."
    return said


def shared_arguments(line: Line) -> tuple[str, ...]:
    """Options of `train.py` that hold for all trials."""
    options = line.options
    words = [word for s in line.settings for word in (f"--{s.option}", *s.values)]
    if line.disabled:
        words += ["--disable", *line.disabled]
    for name in ("device", "seed"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    return tuple(words)


def metric_of(agent: Any) -> str:
    """The figure that is a trial's score, as training itself chooses its best."""
    every = agent.evaluation.every
    metric = agent.stop.metric or ("Eval/mean_reward" if every else "Train/mean_reward")
    if metric.startswith("Eval/") and not 0 < every <= agent.max_iterations:
        tenth = max(1, agent.max_iterations // 10)
        raise UsageError(
            f"A trial of {agent.max_iterations} iterations with an evaluation every "
            f"{every} would have no score. Add --agent.evaluation.every {tenth}."
        )
    return metric


def sweep(search: Search, options: Options, threads: int | None) -> None:
    """Begin a sweep or go on with one, and say where the results are.

    Args:
        search: The sweep.
        options: The user's options.
        threads: Threads of each trial's physics. None leaves that to the trial.
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
        print(f"The page about it: {write()}")


if __name__ == "__main__":
    sys.exit(run_program(main))
