"""Recording with a wrapper, dumps of faults, replay, and conversion of recordings.

`RecordEpisode` needs Gymnasium, which training does not need, so it is imported at its
first use.
"""

from typing import TYPE_CHECKING

from mjlab.lazy import imported_on_use

if TYPE_CHECKING:
    from mjlab.gym.record_episode import RecordEpisode as RecordEpisode


__getattr__ = imported_on_use(__name__, __file__)
