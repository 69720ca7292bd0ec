"""Recorded episodes, read back: each tensor when it is asked for."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import torch

from mjlab import files
from mjlab.names import UnknownNameError, suggest
from mjlab.recording.config import RecordingError
from mjlab.recording.episode_store import REMEDY, read_index
from mjlab.recording.hdf5 import (
    FORMAT,
    FORMAT_VERSION,
    open_episode,
    read_attributes,
    require_h5py,
)

Tree = torch.Tensor | dict[str, "Tree"]
"""One tensor, or several by name."""


def reading(place: str) -> AbstractContextManager[None]:
    """Answer what a damaged file causes with one line that names the place."""
    return files.reading(place, RecordingError, REMEDY)


class RecordedEpisode:
    """One episode of a file. Its tensors are by their path, such as "obs/actor"."""

    def __init__(self, group: Any) -> None:
        """Take over a group of a file that stays open.

        Args:
            group: h5py's group `traj_<number>`.
        """
        self._group = group
        self._records: dict[str, Any] = {}
        attributes = group.attrs
        self.number = int(attributes["episode_id"])
        """The episode's number in the file."""
        self.length = int(attributes["elapsed_steps"])
        """Steps."""
        self.world = int(attributes["world"])
        """The world that it was recorded in."""
        self.seed: int | None = _optional(attributes, "episode_seed", int)
        """The seed of the world's random numbers. None where none was recorded."""
        self.success: bool | None = _optional(attributes, "success", bool)
        """Success of the episode. None where the task does not say."""
        self.fail: bool | None = _optional(attributes, "fail", bool)
        """Failure of the episode. None where the task does not say."""

    @cached_property
    def names(self) -> list[str]:
        """Paths of all tensors."""
        found: list[str] = []

        def note(path: str, item: Any) -> None:
            if not _is_group(item):
                parts = item.dtype.names
                found.extend([f"{path}/{part}" for part in parts] if parts else [path])

        with self._reading("its names"):
            self._group.visititems(note)
        return found

    def __contains__(self, path: str) -> bool:
        with self._reading(path):
            return path in self._group or self._of_record(path) is not None

    def read(self, path: str) -> torch.Tensor:
        """Return one tensor; the first dimension of most is the step."""
        with self._reading(path):
            value = self._of_record(path)
            if value is None and path in self.names:
                value = self._group[path][()]
            if value is not None:
                return torch.as_tensor(value)
        raise UnknownNameError(
            f"{self} has no tensor {path!r}. {suggest(path, self.names)}"
        )

    def read_all(self, path: str) -> dict[str, torch.Tensor]:
        """Return all tensors below a path, by the rest of their paths.

        Dots in names stay as they are; parts of the path are joined by a slash.
        """
        prefix = f"{path}/"
        below = [name for name in self.names if name.startswith(prefix)]
        return {name.removeprefix(prefix): self.read(name) for name in below}

    def read_tree(self, path: str) -> Tree:
        """Return a tensor, or the tensors below a path by name as they are nested."""
        with self._reading(path):
            return self._tree(self._group[path], path)

    def copy_to(self, group: Any, *, without: Collection[str] = ()) -> None:
        """Copy tensors and attributes into a group of another file.

        Args:
            group: h5py's group.
            without: Parts that are left out, by the first part of their path.
        """
        for name in self._group:
            if name not in without:
                self._group.copy(name, group)
        group.attrs.update(self._group.attrs)

    def _reading(self, place: str) -> AbstractContextManager[None]:
        return reading(f"{self}, {place},")

    def _of_record(self, path: str) -> Any:
        """Return a part of a record, None where there is none of that name."""
        folder, _, name = path.partition("/")
        if folder not in self._records:
            item = self._group[folder] if folder in self._group else self._group
            is_record = not _is_group(item) and item.dtype.names
            # Damage is raised each time, and never remembered as nothing.
            self._records[folder] = item[()] if is_record else None
        record = self._records[folder]
        if record is None or name not in record.dtype.names:
            return None
        return record[name]

    def _tree(self, item: Any, path: str) -> Tree:
        if not _is_group(item):
            return self.read(path)
        return {name: self._tree(part, f"{path}/{name}") for name, part in item.items()}

    def __str__(self) -> str:
        return f"Episode {self.number} of {self._group.file.filename}"


class Recording(Sequence[RecordedEpisode]):
    """A file of episodes. One that was interrupted is read as far as it got."""

    def __init__(self, path: str | Path) -> None:
        """Open a file; `close`, or leaving a `with` block, closes it.

        Args:
            path: The file, `<folder>/<name>.h5`.

        Raises:
            RecordingError: For a file that is not there, or is no recording.
        """
        self.path = Path(path)
        """The file."""
        if not self.path.is_file():
            raise RecordingError(f"There is no recording {self.path}.")
        try:
            self._file = require_h5py().File(self.path, "r", locking=False)
        except OSError as error:
            raise RecordingError(
                f"{self.path} is no recording: it is not an HDF5 file ({error})."
            ) from error
        try:
            with reading(str(self.path)):
                self.attributes: dict[str, Any] = read_attributes(self._file)
                """Attributes of the file."""
                self._check_format()
                self.numbers = _numbers(self._file)
                """Numbers of the episodes that there are."""
        except BaseException:
            # HDF5 reads an open file from its cache, even if the disk changed.
            self.close()
            raise

    def _check_format(self) -> None:
        given = self.attributes.get("format")
        version = int(self.attributes.get("format_version", 0))
        if given == FORMAT and version <= FORMAT_VERSION:
            return
        if given == FORMAT:
            raise RecordingError(
                f"{self.path} is of version {version} of its format; this program "
                f"reads up to {FORMAT_VERSION}."
            )
        raise RecordingError(
            f"{self.path} is no recording of episodes: its attribute 'format' is "
            f"{given!r} and has to be {FORMAT!r}."
        )

    @cached_property
    def about(self) -> dict[str, Any]:
        """Content of the sidecar, or of the notes of an interrupted recording."""
        beside = [self.path.with_suffix(suffix) for suffix in (".json", ".jsonl")]
        if any(path.is_file() for path in beside):
            return read_index(self.path)
        return {"env_info": {"env_id": self.attributes.get("env_id")}, "episodes": []}

    @property
    def env_id(self) -> str | None:
        """The task's id, None where it was not recorded."""
        given = self.attributes.get("env_id") or self._env_info().get("env_id")
        return None if given is None else str(given)

    @property
    def env_kwargs(self) -> Mapping[str, Any]:
        """Settings that the environment was made with."""
        return self._env_info().get("env_kwargs") or {}

    @property
    def backend(self) -> str | None:
        """The engine that it was recorded on, None where that was not recorded."""
        given = self.attributes.get("backend")
        return None if given is None else str(given)

    @property
    def env_cfg(self) -> str:
        """The environment's configuration as text, empty where it was not recorded."""
        return str(self.attributes.get("env_cfg", ""))

    @property
    def seed(self) -> int | None:
        """The environment's own seed, None where it was not recorded."""
        given = self.attributes.get("seed", self.env_kwargs.get("seed"))
        with reading(f"{self.path}, its seed,"):
            return None if given is None else int(given)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self.episode(number) for number in self.numbers[index]]
        return self.episode(self.numbers[index])

    def __iter__(self) -> Iterator[RecordedEpisode]:
        return (self.episode(number) for number in self.numbers)

    def episode(self, number: int) -> RecordedEpisode:
        """Return the episode of a number."""
        if number not in self.numbers:
            raise UnknownNameError(
                f"{self.path} has no episode {number}. {self._range()}"
            )
        with reading(f"{self.path}, episode {number},"):
            return RecordedEpisode(
                open_episode(self._file, f"traj_{number}", self.path)
            )

    def close(self) -> None:
        """Close the file. Closing twice is harmless."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _range(self) -> str:
        if not self.numbers:
            return "It has none."
        first, last = self.numbers[0], self.numbers[-1]
        return f"It has {len(self.numbers)}: {first} to {last}."

    def _env_info(self) -> Mapping[str, Any]:
        return self.about.get("env_info") or {}


def _numbers(file: Any) -> list[int]:
    names = [name.removeprefix("traj_") for name in file if name.startswith("traj_")]
    return sorted(int(name) for name in names if name.isdigit())


def _optional(attributes: Mapping[str, Any], name: str, kind: Any) -> Any:
    return kind(attributes[name]) if name in attributes else None


def _is_group(item: Any) -> bool:
    return not isinstance(item, require_h5py().Dataset)
