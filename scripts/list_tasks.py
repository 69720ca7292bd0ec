"""Lists the tasks: `python scripts/list_tasks.py [WORD] [--check]`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mjlab.cli import Program, read_line, run_program
from mjlab.cli.answers import UsageError
from mjlab.cli.listing import Row, find_summary, table
from mjlab.cli.static_imports import ImportFaultError, check_imports
from mjlab.registry import OURS, BrokenTaskError, Entry, entries, load_task
from mjlab.threads import prepare_threads


@dataclass(kw_only=True)
class Options:
    """Options of `list_tasks.py`."""

    check: bool = False
    """Import every task and build its configurations, and say which are broken. This
    takes seconds."""


PROGRAM = Program(
    name="list_tasks.py",
    summary="List the tasks, all or those whose names hold a word.",
    subject="[WORD]",
    options=Options,
    examples=("", "velocity", "--check"),
)


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    line = read_line(PROGRAM, arguments)
    word = (line.subject or "").lower()
    chosen = [entry for entry in entries().values() if word in entry.id.lower()]
    if line.options.check:
        prepare_threads()
    rows = [checked(e) if line.options.check else unchecked(e) for e in chosen]
    if rows:
        print(table(rows))
    broken = [row.id for row in rows if row.broken]
    if broken and line.options.check:
        raise UsageError(f"{len(broken)} of {len(rows)} tasks are broken.")


def unchecked(entry: Entry) -> Row:
    """A row without an import. What is certain to fail is found all the same."""
    if entry.origin != OURS:
        try:
            check_imports(*entry.place.split(":"))
        except ImportFaultError as error:
            return Row(entry.id, f"{error}.", entry.origin, broken=True)
    return Row(entry.id, find_summary(entry.place), entry.origin)


def checked(entry: Entry) -> Row:
    """A row of a task that was imported."""
    try:
        task = load_task(entry.id)
        for make in (task.env, task.play, task.rl):
            if make is not None:
                make()
    except BrokenTaskError as error:
        return Row(entry.id, str(error), entry.origin, broken=True)
    except Exception as error:
        reason = f"its configuration cannot be made ({type(error).__name__}: {error})."
        return Row(entry.id, reason, entry.origin, broken=True)
    return Row(entry.id, task.summary, entry.origin)


if __name__ == "__main__":
    sys.exit(run_program(main))
