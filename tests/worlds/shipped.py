"""Files of the policies that ship with tasks."""

from pathlib import Path

from mjlab.cli.policy_files import write_file
from mjlab.export import Exported
from mjlab.runs.run import shipped_with


def shipped(task: str, folder: Path) -> Exported:
    """Export the policy that ships with a task, and return what was written."""
    run = shipped_with(task)
    assert run is not None, f"{task} has no policy."
    configs = run.configs()
    return write_file(run, configs, logs=folder, to=folder / f"{task}.onnx")
