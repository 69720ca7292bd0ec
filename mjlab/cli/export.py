"""`export`: write a policy to one ONNX file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import read_line
from mjlab.cli.tasks import RunOptions
from mjlab.threads import prepare_threads

prepare_threads()


@dataclass(kw_only=True)
class ExportOptions(RunOptions):
    """Write a policy to one ONNX file.

    The model maps sensor readings of a robot, in SI units, to joint targets. It is
    compared with the network before it is written; play.py and evaluate.py run it as
    well.
    """

    program = "export.py"
    examples = (
        "latest",
        "Velocity-G1 --best --out g1.onnx --runner",
        "Velocity-Go1-Flat --web go1.html",
        "logs/Velocity-G1/latest/checkpoints/model_000100.pt",
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

    runner: bool = False
    """Also write mjlab_runner.py, which runs the file on a robot or in MuJoCo without
    this package, and mjlab_runner.hpp, the same in C++."""


def main(arguments: Sequence[str]) -> None:
    """Export the policy to an ONNX file."""
    options = read_line(ExportOptions, arguments).options
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

        print(f"Run it with {write_runner(exported.path)}.")
