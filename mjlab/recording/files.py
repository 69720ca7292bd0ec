"""Files of a recording: parts while it is written, one file when it is finished.

    <name>.parts/   while recording: HDF5 files with a few episodes each
    <name>.h5       finished: all episodes
    <name>.json     finished: a list of the episodes for other programs

An HDF5 file cannot be read if a process was killed while it wrote the file. So no file
is changed in place: each file is built in memory, written under a temporary name, and
renamed when it is complete and on disk. Parts are deleted after the file that replaces
them is on disk.
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mjlab.files import (
    create_beside,
    make_folders,
    move_durably,
    one_line,
    reading,
    sync,
    temporary_beside,
    write_atomic,
    write_text,
)
from mjlab.recording.config import RecordingError
from mjlab.recording.hdf5 import (
    FORMAT,
    FORMAT_VERSION,
    LIBVER,
    REMEDY,
    Arrays,
    Attributes,
    EpisodeEncoder,
    FileInMemory,
    episode_name,
    episode_numbers,
    is_recording,
    open_episode,
    part_files,
    read_attributes,
    require_h5py,
    write_attributes,
)

PART_BYTES = 8 * 2**20
"""Approximate maximum size of a part, bytes."""

SAVE_S = 1.0
"""Maximum time from the end of an episode until it is written to disk, s."""

_UNFINISHED_PART = re.compile(r"\d+\.h5(\.[0-9a-f]+\.tmp)?")

Say = Callable[[str], None]


class EpisodeFile:
    """Episode file that is being written."""

    def __init__(
        self,
        path: Path,
        *,
        attributes: Attributes,
        about: Mapping[str, Any],
        say: Say,
    ) -> None:
        """Start a file. A recording of this name is replaced.

        Args:
            path: File to write, `<folder>/<name>.h5`.
            attributes: Attributes of the file.
            about: Entries of the JSON file besides the episodes.
            say: Called once with a message if the disk is full.

        Raises:
            RecordingError: If a file of this name is not part of a recording, or the
                folder cannot be written.
        """
        self.path = path
        """Path of the finished file."""
        self.num_episodes = 0
        """Number of episodes on disk."""
        self.num_lost = 0
        """Number of episodes that were lost because of a full disk."""
        self._attributes = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "about": json.dumps(about),
            **attributes,
        }
        self._say = say
        self._has_said = False
        self._encoder = EpisodeEncoder()
        self._parts = path.with_suffix(".parts")
        check_writable(path)
        _delete(path)
        make_folders(self._parts)
        self._memory: FileInMemory | None = FileInMemory(self._attributes)
        self._unsaved = self._bytes = 0
        self._since = 0.0
        # Write an empty part, to detect a folder without write access now. The first
        # part with episodes replaces it.
        self._write_part(self._memory)

    @property
    def seconds_left(self) -> float | None:
        """Time until episodes in memory must be saved, s. None if there are none."""
        if not self._unsaved:
            return None
        return max(0.0, self._since + SAVE_S - time.monotonic())

    def add(self, arrays: Arrays, attributes: Attributes) -> None:
        """Add an episode. Disk errors lose the episode, but do not end the run."""
        if self._memory is None:
            self._memory = FileInMemory(self._attributes)
        if not self._unsaved:
            self._since = time.monotonic()
        number = self.num_episodes + self._unsaved
        try:
            self._encoder.write(self._memory.file, number, arrays, attributes)
        except BaseException:
            # HDF5 cannot remove the incomplete episode, so discard the unsaved part.
            self._forget()
            raise
        self._unsaved += 1
        self._bytes += sum(value.nbytes for value in arrays.values())
        if self._bytes >= PART_BYTES:
            self.save()

    def save(self) -> None:
        """Write the episodes in memory to disk, as one part."""
        if self._memory is None or not self._unsaved:
            return
        try:
            self._write_part(self._memory)
            self.num_episodes += self._unsaved
        except OSError as error:
            self.num_lost += self._unsaved
            if not self._has_said:
                self._has_said = True
                self._say(
                    f"{self.path} cannot be written: {one_line(error)}. The "
                    f"{self.num_episodes} episodes on disk are kept; episodes that end "
                    "while there is no space are lost. The run continues."
                )
        self._forget()

    def finish(self, *, clean: bool = True) -> None:
        """Join all parts to one file, and write the list of episodes.

        Args:
            clean: Whether to omit episodes without steps, and renumber the others.
        """
        self.leave()
        merge(self.path, clean=clean, say=self._say)

    def leave(self) -> None:
        """Save, and stop without joining the parts."""
        self.save()
        self._forget()

    def drop(self) -> None:
        """Delete the unfinished recording."""
        self._forget()
        _remove_parts(self._parts)

    def _forget(self) -> None:
        """Discard the episodes in memory."""
        memory, self._memory = self._memory, None
        self._unsaved = self._bytes = 0
        if memory is not None:
            memory.close()

    def _write_part(self, memory: FileInMemory) -> None:
        image = memory.image()
        part = self._parts / f"{self.num_episodes:08d}.h5"
        write_atomic(part, lambda file: file.write(image))


def merge(path: Path, *, clean: bool = True, say: Say = lambda text: None) -> bool:
    """Join the parts of a recording to one file, and write the list of episodes.

    Closing a recording also joins its parts. Call this function if a recording was
    interrupted. `Recording` can also read parts that are not joined.

    Args:
        path: File of the recording, `<folder>/<name>.h5`.
        clean: Whether to omit episodes without steps, and renumber the others.
        say: Called with the reason if the parts cannot be joined.

    Returns:
        True if the file is complete, False if the parts remain because the disk is
        full.

    Raises:
        RecordingError: If there is no recording, or a part has data in another file.
    """
    parts = path.with_suffix(".parts")
    try:
        # An existing file is complete, so remaining parts are obsolete.
        index = read_index(path) if path.is_file() else _join(path, clean=clean)
    except OSError as error:
        say(
            f"The episodes of {path} remain in {parts}: they cannot be joined to one "
            f"file ({one_line(error)})."
        )
        return False
    try:
        _write_list(path.with_suffix(".json"), index)
        _remove_parts(parts)
    except (OSError, RecordingError) as error:
        say(f"{path} is complete. {error}")
    return True


def read_index(path: Path) -> dict[str, Any]:
    """Return the content of a recording's JSON list: origin and episode attributes.

    Args:
        path: File of the recording, `<folder>/<name>.h5`, which can be unfinished.
    """
    index: dict[str, Any] = {}
    episodes: list[dict[str, Any]] = []
    for part in [path] if path.is_file() else part_files(path):
        with (
            reading(str(part), RecordingError, REMEDY),
            require_h5py().File(part, "r", locking=False) as file,
        ):
            index = index or json.loads(read_attributes(file)["about"])
            episodes += [
                read_attributes(open_episode(file, number, part))
                for number in episode_numbers(file)
            ]
    return index | {"episodes": episodes}


def _join(path: Path, *, clean: bool) -> dict[str, Any]:
    """Copy the episodes of all parts to one file; return the JSON list's content."""
    parts, unfinished = part_files(path), temporary_beside(path)
    size = sum(part.stat().st_size for part in parts)
    free = shutil.disk_usage(path.parent).free
    if free < 1.05 * size + 2**16:
        raise OSError(f"{free} bytes are free, but the parts need {size}")
    entries: list[dict[str, Any]] = []
    try:
        with require_h5py().File(
            unfinished, "x", libver=LIBVER, locking=False
        ) as target:
            for part in parts:
                entries += _copy(part, target, len(entries), clean=clean)
            about = json.loads(read_attributes(target)["about"])
        move_durably(unfinished, path)
    except RecordingError:
        raise
    # HDF5 raises RuntimeError for a full disk.
    except RuntimeError as error:
        raise OSError(one_line(error)) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return about | {"episodes": entries}


def _copy(part: Path, target: Any, first: int, *, clean: bool) -> list[dict[str, Any]]:
    """Copy the episodes of a part to an open file; return their attributes."""
    h5py, entries = require_h5py(), []
    with h5py.File(part, "r", locking=False) as source:
        if not target.attrs:
            write_attributes(target, read_attributes(source))
        for old in episode_numbers(source):
            entry = read_attributes(open_episode(source, old, part))
            if clean and not entry["elapsed_steps"]:
                continue
            number = first + len(entries)
            names = [episode_name(each).encode() for each in (old, number)]
            h5py.h5o.copy(source.id, names[0], target.id, names[1])
            if number != old:
                target[episode_name(number)].attrs["episode_id"] = number
            entries.append(entry | {"episode_id": number})
    return entries


def _write_list(path: Path, index: dict[str, Any]) -> None:
    """Write the JSON list of episodes for other programs, one line per episode."""
    head = json.dumps({**index, "episodes": None}, indent=1).removesuffix("null\n}")
    listed = ",\n  ".join(json.dumps(entry) for entry in index["episodes"])
    write_text(path, f"{head}[\n  {listed}\n ]\n}}\n")


# --- Files that a new recording replaces ----------------------------------------------


def check_replaceable(path: Path) -> None:
    """Raise if a file that a recording would replace is not part of a recording.

    Args:
        path: File of the recording, `<folder>/<name>.h5`.
    """
    _check_parts(path.with_suffix(".parts"))
    sidecar, foreign = path.with_suffix(".json"), None
    if path.is_symlink() or (path.exists() and not is_recording(path)):
        foreign = path
    elif _exists(sidecar) and not (path.exists() and _is_list(sidecar)):
        foreign = sidecar  # A JSON list without its HDF5 file can be any file.
    if foreign is not None:
        raise RecordingError(
            f"{foreign} is not replaced: it is not a file of a recording. Move it, or "
            "record under another name."
        )


def check_writable(path: Path) -> None:
    """Create the folder of a recording; raise if the recording cannot be written."""
    check_replaceable(path)
    try:
        make_folders(path.parent)
        probe, file = create_beside(path)
        file.close()
        probe.unlink()
    except OSError as error:
        reason = error.strerror or one_line(error)
        raise RecordingError(f"{path} cannot be written: {reason}.") from error


def _delete(path: Path) -> None:
    """Delete a recording permanently."""
    _remove_parts(path.with_suffix(".parts"))
    for file in (path.with_suffix(".json"), path):
        file.unlink(missing_ok=True)
    # Sync, because an old file that a power cut restores would hide the new parts.
    sync(path.parent)


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _is_list(file: Path) -> bool:
    """Return whether a file is the JSON list of a recording's episodes."""
    if file.is_symlink() or not file.is_file():
        return False
    try:
        about = json.loads(file.read_text("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(about, dict) and {"episodes", "source_type"} <= about.keys()


def _remove_parts(folder: Path) -> None:
    """Delete a folder of parts; raise if it contains other files."""
    _check_parts(folder)
    if folder.is_dir():
        for file in folder.iterdir():
            file.unlink(missing_ok=True)
        folder.rmdir()


def _check_parts(folder: Path) -> None:
    """Raise if a folder is a symbolic link or contains files that are not part files.

    Part files hold the episodes of a recording until it is closed.
    """
    if folder.is_symlink():
        raise RecordingError(
            f"{folder} is not deleted: it is a link. Move it, or record under another "
            "name."
        )
    inside = [file.name for file in folder.glob("*")]
    foreign = [name for name in inside if not _UNFINISHED_PART.fullmatch(name)]
    if foreign:
        raise RecordingError(
            f"{folder} is not deleted: {min(foreign)!r} in it is not part of a "
            "recording. Move it, or record under another name."
        )
