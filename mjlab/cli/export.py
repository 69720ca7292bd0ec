"""`export`: write a policy to one ONNX file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import read_line
from mjlab.cli.tasks import RunOptions
from mjlab.cli.verify import Form
from mjlab.threads import prepare_threads

prepare_threads()


@dataclass(kw_only=True)
class ExportOptions(RunOptions):
    """Write a policy to one ONNX file.

    The model maps sensor readings of a robot, in SI units, to joint targets. It is
    compared with the network before it is written; play.py and evaluate.py run it as
    well.

    With --as, writes a run's policy in the format of another project, or converts the
    policy of another project to an ONNX file of this format.
    """

    program = "export.py"
    examples = (
        "latest",
        "Velocity-G1 --best --out g1.onnx --runner",
        "Velocity-Go1-Flat --web go1.html",
        "logs/Velocity-G1/latest/checkpoints/model_000100.pt",
        "latest --as isaaclab --out go2",
        "policy.onnx --as isaaclab --config deploy.yaml --robot g1.xml --out g1.onnx",
    )

    place: Positional[str] = "latest"
    """A run's folder, a checkpoint, a task (its newest run), or 'latest'."""

    out: Path | None = None
    """File to write, such as policy.onnx, with its contract next to it as JSON.
    Default: export/TASK.onnx in the run's folder."""

    best: bool = False
    """Use the best checkpoint of the run instead of its newest."""

    web: Path | None = None
    """Also write a page that runs the policy in a browser: an HTML file that contains
    everything, or a folder for a static host. web.py puts several policies in a page.
    """

    as_: Form | None = None
    """Format of another project. For a run: the format to write, isaaclab or mjlab. For
    an ONNX file of another project: the format to read."""

    config: tuple[Path, ...] = ()
    """Configuration files of a policy of another project, such as deploy.yaml."""

    robot: Path | None = None
    """MJCF model of the robot of a policy of another project. Default: the robot of
    --task, the task in which the policy can play."""
    runner: bool = False
    """Also write mjlab_runner.py, which runs the file on a robot or in MuJoCo without
    this package, and mjlab_runner.hpp, the same in C++."""


def main(arguments: Sequence[str]) -> None:
    """Export the policy to an ONNX file."""
    options = read_line(ExportOptions, arguments).options
    if options.as_ is not None:
        foreign(options)
        return
    if options.out is not None and options.out.suffix != ".onnx":
        raise UsageError(f"--out {options.out} must end in .onnx.")
    found = options.find(options.place)
    if found.file is not None:
        raise UsageError(
            f"{found.file} is already an ONNX file. Watch it with play.py."
        )
    from mjlab.cli.policy_files import write_file

    exported = write_file(
        found.run,
        found.run.configs(accept_changes=options.accept_changes),
        logs=options.logs,
        to=options.out,
        checkpoint=found.checkpoint,
        best=options.best,
    )
    print(exported.summary)
    if options.web is not None:
        from mjlab.export.web import write_page

        print(write_page([exported.path], options.web).summary)
    if options.runner:
        from mjlab.export.runner import write_runner

        print(run_line(write_runner(exported.path), exported.path))


def run_line(runner: Path, file: Path) -> str:
    """Return the line that names the command of the runner."""
    return f"Run it with: python {runner} {file} --view"


def foreign(options: ExportOptions) -> None:
    """Write a policy in the format of another project, or read one."""
    place, out = Path(options.place), options.out
    if out is None:
        raise UsageError("--as needs --out: a folder for a run, else an ONNX file.")
    if place.suffix == ".onnx":
        print(ported(options, place, out))
        return
    if options.as_ not in ("isaaclab", "mjlab"):
        raise UsageError(
            f"--as {options.as_} can be read, but not written. Pass isaaclab or mjlab."
        )
    from mjlab.export.foreign.write import export_as

    found = options.find(options.place)
    configs = found.run.configs(accept_changes=options.accept_changes)
    files = export_as(
        options.as_,
        found.choose_checkpoint(best=options.best),
        out,
        env_cfg=configs["env"],
        agent_cfg=configs["agent"],
    )
    wrote = " and ".join(map(str, files))
    print(f"Wrote {wrote}. On recorded states, their actions match the task's.")


def ported(options: ExportOptions, place: Path, out: Path) -> str:
    """Convert the policy of another project to an ONNX file; return a summary."""
    from mjlab.export.foreign import read_policy
    from mjlab.export.foreign.port import port
    from mjlab.export.foreign.robot_model import RobotModel, model_file
    from mjlab.export.runner import write_runner
    from mjlab.registry import load_task

    task = options.task_id()
    if options.robot is not None:
        model = options.robot
    elif task is not None:
        model = model_file(load_task(task).env())
    else:
        raise UsageError(
            "A policy of another project needs --robot with an MJCF file, or --task "
            "with a task whose robot is an MJCF file."
        )
    if out.suffix != ".onnx":
        raise UsageError(f"--out {out} must end in .onnx.")
    for path in (place, model, *options.config):
        if not path.is_file():
            raise UsageError(f"File {path} does not exist.")
    robot = RobotModel(model)
    interface = read_policy(place, options.as_ or "", options.config, robot)
    written = port(interface, robot, out, task=task or "")
    said = f"Wrote {written} and {written.with_suffix('.contract.json')}."
    if options.web is not None:
        from mjlab.export.web import write_page

        said += f"\n{write_page([written], options.web).summary}"
    if options.runner:
        said += f"\n{run_line(write_runner(written), written)}"
    return said
