"""Replay, convert and dump recorded episodes.

`RecordEpisode` is imported when it is first used, because it needs Gymnasium, which
training does not.
"""

from typing import TYPE_CHECKING

from mjlab.lazy import imported_on_use

if TYPE_CHECKING:
    from mjlab.gym.record_episode import RecordEpisode as RecordEpisode


__getattr__ = imported_on_use(__name__, __file__)
