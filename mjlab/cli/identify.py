"""`identify`: estimate a robot's parameters from its logs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional

from mjlab.cli.answers import UsageError, as_called
from mjlab.cli.line import TaskOptions, read_line
from mjlab.cli.tasks import need_task
from mjlab.extras import install
from mjlab.files import write_text
from mjlab.registry import load_task
from mjlab.settings.bounds import at_least
from mjlab.threads import prepare_threads

if TYPE_CHECKING:
    from mjlab.identify import Candidate, Log, Robot


@dataclass(kw_only=True)
class IdentifyOptions(TaskOptions):
    """Estimate a robot's parameters from its logs.

    Prints armature, friction loss, damping, gain and torque limit of each joint, and
    the delay, with 95 % intervals; with --bodies also masses and centres of mass.
    Names the parameters that the logs do not determine. --out writes the intervals into
    a task as randomisation ranges. A legged robot must hang on a stand during the log.

    Without logs, --motion writes a motion that determines the parameters, and --twin
    plays a motion on a simulated robot with hidden parameters.
    """

    program = "identify.py"
    examples = (
        "Reach-Yam --motion excite.csv",
        "Reach-Yam log.csv --out measured_yam.py",
        'Velocity-Go1-Flat log.csv --joints "FR_.*" --columns time=t_ms:0.001',
        "Reach-Yam steps.jsonl --policy policy.onnx",
    )

    place: Positional[tuple[str, ...]] = ()
    """Task with the robot, such as Reach-Yam, and its logs: CSV, or with --policy the
    runner's logs (.jsonl)."""

    policy: Path | None = None
    """ONNX file of the policy that ran, which names the columns of a runner's log."""

    columns: tuple[str, ...] = ()
    """Columns of the CSV files, NAME=COLUMN or NAME=COLUMN:FACTOR. Names are time,
    JOINT.target, JOINT.pos, JOINT.vel, JOINT.torque; * stands for each joint."""

    joints: tuple[str, ...] = (".*",)
    """Name patterns of the joints. All others must be at rest in the logs."""

    bodies: tuple[str, ...] = ()
    """Name patterns of bodies whose mass and centre of mass are estimated."""

    parameters: tuple[str, ...] = ()
    """Kinds to estimate: armature, friction, damping, gain, effort_limit, delay.
    Default: all. The others keep the task's values."""

    entity: str | None = None
    """Entity of the scene. Default: the only one with actuators."""

    out: Path | None = None
    """New Python file for a task with the intervals as randomisation ranges."""

    picture: Path | None = None
    """New SVG file with the errors of the predicted positions, before and after."""

    motion: Path | None = None
    """Without logs: new CSV file for an excitation motion. With --twin: existing CSV
    file of the motion to play."""

    seconds: Annotated[float, at_least(2.0)] = 10.0
    """Duration of the motion, s."""

    reach: Annotated[float, at_least(0.0)] = 0.6
    """Fraction of each joint's range that the motion uses, 0 to 1."""

    twin: Path | None = None
    """Without logs: new CSV file for the log of a simulated robot."""

    seed: int = 0
    """Seed of the motion and of the simulated robot."""

    @property
    def task(self) -> str | None:
        """Task with the robot, None if missing."""
        return self.place[0] if self.place else None

    @property
    def logs(self) -> list[Path]:
        """Log files, which follow the task on the command line."""
        return [Path(each) for each in self.place[1:]]


def main(arguments: Sequence[str]) -> None:
    """Identify the robot, or write a motion or the log of a simulated robot."""
    line = read_line(IdentifyOptions, arguments)
    options = line.options
    entry = need_task(options.task, options.program)
    check(options)
    prepare_threads()
    cfg = line.apply({"env": load_task(entry.id).env()})["env"]
    from mjlab.identify import KINDS, IdentifyError, Robot, candidates

    kinds = options.parameters or KINDS
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise UsageError(f"--parameters {unknown[0]!r} is not one of {list(KINDS)}.")
    try:
        robot = Robot.of(cfg, options.entity, options.joints)
        bodies = robot.bodies(options.bodies) if options.bodies else ()
        if options.logs:
            estimate(options, robot, bodies, kinds, entry.id, type(cfg))
        else:
            rehearse(options, robot, candidates(robot, robot.joints, bodies, kinds))
    except IdentifyError as error:
        raise UsageError(str(error)) from None


def check(options: IdentifyOptions) -> None:
    """Raise if packages are missing, or options exclude each other."""
    from mjlab.identify.toolbox import missing_modules

    missing = missing_modules()
    if missing:
        raise UsageError(
            f"identify needs {', '.join(missing)}: without them, mujoco.sysid is "
            f"empty. Type: {install('identify')}"
        )
    if options.logs and (options.motion or options.twin):
        raise UsageError("--motion and --twin take no logs: omit the logs.")
    if not options.logs and not (options.motion or options.twin):
        raise UsageError(
            "LOGS are missing: name a log, such as log.csv, or write an excitation "
            "motion with --motion motion.csv."
        )
    if options.twin and not (options.motion and options.motion.is_file()):
        raise UsageError("--twin needs --motion FILE, a motion that exists.")
    for path in (*options.logs, options.policy):
        if path is not None and not path.is_file():
            raise UsageError(f"File {path} does not exist.")
    new = (options.out, options.picture, options.twin)
    for path in (*new, None if options.twin else options.motion):
        if path is not None and path.exists():
            raise UsageError(f"{path} already exists; nothing was written.")


def read_logs(options: IdentifyOptions, robot: "Robot") -> list["Log"]:
    """Read all logs, reduced to the joints of the robot."""
    from mjlab.export.runner.policy import ContractError, ContractPolicy
    from mjlab.identify import read_csv, read_runner_log

    found = []
    for path in options.logs:
        if path.suffix != ".jsonl":
            found.append(read_csv(path, robot.joints, options.columns))
            continue
        if options.policy is None:
            raise UsageError(
                f"{path} is a runner's log: name the policy that ran with --policy "
                "policy.onnx."
            )
        try:
            found.append(read_runner_log(path, ContractPolicy(options.policy)))
        except ContractError as error:
            raise UsageError(f"{error}.") from None
    return [log.of(robot.joints) for log in found]


def estimate(
    options: IdentifyOptions,
    robot: "Robot",
    bodies: Sequence[str],
    kinds: Sequence[str],
    task: str,
    base: type[Any],
) -> None:
    """Estimate the parameters, print them, and write the task."""
    from mjlab.identify import Fit, candidates, task_file
    from mjlab.identify.picture import picture
    from mjlab.identify.text import advice, quality, table

    logs = read_logs(options, robot)
    unknowns = candidates(robot, list(logs[0].pos), bodies, kinds)
    rows = sum(len(log.times) for log in logs)
    count = len(unknowns)
    print(f"Estimating {count} parameters from {rows} samples ...", flush=True)
    fit = Fit(robot, logs, unknowns)
    result = fit.run()
    print(table(result))
    print(quality(result, float(logs[0].times[1])))
    said = advice(result)
    if said:
        print(said)
        command = as_called(f"python scripts/identify.py {options.task}")
        print(f"Write a motion that determines more: {command} --motion better.csv")
    if options.picture is not None:
        write_text(options.picture, picture(fit))
        print(f"Wrote {options.picture}.")
    if options.out is not None:
        names = [path.name for path in options.logs]
        write_text(options.out, task_file(task, base, robot, result, logs=names))
        command = as_called(f"python scripts/train.py {options.out}:TASK")
        print(f"Wrote {options.out}. Train with it: {command}")


def rehearse(
    options: IdentifyOptions, robot: "Robot", unknowns: list["Candidate"]
) -> None:
    """Write a motion, or the log of a simulated robot that plays a motion."""
    from mjlab.identify import Twin, propose, read_csv, write_csv
    from mjlab.identify.text import forecast

    assert options.motion is not None
    if options.twin is not None:
        motion = read_csv(options.motion, robot.joints, motion=True)
        twin = Twin.draw(robot, unknowns, options.seed)
        write_csv(options.twin, twin.record(motion))
        print(f"Wrote {options.twin}: a simulated robot with hidden parameters.")
        for name, value in twin.hidden.items():
            print(f"  {name} {value:.4g}")
        return
    best = propose(
        robot,
        unknowns,
        seconds=options.seconds,
        share=options.reach,
        seed=options.seed,
    )
    write_csv(options.motion, best.log)
    print(forecast(best, unknowns))
    print(
        f"Wrote {options.motion}, the best of {best.tried} motions. Play its targets "
        "on the robot, first slowly, and log time, targets, positions and velocities."
    )
