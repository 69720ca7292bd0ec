"""Write and read episodes as groups of an HDF5 file.

h5py's high-level interface needs half a millisecond to write a small array, and an
episode has about a dozen. So the low-level interface is used, types, shapes and storage
settings are reused, and the values from the start of an episode form one record.
"""

import importlib
import itertools
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.extras import missing
from mjlab.recording.config import RecordingError

FORMAT = "mjlab-episodes"
FORMAT_VERSION = 2

REMEDY = "Copy it again from its source, or record it again."
"""Advice in messages about damaged files."""

LIBVER = ("v110", "v110")
"""HDF5 file format of version 1.10, which is compact and has checksums of all
structures."""

_SMALL = 4096
"""Maximum size of an array that is stored in its header, bytes. Headers have
checksums."""

_MOST_OF_HEADER = 60_000
"""Maximum size of a record that is stored in its header, bytes."""

_CHUNK_BYTES = 2**24
"""Approximate size of a chunk, bytes. Each chunk has a checksum."""

_PART = re.compile(r"\d+\.h5")

_NUMBERS = itertools.count()

Attributes = Mapping[str, str | int | float | bool]
Arrays = Mapping[str, np.ndarray]
"""Arrays by path, such as "obs/actor"."""


def require_h5py() -> Any:
    """Return h5py; if it is missing, raise ImportError with the install command."""
    try:
        return importlib.import_module("h5py")
    except ImportError as error:
        raise ImportError(missing("Recording episodes", "h5py", "gym")) from error


def write_attributes(group: Any, attributes: Attributes) -> None:
    """Add attributes to a group or a file, with strings of fixed length.

    HDF5 stores strings of variable length in a heap without checksums, and hangs if it
    reads a damaged heap.
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
    """Return the attributes of a group or a file as Python strings and numbers."""
    return {
        name: value.decode() if isinstance(value, bytes) else np.asarray(value).item()
        for name, value in group.attrs.items()
    }


def is_recording(path: Path) -> bool:
    """Return whether a file is a recording, of any format version."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with require_h5py().File(path, "r", locking=False) as file:
            return read_attributes(file).get("format") == FORMAT
    except (OSError, RuntimeError, ValueError):  # h5py raises these for damaged files.
        return False


def episode_name(number: int) -> str:
    """Return the name of an episode's group."""
    return f"traj_{number}"


def episode_numbers(file: Any) -> list[int]:
    """Return the numbers of the episodes in an open file, ascending."""
    names = [name.removeprefix("traj_") for name in file if name.startswith("traj_")]
    return sorted(int(name) for name in names if name.isdigit())


def part_files(path: Path) -> list[Path]:
    """Return the parts of an unfinished recording, in order."""
    folder = path.with_suffix(".parts")
    if folder.is_symlink():
        raise RecordingError(f"{folder} is a link, which is not followed.")
    found = sorted(each for each in folder.glob("*.h5") if _PART.fullmatch(each.name))
    if not found:
        raise RecordingError(f"The recording {path} does not exist.")
    linked = next((each for each in found if each.is_symlink()), None)
    if linked is not None:
        raise RecordingError(f"{linked} is a link, which is not followed.")
    return found


def open_episode(file: Any, number: int, path: Path) -> Any:
    """Return the h5py group of an episode; raise if its data are in another file.

    HDF5 would open any file that a link or a dataset names, and wait forever on a pipe.
    So links and storage are checked before they are followed.

    Args:
        file: h5py file, open for reading.
        number: Number of the episode.
        path: Path of the file, for messages.

    Raises:
        RecordingError: If data are in another file.
    """
    h5py, name = require_h5py(), episode_name(number)
    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise _elsewhere(path, name)
    group = file[name]
    if not isinstance(group, h5py.Group):
        raise RecordingError(f"{path}: {name} is not a group, so it is not an episode.")
    _check_data(group, path)
    return group


def check_dataset(item: Any, path: Path) -> None:
    """Raise if an open dataset stores its data in another file."""
    h5py = require_h5py()
    storage = item.get_create_plist()
    is_virtual = storage.get_layout() == h5py.h5d.VIRTUAL
    if is_virtual or storage.get_external_count():
        raise _elsewhere(path, os.fsdecode(h5py.h5i.get_name(item)).lstrip("/"))


def _check_data(group: Any, path: Path) -> None:
    """Raise if a link or a dataset below a group leads to another file."""
    h5py = require_h5py()
    names: list[bytes] = []

    def look(name: bytes, info: Any) -> bytes | None:
        names.append(name)
        return None if info.type == h5py.h5l.TYPE_HARD else name

    link = group.id.links.visit(look, info=True)
    if link is not None:
        raise _elsewhere(path, f"{group.name.lstrip('/')}/{os.fsdecode(link)}")
    for name in names:
        found = h5py.h5o.open(group.id, name)
        if isinstance(found, h5py.h5d.DatasetID):
            check_dataset(found, path)


def _elsewhere(path: Path, name: str) -> RecordingError:
    return RecordingError(
        f"{path}: {name!r} is a link, virtual, or stored in another file. A recording "
        "must contain its own data, so it is not read."
    )


class FileInMemory:
    """HDF5 file in memory, whose bytes can be written to disk in a single write."""

    def __init__(self, attributes: Attributes) -> None:
        """Create a file with these attributes."""
        h5py = require_h5py()
        self.file = h5py.File(
            f"memory {next(_NUMBERS)}",  # HDF5 identifies files by name.
            "w",
            driver="core",
            backing_store=False,
            libver=LIBVER,
            block_size=1 << 20,
        )
        write_attributes(self.file, attributes)

    def image(self) -> bytes:
        """Return the bytes of the file."""
        self.file.flush()
        return self.file.id.get_file_image()

    def close(self) -> None:
        """Close the file and free its memory."""
        self.file.close()


class EpisodeEncoder:
    """Writes episodes as groups of an HDF5 file."""

    def __init__(self) -> None:
        """Create the storage settings."""
        self._h5 = h5py = require_h5py()
        self._in_header = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        self._in_header.set_layout(h5py.h5d.COMPACT)
        self._chunked = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        self._chunked.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        self._chunked.set_fletcher32()
        self._contiguous = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        self._types: dict[np.dtype, Any] = {}
        self._spaces: dict[tuple[int, ...], Any] = {}

    def write(
        self, file: Any, number: int, arrays: Arrays, attributes: Attributes
    ) -> None:
        """Write an episode as the group `traj_<number>`.

        Args:
            file: h5py file, open for writing.
            number: Number of the episode, also written as attribute "episode_id".
            arrays: Arrays by path in the episode.
            attributes: Attributes of the episode.
        """
        name = episode_name(number).encode()
        groups = {"": self._h5.h5g.create(file.id, name)}
        for path, value in arrays.items():
            folder, _, name = path.rpartition("/")
            self.write_array(self._group(groups, folder), name, value)
        for key, value in {"episode_id": number, **attributes}.items():
            if isinstance(value, str):
                write_attributes(self._h5.Group(groups[""]), {key: value})
            else:
                self._describe(groups[""], key, value)

    def write_array(self, group: Any, name: str, value: np.ndarray) -> None:
        """Write an array as a dataset of a group, which is given by its h5py id."""
        h5d, h5s = self._h5.h5d, self._h5.h5s
        space = self._spaces.get(value.shape)
        if space is None:
            shape = value.shape
            space = h5s.create_simple(shape) if shape else h5s.create(h5s.SCALAR)
            self._spaces[shape] = space
        kind = self._type(value.dtype)
        storage = self._storage(value)
        dataset = h5d.create(group, name.encode(), kind, space, storage)
        if value.size:
            dataset.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(value), kind)

    def _storage(self, value: np.ndarray) -> Any:
        """Return the storage settings of an array.

        Small arrays are stored in the header, others in chunks, both with checksums.
        Large records are contiguous and have no checksum.
        """
        if value.nbytes <= (_SMALL if value.shape else _MOST_OF_HEADER):
            return self._in_header
        if not value.shape:
            return self._contiguous
        rows = max(1, min(len(value), _CHUNK_BYTES * len(value) // value.nbytes))
        self._chunked.set_chunk((rows, *value.shape[1:]))
        return self._chunked

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

    def _describe(self, group: Any, key: str, value: float) -> None:
        array = np.array(value)
        kind = self._type(array.dtype)
        h5s = self._h5.h5s
        space = self._spaces.setdefault((), h5s.create(h5s.SCALAR))
        self._h5.h5a.create(group, key.encode(), kind, space).write(array)


def as_record(arrays: Arrays) -> np.ndarray:
    """Pack arrays into one NumPy record.

    Empty arrays are omitted, because HDF5 does not support them in records.
    """
    kept = {name: value for name, value in arrays.items() if value.nbytes}
    members = [(name, value.dtype, value.shape) for name, value in kept.items()]
    record = np.zeros((), np.dtype(members))
    for name, value in kept.items():
        record[name] = value
    return record


def with_records(arrays: Arrays) -> dict[str, np.ndarray]:
    """Pack the arrays of each folder into one record. Other arrays are unchanged."""
    folders: dict[str, dict[str, np.ndarray]] = {}
    found: dict[str, np.ndarray] = {}
    for path, value in arrays.items():
        folder, slash, name = path.partition("/")
        if slash:
            folders.setdefault(folder, {})[name] = value
        else:
            found[path] = value
    return found | {folder: as_record(parts) for folder, parts in folders.items()}
