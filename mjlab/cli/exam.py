"""`exam`: take a walking policy through an exam with targets, punches and load."""

import importlib.util
import json
import resource
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import read_line
from mjlab.cli.progress import tell_progress
from mjlab.cli.tasks import RunOptions
from mjlab.files import finite, write_text
from mjlab.names import suggest
from mjlab.provenance import versions
from mjlab.runs import Found
from mjlab.safe_names import plain_name
from mjlab.settings.bounds import at_least
from mjlab.threads import prepare_threads

prepare_threads()

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mjlab.exam import Exam, ExamPolicy, ExamRobot, LevelResults
    from mjlab.exam.page import ExamRecord

Letter = Literal["A", "B", "N", "C"]


@dataclass(kw_only=True)
class ExamOptions(RunOptions):
    """Take a walking policy through an exam.

    Each run takes 90 s and has 18 targets. Level A is only the route, B adds punches, N
    adds arms moved by the exam (G1) or a changing payload (Go1), and C combines all.
    Level C of the G1 is the public exam of rhoyn/teleop-walking-benchmark, with its
    random numbers. Prints a table, and writes exam.json, exam.html and films of the
    worst and the median run.
    """

    program = "exam.py"
    examples = (
        "Velocity-G1-Flat --levels A C --runs 64",
        "latest --best --to results",
        "policy.onnx --model benchmark/exam.xml",
        "other/policy.json --adapter my_adapter.py:Adapter",
    )

    policy: Positional[str] = "latest"
    """A run's folder, a checkpoint, an ONNX file, a task (its newest run), 'latest', or
    with --adapter any file."""

    adapter: str | None = None
    """Adapter of a policy of another project, FILE.py:CLASS. docs/howto/exam.md has an
    example."""

    exam: Literal["g1", "go1"] | None = None
    """Exam to take. Default: the exam of the policy's robot; g1 with --adapter."""

    levels: tuple[Letter, ...] = ("C",)
    """Levels to run."""

    runs: Annotated[int, at_least(1)] = 512
    """Runs per level."""

    first_run: Annotated[int, at_least(0)] = 0
    """Id of the first run. Routes, punches and payloads are drawn by id."""

    model: Path | None = None
    """MJCF file of the robot. Default: the robot of the exam."""

    best: bool = False
    """Use the best checkpoint of the run instead of its newest."""

    films: bool = True
    """Write films of the worst and the median run of each level."""

    to: Path | None = None
    """Folder for the results. Default: exam in the run's folder, or in logs for a
    shipped policy, an ONNX file or a policy of another project.
    """

    threads: Annotated[int, at_least(0)] = 0
    """Number of physics threads. 0 uses one per processor."""


@dataclass(frozen=True)
class Candidate:
    """Policy that takes an exam, with its exam, name and default result folder."""

    policy: "ExamPolicy"
    exam: "Exam"
    name: str
    """Task and file, for display."""

    folder: Path
    """Default folder of the results."""


def main(arguments: "Sequence[str]") -> None:
    """Run the exam of a policy, and write the results."""
    options = read_line(ExamOptions, arguments).options
    from mjlab.exam import build_robot

    if not options.levels:
        raise UsageError("--levels needs at least one of A, B, N and C.")
    with candidate(options) as found:
        robot = build_robot(found.exam, options.model)
        folder = options.to or found.folder
        show_settings(found)
        record = sit(options, found, robot)
        report(options, found, robot, record, folder)


@contextmanager
def candidate(options: ExamOptions) -> Iterator[Candidate]:
    """Yield the policy that takes the exam, and close it at the end."""
    if options.adapter is not None:
        yield foreign(options, options.adapter)
        return
    from mjlab.exam.trained import TrainedPolicy

    place = options.find(options.policy)
    cfg, load, groups, task, folder = opened(options, place)
    exam = choose_exam(options, cfg)
    worlds = min(options.runs, block_size())
    policy = TrainedPolicy(cfg, load, exam, worlds=worlds, groups=groups)
    with closing(policy):
        yield Candidate(policy, exam, task, folder)


def block_size() -> int:
    """Return the number of runs that are simulated together."""
    from mjlab.exam.conduct import BLOCK

    return BLOCK


def opened(options: ExamOptions, place: Found) -> tuple[Any, Any, Any, str, Path]:
    """Open a policy of this project: an ONNX file, or a checkpoint of a run.

    Returns:
        Environment configuration, function that loads the policy, observation groups,
        name, and default folder of the results.
    """
    if place.file is not None:
        from mjlab.export import FilePolicy, open_file

        file, cfg = open_file(place.file, as_trained=True)
        folder = options.logs / "exam" / plain_name(place.file.stem)
        name = f"{file.task}, {place.file.name}"
        return cfg, partial(FilePolicy, policy=file), None, name, folder
    from mjlab.rl.policy import load_policy

    run = place.run
    configs = run.configs(accept_changes=options.accept_changes)
    agent = configs["agent"]
    path = place.choose_checkpoint(best=options.best)
    folder = options.logs / run.task if run.is_shipped else run.path
    groups = agent.obs_groups["actor"]
    name = f"{run.task}, {path.name}"
    load = partial(load_policy, path, cfg=agent)
    return configs["env"], load, groups, name, folder / "exam"


def choose_exam(options: ExamOptions, cfg: Any) -> "Exam":
    """Return the exam named by --exam, or the first whose joints the robot has."""
    from mjlab.exam import EXAMS
    from mjlab.gait.walk import need_legs
    from mjlab.spec import load_spec

    if options.exam is not None:
        return EXAMS[options.exam]
    entity = cfg.scene.entities[need_legs(cfg).entity]
    joints = {joint.name for joint in load_spec(entity.source).joints}
    for exam in EXAMS.values():
        if joints.issuperset(exam.joints):
            return exam
    raise UsageError(
        f"No exam matches this robot's joints. Exams: {', '.join(EXAMS)}. Select one "
        "with --exam."
    )


def foreign(options: ExamOptions, adapter: str) -> Candidate:
    """Load a policy of another project with its adapter."""
    from mjlab.exam import EXAMS

    path = Path(options.policy)
    if not path.exists():
        raise UsageError(f"{path} does not exist. Name the file of the policy to load.")
    exam = EXAMS[options.exam or "g1"]
    policy = load_adapter(adapter)(path, exam)
    name = f"{path.parent.name}/{path.stem}"
    folder = options.logs / "exam" / plain_name(f"{path.parent.name}-{path.stem}")
    return Candidate(policy, exam, name, folder)


def load_adapter(words: str) -> Any:
    """Import the class of FILE.py:CLASS."""
    file, _, name = words.rpartition(":")
    path = Path(file)
    if not name.isidentifier() or path.suffix != ".py":
        raise UsageError(f"--adapter is {words!r}, but it must be FILE.py:CLASS.")
    if not path.is_file():
        raise UsageError(f"--adapter: {path} does not exist.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if name not in vars(module):
        classes = [n for n, value in vars(module).items() if isinstance(value, type)]
        raise UsageError(
            f"--adapter: {path} has no class {name!r}. {suggest(name, classes)}"
        )
    return vars(module)[name]


def show_settings(found: Candidate) -> None:
    """Print the policy and its command settings."""
    print(f"{found.exam.name} exam of {found.name}")
    for name, value in settings_of(found.policy).items():
        if value is not None:
            print(f"  {name}: {value}")


def settings_of(policy: "ExamPolicy") -> dict[str, Any]:
    """Return the command settings and the adapter's notes."""
    return policy.command.described() | policy.described()


def sit(options: ExamOptions, found: Candidate, robot: "ExamRobot") -> "ExamRecord":
    """Run the exam on all chosen levels, and print a table of each."""
    from mjlab.exam import LEVELS, conduct
    from mjlab.exam.film import chosen_runs
    from mjlab.exam.page import ExamRecord
    from mjlab.exam.scores import table
    from mjlab.gait.table import text

    runs = range(options.first_run, options.first_run + options.runs)
    levels: list[LevelResults] = []
    for letter in dict.fromkeys(options.levels):
        start = time.perf_counter()
        results = conduct(
            robot,
            LEVELS[letter],
            found.policy,
            runs,
            threads=options.threads,
            record=options.films,
            progress=tell_progress(f"level {letter}", "control step", every=1),
        )
        seconds = time.perf_counter() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"level {letter}: {seconds:.0f} s, {memory:.1f} GB")
        print(text(table([results])), flush=True)
        # Keep only the poses of the two filmed runs: poses of 512 runs take 170 MB.
        filmed = chosen_runs(results.runs).values() if options.films else ()
        poses = {run: results.poses[run] for run in filmed}
        levels.append(replace(results, poses=poses))
    model = robot.exam.robot.name if options.model is None else options.model.name
    settings = settings_of(found.policy)
    return ExamRecord(found.exam, found.name, settings, model, levels, films={})


def write_films(
    robot: "ExamRobot", results: "LevelResults", folder: Path
) -> dict[str, Path]:
    """Write films of the worst and the median run; return them by title."""
    from mjlab.exam import LEVELS
    from mjlab.exam.film import chosen_runs, write_film
    from mjlab.render.gl import GlError
    from mjlab.render.video import VideoError

    films = {}
    for kind, run in chosen_runs(results.runs).items():
        path = folder / f"{results.level}-{kind}-{run}.mp4"
        told = tell_progress(path.name)
        level, poses = LEVELS[results.level], results.poses[run]
        try:
            write_film(path, robot, level, run, poses, told)
        except (GlError, VideoError) as error:
            print(f"No films: {error}")
            return films
        films[f"Level {results.level}, {kind}: run {run}"] = path
    return films


def report(
    options: ExamOptions,
    found: Candidate,
    robot: "ExamRobot",
    record: "ExamRecord",
    folder: Path,
) -> None:
    """Write the figures, the films and the page, and print the table."""
    from mjlab.exam.page import write_page
    from mjlab.exam.scores import as_json, table
    from mjlab.gait.table import text

    whole = {
        "exam": found.exam.name,
        "policy": found.name,
        "robot": record.robot,
        "settings": finite(record.settings),
        "first_run": options.first_run,
        "number_of_runs": options.runs,
        "made_with": versions(),
        "levels": as_json(record.levels),
    }
    figures = folder / "exam.json"
    write_text(figures, json.dumps(whole, indent=1, allow_nan=False) + "\n")
    films: dict[str, Path] = {}
    for results in record.levels if options.films else ():
        films |= write_films(robot, results, folder)
    page = write_page(folder / "exam.html", replace(record, films=films))
    if len(record.levels) > 1:
        print(text(table(record.levels)))
    print(f"Written to {figures} and {page}")
