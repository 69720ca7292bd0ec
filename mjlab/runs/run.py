"""Run: a task, its settings, and all results, in one folder.

    logs/<task>/<time>_<name>/
        run.json        command, git, versions, hardware, seed, status and its reason
        config.json     the task's id, and the values of environment and learner
        metrics.jsonl   metrics, one line per iteration
        checkpoints/ videos/ export/ dumps/ report.html

`logs/latest` and `logs/<task>/latest` are links to the newest run.
"""

import contextlib
import datetime
import json
import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mjlab.files import (
    CannotWriteError,
    make_folders,
    saying_why,
    sha256,
    sync,
    temporary_beside,
    write_text,
)
from mjlab.provenance import (
    arguments,
    command,
    git_state,
    hardware,
    versions,
    without_places,
)
from mjlab.registry import entries, load_task
from mjlab.runs.checkpoints import Checkpoints
from mjlab.runs.lock import locked
from mjlab.runs.metrics import METRICS, Metrics, read_metrics
from mjlab.runs.settings import read_task, task_text
from mjlab.safe_names import plain_name
from mjlab.settings.file import Settings, SettingsFileError, parse_settings
from mjlab.settings.objects import read_object

LATEST = "latest"
"""Name of the link to the newest run."""

INFO = "run.json"
"""File that marks a folder as a run."""

VIDEO_SUFFIXES = (".mp4", ".webm", ".gif")
"""Suffixes of videos that a browser shows."""

VIDEOS = "videos"
"""Folder of a run's videos. Its subfolder `train` has videos of the training."""

KEPT_DEFAULTS = "defaults.json"
"""File with the task's configurations before the user's changes."""

RUN_ENTRIES = {
    "name": str,
    "status": str,
    "reason": str,
    "pid": int,
    "started": str,
    "finished": str | None,
    "command": str,
    "git": dict[str, dict[str, Any]],
    "versions": dict[str, Any],
    "hardware": {"gpus": list[str], "cores": int | None},
    "resumed": list[dict[str, Any]],
}
"""Types of the optional entries of `run.json`."""

RUN_REMEDY = "Copy the run's folder again, or name another run."


class RunError(ValueError):
    """Raised if a run cannot be found, or a folder is not a run."""


class Run:
    """Task and settings, with a folder of checkpoints, metrics and reports."""

    def __init__(self, path: Path) -> None:
        """Open the folder of a run. `mjlab.runs.find` also finds a run by its name."""
        self.path = Path(path)
        """The folder."""

    @classmethod
    def create(
        cls,
        root: Path,
        task: str,
        name: str = "",
        *,
        configs: Mapping[str, Any],
        seed: int,
    ) -> "Run":
        """Create a folder for a new run.

        Args:
            root: The folder of all runs, such as "logs".
            task: Task id.
            name: Optional name, chosen by the user.
            configs: Configurations by name, for `config.json`. If the task is
                installed, they must have its terms and classes.
            seed: The seed in use.
        """
        text = task_text(task, configs)
        now = datetime.datetime.now().astimezone()
        run = cls(make_folder(Path(root) / plain_name(task), now, name))
        write_text(run.path / "config.json", text)
        start = {
            "task": task,
            "name": name,
            "status": "running",
            "pid": os.getpid(),
            "reason": "",
            "started": now.isoformat(timespec="seconds"),
            "finished": None,
            "command": command(),
            "arguments": arguments(),
            "seed": seed,
            "git": _git(run.path),
            "versions": versions(),
            "hardware": hardware(),
        }
        run._write(start)
        run.point_latest()
        return run

    @property
    def task(self) -> str:
        """Task id."""
        return self.info()["task"]

    @property
    def checkpoints(self) -> Checkpoints:
        """Checkpoints of the run."""
        return Checkpoints(self.path / "checkpoints")

    @property
    def is_shipped(self) -> bool:
        """True if the run ships with a task. Its folder is read-only."""
        shipped = shipped_with(self.task)
        return shipped is not None and shipped.path.resolve() == self.path.resolve()

    def metrics(self) -> Metrics:
        """Return the training metrics."""
        return read_metrics(self.path / METRICS)

    def info(self) -> dict[str, Any]:
        """Return the entries of `run.json`."""
        if not (self.path / INFO).is_file():
            raise RunError(
                f"{self.path} is not the folder of a run: {INFO} is missing."
            )
        return read_object(
            self.path / INFO,
            {"task": str},
            RunError,
            remedy=RUN_REMEDY,
            optional=RUN_ENTRIES,
        )

    def configs(
        self, task: Mapping[str, Any] | None = None, *, accept_changes: bool = False
    ) -> dict[str, Any]:
        """Build the task's configurations with the values stored in the run, by name.

        Args:
            task: Configurations of a task that is not installed.
            accept_changes: Use the current task where terms or classes differ.
        """
        where = str(self.path / "config.json")
        text = self._config_text()
        return read_task(text, where, task=task, accept_changes=accept_changes)

    def settings(self) -> Settings:
        """Return the settings in `config.json` without building the task."""
        return parse_settings(self._config_text(), str(self.path / "config.json"))[1]

    def _config_text(self) -> str:
        file = self.path / "config.json"
        try:
            return file.read_text("utf-8")
        except UnicodeDecodeError as error:
            raise SettingsFileError(f"{file} is not valid text: {error}.") from error

    def saved_config(self, digest: str) -> str:
        """Return the text of the configuration that a checkpoint was trained with.

        Args:
            digest: SHA-256 of the configuration's file, as stored in the checkpoint.

        Raises:
            RunError: If no file of the run has this digest.
        """
        for file in (self.path / "config.json", *self.path.glob("config_until_*.json")):
            if file.is_file() and sha256(file) == digest:
                return file.read_text("utf-8")
        raise RunError(
            f"{self.path} lacks the configuration of this checkpoint: config.json was "
            "changed or is missing. Copy the run's folder again; to change a "
            "setting, pass it as an option when you resume."
        )

    def update(self, **changes: Any) -> None:
        """Change entries of `run.json`."""
        self._write(self.info() | changes)

    def reopen(
        self,
        iteration: int,
        config: str,
        *,
        seed: int | None = None,
        changes: Sequence[str] = (),
    ) -> None:
        """Record that the run is resumed: iteration, time and command.

        Args:
            iteration: Number of finished iterations.
            config: The new configuration, as text. If it differs from `config.json`,
                the old file is kept as `config_until_<iteration>.json`.
            seed: The seed in use from now on. None keeps the seed.
            changes: Settings that changed, each as "path before -> after".
        """
        file = self.path / "config.json"
        before = file.read_text("utf-8")
        if before != config:
            write_text(self.path / f"config_until_{iteration:06d}.json", before)
            write_text(file, config)
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        entry = {"iteration": iteration, "time": now, "command": command()}
        entry |= {"changes": list(changes)} if changes else {}
        info = self.info()
        self.update(
            status="running",
            pid=os.getpid(),
            resumed=[*info.get("resumed", []), entry],
            seed=info.get("seed") if seed is None else seed,
            reason="",
            finished=None,
        )
        self.point_latest()

    def point_latest(self) -> None:
        """Point the links called "latest" to this run."""
        for folder in (self.path.parent, self.path.parent.parent):
            link = temporary_beside(folder / f".{LATEST}")
            # Links are optional: some file systems do not support them.
            with contextlib.suppress(OSError):
                link.symlink_to(os.path.relpath(self.path, folder))
                os.replace(link, folder / LATEST)
            link.unlink(missing_ok=True)

    def lock(self) -> contextlib.AbstractContextManager[None]:
        """Lock the folder against other processes until the block or process ends."""
        return locked(
            self.path,
            lambda: RunError(
                f"Process {self.info().get('pid')} is training in {self.path}. Stop "
                "it, or wait until it ends."
            ),
        )

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record status ("stopped" or "failed") and reason if the block raises."""
        try:
            yield
        except BaseException as error:
            asked = (KeyboardInterrupt, SystemExit, BrokenPipeError)
            was_asked = isinstance(error, asked)
            status = "stopped" if was_asked else "failed"
            reason = "".join(traceback.format_exception_only(error)).strip()
            text = "".join(traceback.format_exception(error))
            # If the disk is full, the original error must still be raised.
            with contextlib.suppress(CannotWriteError):
                self.finish(status, without_places(reason))
                write_text(self.path / "error.txt", without_places(text))
            raise

    def finish(self, status: str, reason: str) -> None:
        """Record the status ("finished", "stopped" or "failed") and its reason."""
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        self.update(status=status, reason=reason, finished=now)

    def _write(self, info: Mapping[str, Any]) -> None:
        write_text(self.path / INFO, json.dumps(info, indent=1) + "\n")


def videos_in(folder: Path) -> list[Path]:
    """Return the complete videos of a run's folder, the newest first."""
    # A video has a name that begins with a dot until it is complete.
    found = [
        file
        for place in (folder, folder / VIDEOS, folder / VIDEOS / "train")
        if place.is_dir()
        for file in sorted(place.iterdir())
        if file.suffix.lower() in VIDEO_SUFFIXES and not file.name.startswith(".")
    ]
    return sorted(found, key=lambda file: -file.stat().st_mtime)


def shipped_with(task: str) -> Run | None:
    """Return the run that ships with an installed task, None if there is none."""
    folder = load_task(task).trained if task in entries() else None
    return None if folder is None else Run(folder)


def make_folder(parent: Path, now: datetime.datetime, name: str) -> Path:
    """Create a folder named after the time and `name`; never reuse an existing one."""
    stem = now.strftime("%Y-%m-%d_%H-%M-%S") + (f"_{plain_name(name)}" if name else "")
    root = parent.parent
    try:
        with saying_why(root):
            make_folders(parent)
    except CannotWriteError as error:
        raise CannotWriteError(f"{error} Choose another folder with --logs.") from error
    number = 1
    while True:
        path = parent / (stem if number == 1 else f"{stem}-{number}")
        try:
            path.mkdir()
            sync(parent)
            return path
        except FileExistsError:
            number += 1


def _git(folder: Path) -> dict[str, Any]:
    """Return the git state of this package and of the user's code.

    Uncommitted changes are written to the folder `git` of the run.
    """
    found: dict[str, Any] = {}
    for place in (Path(__file__).parent, Path.cwd()):
        repository = git_state(place)
        if repository is None or repository[1] in found.values():
            continue
        name, state, changes = repository
        name = f"{name}-2" if name in found else name
        found[name] = state
        if changes:
            write_text(folder / "git" / f"{plain_name(name)}.diff", changes + "\n")
    return found
