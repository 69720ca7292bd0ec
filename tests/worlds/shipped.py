"""Files of the policies that ship with tasks."""

from pathlib import Path

from mjlab.cli.runs import find_run, write_file
from mjlab.export import Exported
from mjlab.registry import load_task


def shipped(task: str, folder: Path) -> Exported:
    """Export the policy that ships with a task, and return what was written."""
    trained = load_task(task).trained
    assert trained is not None, f"{task} has no policy."
    run = find_run(trained, folder)
    configs = run.configs()
    return write_file(run, configs, logs=folder, to=folder / f"{task}.onnx")
