"""Export policies of runs to ONNX files."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mjlab.runs import Run
from mjlab.safe_names import plain_name

if TYPE_CHECKING:
    from mjlab.export import Exported


def write_file(
    run: Run,
    configs: Mapping[str, Any],
    *,
    logs: Path,
    to: Path | None = None,
    checkpoint: Path | None = None,
    best: bool = False,
) -> "Exported":
    """Export the policy of a run to an ONNX file, by default in the run's folder.

    Args:
        run: The run.
        configs: Its configurations by name.
        logs: Folder of all runs, for the export of a run that ships with its task.
        to: The file to write, or a folder.
        checkpoint: Checkpoint of the run. None selects the newest, or the best with
        `best`.
        best: Select the best checkpoint.
    """
    from mjlab.export import export_run

    task = run.task
    own = (logs / task if run.is_shipped else run.path) / "export"
    file = own if to is None else to
    if file.suffix != ".onnx":
        file = file / f"{plain_name(task)}.onnx"
    return export_run(run, configs, checkpoint=checkpoint, best=best, to=file)
