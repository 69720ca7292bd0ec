"""Recording of episodes: one recorder, one HDF5 layout, and its reader.

`Recorder` takes steps from a source (recorder terms, the wrapper `RecordEpisode`) and
writes the episodes that a trigger selects. `Recording` reads them. Parts are imported
at their first use, because configurations need neither torch nor h5py.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mjlab.recording.config import RecordingCfg as RecordingCfg
    from mjlab.recording.config import RecordingError as RecordingError
    from mjlab.recording.files import merge as merge
    from mjlab.recording.files import read_index as read_index
    from mjlab.recording.reader import Recording as Recording
    from mjlab.recording.recorder import Recorder as Recorder

_LAZY = {
    "RecordingCfg": "config",
    "RecordingError": "config",
    "merge": "files",
    "read_index": "files",
    "Recording": "reader",
    "Recorder": "recorder",
}


def __getattr__(name: str) -> Any:
    """Import a part at its first use."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
