"""The run or the file that a user means, together with the task that it is of."""

import atexit
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mjlab.cli.answers import UsageError
from mjlab.export import OnnxPolicy
from mjlab.names import UnknownNameError, suggest
from mjlab.registry import entries, load_task
from mjlab.rl import RunFolder
from mjlab.safe_names import plain_name

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnvCfg
    from mjlab.export import Exported


def find_run(place: str | Path, logs: Path, otherwise: str = "") -> RunFolder:
    """The run that a user means, or the one that ships with the task of that name.

    Args:
        place: As `RunFolder.find` takes it.
        logs: Folder of all runs.
        otherwise: What the user can do without a run, besides training one.
    """
    try:
        return RunFolder.find(place, logs)
    except UnknownNameError as error:
        task = str(place).removesuffix("/latest")
        trained = _trained(task)
        if trained is None:
            raise no_run(task, logs, otherwise, error) from error
        sys.stdout.write(
            f"There is no run of {task} in {logs}: this is the policy that ships with "
            "it.\n"
        )
        sys.stdout.flush()
        return RunFolder(trained)


def no_run(
    task: str, logs: Path, otherwise: str, error: UnknownNameError
) -> UsageError:
    """Return the answer to a task, or to a name of none, that has no run.

    Args:
        task: What the user named, or "latest".
        logs: Folder of all runs.
        otherwise: What the user can do without a run, besides training one.
        error: What the folder of runs says.
    """
    if task == "latest":
        train = f"train.py TASK{otherwise}"
        return UsageError(f"There is no run in {logs}. Train one with {train}.")
    if task in entries():
        train = f"train.py {task}{otherwise}"
        return UsageError(
            f"There is no run of {task!r} in {logs}. Train one with {train}."
        )
    all_tasks = "list_tasks.py lists the tasks."
    hint = suggest(task, list(entries()), otherwise=all_tasks)
    return UsageError(f"{error} There is no task {task!r} either. {hint}")


def ships(run: RunFolder) -> bool:
    """Return whether a run came with a task, and nothing is to be written into it."""
    trained = _trained(run.info()["task"])
    return trained is not None and trained.resolve() == run.path.resolve()


def _trained(task: str) -> Path | None:
    """The run that ships with a task, if there is such a task and run."""
    return load_task(task).trained if task in entries() else None


def open_file(
    path: Path, *, as_trained: bool
) -> "tuple[OnnxPolicy, ManagerBasedRlEnvCfg]":
    """A file, and worlds of its task that measure and do what the file says.

    Args:
        path: The file.
        as_trained: Whether they are as in training, or to be watched.
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
    run: RunFolder,
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
    from mjlab.export import export_run

    task = run.info()["task"]
    own = (logs / task if ships(run) else run.path) / "export"
    file = own if to is None else to
    if file.suffix != ".onnx":
        file = file / f"{plain_name(task)}.onnx"
    return export_run(run, configs, checkpoint=checkpoint, best=best, to=file)
