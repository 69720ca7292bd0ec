"""The process that writes episodes, beside the one that steps.

It shares memory with the process that started it, which puts steps there and says so by
lines on the standard input. What it has to say goes to the standard output, a line of
JSON each. It takes what the machine has left over.
"""

import json
import mmap
import os
import select
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.recording.cutting import Cutter, Episode
from mjlab.recording.files import EpisodeFile
from mjlab.recording.hdf5 import EpisodeWriter
from mjlab.recording.layout import Layout
from mjlab.recording.memory import Chunks, Sizes

POLL_S = 1.0
"""A step is looked at this long after it was done, at the latest, s."""


class Writer:
    """Reads chunks of steps, and writes episodes."""

    def __init__(self, plan: dict[str, Any], memory: Any, tell: "Tell") -> None:
        """Open the files.

        Args:
            plan: What is recorded and where it goes; see `Recording`.
            memory: The memory that is shared.
            tell: Sends a message to the process that steps.
        """
        self._layouts = [Layout.from_data(data) for data in plan["layouts"]]
        self._chunks = Chunks(np.frombuffer(memory, np.uint8), Sizes(**plan["sizes"]))
        self._cutter = Cutter(plan["sizes"]["num_envs"], self._layouts[0])
        self._writer = EpisodeWriter(*self._layouts)
        self._files = {
            key: EpisodeFile(
                Path(path),
                self._writer,
                attributes=plan["attributes"],
                about=plan["about"],
                say=lambda text: tell(said=text),
            )
            for key, path in plan["files"].items()
        }
        self._clean = bool(plan["clean"])
        self._tell = tell
        self._place = 0
        self._taken = 0

    def look(self) -> None:
        """Take in the steps that were done since the last time."""
        chunk = self._chunks.slots[self._place]
        number = chunk.num_rows
        if number > self._taken:
            rows = slice(self._taken, number)
            # Only the beginnings of these rows come after those of the rows before.
            begun = int(chunk.rows[: self._taken, :, 2].sum())
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
        self._chunks.slots[self._place].clear()
        self._taken = 0
        self._place = (self._place + 1) % len(self._chunks.slots)
        self._tell(free=True)

    def show(self) -> None:
        """Make everything that is over readable now."""
        self.look()
        for file in self._files.values():
            file.publish()
        self._tell(shown=True)

    def close(self, *, keep: bool) -> None:
        """Write what goes on if it is wanted, and make whole files.

        Args:
            keep: Whether episodes that are not over are wanted.
        """
        self.look()
        self._add(self._cutter.finish(keep=keep))
        for file in self._files.values():
            file.finish(clean=self._clean)
        files = self._files.values()
        self._tell(
            closed=True,
            episodes=sum(file.num_episodes for file in files),
            lost=sum(file.num_lost for file in files),
            unasked=self._cutter.num_held_dropped,
        )

    def leave(self) -> None:
        """Write what is over, since nobody is there any more to say what to do."""
        self.look()
        for file in self._files.values():
            file.leave()

    def _add(self, episodes: list[Episode]) -> None:
        for key, file in self._files.items():
            chosen = [e for e in episodes if key == "all" or key == self._sort(e)]
            if chosen:
                file.add(chosen)

    def _sort(self, episode: Episode) -> str:
        """By what was declared: whether success held in the last step."""
        if not episode.num_steps:
            return "failed"
        last = self._layouts[0].read(episode.parts[-1][-1:])
        return "succeeded" if bool(last["success"][0]) else "failed"


class Tell:
    """Sends messages as lines of JSON."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __call__(self, **message: Any) -> None:
        """Send a message. That nobody listens any more does no harm."""
        try:
            os.write(self._descriptor, (json.dumps(message) + "\n").encode())
        except BrokenPipeError:
            pass


class Lines:
    """Lines of a pipe, which may be waited for."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def next(self, timeout: float) -> str | None:
        """The next line, "" where none comes in time, None where none ever will."""
        while b"\n" not in self._rest:
            if not select.select([self._descriptor], [], [], timeout)[0]:
                return ""
            data = os.read(self._descriptor, 1 << 16)
            if not data:
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()


def serve(lines: Lines, tell: Tell) -> None:
    """Write until it is said to stop, or nobody is there any more."""
    first = lines.next(timeout=60.0)
    if not first:
        return
    plan = json.loads(first)
    memory = mmap.mmap(plan["descriptor"], plan["bytes"])
    writer = Writer(plan, memory, tell)
    tell(ready=True)
    while True:
        line = lines.next(POLL_S)
        if line is None:
            writer.leave()
            return
        if line == "chunk":
            writer.next_chunk()
        elif line == "show":
            writer.show()
        elif line.startswith("close"):
            writer.close(keep=line == "close keep")
            return
        else:
            writer.look()


def main() -> None:
    """Serve, and tell of what goes wrong."""
    os.nice(10)  # Who steps comes first.
    tell = Tell(sys.stdout.fileno())
    code = 0
    try:
        serve(Lines(sys.stdin.fileno()), tell)
    except Exception:
        tell(failed=traceback.format_exc())
        code = 1
    # A file that HDF5 could not write would be tried again on the way out.
    os._exit(code)


if __name__ == "__main__":
    main()
