"""Recording with a wrapper, dumps of faults, replay, and conversion of recordings.

`RecordEpisode` needs Gymnasium, which training does not, so it is imported when it is
first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mjlab.gym.record_episode import RecordEpisode as RecordEpisode


def __getattr__(name: str) -> Any:
    """Import the wrapper, now that it is asked for."""
    if name != "RecordEpisode":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("mjlab.gym.record_episode").RecordEpisode
