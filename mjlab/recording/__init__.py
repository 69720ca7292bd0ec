"""Episodes in files: rows on the device, a writer beside, HDF5 that a kill spares.

What needs torch or h5py is imported when it is first used, so that the process that
writes starts quickly.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mjlab.recording.config import RecordingCfg as RecordingCfg
    from mjlab.recording.config import RecordingError as RecordingError
    from mjlab.recording.episode_recording import EpisodeRecording as EpisodeRecording
    from mjlab.recording.episode_store import merge as merge
    from mjlab.recording.episode_store import read_index as read_index

_LAZY = {
    "RecordingCfg": "config",
    "RecordingError": "config",
    "merge": "episode_store",
    "read_index": "episode_store",
    "EpisodeRecording": "episode_recording",
}


def __getattr__(name: str) -> Any:
    """Import a part when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
