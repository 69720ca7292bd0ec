"""Replayed episodes as a new recording, with the observations of this time."""

import json
from pathlib import Path
from typing import Any

import torch

from mjlab.files import move_durably, write_text
from mjlab.names import UnknownNameError, suggest
from mjlab.recording.hdf5 import LIBVER, as_record, require_h5py
from mjlab.replay.replay import Replay, Replayed, ReplayError, Values

_OWN = ("obs", "start")
"""What is taken from the replay; all else is copied."""


class ReplayedFile:
    """A file like the one that was replayed. It has its name once it is whole."""

    def __init__(
        self,
        path: str | Path,
        replay: Replay,
        *,
        groups: tuple[str, ...] | None = None,
        attributes: dict[str, Any] | None = None,
    ) -> None:
        """Begin a file.

        Args:
            path: The file, `<folder>/<name>.h5`.
            replay: What gives the episodes.
            groups: Observation groups to write. None writes all.
            attributes: Attributes of the file that are others than the recording's.
        """
        self.path = Path(path)
        """The file."""
        if self.path.resolve() == replay.recording.path.resolve():
            raise ReplayError(
                f"{path} is the recording that is replayed. Name another."
            )
        self.groups = check_groups(replay, groups)
        self._replay = replay
        self._unfinished = self.path.with_name(f"{self.path.name}.tmp")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = require_h5py().File(self._unfinished, "w", libver=LIBVER)
        self._file.attrs.update(replay.recording.attributes | (attributes or {}))
        self._entries: list[dict[str, Any]] = []

    def add(self, replayed: Replayed) -> None:
        """Write an episode. Episodes are numbered as they come."""
        number = len(self._entries)
        old = replayed.episode
        group = self._file.create_group(f"traj_{number}")
        old.copy_to(group, without=_OWN)
        group.attrs["episode_id"] = number
        for name, value in chosen_observations(replayed, self.groups).items():
            path, values = f"obs/{name}", value.numpy()
            group.create_dataset(path, data=values, fletcher32=bool(values.size))
        starts = {name: value.cpu().numpy() for name, value in replayed.start.items()}
        group.create_dataset("start", data=as_record(starts))
        self._entries.append({key: _plain(v) for key, v in group.attrs.items()})

    def close(self) -> None:
        """Finish the file, and write its sidecar."""
        self._file.close()
        move_durably(self._unfinished, self.path)
        about = dict(self._replay.recording.about)
        info = dict(about.get("env_info") or {})
        info["env_kwargs"] = dict(info.get("env_kwargs") or {}, groups=self.groups)
        about |= {
            "env_info": info,
            "source_type": "replay",
            "source_desc": f"{self._replay.recording.path}, by {self._replay.by}",
            "episodes": self._entries,
        }
        text = json.dumps(about, indent=1) + "\n"
        write_text(self.path.with_suffix(".json"), text)

    def drop(self) -> None:
        """Leave no file."""
        self._file.close()
        self._unfinished.unlink(missing_ok=True)


def check_groups(replay: Replay, groups: tuple[str, ...] | None) -> tuple[str, ...]:
    """Names of observation groups that there are; all of them for None."""
    present = tuple(replay.env.observation_manager.groups)
    for name in groups or ():
        if name not in present:
            raise UnknownNameError(
                f"There is no observation group {name!r}. {suggest(name, present)}"
            )
    return groups or present


def chosen_observations(replayed: Replayed, groups: tuple[str, ...]) -> Values:
    """Observations of some groups by "<group>" or "<group>/<term>"."""
    seen: dict[str, torch.Tensor] = {
        path.removeprefix("obs/"): value
        for path, value in replayed.values.items()
        if path.startswith("obs/")
    }
    return {k: v for k, v in seen.items() if k.split("/")[0] in groups}


def _plain(value: Any) -> Any:
    """A NumPy number as Python's own."""
    return value.item() if not isinstance(value, str) else value
