"""Settings of a recording: the place of its files, and the choice of episodes."""

import datetime
import itertools
from pathlib import Path
from typing import Literal, get_args

from mjlab.names import suggest
from mjlab.safe_names import check_name
from mjlab.settings import Config

Export = Literal["none", "all", "succeeded", "failed", "separate"]
EXPORTS: tuple[Export, ...] = get_args(Export)
SORTED: tuple[Export, ...] = ("succeeded", "failed", "separate")
"""Choices for which the task has to declare success."""


class RecordingError(RuntimeError):
    """Episodes that cannot be recorded."""


class RecordingCfg(Config):
    """Place and choice of recorded episodes."""

    folder: str = "recordings"
    """Folder of the files. It is made if it is not there."""

    name: str | None = None
    """Name of the files, without a suffix. None takes the date and the time."""

    overwrite: bool = False
    """Replace a recording of this name. Other files of this name are never replaced.
    Without it, a number is added to the name where any file has it."""

    export: Export = "all"
    """Which episodes are written: "none", "all", those that "succeeded", those that
    "failed", or both in files of their own ("separate"). An episode succeeded if the
    task's outcome "success" held in its last step."""


def check_recording(cfg: RecordingCfg, has_success: bool) -> None:
    """Raise for what cannot be recorded.

    Args:
        cfg: The settings.
        has_success: Whether the task declares the outcome "success".
    """
    if cfg.export not in EXPORTS:
        raise RecordingError(
            f"export={cfg.export!r} is unknown. {suggest(str(cfg.export), EXPORTS)}"
        )
    if cfg.export in SORTED and not has_success:
        raise RecordingError(
            f"export={cfg.export!r} goes by the outcome 'success', which the task does "
            "not declare. Add OutcomeTermCfg(func=...) to cfg.outcomes['success'], or "
            "use export='all'."
        )
    if cfg.name is not None:
        check_name(cfg.name, "The name of a recording is", RecordingError)


def files_of(cfg: RecordingCfg) -> dict[str, Path]:
    """Return the files by which episodes they get: "all", "succeeded" or "failed"."""
    now = datetime.datetime.now().strftime("%Y%m%d_%H%M%S")
    folder, name = Path(cfg.folder).resolve(), cfg.name or now
    if cfg.export == "none":
        return {}
    for number in itertools.count(1):
        stem = name if number == 1 else f"{name}_{number}"
        files = {cfg.export: folder / f"{stem}.h5"}
        if cfg.export == "separate":
            sorts = ("succeeded", "failed")
            files = {sort: folder / f"{stem}_{sort}.h5" for sort in sorts}
        if cfg.overwrite or not any(map(_is_taken, files.values())):
            return files
    raise AssertionError("There is always a next number.")


def _is_taken(file: Path) -> bool:
    """Return whether anything lies in a place of the recording."""
    suffixes = (".h5", ".json", ".parts")
    return any(file.with_suffix(suffix).exists() for suffix in suffixes)
