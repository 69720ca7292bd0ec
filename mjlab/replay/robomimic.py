"""Convert recordings to the HDF5 layout of robomimic."""

import json
from pathlib import Path
from typing import Any

import torch

from mjlab.files import make_folders, move_durably, temporary_beside
from mjlab.recording.hdf5 import LIBVER, require_h5py
from mjlab.recording.reader import RecordedEpisode, Recording
from mjlab.replay.replay import ReplayError

ROBOMIMIC_VERSION = 1


class RobomimicFile:
    """Demonstrations in the layout that robomimic and other imitation libraries read.

        data                     attrs: total, env_args (JSON), format_version
        data/demo_<i>            attrs: num_samples, seed, success
        data/demo_<i>/actions    a row per step, like rewards, dones and states
        data/demo_<i>/obs/...    observations before each action
        data/demo_<i>/next_obs/... observations after each action

    `states` has the states before each action: the engine's state if it was recorded,
    otherwise the concatenated states of the entities.
    """

    def __init__(self, path: str | Path) -> None:
        """Set the output file, which is replaced if the conversion succeeds."""
        self.path = Path(path)
        """Output file."""

    def write(self, recording: Recording) -> None:
        """Convert all episodes of a recording."""
        if self.path.resolve() == recording.path.resolve():
            raise ReplayError(
                f"{self.path} is the recording itself. Name another file."
            )
        make_folders(self.path.parent)
        unfinished = temporary_beside(self.path)
        try:
            with require_h5py().File(unfinished, "x", libver=LIBVER) as file:
                data = file.create_group("data")
                for number, episode in enumerate(recording):
                    _write_demo(data.create_group(f"demo_{number}"), episode)
                env_args = {
                    "env_name": recording.env_id,
                    "env_type": "mjlab",
                    "env_kwargs": dict(recording.env_kwargs),
                }
                data.attrs["total"] = sum(episode.length for episode in recording)
                data.attrs["env_args"] = json.dumps(env_args)
                data.attrs["format_version"] = ROBOMIMIC_VERSION
            move_durably(unfinished, self.path)
        finally:
            unfinished.unlink(missing_ok=True)


def _write_demo(demo: Any, episode: RecordedEpisode) -> None:
    demo.attrs["num_samples"] = episode.length
    for name in ("seed", "success"):
        if getattr(episode, name) is not None:
            demo.attrs[name] = getattr(episode, name)
    ended = episode.read("terminated") | episode.read("truncated")
    arrays = {
        "actions": episode.actions(),
        "rewards": episode.read("rewards"),
        "dones": ended.to(torch.uint8),
        "states": _states(episode)[: episode.length],
    }
    for name, value in episode.observations().items():
        arrays[f"obs/{name}"] = value[: episode.length]
        if len(value) > episode.length:
            arrays[f"next_obs/{name}"] = value[1:]
    for name, value in arrays.items():
        demo.create_dataset(
            name, data=value.numpy(), compression="gzip", fletcher32=True
        )


def _states(episode: RecordedEpisode) -> torch.Tensor:
    """Return the states of an episode, shape (T + 1, n)."""
    if "physics/sim.state" in episode:
        return episode.read("physics/sim.state")
    entities = episode.read_all("env_states")
    if not entities:
        raise ReplayError(
            f"{episode} has no states, which robomimic's layout requires: record with "
            "record_env_state=True."
        )
    return torch.cat([entities[name] for name in sorted(entities)], dim=1)
