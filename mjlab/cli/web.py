"""`web`: write a page that runs policies in a browser."""

import tempfile
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
class WebOptions(RunOptions):
    """Write a page that runs policies in a browser, without a server.

    The page contains MuJoCo and onnxruntime as WebAssembly, and a menu of all policies.
    It opens from a disk or from any static host. Steer with keys, a gamepad or touch,
    and push the robot with the mouse.
    """

    program = "web.py"
    examples = (
        "policy.onnx",
        "Velocity-Go1-Flat Velocity-G1-Flat --out walk.html",
        "policy.onnx --out site/demo",
    )

    places: Positional[tuple[str, ...]] = ()
    """ONNX files of export.py, runs, checkpoints or tasks (their newest run)."""

    out: Path = Path("policies.html")
    """HTML file that contains everything, or a folder for a static host."""


def main(arguments: Sequence[str]) -> None:
    """Write the page that runs the policies."""
    options = read_line(WebOptions, arguments).options
    if not options.places:
        raise UsageError(
            "POLICY is missing: name an ONNX file, a run or a task, such as "
            "Velocity-Go1-Flat."
        )
    from mjlab.cli.policy_files import write_file
    from mjlab.export.web import write_page

    with tempfile.TemporaryDirectory() as folder:
        files = []
        for place in options.places:
            found = options.find(place)
            if found.file is not None:
                files.append(found.file)
                continue
            print(f"Exporting {found.title}.", flush=True)
            configs = found.run.configs(accept_changes=options.accept_changes)
            exported = write_file(
                found.run,
                configs,
                logs=options.logs,
                to=Path(folder),
                checkpoint=found.checkpoint,
            )
            files.append(exported.path)
        print(write_page(files, options.out).summary)
