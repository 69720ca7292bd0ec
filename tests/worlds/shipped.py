"""Files of shipped policies."""

from pathlib import Path

from mjlab.export import Exported, export_run
from mjlab.runs.run import shipped_with


def shipped(task: str, folder: Path) -> Exported:
    """Export the shipped policy of a task; return the file."""
    run = shipped_with(task)
    assert run is not None, f"{task} has no policy."
    return export_run(run, run.configs(), to=folder / f"{task}.onnx")
