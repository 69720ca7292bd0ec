"""Episodes in the layout of robomimic, as other programs for imitation read it.

    data                     attrs: total, env_args (JSON), format_version
    data/demo_<i>            attrs: num_samples, seed, success
    data/demo_<i>/actions    one row for each step, as are rewards, dones and states
    data/demo_<i>/obs/...    what was observed before each action
    data/demo_<i>/next_obs/... what was observed after it

`states` are those before each action: the engine's own state where that was recorded,
and otherwise the states of the entities side by side.
"""

import json
from pathlib import Path
from typing import Any

import torch

from mjlab.files import move_durably
from mjlab.recording.hdf5 import LIBVER, require_h5py
from mjlab.recording.reader import RecordedEpisode
from mjlab.replay.replay import Replay, Replayed
from mjlab.replay.replay_file import check_groups, chosen_observations

FORMAT_VERSION = 1


class RobomimicFile:
    """A file in the layout of robomimic. It has its name once it is whole."""

    def __init__(
        self,
        path: str | Path,
        replay: Replay,
        *,
        groups: tuple[str, ...] | None = None,
    ) -> None:
        """Begin a file.

        Args:
            path: The file, `<folder>/<name>.hdf5`.
            replay: What gives the episodes.
            groups: Observation groups to write. None writes all.
        """
        self.path = Path(path)
        """The file."""
        self.groups = check_groups(replay, groups)
        self._replay = replay
        self._unfinished = self.path.with_name(f"{self.path.name}.tmp")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = require_h5py().File(self._unfinished, "w", libver=LIBVER)
        self._data = self._file.create_group("data")
        self._samples = self._demos = 0

    def add(self, replayed: Replayed) -> None:
        """Write an episode. Demonstrations are numbered as they come."""
        episode, values = replayed.episode, replayed.values
        length = episode.length
        demo = self._data.create_group(f"demo_{self._demos}")
        demo.attrs["num_samples"] = length
        if episode.seed is not None:
            demo.attrs["seed"] = episode.seed
        if episode.success is not None:
            demo.attrs["success"] = episode.success
        _write(demo, "actions", values["actions"])
        _write(demo, "rewards", values["rewards"])
        ended = values["terminated"] | values["truncated"]
        _write(demo, "dones", ended.to(torch.uint8))
        _write(demo, "states", _states(replayed)[:length])
        for name, value in chosen_observations(replayed, self.groups).items():
            _write(demo, f"obs/{name}", value[:-1])
            _write(demo, f"next_obs/{name}", value[1:])
        self._demos += 1
        self._samples += length

    def close(self) -> None:
        """Finish the file."""
        recording = self._replay.recording
        env_args = {
            "env_name": recording.env_id,
            "env_type": "mjlab",
            "env_kwargs": dict(recording.env_kwargs),
        }
        self._data.attrs["total"] = self._samples
        self._data.attrs["env_args"] = json.dumps(env_args)
        self._data.attrs["format_version"] = FORMAT_VERSION
        self._file.close()
        move_durably(self._unfinished, self.path)

    def drop(self) -> None:
        """Leave no file."""
        self._file.close()
        self._unfinished.unlink(missing_ok=True)


def _states(replayed: Replayed) -> torch.Tensor:
    episode: RecordedEpisode = replayed.episode
    if "physics/sim.state" in episode:
        return episode.read("physics/sim.state")
    names = sorted(k for k in replayed.values if k.startswith("env_states/"))
    return torch.cat([replayed.values[name] for name in names], dim=1)


def _write(group: Any, path: str, value: torch.Tensor) -> None:
    values = value.cpu().numpy()
    group.create_dataset(path, data=values, compression="gzip", fletcher32=True)
