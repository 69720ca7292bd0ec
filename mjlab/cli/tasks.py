"""The task that a user names."""

from mjlab.cli.answers import UsageError
from mjlab.registry import Entry, entries, find_entry


def need_task(name: str | None, program: str) -> Entry:
    """Return the entry of a task.

    Args:
        name: What the user typed; None for nothing.
        program: The script, for the message, such as "train.py".

    Raises:
        UsageError: If no task is named.
        UnknownNameError: If there is no such task.
    """
    if name is None:
        known = ", ".join(entries())
        raise UsageError(
            f"Name a task first: {program} TASK [options]. Tasks: {known}."
        )
    return find_entry(name)
