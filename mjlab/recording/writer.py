"""Process that writes episodes.

HDF5 holds Python's interpreter lock most of the time. A writer thread made recorded
steps up to a third slower, so a process is used. It runs at low priority and does not
import torch. If the training process is killed, it still writes the finished episodes.
"""

import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mjlab.parallel.memory import ArraySpec, SharedArrays
from mjlab.recording.episodes import (
    Episode,
    EpisodeCutter,
    Steps,
    episode_arrays,
    episode_attributes,
)
from mjlab.recording.files import EpisodeFile
from mjlab.recording.layout import RecordingLayout


@dataclass(frozen=True)
class WriterPlan:
    """Data that the writer process needs to start."""

    layout: RecordingLayout
    """Layouts of the recorded fields."""

    num_envs: int
    """Number of worlds."""

    rows: int
    """Number of steps per block of shared memory."""

    blocks: int
    """Number of blocks of shared memory."""

    files: Mapping[str, Path]
    """Output file of each selection: "all", "succeeded" or "failed"."""

    attributes: Mapping[str, Any]
    """Attributes of the files."""

    about: Mapping[str, Any]
    """Entries of the JSON files besides the episodes."""

    clean: bool
    """Whether to omit episodes without steps when the files are finished."""

    def memory(self, file: int | None = None) -> SharedArrays:
        """Allocate the shared memory, or map the memory of an inherited descriptor.

        A block has space for an episode start per step and world. Pages that are never
        used take no physical memory.
        """
        n, k, layout = self.num_envs, self.rows, self.layout
        shapes = {
            "rows": (k, n, layout.step.row_bytes),
            "beginnings": (k * n, layout.beginning.row_bytes),
            "shared": (k, layout.shared.row_bytes),
        }
        specs = {
            f"{block}/{name}": ArraySpec(shape, "uint8")
            for block in range(self.blocks)
            for name, shape in shapes.items()
        }
        return SharedArrays(specs, file)


def steps_of(memory: SharedArrays, block: int) -> Steps:
    """Return the arrays of a block of shared memory."""
    return Steps(*(memory[f"{block}/{name}"] for name in Steps._fields))


class Sent(NamedTuple):
    """Message to the writer process about complete steps in shared memory."""

    block: int
    """Index of the block of shared memory."""

    steps: slice
    """Range of complete steps in the block."""

    beginnings: slice
    """Range of episode starts in the block."""

    is_last: bool
    """Whether these are the last steps of the block, which is free afterwards."""


Order = Sent | Literal["save", "finish", "drop"]
"""Message to the writer process. "finish" and "drop" end it; only "finish" writes
unfinished episodes."""


class StreamWriter:
    """Splits steps into episodes, and writes the selected episodes."""

    def __init__(
        self, plan: WriterPlan, memory: SharedArrays, tell: Callable[..., None]
    ) -> None:
        """Start the files.

        Args:
            plan: Layout and output files.
            memory: Shared memory with the steps.
            tell: Sends a message to the process that steps the environment.
        """
        self._layout, self._clean, self._tell = plan.layout, plan.clean, tell
        self._blocks = [steps_of(memory, block) for block in range(plan.blocks)]
        self._cutter = EpisodeCutter(plan.num_envs, plan.layout.step.row_bytes)
        self._files = {
            selection: EpisodeFile(
                path,
                attributes=plan.attributes,
                about=plan.about,
                say=lambda text: tell(said=text),
            )
            for selection, path in plan.files.items()
        }

    @property
    def seconds_left(self) -> float | None:
        """Time until episodes in memory must be saved, s. None if there are none."""
        left = [file.seconds_left for file in self._files.values()]
        return min((each for each in left if each is not None), default=None)

    def obey(self, order: Order) -> bool:
        """Execute a message; return whether more messages can follow."""
        if isinstance(order, Sent):
            block = self._blocks[order.block]
            self._add(self._cutter.add(block.part(order.steps, order.beginnings)))
            if order.is_last:
                self._tell(freed=order.block)
        elif order == "save":
            self.save()
            self._tell(saved=True)
        else:
            self._finish(keep=order == "finish")
            return False
        return True

    def save(self) -> None:
        """Write all finished episodes to disk."""
        for file in self._files.values():
            file.save()

    def leave(self) -> None:
        """Save, and stop without joining the parts to finished files."""
        for file in self._files.values():
            file.leave()

    def _finish(self, *, keep: bool) -> None:
        """Finish the files, and send the totals.

        Args:
            keep: Whether to write unfinished episodes.
        """
        self._add(self._cutter.finish(keep=keep))
        files = self._files.values()
        for file in files:
            file.finish(clean=self._clean)
        self._tell(
            totals={
                "episodes": sum(file.num_episodes for file in files),
                "lost": sum(file.num_lost for file in files),
                "unasked": self._cutter.num_unrequested,
            }
        )

    def _add(self, episodes: list[Episode]) -> None:
        for episode in episodes:
            attributes = episode_attributes(self._layout, episode)
            selection = "succeeded" if attributes.get("success") else "failed"
            for file in (self._files.get(each) for each in ("all", selection)):
                if file is not None:
                    file.add(episode_arrays(self._layout, episode), attributes)


def serve(connection: Connection, file: int, tell: Callable[..., None]) -> None:
    """Write episodes until the recording is finished, or the other process has ended.

    Args:
        connection: Connection to the process that steps the environment.
        file: File descriptor of the shared memory.
        tell: Sends a message to the other process.
    """
    plan: WriterPlan = connection.recv()
    writer = StreamWriter(plan, plan.memory(file), tell)
    goes_on = True
    while goes_on:
        left = writer.seconds_left
        if left == 0.0 or not connection.poll(left):
            writer.save()
            continue
        try:
            order = connection.recv()
        except (EOFError, ConnectionResetError):
            writer.leave()
            return
        goes_on = writer.obey(order)


def main() -> None:
    """Run the writer process, and send errors to the other process.

    The command-line arguments are the file descriptors of the connection and of the
    shared memory.
    """
    os.nice(10)  # Simulation has priority.
    connection, file = Connection(int(sys.argv[1])), int(sys.argv[2])

    def tell(**message: object) -> None:
        with contextlib.suppress(OSError):  # The other process has ended.
            connection.send(message)

    code = 0
    try:
        serve(connection, file, tell)
    except Exception:
        tell(failed=traceback.format_exc())
        code = 1
    # Skip interpreter shutdown, in which HDF5 would try again to write failed files.
    os._exit(code)
