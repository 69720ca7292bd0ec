"""The table of tasks: names to where their configurations are.

Every distribution, this one too, adds its tasks by the entry-point group `mjlab.tasks`:
the entry's name is the task's id, and its value is `module:attribute` of a `Task`.
Looking at the table imports nothing of a task. `add_task` adds a task to the table of
this process.
"""

import importlib
import importlib.metadata
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mjlab.names import UnknownNameError, suggest
from mjlab.settings.file import TaskFile
from mjlab.watched import watched

GROUP = "mjlab.tasks"

GUARD = "mjlab_fused.guard"
"""Entry of the group that is no task; the module says what it is for."""

OURS = "mjlab-fused"
"""Distribution of the tasks that ship with mjlab."""


@dataclass(frozen=True, kw_only=True)
class OnCpu:
    """Settings with which a task is learned where there is no GPU."""

    num_envs: int
    """Worlds, where the user says nothing."""

    rl: Callable[[], Any]
    """Makes the settings of the learner."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Factories of what can be trained: each use has a config of its own."""

    env: Callable[[], Any]
    """Makes the configuration to train with."""

    play: Callable[[], Any] = None  # type: ignore[assignment]
    """Makes the one to watch with: no noise, no pushes, endless episodes. By default
    the one to train with, without observation noise and time limit, or what its method
    `play` returns."""

    rl: Callable[[], Any] | None = None
    """Makes the settings of the learner."""

    on_cpu: OnCpu | None = None
    """What is different on a CPU, where there is no room for thousands of worlds and
    large networks. None changes nothing."""

    summary: str = ""
    """One line for listings."""

    trained: Path | None = None
    """Folder of a run that ships with the task, made by `mjlab.rl.ship`. It is watched
    where the user has no run."""

    script: Callable[[Any], Any] | None = None
    """Makes a controller by hand of an environment, to be recorded or watched."""

    def __post_init__(self) -> None:
        """Fill `play` in."""
        if self.play is None:
            object.__setattr__(self, "play", self._watched)

    def _watched(self) -> Any:
        return watched(self.env())


@dataclass(frozen=True)
class Entry:
    """A row of the table."""

    id: str
    """The task's name."""

    place: str
    """`module:attribute` of its `Task`."""

    origin: str
    """The distribution that it comes from, or the file."""

    file: TaskFile | None = None
    """The file that it is from, None for a task of a distribution."""

    @property
    def words(self) -> str:
        """The words for a command line: the id, or the file and the class."""
        return self.id if self.file is None else self.place


class BrokenTaskError(ImportError):
    """A task whose module cannot be imported."""


_ADDED: dict[str, tuple[Entry, Task]] = {}
"""Tasks of this process by id, from files that the user named."""


def add_task(entry: Entry, task: Task) -> None:
    """Add a task to the table of this process."""
    _ADDED[entry.id] = (entry, task)


def entries() -> dict[str, Entry]:
    """All tasks by id, the built-in ones first. Imports none of them."""
    found = [
        Entry(point.name, point.value, point.dist.name if point.dist else "unknown")
        for point in importlib.metadata.entry_points(group=GROUP)
        if point.value != GUARD
    ]
    ours = [entry for entry in found if entry.origin == OURS] or _of_checkout()
    table: dict[str, Entry] = {}
    for entry in (*ours, *found, *(entry for entry, _ in _ADDED.values())):
        table.setdefault(entry.id, entry)
    return table


def _of_checkout() -> list[Entry]:
    """The entry points of a checkout that was never installed, as it declares them."""
    file = Path(__file__).parents[1] / "pyproject.toml"
    if not file.is_file():
        return []
    points = tomllib.loads(file.read_text("utf-8"))["project"]["entry-points"][GROUP]
    return [Entry(n, place, OURS) for n, place in points.items() if place != GUARD]


def find_entry(task_id: str) -> Entry:
    """The row of a task, or an error with the nearest names."""
    table = entries()
    if task_id not in table:
        hint = suggest(task_id, list(table))
        raise UnknownNameError(f"There is no task {task_id!r}. {hint}")
    return table[task_id]


def load_task(task_id: str) -> Task:
    """Import a task."""
    entry = find_entry(task_id)
    if entry.file is not None:
        return _ADDED[task_id][1]
    module_name, _, attribute = entry.place.partition(":")
    try:
        task = getattr(importlib.import_module(module_name), attribute)
    except Exception as error:
        raise BrokenTaskError(
            f"The task {task_id!r} of {entry.origin} is broken: {entry.place} cannot "
            f"be imported ({type(error).__name__}: {error})."
        ) from error
    if not isinstance(task, Task):
        raise BrokenTaskError(
            f"The task {task_id!r} of {entry.origin} is broken: {entry.place} is a "
            f"{type(task).__name__}, not a Task."
        )
    return task
