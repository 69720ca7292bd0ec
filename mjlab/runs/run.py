"""Folder of a run, with the task, its settings and all results.

    logs/<task>/<time>_<name>/
        run.json        command, git, versions, hardware, seed, status and its reason
        config.json     task id, and settings of environment and agent
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
"""Name of the file that marks a folder as a run."""

VIDEO_SUFFIXES = (".mp4", ".webm", ".gif")
"""Suffixes of video files that browsers can play."""

VIDEOS = "videos"
"""Name of a run's video folder. Its subfolder `train` has videos from training."""

KEPT_DEFAULTS = "defaults.json"
"""Name of the file with the task's configurations before the user's changes."""

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
    """Training run in a folder: task, settings, checkpoints, metrics and reports."""

    def __init__(self, path: Path) -> None:
        """Open the folder of a run. To open a run by name, use `mjlab.runs.find`."""
        self.path = Path(path)
        """Folder of the run."""

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
        """Create a folder for a new run. The links "latest" do not change.

        Args:
            root: Folder of all runs, such as "logs".
            task: Task id.
            name: Optional name of the run, which is appended to the folder name.
            configs: Configurations by name, for `config.json`. If the task is
                installed, they must have its terms and classes.
            seed: Random seed of the run.
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
        """Whether the run ships with a task. Its folder is read-only then."""
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
        """Build the task's configurations, by name, with the settings of the run.

        Args:
            task: Default configurations by name, for a task that is not installed.
            accept_changes: Use the current task where terms or classes differ, instead
                of raising an error.
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
        """Return the text of the configuration with which a checkpoint was trained.

        Args:
            digest: SHA-256 of the configuration file, as stored in the checkpoint.

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
        """Record a resume in `run.json`: iteration, time and command.

        Args:
            iteration: Number of finished iterations.
            config: Text of the new configuration. If it differs from `config.json`, the
                old file is renamed to `config_until_<iteration>.json`.
            seed: Random seed from now on. None keeps the seed.
            changes: Changed settings, each as "path before -> after".
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
        """Lock the folder against other processes, until the block or process ends.

        Raises:
            RunError: If another process is training in the folder.
        """
        return locked(
            self.path,
            lambda: RunError(
                f"Process {self.info().get('pid')} is training in {self.path}. Stop "
                "it, or wait until it ends."
            ),
        )

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record status and reason if the block raises, and write `error.txt`.

        The status is "stopped" after an interrupt or exit, otherwise "failed".
        """
        try:
            yield
        except BaseException as error:
            asked = (KeyboardInterrupt, SystemExit, BrokenPipeError)
            was_asked = isinstance(error, asked)
            status = "stopped" if was_asked else "failed"
            reason = "".join(traceback.format_exception_only(error)).strip()
            text = "".join(traceback.format_exception(error))
            # On a full disk, raise the original error.
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
    """Return the complete videos in a run's folder, newest first."""
    # Names of incomplete videos begin with a dot.
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
    """Create a new folder TIME_NAME; if it exists, append a number.

    Args:
        parent: Folder in which to create the folder.
        now: Time in the folder name.
        name: Name of the run, can be empty.
    """
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
    """Return the git state of this package and of the working directory, by name.

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
