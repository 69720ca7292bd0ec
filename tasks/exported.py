"""Policies in ONNX files and the tasks that they are of: written, and found again."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mjlab.registry import load_task

from mjlab.cli import runs
from mjlab.rl.export import OnnxPolicy

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnvCfg
    from mjlab.rl import RunFolder
    from mjlab.rl.export import Exported


def open_file(
    path: Path, *, as_trained: bool
) -> "tuple[OnnxPolicy, ManagerBasedRlEnvCfg]":
    """A file, and worlds of its task that measure and do what the file says.

    Args:
        path: The file.
        as_trained: Whether they are as in training, or to be watched.
    """
    from mjlab.rl.export import driven_by

    file = OnnxPolicy(path)
    task = load_task(file.task)
    cfg = task.env() if as_trained else task.play()
    return file, driven_by(cfg, file.contract)


def write_file(
    run: "RunFolder",
    configs: Mapping[str, Any],
    *,
    logs: Path,
    to: Path | None = None,
    checkpoint: Path | None = None,
    best: bool = False,
) -> "Exported":
    """Write the policy of a run to a file, in its folder if nobody says where.

    Args:
        run: The run.
        configs: Its configurations by name.
        logs: Folder of all runs, for one that ships with its task.
        to: The file to write, or a folder.
        checkpoint: One of its checkpoints. None takes the newest, or the best.
        best: Whether to take the best.
    """
    from mjlab.rl.export import export_run

    task = run.info()["task"]
    own = (logs / task if runs.ships(run) else run.path) / "export"
    file = own if to is None else to
    if file.suffix != ".onnx":
        file = file / f"{task}.onnx"
    return export_run(run, configs, checkpoint=checkpoint, best=best, to=file)
