"""Episodes as groups of an HDF5 file, made with as few calls as it takes.

h5py's own interface needs half a millisecond for a small array. An episode has some
sixty of them, so types, shapes and settings are made once and used again, and what an
episode begins with is one record: each array of its own took 33 microseconds.
"""

import dataclasses
import importlib
import itertools
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.extras import missing
from mjlab.recording.config import RecordingError
from mjlab.recording.layout import CONTROL, Layout, RecordedField
from mjlab.safe_names import name_fault

FORMAT = "mjlab-episodes"
FORMAT_VERSION = 1

LIBVER = ("v110", "v110")
"""The format of HDF5 1.10: smaller and faster than the oldest, with checksums of all
that says where data lie, and any program of the last years reads it."""

_SMALL = 4096
"""Bytes up to which an array lies in its own header, under the header's checksum."""

_MOST_OF_HEADER = 60_000
"""Bytes that a header has room for at most, which what has no rows is given."""

_CHUNK_BYTES = 2**24
"""About how large a chunk with a checksum of its own is."""

PART = re.compile(r"\d+\.h5")
"""Names of the parts of a recording that goes on."""

_NUMBERS = itertools.count()

SEED = "episode_seed"
FLAGS = ("success", "fail")


def require_h5py() -> Any:
    """Return h5py, or raise an error that says what to install."""
    try:
        return importlib.import_module("h5py")
    except ImportError as error:
        raise ImportError(missing("Recording episodes", "h5py", "gym")) from error


def write_attributes(group: Any, attributes: Mapping[str, Any]) -> None:
    """Add attributes to a group or a file, texts with a length that is fixed.

    HDF5 keeps other texts in a heap without a checksum, and never comes back from
    reading one in which sizes are damaged.
    """
    text = require_h5py().string_dtype
    for name, value in attributes.items():
        if isinstance(value, str):
            data = value.encode()
            kind = text("utf-8", max(1, len(data)))
            group.attrs.create(name, data, dtype=kind)
        else:
            group.attrs[name] = value


def read_attributes(group: Any) -> dict[str, Any]:
    """Return the attributes of a group or a file."""
    return {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in group.attrs.items()
    }


def is_recording(path: Path) -> bool:
    """Return True for an HDF5 file that carries the mark of a recording."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with require_h5py().File(path, "r", locking=False) as file:
            return read_attributes(file).get("format") == FORMAT
    except (OSError, RuntimeError):  # HDF5 says by either that a file is damaged.
        return False


def open_episode(file: Any, name: str, path: Path) -> Any:
    """Open the group of an episode whose data all lie in the recording.

    HDF5 reads any file of the machine for a link or a dataset that names one, and waits
    for ever on a pipe. So links and storage are looked at before they are followed.

    Args:
        file: h5py's file, open for reading.
        name: The group's name, `traj_<number>`.
        path: The file's path. It may link to `<name>.parts/<number>.h5` beside it.

    Raises:
        RecordingError: If any of the data lie elsewhere.
    """
    h5py = require_h5py()
    link = file.get(name, getlink=True)
    if isinstance(link, h5py.ExternalLink) and link.path == f"/{name}":
        part = _part_of(link.filename, path)
        with h5py.File(part, "r", locking=False) as inner:
            link = inner.get(name, getlink=True)
    if not isinstance(link, h5py.HardLink):
        raise _elsewhere(path, name)
    group = file[name]
    if not isinstance(group, h5py.Group):
        raise RecordingError(f"{path}: {name} is no group, and so no episode.")
    _check_data(group, path)
    return group


def _part_of(named: str, path: Path) -> Path:
    """Return the part that a recording links to, in the folder of parts beside it."""
    folder, _, name = named.partition("/")
    part = path.parent / folder / name
    is_ours = name_fault(folder) is None and folder.endswith(".parts")
    is_ours &= PART.fullmatch(name) is not None and part.is_file()
    if not is_ours or os.path.realpath(part) != os.path.join(
        os.path.realpath(path.parent), folder, name
    ):
        raise RecordingError(
            f"{path} links to {named!r}, which is no part of a recording beside it. It "
            "is not read."
        )
    return part


def _check_data(group: Any, path: Path) -> None:
    """Raise if a link or a dataset below a group leads to another place."""
    h5py = require_h5py()
    names: list[bytes] = []

    def look(name: bytes, info: Any) -> bytes | None:
        names.append(name)
        return None if info.type == h5py.h5l.TYPE_HARD else name

    link = group.id.links.visit(look, info=True)
    if link is not None:
        raise _elsewhere(path, f"{group.name}/{os.fsdecode(link)}")
    for name in names:
        found = h5py.h5o.open(group.id, name)
        if isinstance(found, h5py.h5d.DatasetID):
            storage = found.get_create_plist()
            is_virtual = storage.get_layout() == h5py.h5d.VIRTUAL
            if is_virtual or storage.get_external_count():
                raise _elsewhere(path, f"{group.name}/{os.fsdecode(name)}")


def _elsewhere(path: Path, name: str) -> RecordingError:
    return RecordingError(
        f"{path}: the data of {name!r} are a link, virtual or stored in another file. "
        "A recording holds its data itself; it is not read."
    )


def as_record(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return arrays as one record, as files have the beginning of an episode.

    Those of no bytes are left out, since HDF5 has no place for them in a record.
    """
    kept = {name: value for name, value in arrays.items() if value.nbytes}
    members = [(name, value.dtype, value.shape) for name, value in kept.items()]
    record = np.zeros((), np.dtype(members))
    for name, value in kept.items():
        record[name] = value
    return record


def _records(fields: Iterable[RecordedField]) -> dict[str, np.dtype]:
    """Return types of the records that fields make, by the first part of their path."""
    found: dict[str, list[Any]] = {}
    for field in fields:
        folder, slash, name = field.name.partition("/")
        if slash and field.nbytes:
            found.setdefault(folder, []).append((name, field.dtype, field.shape))
    return {folder: np.dtype(members) for folder, members in found.items()}


class FileInMemory:
    """An HDF5 file in memory. Written to a disk as bytes, it cannot be half a file."""

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        """Begin a file with attributes."""
        h5py = require_h5py()
        self.file = h5py.File(
            f"memory {next(_NUMBERS)}",  # HDF5 knows files by their names.
            "w",
            driver="core",
            backing_store=False,
            libver=LIBVER,
            block_size=1 << 20,
        )
        write_attributes(self.file, attributes)

    def image(self) -> bytes:
        """Return the file as it would lie on a disk."""
        self.file.flush()
        return self.file.id.get_file_image()

    def close(self) -> None:
        """Let the memory go."""
        self.file.close()


@dataclasses.dataclass
class RawEpisode:
    """An episode of one world, as bytes."""

    world: int
    """The world."""

    beginning: np.ndarray
    """Row of the beginning, shape (bytes,)."""

    shared: np.ndarray
    """Row of what all worlds shared when it began, shape (bytes,)."""

    parts: list[np.ndarray] = dataclasses.field(default_factory=list)
    """Rows of the steps, each of shape (steps, bytes)."""

    def rows(self) -> np.ndarray:
        """Return all steps, shape (steps, bytes)."""
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)

    @property
    def num_steps(self) -> int:
        """Number of steps so far."""
        return sum(len(part) for part in self.parts)


class EpisodeEncoder:
    """Writes episodes as groups."""

    def __init__(self, steps: Layout, beginning: Layout, shared: Layout) -> None:
        """Prepare for rows of these layouts: types, shapes and settings."""
        self._h5 = h5py = require_h5py()
        self._steps, self._beginning, self._shared = steps, beginning, shared
        self._inline = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        self._inline.set_layout(h5py.h5d.COMPACT)
        self._apart = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        self._apart.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        self._apart.set_fletcher32()
        self._bare = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        starts = [f for f in (*beginning.fields, *shared.fields) if f.role == "start"]
        self._records = _records(starts)
        self._types: dict[np.dtype, Any] = {}
        self._spaces: dict[tuple[int, ...], Any] = {}

    def write(self, file: Any, number: int, episode: RawEpisode) -> dict[str, Any]:
        """Write an episode as `traj_<number>`; return its entry for the index."""
        steps = self._steps.read(episode.rows())
        beginning = self._beginning.read(episode.beginning)
        groups = {"": self._h5.h5g.create(file.id, b"traj_%d" % number)}
        for name, value in self._arrays(steps, beginning, episode).items():
            self._put(groups, name, value)
        about = self._about(number, episode, steps, beginning)
        for key, value in about.items():
            self._describe(groups[""], key, value)
        return about

    def _arrays(
        self, steps: np.ndarray, beginning: np.ndarray, episode: RawEpisode
    ) -> dict[str, np.ndarray]:
        """Return the arrays of an episode by their path."""
        arrays: dict[str, np.ndarray] = {}
        for field in self._steps.fields[len(CONTROL) :]:
            values = steps[field.name]
            if field.role == "state":
                values = np.concatenate((beginning[field.name][None], values))
            if field.role == "last":
                if not len(values):
                    continue
                values = values[-1]
            arrays[field.name] = values
        shared = self._shared.read(episode.shared)
        starts = {f.name: beginning[f.name] for f in self._beginning.fields}
        starts |= {f.name: shared[f.name] for f in self._shared.fields}
        for folder, dtype in self._records.items():
            arrays[folder] = record = np.zeros((), dtype)
            for name in dtype.names or ():
                record[name] = starts[f"{folder}/{name}"]
        plain = (f for f in self._beginning.fields if f.role == "start")
        return arrays | {f.name: starts[f.name] for f in plain if "/" not in f.name}

    def _about(
        self,
        number: int,
        episode: RawEpisode,
        steps: np.ndarray,
        beginning: np.ndarray,
    ) -> dict[str, Any]:
        names = [field.name for field in self._beginning.fields]
        about: dict[str, Any] = {"episode_id": number}
        if SEED in names:
            about[SEED] = int(beginning[SEED])
        about |= {"world": episode.world, "elapsed_steps": len(steps)}
        for flag in FLAGS:
            if flag in (steps.dtype.names or ()):
                about[flag] = bool(len(steps) and steps[flag][-1])
        return about

    def _put(self, groups: dict[str, Any], path: str, value: np.ndarray) -> None:
        h5d, h5s = self._h5.h5d, self._h5.h5s
        folder, _, name = path.rpartition("/")
        group = self._group(groups, folder)
        space = self._spaces.get(value.shape)
        if space is None:
            shape = value.shape
            space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
            self._spaces[shape] = space
        settings = self._settings(value)
        kind = self._type(value.dtype)
        dataset = h5d.create(group, name.encode(), kind, space, settings)
        if value.size:
            dataset.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(value), kind)

    def _settings(self, value: np.ndarray) -> Any:
        """Return the storage of an array: with a checksum, wherever HDF5 has one."""
        if value.nbytes <= (_SMALL if value.shape else _MOST_OF_HEADER):
            return self._inline
        if not value.shape:
            return self._bare
        rows = max(1, min(len(value), _CHUNK_BYTES * len(value) // value.nbytes))
        self._apart.set_chunk((rows, *value.shape[1:]))
        return self._apart

    def _group(self, groups: dict[str, Any], path: str) -> Any:
        if path not in groups:
            above, _, name = path.rpartition("/")
            parent = self._group(groups, above)
            groups[path] = self._h5.h5g.create(parent, name.encode())
        return groups[path]

    def _type(self, dtype: np.dtype) -> Any:
        if dtype not in self._types:
            self._types[dtype] = self._h5.h5t.py_create(dtype, logical=True)
        return self._types[dtype]

    def _describe(self, group: Any, key: str, value: int | bool) -> None:
        array = np.array(value)
        kind = self._type(array.dtype)
        h5s = self._h5.h5s
        space = self._spaces.setdefault((), h5s.create(h5s.SCALAR))
        self._h5.h5a.create(group, key.encode(), kind, space).write(array)
