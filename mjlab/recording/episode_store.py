"""The store of episodes: parts while a recording goes on, one plain file in the end.

    <name>.h5       while recording: a link to every episode; in the end, all of them
    <name>.parts/   files of a few episodes each, while recording
    <name>.jsonl    a line for each episode, while recording
    <name>.json     all about the episodes, in the end

An HDF5 file that is being written to cannot be read after a kill. So nothing here is
ever written to in place: a part and the file of links are made in memory, written under
another name, and renamed when they are whole and on disk. Nothing is deleted before
what stands for it is on disk, too.
"""

import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mjlab.files import (
    append_text,
    move_durably,
    one_line,
    sync,
    temporary_beside,
    write_atomic,
    write_text,
)
from mjlab.recording.config import RecordingError
from mjlab.recording.hdf5 import (
    LIBVER,
    PART,
    EpisodeEncoder,
    FileInMemory,
    RawEpisode,
    open_episode,
    read_attributes,
    require_h5py,
    write_attributes,
)
from mjlab.recording.overwriting import (
    RESERVE_BYTES,
    check_replaceable,
    remove_parts,
)
from mjlab.settings.objects import check_object, read_object

PART_BYTES = 8 * 2**20
"""Size to which a part grows, about."""

PUBLISH_S = 0.25
"""The file of links is written at most this often, s, and takes at most a fifth of the
writer's time however long it grows."""

REMEDY = "Copy it once more from where it was recorded, or record it again."
"""Advice about a file that is damaged."""

_LINE = {"episode_id": int, "elapsed_steps": int}
_ABOUT = {"env_info": {"env_id": str | None, "env_kwargs": dict[str, Any] | None}}

_ERRORS = (OSError, RuntimeError)  # HDF5 says by either that a disk is full.

Say = Callable[[str], None]


class EpisodeFile:
    """One file of episodes, and all that stands for it until it is whole."""

    def __init__(
        self,
        path: Path,
        encoder: EpisodeEncoder,
        *,
        attributes: Mapping[str, Any],
        about: Mapping[str, Any],
        say: Say,
    ) -> None:
        """Begin a file. A recording of this name is replaced.

        Args:
            path: The file, `<folder>/<name>.h5`.
            encoder: Writes an episode.
            attributes: Attributes of the file.
            about: Content of the sidecar besides the episodes.
            say: Tells the user, once, that the disk is full.

        Raises:
            RecordingError: If a file of this name is no recording's.
        """
        self.path = path
        """The file."""
        self.num_episodes = 0
        """Episodes that are written."""
        self.num_lost = 0
        """Episodes that found no room."""
        self._encoder = encoder
        self._attributes = attributes
        self._about = dict(about)
        self._say = say
        self._parts = path.with_suffix(".parts")
        self._lines = path.with_suffix(".jsonl")
        self._reserve = path.with_suffix(".reserve")
        self._has_said = False
        self._is_published = False
        self._published_at = self._cost = 0.0
        # The files of an earlier recording of this name. Its .h5, which says that the
        # others are a recording's, is there until an empty one replaces it.
        check_replaceable(path)
        remove_parts(self._parts)
        for file in (path.with_suffix(".json"), self._lines, self._reserve):
            file.unlink(missing_ok=True)
        self._links = FileInMemory(attributes)
        self.publish()
        write_text(self._lines, json.dumps(self._about) + "\n")
        write_atomic(self._reserve, lambda file: file.write(bytes(RESERVE_BYTES)))

    def add(self, episodes: Sequence[RawEpisode]) -> None:
        """Write episodes. A full disk loses them, and nothing else."""
        batch: list[RawEpisode] = []
        size = 0
        for episode in episodes:
            batch.append(episode)
            size += sum(part.nbytes for part in episode.parts)
            if size >= PART_BYTES:
                self._add_part(batch)
                batch, size = [], 0
        if batch:
            self._add_part(batch)

    def publish_when_due(self) -> None:
        """Make what was added reachable from the file, unless that was just done."""
        waited = time.monotonic() - self._published_at
        if not self._is_published and waited >= max(PUBLISH_S, 4.0 * self._cost):
            self.publish()

    def publish(self) -> None:
        """Make what was added reachable from the file."""
        start = time.monotonic()
        try:
            write_atomic(self.path, lambda file: file.write(self._links.image()))
        except OSError as error:
            self._complain(error)
            return
        self._is_published = True
        self._published_at = time.monotonic()
        self._cost = self._published_at - start

    def leave(self) -> None:
        """Stop as things are: links to parts."""
        self.publish()
        self._links.close()
        self._reserve.unlink(missing_ok=True)

    def finish(self, *, clean: bool) -> None:
        """Put all parts into one file, and write the sidecar.

        Args:
            clean: Whether episodes without steps are left out, and the others numbered
                anew.
        """
        self.leave()
        merge(self.path, clean=clean, say=self._say)

    def _add_part(self, episodes: Sequence[RawEpisode]) -> None:
        first = self.num_episodes
        part = self._parts / f"{first:08d}.h5"
        memory = FileInMemory(self._attributes)
        lines = [
            self._encoder.write(memory.file, first + index, episode)
            for index, episode in enumerate(episodes)
        ]
        image = memory.image()
        memory.close()
        text = "".join(json.dumps(line | {"part": part.name}) + "\n" for line in lines)
        size = self._lines.stat().st_size
        try:
            # A line without its part is passed over; a part without its line is lost.
            append_text(self._lines, text)
            write_atomic(part, lambda file: file.write(image))
        except OSError as error:
            part.unlink(missing_ok=True)
            os.truncate(self._lines, size)
            self.num_lost += len(episodes)
            self._complain(error)
            return
        links = self._links.file.id.links
        file = os.fsencode(f"{self._parts.name}/{part.name}")
        for line in lines:
            name = b"traj_%d" % line["episode_id"]
            links.create_external(name, file, b"/" + name)
        self.num_episodes += len(episodes)
        self._is_published = False

    def _complain(self, error: OSError) -> None:
        # What was kept free for the file of links and the sidecar.
        self._reserve.unlink(missing_ok=True)
        if not self._has_said:
            self._has_said = True
            self._say(
                f"{self.path} cannot be written to: {str(error).rstrip('.')}. The "
                f"{self.num_episodes} episodes that are written stay; those that end "
                "now are lost until there is room. The run goes on."
            )


def merge(path: Path, *, clean: bool = True, say: Say = lambda text: None) -> bool:
    """Make one plain file of the parts of a recording, and write its sidecar.

    A recording that is closed has been through this. One that was killed has not, and
    is as readable; this makes it lighter to carry.

    Args:
        path: The file, `<folder>/<name>.h5`.
        clean: Whether episodes without steps are left out, and the others numbered
            anew.
        say: Is told why there is no such file, if there is none.

    Returns:
        Whether there is one. If not, the parts stay, with links to them.

    Raises:
        RecordingError: If a part holds data that lie in another file.
    """
    parts, lines = path.with_suffix(".parts"), path.with_suffix(".jsonl")
    about, found = read_lines(lines)
    found = [entry for entry in found if _has_part(parts, entry)]
    chosen = [e for e in found if e["elapsed_steps"] > 0] if clean else found
    unfinished = temporary_beside(path)
    try:
        merged = _merged(path, parts, chosen, unfinished)
    except RecordingError:
        unfinished.unlink(missing_ok=True)
        raise
    except _ERRORS as error:
        unfinished.unlink(missing_ok=True)
        say(
            f"{path} stays a file of links to {parts}: there is no room for one file "
            f"of all ({one_line(error)})."
        )
        merged = False
    episodes = [
        {**entry, "episode_id": index if merged else entry["episode_id"]}
        for index, entry in enumerate(chosen if merged else found)
    ]
    _write_sidecar(path.with_suffix(".json"), about, episodes)
    lines.unlink(missing_ok=True)
    # Lines without parts would be merged once more, into a file of nothing.
    sync(path.parent)
    if merged:
        try:
            remove_parts(parts)
        except RecordingError as error:
            say(str(error))
    return merged


def read_index(path: Path) -> dict[str, Any]:
    """Return the sidecar's content: all about the episodes of a file, finished or not.

    Args:
        path: The file, `<folder>/<name>.h5`.
    """
    sidecar = _beside(path, ".json")
    if sidecar.is_file():
        kinds = {"episodes": list[dict[str, Any]]}
        return read_object(
            sidecar, kinds, RecordingError, remedy=REMEDY, optional=_ABOUT
        )
    parts = _beside(path, ".parts")
    about, found = read_lines(_beside(path, ".jsonl"))
    episodes = [e for e in found if "part" not in e or _has_part(parts, e)]
    return about | {"episodes": [_without_part(entry) for entry in episodes]}


def _beside(path: Path, suffix: str) -> Path:
    """Return a sidecar, which no link may lead away from the recording."""
    file = Path(path).with_suffix(suffix)
    if os.path.dirname(os.path.realpath(file)) != os.path.dirname(
        os.path.realpath(path)
    ):
        raise RecordingError(
            f"{file} is a link that leaves the folder of {path}: it is not followed. "
            "Put a copy in its place, or delete it."
        )
    return file


def read_lines(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the notes of an unfinished recording: on itself, and on each episode."""
    found: list[dict[str, Any]] = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path} cannot be read: {error}. {REMEDY}") from error
    for number, line in enumerate(lines, 1):
        where, kinds = f"{path}, line {number},", _LINE if found else {}
        optional = {"part": str} if found else _ABOUT
        try:
            found.append(
                check_object(
                    line, where, kinds, RecordingError, remedy=REMEDY, optional=optional
                )
            )
        except RecordingError:
            if number < len(lines):
                raise
            # The line at which a kill struck.
    return (found[0], found[1:]) if found else ({}, [])


def _has_part(parts: Path, entry: Mapping[str, Any]) -> bool:
    """Return True if the part of an episode is there."""
    return bool(PART.fullmatch(entry["part"])) and (parts / entry["part"]).exists()


def _merged(
    path: Path, parts: Path, chosen: Sequence[Mapping[str, Any]], unfinished: Path
) -> bool:
    size = sum(file.stat().st_size for file in parts.glob("*.h5"))
    free = shutil.disk_usage(path.parent).free
    if free < 1.05 * size + 2**16:
        raise OSError(f"{free} bytes are free, and the parts have {size}")
    h5py = require_h5py()
    with (
        h5py.File(path, "r", locking=False) as links,
        h5py.File(unfinished, "x", libver=LIBVER, locking=False) as target,
    ):
        write_attributes(target, read_attributes(links))
        for index, (entry, source) in enumerate(_opened(h5py, parts, chosen)):
            old, new = (f"traj_{i}".encode() for i in (entry["episode_id"], index))
            open_episode(source, old.decode(), parts / entry["part"])
            h5py.h5o.copy(source.id, old, target.id, new)
            if old != new:
                target[new.decode()].attrs["episode_id"] = index
    move_durably(unfinished, path)
    return True


def _opened(
    h5py: Any, parts: Path, chosen: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Yield episodes with the open file of each; one file is open at a time."""
    for name, entries in itertools.groupby(chosen, key=lambda entry: entry["part"]):
        with h5py.File(parts / name, "r", locking=False) as source:
            for entry in entries:
                yield entry, source


def _write_sidecar(
    path: Path, about: Mapping[str, Any], episodes: Sequence[Mapping[str, Any]]
) -> None:
    head = json.dumps(about, indent=1)[:-2]
    listed = ",\n  ".join(json.dumps(_without_part(entry)) for entry in episodes)
    text = f'{head},\n "episodes": [\n  {listed}\n ]\n}}\n'
    write_text(path, text)


def _without_part(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "part"}
