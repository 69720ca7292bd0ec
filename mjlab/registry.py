"""Registry of tasks.

Every distribution, including this one, registers tasks with the entry-point group
`mjlab.tasks`: the entry's name is the task id, and its value is `module:attribute` of a
`Task`. Reading the registry imports no task. `add_task` registers a task in this
process only.
"""

import importlib
import importlib.metadata
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mjlab.names import UnknownNameError, suggest
from mjlab.opengl import import_mujoco
from mjlab.settings.file import TaskFile
from mjlab.watched import watched

GROUP = "mjlab.tasks"

GUARD = "mjlab_fused.guard"
"""Entry-point value that is not a task. The module ends the process if another
distribution that is called `mjlab` imports it."""

OURS = "mjlab-fused"
"""Distribution of the tasks that ship with mjlab."""


@dataclass(frozen=True, kw_only=True)
class OnCpu:
    """Settings for training a task on a machine without a GPU."""

    num_envs: int
    """Default number of worlds."""

    rl: Callable[[], Any]
    """Function that returns the settings of the learner."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Task: functions that create the configurations of its environment and learner."""

    env: Callable[[], Any]
    """Function that returns the environment configuration for training."""

    play: Callable[[], Any] = None  # type: ignore[assignment]
    """Function that returns the environment configuration for play: no noise, no
    pushes, no time limit. By default it calls the method `play` of the training
    configuration; without such a method, it disables observation noise and the time
    limit."""

    rl: Callable[[], Any] | None = None
    """Function that returns the settings of the learner; None for a task that cannot be
    trained."""

    on_cpu: OnCpu | None = None
    """Settings without a GPU, for fewer worlds and smaller networks. None uses the
    settings for a GPU."""

    summary: str = ""
    """One-line description."""

    trained: Path | None = None
    """Folder of a run that ships with the task, created by `mjlab.rl.ship`. `play` uses
    it if the user has no run of the task."""

    script: Callable[[Any], Any] | None = None
    """Function that creates a scripted controller for an environment. `play` and
    `record` use it with `--policy script`."""

    def __post_init__(self) -> None:
        """Set the default of `play`."""
        if self.play is None:
            object.__setattr__(self, "play", self._watched)

    def _watched(self) -> Any:
        return watched(self.env())


@dataclass(frozen=True)
class Entry:
    """Registered task, which is not imported yet."""

    id: str
    """Task id."""

    place: str
    """`module:attribute` of its `Task`."""

    origin: str
    """Distribution or file that provides the task."""

    file: TaskFile | None = None
    """File that defines the task, None for a task of a distribution."""

    @property
    def words(self) -> str:
        """Task as typed on the command line: the id, or file and class."""
        return self.id if self.file is None else self.place


class BrokenTaskError(ImportError):
    """Raised if the module of a task cannot be imported."""


_ADDED: dict[str, tuple[Entry, Task]] = {}
"""Tasks registered in this process only, by id."""


def add_task(entry: Entry, task: Task) -> None:
    """Register a task in this process."""
    _ADDED[entry.id] = (entry, task)


def entries() -> dict[str, Entry]:
    """Return all tasks by id, the built-in ones first, without importing them."""
    points = importlib.metadata.entry_points(group=GROUP)
    # Each access to a distribution's name parses its metadata, 0.3 ms.
    names = {
        dist: dist.name if dist else "unknown" for dist in {p.dist for p in points}
    }
    found = [
        Entry(point.name, point.value, names[point.dist])
        for point in points
        if point.value != GUARD
    ]
    ours = [entry for entry in found if entry.origin == OURS] or _of_checkout()
    table: dict[str, Entry] = {}
    for entry in (*ours, *found, *(entry for entry, _ in _ADDED.values())):
        table.setdefault(entry.id, entry)
    return table


def _of_checkout() -> list[Entry]:
    """Return the tasks in the pyproject.toml of a checkout that is not installed."""
    file = Path(__file__).parents[1] / "pyproject.toml"
    if not file.is_file():
        return []
    points = tomllib.loads(file.read_text("utf-8"))["project"]["entry-points"][GROUP]
    return [Entry(n, place, OURS) for n, place in points.items() if place != GUARD]


def find_entry(task_id: str) -> Entry:
    """Return the entry of a task, or raise an error with similar names."""
    table = entries()
    if task_id not in table:
        hint = suggest(task_id, list(table))
        raise UnknownNameError(f"There is no task {task_id!r}. {hint}")
    return table[task_id]


def load_task(task_id: str) -> Task:
    """Import the module of a task and return its `Task`."""
    entry = find_entry(task_id)
    if entry.file is not None:
        return _ADDED[task_id][1]
    module_name, _, attribute = entry.place.partition(":")
    import_mujoco()
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
