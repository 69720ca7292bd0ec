"""Settings of a recording: output path, and episodes to write."""

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
"""Values of `export` that require a task with the outcome "success"."""


class RecordingError(RuntimeError):
    """Raised if a recording cannot be written or read."""


class RecordingCfg(Config):
    """Output path and selection of recorded episodes."""

    folder: str = "recordings"
    """Folder of the files, created if missing."""

    name: str | None = None
    """Name of the files, without suffix. None uses the current date and time."""

    overwrite: bool = False
    """Whether to replace an existing recording of this name. If False, a number is
    added to the name. Files that are not part of a recording are never replaced."""

    export: Export = "all"
    """Episodes to write: "none", "all", only successful episodes ("succeeded"), only
    other episodes ("failed"), or both in two files ("separate"). An episode is
    successful if the task's outcome "success" is true in its last step."""


def check_recording(cfg: RecordingCfg, has_success: bool) -> None:
    """Raise `RecordingError` if the settings are invalid for a task.

    Args:
        cfg: Settings of the recording.
        has_success: Whether the task declares the outcome "success".
    """
    if cfg.export not in EXPORTS:
        raise RecordingError(
            f"export={cfg.export!r} is unknown. {suggest(str(cfg.export), EXPORTS)}"
        )
    if cfg.export in SORTED and not has_success:
        raise RecordingError(
            f"export={cfg.export!r} needs the outcome 'success', which the task does "
            "not declare. Add OutcomeTermCfg(func=...) to cfg.outcomes['success'], or "
            "use export='all'."
        )
    if cfg.name is not None:
        check_name(cfg.name, "The name of a recording is", RecordingError)


def files_of(cfg: RecordingCfg) -> dict[str, Path]:
    """Return the output file of each selection: "all", "succeeded" or "failed"."""
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
    raise AssertionError("The numbers of a recording are unlimited.")


def _is_taken(file: Path) -> bool:
    """Return whether a file of a recording, or another file, has this name."""
    suffixes = (".h5", ".json", ".parts")
    return any(file.with_suffix(suffix).exists() for suffix in suffixes)
