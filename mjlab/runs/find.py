"""Find the run, the checkpoint or the ONNX file that a user names.

latest                      the newest run; with a task, the newest run of that task
TASK, TASK/latest           the newest run of a task, else the run that ships with it
2026-01-31_12-00-00_walk    a run by its name, of any task
logs/TASK/NAME              a run's folder, a folder inside it, or any file in it
.../model_000100.pt         a checkpoint in its run
policy.onnx                 an ONNX policy, outside of any run
wandb:ENTITY/PROJECT/NAME   any of these from Weights & Biases
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mjlab.files import check_contained
from mjlab.names import suggest
from mjlab.registry import entries
from mjlab.runs.checkpoints import Checkpoints, find_checkpoint
from mjlab.runs.run import INFO, LATEST, Run, RunError, shipped_with

_log = logging.getLogger(__name__)

LOGS = Path("logs")
"""Default folder of all runs (--logs)."""

WANDB = "wandb:"
"""Prefix of Weights & Biases artifacts."""


@dataclass(frozen=True)
class Found:
    """A run, one checkpoint of a run, or an ONNX file."""

    place: Path
    """The named checkpoint, the ONNX file, or the run's folder."""

    @property
    def file(self) -> Path | None:
        """The ONNX file, None for a run."""
        return self.place if self.place.suffix == ".onnx" else None

    @property
    def checkpoint(self) -> Path | None:
        """The named checkpoint, None if a run was named."""
        return self.place if self.place.suffix == ".pt" else None

    @property
    def run(self) -> Run:
        """The run that was named.

        Raises:
            RunError: If an ONNX file was named.
        """
        if self.file is not None:
            raise RunError(
                f"{self.file} is an ONNX file outside of any run. Name a run, or pass "
                "the file to play.py, evaluate.py or record.py."
            )
        folder = _folder_of(self.place)
        assert folder is not None
        return Run(folder.resolve())

    @property
    def title(self) -> str:
        """Task, run and checkpoint, as shown to the user."""
        run = self.run
        # The folder of a shipped run is named after its task.
        name = run.task if run.path.name == run.task else f"{run.task}, {run.path.name}"
        return name if self.checkpoint is None else f"{name}, {self.checkpoint.stem}"

    def choose_checkpoint(self, *, best: bool = False) -> Path:
        """Return the named checkpoint, or the run's best or newest."""
        return find_checkpoint(self.checkpoint or self.run.path, best=best)


def find(
    place: str | Path,
    logs: Path = LOGS,
    *,
    task: str | None = None,
    shipped: bool = True,
    advice: str = "",
) -> Found:
    """Find the run, checkpoint or ONNX file that a user names.

    The module's docstring lists the accepted forms.

    Args:
        place: Argument of the user.
        logs: Folder of all runs.
        task: Find only runs of this task.
        shipped: Use the run that ships with a task if the user has no run of the task.
        advice: Text after the `train.py` command in the error, such as ", or ...".

    Raises:
        RunError: If nothing is found, the run is of another task, the file is not in a
            run, or the run has a link that leads out of its folder.
    """
    if str(place).startswith(WANDB):
        from mjlab.runs.wandb import fetch

        place = fetch(str(place), logs)
    if Path(place).suffix == ".onnx":
        if not Path(place).is_file():
            raise RunError(f"{place} does not exist.{_names_beside(Path(place))}")
        return Found(Path(place))
    for start in _starts(str(place), logs, task):
        folder = _folder_of(start)
        if folder is not None:
            return _checked(start, folder, task)
    named = task if task is not None and place == LATEST else _task_in(str(place))
    run = shipped_with(named) if shipped else None
    if run is None:
        raise _nothing(str(place), logs, task, advice)
    _log.warning(
        "No run of %s in %s: using the policy that ships with the task.",
        run.task,
        logs,
    )
    return Found(run.path)


def _starts(place: str, logs: Path, task: str | None) -> Iterator[Path]:
    """Yield the paths that the user's argument can mean, in order of precedence."""
    if task is not None:
        yield logs / task / place
    if task is None or place != LATEST:
        yield from (Path(place), logs / place)
    if Path(place).name == place != LATEST:
        named = [folder for folder in _runs(logs) if folder.name == place]
        if len(named) > 1:
            listed = ", ".join(map(str, named))
            raise RunError(
                f"{place!r} matches several runs: {listed}. Name one of them."
            )
        yield from named


def _folder_of(place: Path) -> Path | None:
    """Return the folder of a run, None if there is none.

    Args:
        place: The run's folder, a folder or file inside it, or a folder of runs with a
            link "latest".
    """
    if place.is_file():
        candidates = place.absolute().parents[:2]
    elif place.is_dir():
        candidates = (place, place / LATEST, place.absolute().parent)
    else:
        candidates = ()
    return next((each for each in candidates if (each / INFO).is_file()), None)


def _checked(start: Path, folder: Path, task: str | None) -> Found:
    check_contained(folder, RunError)
    run = Run(folder.resolve())
    if task is not None and run.task != task:
        raise RunError(f"{folder} is a run of {run.task!r}, not of {task!r}.")
    return Found(start if start.suffix == ".pt" and start.is_file() else run.path)


def _nothing(place: str, logs: Path, task: str | None, advice: str) -> RunError:
    """Return the error for an argument that matches no run."""
    path, named = Path(place), _task_in(place)
    if place == LATEST or named in entries():
        wanted = task if place == LATEST else named
        of = "" if wanted is None else f" of {wanted!r}"
        train = f"train.py {wanted or 'TASK'}"
        return RunError(
            f"There is no run{of} in {logs}. Train one with {train}{advice}."
        )
    if path.is_file():
        return RunError(
            f"{path} is not in a run's folder. Keep the checkpoint in the folder of "
            "its run, next to the run's configuration, and name it there."
        )
    if path.is_dir():
        return RunError(f"There is no run in {path}: {INFO} is missing.")
    if path.suffix == ".pt":
        return RunError(f"{path} does not exist.{_names_beside(path)}")
    runs = _runs(logs)
    known = [*(run.parent.name for run in runs), *entries(), *(r.name for r in runs)]
    listing = "list_tasks.py lists the tasks."
    hint = suggest(place, known, otherwise=listing)
    return RunError(f"There is no run or task {place!r}. {hint}")


def _runs(logs: Path) -> list[Path]:
    """Return the folders of all runs, without the links named "latest"."""
    found = sorted(file.parent for file in logs.glob(f"*/*/{INFO}"))
    return [folder for folder in found if folder.name != LATEST]


def _task_in(place: str) -> str:
    return place.removesuffix(f"/{LATEST}")


def _names_beside(file: Path) -> str:
    """Suggest policies in the folder of a missing file; "" if there are none."""
    names = [f"{name}.pt" for name in Checkpoints(file.parent).names()]
    if file.suffix != ".pt":
        names = sorted(each.name for each in file.parent.glob(f"*{file.suffix}"))
    return f" {suggest(file.name, names)}" if names else ""
