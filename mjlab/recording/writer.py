"""The process that writes episodes, beside the one that steps.

It shares memory with the process that started it, which puts steps there and says so by
messages; its own are dictionaries. It takes what the machine has left over, and needs
no torch, so that it starts quickly.
"""

import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

import numpy as np

from mjlab.parallel.memory import SharedArrays
from mjlab.recording.episode_store import EpisodeFile
from mjlab.recording.hdf5 import EpisodeEncoder, RawEpisode
from mjlab.recording.layout import CONTROL, Chunk, Ending, Layout, WriterPlan

POLL_S = 1.0
"""A step is looked at this long after it was done, at the latest, s."""

HEAD = len(CONTROL)
_STEPPED, _ENDING, _BEGINS = range(HEAD)


class Cutter:
    """Collects the steps of each world until its episode is over.

    Steps before a world's first beginning belong to no episode, and are left out.
    """

    def __init__(self, num_envs: int, steps: Layout) -> None:
        """Begin with no episode."""
        self.num_held_dropped = 0
        """Episodes that waited to be asked for, and were not."""
        self._empty = np.zeros((0, steps.row_bytes), np.uint8)
        self._running: list[RawEpisode | None] = [None] * num_envs
        self._held: list[RawEpisode | None] = [None] * num_envs

    def cut(
        self, rows: np.ndarray, beginnings: np.ndarray, shared: np.ndarray
    ) -> list[RawEpisode]:
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
        over: list[tuple[int, int, RawEpisode]] = []
        for world in range(rows.shape[1]):
            first = 0
            for step in np.flatnonzero(happens[:, world]).tolist():
                self._add(world, rows[first : step + 1], stepped[first : step + 1])
                first = step + 1
                begin = None
                if begins[step, world]:
                    begin = beginnings[places[step, world]].copy()
                fate = int(ending[step, world])
                for episode in self._turn(world, fate, begin, shared[step]):
                    over.append((step, world, episode))
            self._add(world, rows[first:], stepped[first:])
        return [episode for _, _, episode in sorted(over, key=lambda item: item[:2])]

    def finish(self, *, keep: bool) -> list[RawEpisode]:
        """Return the episodes that go on, if they are to be kept; then none does."""
        episodes = [e for e in self._running if keep and e is not None and e.num_steps]
        self.num_held_dropped += sum(each is not None for each in self._held)
        self._running = [None] * len(self._running)
        self._held = [None] * len(self._held)
        return episodes

    def _add(self, world: int, rows: np.ndarray, stepped: np.ndarray) -> None:
        episode, is_step = self._running[world], stepped[:, world]
        if episode is not None and is_step.any():
            episode.parts.append(rows[:, world][is_step])

    def _turn(
        self, world: int, ending: int, begin: np.ndarray | None, shared: np.ndarray
    ) -> Iterator[RawEpisode]:
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
            self._running[world] = RawEpisode(world, begin, shared.copy())


class StreamWriter:
    """Reads chunks of steps, and writes episodes."""

    def __init__(
        self, plan: WriterPlan, memory: SharedArrays, tell: Callable[..., None]
    ) -> None:
        """Open the files.

        Args:
            plan: Content and place of the recording.
            memory: The memory that is shared.
            tell: Sends a message to the process that steps.
        """
        self._steps = plan.layouts[0]
        self._chunks = [Chunk(memory, i) for i in range(plan.sizes.chunks)]
        self._cutter = Cutter(plan.sizes.num_envs, self._steps)
        encoder = EpisodeEncoder(*plan.layouts)
        self._files = {
            key: EpisodeFile(
                path,
                encoder,
                attributes=plan.attributes,
                about=plan.about,
                say=lambda text: tell(said=text),
            )
            for key, path in plan.files.items()
        }
        self._clean = plan.clean
        self._tell = tell
        self._place = 0
        self._taken = 0

    def look(self) -> None:
        """Take in the steps that were done since the last time."""
        chunk = self._chunks[self._place]
        number = chunk.num_rows
        if number > self._taken:
            rows = slice(self._taken, number)
            # Only the beginnings of these rows come after those of the rows before.
            begun = int(chunk.rows[: self._taken, :, _BEGINS].sum())
            episodes = self._cutter.cut(
                chunk.rows[rows], chunk.beginnings[begun:], chunk.shared[rows]
            )
            self._taken = number
            self._add(episodes)
        for file in self._files.values():
            file.publish_when_due()

    def next_chunk(self) -> None:
        """Take in the rest of a chunk, and give it back."""
        self.look()
        self._chunks[self._place].num_rows = 0
        self._taken = 0
        self._place = (self._place + 1) % len(self._chunks)
        self._tell(free=True)

    def show(self) -> None:
        """Make everything that is over readable now."""
        self.look()
        for file in self._files.values():
            file.publish()
        self._tell(shown=True)

    def close(self, *, keep: bool) -> None:
        """Make whole files; write episodes that are not over if they are to be kept."""
        self.look()
        self._add(self._cutter.finish(keep=keep))
        files = self._files.values()
        for file in files:
            file.finish(clean=self._clean)
        self._tell(
            totals={
                "episodes": sum(file.num_episodes for file in files),
                "lost": sum(file.num_lost for file in files),
                "unasked": self._cutter.num_held_dropped,
            }
        )

    def leave(self) -> None:
        """Write what is over: the process that could say more is gone."""
        self.look()
        for file in self._files.values():
            file.leave()

    def _add(self, episodes: list[RawEpisode]) -> None:
        for key, file in self._files.items():
            chosen = [e for e in episodes if key == "all" or key == self._sort(e)]
            if chosen:
                file.add(chosen)

    def _sort(self, episode: RawEpisode) -> str:
        """Return the sort of an episode: whether success held in its last step."""
        if not episode.num_steps:
            return "failed"
        last = self._steps.read(episode.parts[-1][-1:])
        return "succeeded" if bool(last["success"][0]) else "failed"


def serve(connection: Connection, file: int, tell: Callable[..., None]) -> None:
    """Write until it is said to stop, or the process that steps is gone."""
    plan: WriterPlan = connection.recv()
    writer = StreamWriter(plan, SharedArrays(plan.sizes.specs(), file), tell)
    while True:
        if not connection.poll(POLL_S):
            writer.look()
            continue
        try:
            order = connection.recv()
        except (EOFError, ConnectionResetError):
            writer.leave()
            return
        if order == "chunk":
            writer.next_chunk()
        elif order == "show":
            writer.show()
        else:
            writer.close(keep=order == "close keep")
            return


def main() -> None:
    """Serve, and tell of what goes wrong.

    The descriptors of the connection and of the memory are the arguments.
    """
    os.nice(10)  # Who steps comes first.
    connection, file = Connection(int(sys.argv[1])), int(sys.argv[2])

    def tell(**message: object) -> None:
        with contextlib.suppress(OSError):  # That nobody listens does no harm.
            connection.send(message)

    code = 0
    try:
        serve(connection, file, tell)
    except Exception:
        tell(failed=traceback.format_exc())
        code = 1
    # A file that HDF5 could not write would be tried again on the way out.
    os._exit(code)
