"""A dump, read back."""

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mjlab.faults.files import FORMAT
from mjlab.schema import read_object

_RECORD = {"format": int, "worlds": list[dict[str, Any]]}
_WORLD = re.compile(r"world_\d+\.npz")
_REMEDY = "Copy it once more from the run, or name another."


class DumpError(ValueError):
    """A folder that is no dump, or a dump that cannot be replayed here."""


@dataclass(frozen=True)
class Recording:
    """One world of a dump."""

    path: Path
    """Folder of the dump."""

    record: dict[str, Any]
    """What `dump.json` says."""

    about: dict[str, Any]
    """What it says of this world."""

    steps: dict[str, np.ndarray]
    """What was recorded, by field, a row for each step."""

    rows: dict[str, np.ndarray]
    """This world's part of the state before the first step, by name, shape (1, ...)."""

    wholes: dict[str, np.ndarray]
    """The state before the first step that worlds share, by name."""

    config_text: str
    """The run's configuration."""

    @property
    def length(self) -> int:
        """Recorded steps."""
        return len(self.steps["wrong"])

    @property
    def world(self) -> int:
        """The world's number in its run's process."""
        return self.about["world"]

    @property
    def others(self) -> list[str]:
        """Files of the dump's other worlds."""
        files = [world["file"] for world in self.record["worlds"]]
        return [file for file in files if file != self.about["file"]]

    @property
    def start(self) -> int:
        """The environment's step before the first one."""
        return self.record["steps"][0]

    def model(self) -> mujoco.MjModel:
        """The compiled model, without what is the world's own."""
        return mujoco.MjModel.from_binary_path(str(self.path / "model.mjb"))


def load_recording(place: Path) -> Recording:
    """Read a world of a dump.

    Args:
        place: A dump's folder, of which the world that went wrong first is taken, or
            the file of a world in it.
    """
    place = Path(place)
    folder = place.parent if place.suffix == ".npz" else place
    file = folder / "dump.json"
    if not file.is_file():
        raise DumpError(f"{folder} is no dump: it has no dump.json.")
    record = read_object(file, _RECORD, DumpError, remedy=_REMEDY)
    if record["format"] > FORMAT:
        raise DumpError(
            f"{folder} is of format {record['format']}; this version reads up to "
            f"{FORMAT}."
        )
    worlds = {world.get("file"): world for world in record["worlds"]}
    for named in worlds:
        if not isinstance(named, str) or not _WORLD.fullmatch(named):
            raise DumpError(
                f"{file} is damaged: it names {named!r} as the file of a world. "
                f"{_REMEDY}"
            )
    if not worlds:
        raise DumpError(f"{file} is damaged: it names no world. {_REMEDY}")
    name = place.name if place.suffix == ".npz" else next(iter(worlds))
    if name not in worlds:
        listed = ", ".join(worlds)
        raise DumpError(f"{folder} has no world {name!r}. It has {listed}.")
    arrays = _read(folder / name)
    return Recording(
        path=folder,
        record=record,
        about=worlds[name],
        steps=_part(arrays, "recorded/"),
        rows=_part(arrays, "start/row/"),
        wholes=_part(arrays, "start/whole/"),
        config_text=(folder / "config.json").read_text("utf-8"),
    )


def _read(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DumpError(f"{path} cannot be read: {error}.") from error


def _part(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
