"""Recording of episodes, and replay of what was recorded."""

from mjlab.replay.record_episode import RecordEpisode as RecordEpisode
