"""Record with a wrapper, dump faults, and replay and convert recordings.

`RecordEpisode` is imported at its first use, because it needs Gymnasium and training
does not.
"""

from typing import TYPE_CHECKING

from mjlab.lazy import imported_on_use

if TYPE_CHECKING:
    from mjlab.gym.record_episode import RecordEpisode as RecordEpisode


__getattr__ = imported_on_use(__name__, __file__)
