"""Files of replayed episodes: a new recording, or demonstrations for robomimic."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from mjlab.files import move_durably, temporary_beside, write_text
from mjlab.names import UnknownNameError, suggest
from mjlab.recording.hdf5 import (
    LIBVER,
    as_record,
    require_h5py,
    write_attributes,
)
from mjlab.replay.replay import Replay, Replayed, ReplayError, Values

_OWN = ("obs", "start")
"""Parts that are taken from the replay; all else is copied."""

ROBOMIMIC_VERSION = 1


class _ReplayFile:
    """A file of episodes. It has its name once it is whole."""

    def __init__(
        self, path: str | Path, replay: Replay, *, groups: tuple[str, ...] | None = None
    ) -> None:
        """Begin a file.

        Args:
            path: The file.
            replay: The replay that gives the episodes.
            groups: Observation groups to write. None writes all.
        """
        self.path = Path(path)
        """The file."""
        present = tuple(replay.env.observation_manager.groups)
        for name in groups or ():
            if name not in present:
                raise UnknownNameError(
                    f"There is no observation group {name!r}. {suggest(name, present)}"
                )
        if self.path.resolve() == replay.recording.path.resolve():
            raise ReplayError(
                f"{path} is the recording that is replayed. Name another."
            )
        self.groups = groups or present
        """Observation groups in the file."""
        self._replay = replay
        self._unfinished = temporary_beside(self.path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = require_h5py().File(self._unfinished, "x", libver=LIBVER)

    def close(self) -> None:
        """Finish the file."""
        self._file.close()
        move_durably(self._unfinished, self.path)

    def drop(self) -> None:
        """Leave no file."""
        self._file.close()
        self._unfinished.unlink(missing_ok=True)

    def _observations(self, values: Mapping[str, torch.Tensor]) -> Values:
        """Return observations of the groups by their path in the file."""
        return {
            path: value
            for path, value in values.items()
            if path.startswith("obs/") and path.split("/")[1] in self.groups
        }


class ReplayedFile(_ReplayFile):
    """A recording like the one that was replayed, with the observations of this time.

    It is called `<folder>/<name>.h5`, with a sidecar beside it.
    """

    def __init__(
        self, path: str | Path, replay: Replay, *, groups: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(path, replay, groups=groups)
        write_attributes(self._file, replay.recording.attributes)
        self._entries: list[dict[str, Any]] = []

    def add(self, replayed: Replayed) -> None:
        """Write an episode. Episodes are numbered as they come."""
        number = len(self._entries)
        group = self._file.create_group(f"traj_{number}")
        replayed.episode.copy_to(group, without=_OWN)
        group.attrs["episode_id"] = number
        for path, value in self._observations(replayed.values).items():
            values = value.numpy()
            group.create_dataset(path, data=values, fletcher32=bool(values.size))
        starts = {name: value.cpu().numpy() for name, value in replayed.start.items()}
        group.create_dataset("start", data=as_record(starts))
        about = {key: _plain(value) for key, value in group.attrs.items()}
        self._entries.append(about)

    def close(self) -> None:
        super().close()
        recording = self._replay.recording
        info = dict(recording.about.get("env_info") or {})
        info["env_kwargs"] = dict(info.get("env_kwargs") or {}, groups=self.groups)
        about = dict(recording.about) | {
            "env_info": info,
            "source_type": "replay",
            "source_desc": f"{recording.path}, by {self._replay.by}",
            "episodes": self._entries,
        }
        text = json.dumps(about, indent=1) + "\n"
        write_text(self.path.with_suffix(".json"), text)


class RobomimicFile(_ReplayFile):
    """Demonstrations as robomimic and other programs for imitation read them.

        data                     attrs: total, env_args (JSON), format_version
        data/demo_<i>            attrs: num_samples, seed, success
        data/demo_<i>/actions    one row for each step, as are rewards, dones and states
        data/demo_<i>/obs/...    observations before each action
        data/demo_<i>/next_obs/... observations after it

    `states` are those before each action: the engine's own state where that was
    recorded, and otherwise the states of the entities side by side.
    """

    def __init__(
        self, path: str | Path, replay: Replay, *, groups: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(path, replay, groups=groups)
        self._data = self._file.create_group("data")
        self._samples = self._demos = 0

    def add(self, replayed: Replayed) -> None:
        """Write an episode. Demonstrations are numbered as they come."""
        episode, values = replayed.episode, replayed.values
        demo = self._data.create_group(f"demo_{self._demos}")
        demo.attrs["num_samples"] = episode.length
        for name in ("seed", "success"):
            if getattr(episode, name) is not None:
                demo.attrs[name] = getattr(episode, name)
        ended = values["terminated"] | values["truncated"]
        arrays = {
            "actions": values["actions"],
            "rewards": values["rewards"],
            "dones": ended.to(torch.uint8),
            "states": _states(replayed)[: episode.length],
        }
        for name, value in self._observations(values).items():
            arrays |= {name: value[:-1], f"next_{name}": value[1:]}
        for name, value in arrays.items():
            data = value.cpu().numpy()
            demo.create_dataset(name, data=data, compression="gzip", fletcher32=True)
        self._demos += 1
        self._samples += episode.length

    def close(self) -> None:
        recording = self._replay.recording
        env_args = {
            "env_name": recording.env_id,
            "env_type": "mjlab",
            "env_kwargs": dict(recording.env_kwargs),
        }
        self._data.attrs["total"] = self._samples
        self._data.attrs["env_args"] = json.dumps(env_args)
        self._data.attrs["format_version"] = ROBOMIMIC_VERSION
        super().close()


def _states(replayed: Replayed) -> torch.Tensor:
    """Return the states of an episode, a row for each."""
    if "physics/sim.state" in replayed.episode:
        return replayed.episode.read("physics/sim.state")
    names = sorted(k for k in replayed.values if k.startswith("env_states/"))
    return torch.cat([replayed.values[name] for name in names], dim=1)


def _plain(value: Any) -> Any:
    """Return a NumPy number as Python's own."""
    return value.item() if not isinstance(value, str) else value
