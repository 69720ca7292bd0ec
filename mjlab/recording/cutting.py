"""The stream of steps of all worlds, cut into the episodes of each."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from mjlab.recording.layout import CONTROL, Ending, Layout

HEAD = len(CONTROL)
_STEPPED, _ENDING, _BEGINS = range(HEAD)


@dataclass
class Episode:
    """What one world did from its beginning to its end, as bytes."""

    world: int
    """The world."""

    beginning: np.ndarray
    """Row of the beginning, shape (bytes,)."""

    shared: np.ndarray
    """What all worlds shared when it began, shape (bytes,)."""

    parts: list[np.ndarray] = field(default_factory=list)
    """Rows of the steps, each of shape (steps, bytes)."""

    def rows(self) -> np.ndarray:
        """All steps, shape (steps, bytes)."""
        if len(self.parts) == 1:
            return self.parts[0]
        return np.concatenate(self.parts)

    @property
    def num_steps(self) -> int:
        """Number of steps so far."""
        return sum(len(part) for part in self.parts)


class Cutter:
    """Collects the steps of each world until its episode is over.

    Steps before a world's first beginning belong to no episode, and are left out.
    """

    def __init__(self, num_envs: int, steps: Layout) -> None:
        """Begin with no episode."""
        self.num_held_dropped = 0
        """Episodes that waited to be asked for, and were not."""
        self._empty = np.zeros((0, steps.row_bytes), np.uint8)
        self._running: list[Episode | None] = [None] * num_envs
        self._held: list[Episode | None] = [None] * num_envs

    def cut(
        self, rows: np.ndarray, beginnings: np.ndarray, shared: np.ndarray
    ) -> list[Episode]:
        """Take steps in; return the episodes to be written, in their order.

        Args:
            rows: Rows of all worlds, shape (steps, num_envs, bytes).
            beginnings: Rows of the episodes that begin, by step, then by world.
            shared: What worlds share at each step, shape (steps, bytes).
        """
        control = np.ascontiguousarray(rows[:, :, :HEAD])
        stepped = control[:, :, _STEPPED].astype(bool)
        ending, begins = control[:, :, _ENDING], control[:, :, _BEGINS].astype(bool)
        # The place of each beginning in their list.
        places = (np.cumsum(begins) - 1).reshape(begins.shape)
        happens = (ending != Ending.GOES_ON) | begins
        is_plain = stepped.all(axis=0) & ~happens.any(axis=0)
        over: list[tuple[int, int, Episode]] = []
        for world in range(rows.shape[1]):
            if is_plain[world]:
                self._add(world, rows[:, world])
                continue
            first = 0
            for step in np.flatnonzero(happens[:, world]).tolist():
                taken = stepped[first : step + 1, world]
                self._add(world, rows[first : step + 1, world][taken])
                first = step + 1
                is_new = begins[step, world]
                begin = beginnings[places[step, world]] if is_new else None
                for episode in self._turn(
                    world, int(ending[step, world]), begin, shared[step]
                ):
                    over.append((step, world, episode))
            self._add(world, rows[first:, world][stepped[first:, world]])
        return [episode for _, _, episode in sorted(over, key=lambda item: item[:2])]

    def finish(self, *, keep: bool) -> list[Episode]:
        """All that goes on, to be written as it is if it has steps; then nothing does.

        Args:
            keep: Whether somebody wants them.
        """
        episodes = [e for e in self._running if keep and e is not None and e.num_steps]
        self.num_held_dropped += sum(each is not None for each in self._held)
        self._running = [None] * len(self._running)
        self._held = [None] * len(self._held)
        return episodes

    def _add(self, world: int, rows: np.ndarray) -> None:
        episode = self._running[world]
        if episode is not None and len(rows):
            episode.parts.append(rows.copy())

    def _turn(
        self, world: int, ending: int, begin: np.ndarray | None, shared: np.ndarray
    ) -> Iterator[Episode]:
        """End the episode of a world as it is said, and begin the next."""
        running = self._running[world]
        if ending == Ending.ASKED:
            held = self._held[world]
            self._held[world] = None
            if held is not None:
                yield held
                return
            ending = Ending.KEPT
        if ending != Ending.GOES_ON:
            self._running[world] = None
        if running is not None:
            if ending == Ending.HELD:
                self.num_held_dropped += self._held[world] is not None
                self._held[world] = running
            is_kept = ending == Ending.KEPT and running.num_steps > 0
            if is_kept or ending == Ending.KEPT_EMPTY:
                running.parts = running.parts or [self._empty]
                yield running
        if begin is not None:
            self._running[world] = Episode(world, begin.copy(), shared.copy())
