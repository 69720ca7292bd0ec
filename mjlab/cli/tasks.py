"""Find the task or run that the user names."""

from dataclasses import dataclass
from pathlib import Path

from mjlab.cli.answers import UsageError
from mjlab.cli.line import Options
from mjlab.registry import Entry, entries, find_entry
from mjlab.runs import Found, find
from mjlab.task_file import typed_task


@dataclass(kw_only=True)
class RunOptions(Options):
    """Base class of options for verbs that open a run."""

    task: str | None = None
    """Task of the run. Required for a run of a task from a file, such as
    my_env.py:MyTaskCfg."""

    accept_changes: bool = False
    """Open a run whose task has changed, with the current version of the task."""

    logs: Path = Path("logs")
    """Folder of all runs."""

    def task_id(self) -> str | None:
        """Return the id of the named task. A task from a file is imported."""
        return None if self.task is None else find_entry(typed_task(self.task)).id

    def find(self, place: str) -> Found:
        """Find the run, checkpoint or ONNX file that an argument names."""
        task = self.task_id()
        return find(typed_task(place), self.logs, task=task)


def need_task(name: str | None, program: str) -> Entry:
    """Return the entry of a task.

    Args:
        name: Argument of the user, an id or FILE.py:CLASS; None if missing.
        program: The script, named in the error message, such as "train.py".

    Raises:
        UsageError: If no task is named.
        UnknownNameError: If the task does not exist.
        TaskFileError: If the file has no such task.
    """
    if name is None:
        known = ", ".join(entries())
        raise UsageError(f"TASK is missing: {program} TASK [options]. Tasks: {known}.")
    return find_entry(typed_task(name))
