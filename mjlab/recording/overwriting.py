"""Files that a new recording deletes: those of an earlier one, and no others."""

import json
import re
from pathlib import Path

from mjlab.recording.config import RecordingError
from mjlab.recording.hdf5 import is_recording

RESERVE_BYTES = 2**18
"""Size of the file of zeros that keeps room for the links and the sidecar."""

_BEGUN_PART = re.compile(r"\d+\.h5(\.[0-9a-f]+\.tmp)?")


def check_replaceable(path: Path) -> None:
    """Raise unless all files of a recording's name are those of a recording.

    Args:
        path: The file, `<folder>/<name>.h5`.
    """
    check_parts(path.with_suffix(".parts"))
    sidecars = [path.with_suffix(suffix) for suffix in (".json", ".jsonl", ".reserve")]
    foreign = next((file for file in sidecars if not _is_sidecar(file)), None)
    if is_recording(path):
        if foreign is None:
            return
    elif path.is_symlink() or path.exists():
        foreign = path
    else:
        # A recording has its .h5 before anything else, and for as long.
        foreign = next((f for f in sidecars if f.is_symlink() or f.exists()), None)
    if foreign is not None:
        raise RecordingError(
            f"{foreign} is not replaced: it is no file of a recording. Move it away, "
            "or record under another name."
        )


def _is_sidecar(file: Path) -> bool:
    """Return True for a file that a recording writes beside itself, or for none."""
    if not file.exists():
        return not file.is_symlink()
    if file.is_symlink() or not file.is_file():
        return False
    if file.suffix == ".reserve":
        return file.stat().st_size == RESERVE_BYTES and not any(file.read_bytes())
    text = file.read_text("utf-8", "replace")
    try:
        about = json.loads(text.partition("\n")[0] if file.suffix == ".jsonl" else text)
    except (ValueError, RecursionError):
        return False
    return isinstance(about, dict) and "source_type" in about


def remove_parts(folder: Path) -> None:
    """Delete a folder of parts.

    Raises:
        RecordingError: If anything else is in it; then nothing is deleted.
    """
    if not folder.is_dir():
        return
    check_parts(folder)
    for file in folder.iterdir():
        file.unlink(missing_ok=True)
    folder.rmdir()


def check_parts(folder: Path) -> None:
    """Raise if a folder has anything but parts, so that it is not ours to delete."""
    if folder.is_symlink():
        raise RecordingError(
            f"{folder} is not deleted: it is a link. Move it away, or record under "
            "another name."
        )
    inside = (file.name for file in folder.glob("*"))
    foreign = [name for name in inside if not _BEGUN_PART.fullmatch(name)]
    if foreign:
        raise RecordingError(
            f"{folder} is not deleted: {min(foreign)!r} in it is no part of a "
            "recording. Move it away, or record under another name."
        )
