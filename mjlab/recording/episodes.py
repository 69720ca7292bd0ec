"""Split the recorded steps of all worlds into episodes."""

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mjlab.recording.hdf5 import with_records
from mjlab.recording.layout import CONTROL, Ending, RecordingLayout

FLAGS = ("success", "fail")
"""Outcomes whose value in the last step is an attribute of the episode."""

_HEAD = len(CONTROL)
_STEPPED, _ENDING, _BEGINS = range(_HEAD)

_OF_HELD = (Ending.REQUESTED, Ending.REQUESTED_EMPTY, Ending.DISCARDED)
"""Endings that concern the held episode of a world, if there is one."""

_WITHOUT_EPISODE = (Ending.CONTINUES, Ending.DROPPED, Ending.DISCARDED)
"""Endings that yield no episode."""

BLOCK_BYTES = 8 * 2**20
"""Approximate size of a block of steps in host memory, bytes."""

MOST_ROWS = 64
"""Maximum number of steps in a block."""


class Steps(NamedTuple):
    """Consecutive steps of all worlds."""

    rows: np.ndarray
    """Bytes of each step and world, shape (steps, num_envs, bytes)."""

    beginnings: np.ndarray
    """Bytes of the episode starts, shape (episodes, bytes), by step, then by world."""

    shared: np.ndarray
    """Bytes shared by all worlds, shape (steps, bytes). Valid in steps in which an
    episode starts."""

    def part(self, steps: slice, beginnings: slice) -> "Steps":
        """Return views of a range of steps and of a range of episode starts."""
        return Steps(self.rows[steps], self.beginnings[beginnings], self.shared[steps])


@dataclass
class Beginning:
    """Start of an episode."""

    row: int
    """Index of the episode's first step, counted from the start of the recording."""

    own: np.ndarray
    """Values of the world, shape (bytes,)."""

    shared: np.ndarray
    """Values shared by all worlds, shape (bytes,)."""


class Episode(NamedTuple):
    """A finished episode."""

    world: int
    """Index of the world."""

    begin: Beginning
    """Start of the episode."""

    rows: np.ndarray
    """Steps of the episode, shape (steps, bytes)."""


class EpisodeCutter:
    """Stores the steps of all worlds, and returns episodes that end.

    Steps of a world before its first episode start are ignored.
    """

    def __init__(self, num_envs: int, row_bytes: int) -> None:
        """Create a cutter without steps.

        Args:
            num_envs: Number of worlds.
            row_bytes: Number of bytes per step and world.
        """
        self.num_unrequested = 0
        """Number of held episodes (`Ending.HELD`) that were never requested."""
        self._shape = (num_envs, row_bytes)
        self._block_rows = rows_within(BLOCK_BYTES, num_envs * row_bytes)
        self._blocks: deque[np.ndarray] = deque()
        self._first = 0  # Index of the first stored step.
        self._end = 0  # Index after the last stored step.
        self._running: list[Beginning | None] = [None] * num_envs
        self._held: list[Episode | None] = [None] * num_envs

    def add(self, steps: Steps) -> list[Episode]:
        """Copy steps; return the episodes to write, in the order of their ends."""
        first, found = self._end, []
        self._store(steps.rows)
        endings = steps.rows[:, :, _ENDING]
        begins = steps.rows[:, :, _BEGINS].astype(bool)
        beginnings = iter(steps.beginnings)
        for step, world in np.argwhere((endings != Ending.CONTINUES) | begins).tolist():
            begin = None
            if begins[step, world]:
                own, shared = next(beginnings).copy(), steps.shared[step].copy()
                begin = Beginning(first + step + 1, own, shared)
            ending = Ending(int(endings[step, world]))
            found += self._turn(world, ending, first + step + 1, begin)
        self._forget()
        return found

    def finish(self, *, keep: bool) -> list[Episode]:
        """End all episodes.

        Args:
            keep: Whether to return unfinished episodes that have a step.
        """
        ending = Ending.WRITTEN if keep else Ending.DROPPED
        found: list[Episode] = []
        for world in range(len(self._running)):
            found += self._turn(world, ending, self._end, None)
        self.num_unrequested += sum(each is not None for each in self._held)
        self._held = [None] * len(self._held)
        return found

    def _turn(
        self, world: int, ending: Ending, end: int, begin: Beginning | None
    ) -> list[Episode]:
        """End a world's episode and start the next; return the episodes to write.

        Args:
            world: Index of the world.
            ending: Whether and how the episode ends.
            end: Index after the last step of the episode.
            begin: Start of the next episode, if any.
        """
        held = self._held[world]
        if held is not None and ending in _OF_HELD:
            self._held[world] = None
            # The current episode continues.
            return [] if ending is Ending.DISCARDED else [held]
        running = self._running[world]
        if ending is not Ending.CONTINUES or begin is not None:
            self._running[world] = begin
        if running is None or ending in _WITHOUT_EPISODE:
            return []
        episode = Episode(world, running, self._rows(world, running.row, end))
        if ending is Ending.HELD:
            self.num_unrequested += held is not None
            self._held[world] = episode
            return []
        is_written = len(episode.rows) > 0 or ending is Ending.REQUESTED_EMPTY
        return [episode] if is_written else []

    def _store(self, rows: np.ndarray) -> None:
        """Append steps to the last block, and to new blocks if it is full."""
        while len(rows):
            place = (self._end - self._first) % self._block_rows
            if place == 0:
                self._blocks.append(
                    np.empty((self._block_rows, *self._shape), np.uint8)
                )
            block = self._blocks[-1][place:][: len(rows)]
            block[:] = rows[: len(block)]
            self._end += len(block)
            rows = rows[len(block) :]

    def _rows(self, world: int, begin: int, end: int) -> np.ndarray:
        """Return the steps of a world from index `begin` to `end` (excluded)."""
        begin, end = begin - self._first, end - self._first
        size = self._block_rows
        parts = [
            self._blocks[number][
                max(0, begin - number * size) : end - number * size, world
            ]
            for number in range(begin // size, -(-end // size))
        ]
        if not parts:
            return np.zeros((0, self._shape[1]), np.uint8)
        found = np.concatenate(parts)
        stepped = found[:, _STEPPED].astype(bool)
        return found if stepped.all() else found[stepped]

    def _forget(self) -> None:
        """Drop the blocks that end before all running episodes began."""
        begun = [begin.row for begin in self._running if begin is not None]
        oldest = min(begun, default=self._end)
        while self._first + self._block_rows <= oldest:
            self._blocks.popleft()
            self._first += self._block_rows


def rows_within(size: int, row_bytes: int) -> int:
    """Return the number of rows that fit into `size` bytes, from 1 to `MOST_ROWS`."""
    return max(1, min(MOST_ROWS, size // max(1, row_bytes)))


def episode_arrays(layout: RecordingLayout, episode: Episode) -> dict[str, np.ndarray]:
    """Return the arrays and records of an episode, by path in the file."""
    steps = layout.step.read(episode.rows)
    own = layout.beginning.read(episode.begin.own)
    shared = layout.shared.read(episode.begin.shared)
    arrays: dict[str, np.ndarray] = {}
    for field in layout.step.fields[_HEAD:]:
        values = steps[field.name]
        if field.role == "state":
            values = np.concatenate((own[field.name][None], values))
        if field.role != "last":
            arrays[field.name] = values
        elif len(values):
            arrays[field.name] = values[-1]
    starts = {f.name: own[f.name] for f in layout.beginning.fields if f.role == "start"}
    starts |= {f.name: shared[f.name] for f in layout.shared.fields}
    return arrays | with_records(starts)


def episode_attributes(
    layout: RecordingLayout, episode: Episode
) -> dict[str, int | bool]:
    """Return the attributes of an episode in the file."""
    own = layout.beginning.read(episode.begin.own)
    attributes: dict[str, int | bool] = {
        f.name: int(own[f.name])
        for f in layout.beginning.fields
        if f.role == "attribute"
    }
    attributes |= {"world": episode.world, "elapsed_steps": len(episode.rows)}
    last = layout.step.read(episode.rows[-1:])
    for flag in FLAGS:
        if flag in layout.step.names:
            attributes[flag] = bool(len(last) and last[flag][0])
    return attributes
