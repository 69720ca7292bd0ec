"""ONNX policies: open one in its task, or export one from a run."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mjlab.export import OnnxPolicy
from mjlab.registry import load_task
from mjlab.runs import Run
from mjlab.safe_names import plain_name

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnvCfg
    from mjlab.export import Exported


def open_file(
    path: Path, *, as_trained: bool
) -> "tuple[OnnxPolicy, ManagerBasedRlEnvCfg]":
    """Return an ONNX policy, and the configuration of its task that fits it.

    Args:
        path: The file.
        as_trained: Use the training configuration instead of the one for play.
    """
    from mjlab.export import driven_by, with_clips

    file = OnnxPolicy(path)
    task = load_task(file.task)
    cfg = task.env() if as_trained else task.play()
    driven = driven_by(cfg, file.contract)
    if "motion" in file.contract:
        folder = Path(tempfile.mkdtemp(prefix="mjlab-clips-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        driven = with_clips(driven, file, folder)
    return file, driven


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
        checkpoint: One of its checkpoints. None selects the newest, or the best.
        best: Select the best checkpoint.
    """
    from mjlab.export import export_run

    task = run.task
    own = (logs / task if run.is_shipped else run.path) / "export"
    file = own if to is None else to
    if file.suffix != ".onnx":
        file = file / f"{plain_name(task)}.onnx"
    return export_run(run, configs, checkpoint=checkpoint, best=best, to=file)
