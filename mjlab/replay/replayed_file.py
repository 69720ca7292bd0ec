"""Write replayed episodes to a new recording."""

from pathlib import Path
from typing import NoReturn

from mjlab.names import UnknownNameError, suggest
from mjlab.recording.files import EpisodeFile
from mjlab.recording.hdf5 import as_record
from mjlab.replay.replay import Replay, Replayed, ReplayError

_OF_FILE = ("format", "format_version", "about")
_RESULTS = ("rewards", "terminated", "truncated", "env_states")


class ReplayedFile:
    """Recording of replayed episodes, with observations of the replay.

    Initial states, actions and observations come from the replay. Other values are
    copied from the recording; values that were not recorded come from the replay.
    """

    def __init__(
        self, path: str | Path, replay: Replay, *, groups: tuple[str, ...] | None = None
    ) -> None:
        """Start a file.

        Args:
            path: File to write, `<folder>/<name>.h5`.
            replay: Replay that provides the episodes.
            groups: Observation groups to write. None writes all.
        """
        self.path = Path(path)
        """File of the new recording."""
        recording = replay.recording
        present = tuple(replay.env.observation_manager.groups)
        for name in groups or ():
            if name not in present:
                raise UnknownNameError(
                    f"There is no observation group {name!r}. {suggest(name, present)}"
                )
        if self.path.resolve() == recording.path.resolve():
            raise ReplayError(f"{path} is the recording to replay. Name another file.")
        self.groups = groups or present
        """Observation groups in the file."""
        info = dict(recording.about.get("env_info") or {})
        info["env_kwargs"] = {**recording.env_kwargs, "groups": list(self.groups)}
        attributes = {
            key: value
            for key, value in recording.attributes.items()
            if key not in _OF_FILE
        }
        self._file = EpisodeFile(
            self.path,
            attributes=attributes | {"step_dt": replay.env.step_dt},
            about=recording.about
            | {
                "env_info": info,
                "source_type": "replay",
                "source_desc": f"{recording.path}, by {replay.by}",
            },
            say=_refuse,
        )

    def add(self, replayed: Replayed) -> None:
        """Write an episode. Episodes are numbered in the order of writing."""
        recorded, values = replayed.episode.arrays(), replayed.values
        kinds = {path.partition("/")[0] for path in recorded}
        arrays = {
            path: value
            for path, value in recorded.items()
            if path.partition("/")[0] not in ("obs", "start", "actions")
        }
        for path, value in values.items():
            kind, _, name = path.partition("/")
            is_observed = kind == "obs" and name.split("/")[0] in self.groups
            is_missing = kind in _RESULTS and kind not in kinds
            if is_observed or is_missing or kind == "actions":
                arrays[path] = value.cpu().numpy()
        starts = {name: value.cpu().numpy() for name, value in replayed.start.items()}
        arrays["start"] = as_record(starts)
        attributes = dict(replayed.episode.attributes)
        del attributes["episode_id"]
        self._file.add(arrays, attributes)

    def close(self) -> None:
        """Finish the file."""
        self._file.finish()

    def drop(self) -> None:
        """Delete the file."""
        self._file.drop()


def _refuse(text: str) -> NoReturn:
    raise ReplayError(text)
