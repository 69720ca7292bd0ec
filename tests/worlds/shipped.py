"""Files of shipped policies."""

from pathlib import Path

from mjlab.cli.policy_files import write_file
from mjlab.export import Exported
from mjlab.runs.run import shipped_with


def shipped(task: str, folder: Path) -> Exported:
    """Export the shipped policy of a task; return the file."""
    run = shipped_with(task)
    assert run is not None, f"{task} has no policy."
    configs = run.configs()
    return write_file(run, configs, logs=folder, to=folder / f"{task}.onnx")
