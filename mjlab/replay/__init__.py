"""Recording with a wrapper, dumps of faults, replay, and conversion of recordings.

`RecordEpisode` needs Gymnasium, which training does not need, so it is imported at its
first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mjlab.replay.record_episode import RecordEpisode as RecordEpisode


def __getattr__(name: str) -> Any:
    """Import the wrapper at its first use."""
    if name != "RecordEpisode":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.record_episode").RecordEpisode
