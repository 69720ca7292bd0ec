"""Read recorded episodes. Tensors are loaded when they are accessed."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from mjlab import files
from mjlab.names import UnknownNameError, suggest
from mjlab.recording.config import RecordingError
from mjlab.recording.hdf5 import (
    FORMAT,
    FORMAT_VERSION,
    REMEDY,
    check_dataset,
    episode_name,
    episode_numbers,
    open_episode,
    part_files,
    read_attributes,
    require_h5py,
)
from mjlab.settings.objects import check_object

_MOST_OPEN = 32
"""Maximum number of part files that are open at a time."""

_ABOUT = {"env_info": {"env_id": str | None, "env_kwargs": dict[str, Any] | None}}

Tree = torch.Tensor | dict[str, "Tree"]
"""Tensor, or nested dictionary of tensors by name."""


def reading(place: str) -> AbstractContextManager[None]:
    """Convert errors about damaged data to `RecordingError` with the place."""
    return files.reading(place, RecordingError, REMEDY)


class RecordedEpisode:
    """Episode of a recording. Tensors have paths such as "obs/actor"."""

    def __init__(self, recording: "Recording", number: int) -> None:
        """Read the attributes of an episode.

        Args:
            recording: Recording of the episode, which must stay open.
            number: Number of the episode.
        """
        self._recording = recording
        self._records: dict[str, Any] = {}
        self.number = number
        """Number of the episode in the file."""
        with self._reading("its attributes"):
            found = read_attributes(self._group)
            self.attributes: dict[str, Any] = found
            """All attributes, as in the JSON list of episodes."""
            self.length = int(found["elapsed_steps"])
            """Number of steps."""
            self.world = int(found["world"])
            """Index of the world in which the episode was recorded."""
            self.seed: int | None = _optional(found, "episode_seed", int)
            """Seed of the world's random numbers. None if it was not recorded."""
            self.success: bool | None = _optional(found, "success", bool)
            """Whether the episode succeeded. None if the task does not define it."""
            self.fail: bool | None = _optional(found, "fail", bool)
            """Whether the episode failed. None if the task does not define it."""

    @property
    def _group(self) -> Any:
        return self._recording.group(self.number)

    @cached_property
    def names(self) -> list[str]:
        """Paths of all tensors of the episode, such as "obs/actor"."""
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
        """Return the tensor at a path. For most paths, the first dimension is steps."""
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
        """Return all tensors below a path, by their relative path such as "a/b.c"."""
        prefix = f"{path}/"
        below = [name for name in self.names if name.startswith(prefix)]
        return {name.removeprefix(prefix): self.read(name) for name in below}

    def read_tree(self, path: str) -> Tree:
        """Return the tensor at a path, or the tensors below it as a nested dict."""
        with self._reading(path):
            return self._tree(self._group[path], path)

    def actions(self) -> torch.Tensor:
        """Return the actions, shape (steps, total_action_dim)."""
        found = self.read_tree("actions")
        if isinstance(found, torch.Tensor):
            return found
        raise RecordingError(
            f"{self} stores actions by term. Replay it with --save to concatenate them."
        )

    def observations(self) -> dict[str, torch.Tensor]:
        """Return observations by "<group>", or "<group>/<term>" for separate terms.

        If a single group was recorded, its name comes from the environment's settings.
        """
        if "obs" not in self:
            return {}
        found = self.read_tree("obs")
        group = self._recording.group_name
        if isinstance(found, torch.Tensor):
            return {group or "actor": found}
        parts = self.read_all("obs")
        if group is None or group in found:
            return parts
        return {f"{group}/{name}": value for name, value in parts.items()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the stored arrays and records of the episode, by path."""
        found: dict[str, np.ndarray] = {}

        def note(path: str, item: Any) -> None:
            if not _is_group(item):
                found[path] = item[()]

        with self._reading("its arrays"):
            self._group.visititems(note)
        return {path: np.asarray(value) for path, value in found.items()}

    def _reading(self, place: str) -> AbstractContextManager[None]:
        return reading(f"{self}, {place},")

    def _of_record(self, path: str) -> Any:
        """Return the value at a path inside a record, None if there is none."""
        folder, _, name = path.partition("/")
        if folder not in self._records:
            group = self._group
            item = group[folder] if folder in group else group
            is_record = not _is_group(item) and item.dtype.names
            # Cache only after reading: damaged data must raise in every call.
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
        return f"Episode {self.number} of {self._recording.path}"


class Recording(Sequence[RecordedEpisode]):
    """Sequence of the episodes in a finished or unfinished recording.

    An unfinished recording has only the episodes that are on disk when it is opened.
    """

    def __init__(self, path: str | Path) -> None:
        """Open a recording. Call `close` afterwards, or use a `with` block.

        Args:
            path: File of the recording, `<folder>/<name>.h5`.

        Raises:
            RecordingError: If the file is missing, or is not a recording.
        """
        self.path = Path(path)
        """File of the recording."""
        self._open: OrderedDict[Path, Any] = OrderedDict()
        self._checked: dict[Path, set[int]] = {}
        files = [self.path] if self.path.is_file() else part_files(self.path)
        self._files: dict[int, Path] = {}
        try:
            with reading(str(self.path)):
                self.attributes: dict[str, Any] = read_attributes(self._file(files[0]))
                """HDF5 attributes of the (first) file."""
                self._check_format()
                self.about: dict[str, Any] = self._read_about()
                """Origin of the episodes, as in the JSON file."""
                for file in files:
                    numbers = episode_numbers(self._file(file))
                    self._files |= dict.fromkeys(numbers, file)
        except BaseException:
            # Close the files: HDF5 caches open files, even if they change on disk.
            self.close()
            raise

    @property
    def numbers(self) -> list[int]:
        """Numbers of the episodes in the recording."""
        return list(self._files)

    def group(self, number: int) -> Any:
        """Return the h5py group of an episode, which is valid until the next call."""
        path = self._files[number]
        file = self._file(path)
        if number not in self._checked[path]:
            open_episode(file, number, path)
            self._checked[path].add(number)
        return file[episode_name(number)]

    def array(self, name: str) -> np.ndarray:
        """Return an array that belongs to the whole file, such as a dump's "model"."""
        file = self._file(next(iter(self._files.values()), self.path))
        with reading(f"{self.path}, {name},"):
            if not isinstance(file.get(name, getlink=True), require_h5py().HardLink):
                raise RecordingError(f"{self.path} has no array {name!r}.")
            check_dataset(file[name].id, self.path)
            return np.asarray(file[name][()])

    def _file(self, path: Path) -> Any:
        """Return the open file at a path. At most `_MOST_OPEN` files stay open."""
        if path not in self._open:
            if len(self._open) == _MOST_OPEN:
                self._close_file(next(iter(self._open)))
            try:
                self._open[path] = require_h5py().File(path, "r", locking=False)
            except OSError as error:
                raise RecordingError(
                    f"{path} is not a recording: it is not an HDF5 file ({error})."
                ) from error
            self._checked[path] = set()
        self._open.move_to_end(path)
        return self._open[path]

    def _close_file(self, path: Path) -> None:
        self._open.pop(path).close()
        del self._checked[path]

    def _check_format(self) -> None:
        given = self.attributes.get("format")
        if given != FORMAT:
            raise RecordingError(
                f"{self.path} is not a recording of episodes: its attribute 'format' "
                f"is {given!r}, but must be {FORMAT!r}."
            )
        version = int(self.attributes.get("format_version", 0))
        if version != FORMAT_VERSION:
            raise RecordingError(
                f"{self.path} has format version {version}; this program supports only "
                f"version {FORMAT_VERSION}. Record it again."
            )

    def _read_about(self) -> dict[str, Any]:
        return check_object(
            str(self.attributes.get("about", "{}")),
            f"{self.path}, its attribute 'about',",
            {},
            RecordingError,
            remedy=REMEDY,
            optional=_ABOUT,
        )

    @property
    def env_id(self) -> str | None:
        """Task id, None if it was not recorded."""
        given = self.attributes.get("env_id") or self._env_info().get("env_id")
        return None if given is None else str(given)

    @property
    def env_kwargs(self) -> Mapping[str, Any]:
        """Arguments with which the recorded environment was made."""
        return self._env_info().get("env_kwargs") or {}

    @property
    def group_name(self) -> str | None:
        """Observation group of the policy, None if several groups were recorded."""
        given = self.env_kwargs.get("groups", "actor")
        return given if isinstance(given, str) else None

    @property
    def step_dt(self) -> float:
        """Control period of the recorded environment, s."""
        with reading(f"{self.path}, its attribute 'step_dt',"):
            return float(self.attributes["step_dt"])

    @property
    def backend(self) -> str | None:
        """Physics engine of the recorded environment, None if it was not recorded."""
        given = self.attributes.get("backend")
        return None if given is None else str(given)

    @property
    def env_cfg(self) -> str:
        """Configuration of the environment as text, "" if it was not recorded."""
        return str(self.attributes.get("env_cfg", ""))

    @property
    def seed(self) -> int | None:
        """Seed of the environment, None if it was not recorded."""
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
        """Return an episode by its number, which can differ from its index."""
        if number not in self.numbers:
            raise UnknownNameError(
                f"{self.path} has no episode {number}. {self._range()}"
            )
        return RecordedEpisode(self, number)

    def close(self) -> None:
        """Close all files. Can be called twice."""
        for path in list(self._open):
            self._close_file(path)

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


def _optional(attributes: Mapping[str, Any], name: str, kind: Any) -> Any:
    return kind(attributes[name]) if name in attributes else None


def _is_group(item: Any) -> bool:
    return not isinstance(item, require_h5py().Dataset)
