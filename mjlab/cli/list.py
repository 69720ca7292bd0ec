"""`list`: list the tasks."""

import ast
import importlib.machinery
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import Options, read_line
from mjlab.registry import BrokenTaskError, Entry, entries, load_task
from mjlab.threads import prepare_threads


@dataclass(kw_only=True)
class ListOptions(Options):
    """List the tasks."""

    program = "list_tasks.py"
    examples = ("", "velocity", "--check")

    word: Positional[str] = ""
    """List only the tasks with this word in their names."""

    check: bool = False
    """Import every task, build its configurations, and list the errors. This takes
    seconds."""


def main(arguments: Sequence[str]) -> None:
    """Print the table of tasks."""
    options = read_line(ListOptions, arguments).options
    word = options.word.lower()
    chosen = [entry for entry in entries().values() if word in entry.id.lower()]
    if options.check:
        prepare_threads()
    rows = [checked(e) if options.check else unchecked(e) for e in chosen]
    if rows:
        print(table(rows))
    broken = [row.id for row in rows if row.broken]
    if broken and options.check:
        raise UsageError(f"{len(broken)} of {len(rows)} tasks are broken.")


@dataclass(frozen=True)
class Row:
    """Row of the table of tasks."""

    id: str
    """The task's name."""

    summary: str
    """The task's summary, or its error."""

    origin: str
    """Distribution that provides the task."""

    broken: bool = False
    """True if the task cannot be used."""


def unchecked(entry: Entry) -> Row:
    """Return the row of a task without importing it."""
    return Row(entry.id, find_summary(entry.place), entry.origin)


def checked(entry: Entry) -> Row:
    """Return the row of a task after importing it."""
    try:
        task = load_task(entry.id)
        for make in (task.env, task.play, task.rl):
            if make is not None:
                make()
    except BrokenTaskError as error:
        return Row(entry.id, str(error), entry.origin, broken=True)
    except Exception as error:
        reason = f"its configuration cannot be built ({type(error).__name__}: {error})."
        return Row(entry.id, reason, entry.origin, broken=True)
    return Row(entry.id, task.summary, entry.origin)


def table(rows: Sequence[Row]) -> str:
    """Return the table of tasks as text with aligned columns."""
    ids = max((len(row.id) for row in rows), default=0)
    origins = max((len(row.origin) for row in rows), default=0)
    lines = []
    for row in rows:
        summary = f"BROKEN: {row.summary}" if row.broken else row.summary
        line = f"{row.id.ljust(ids)}  {row.origin.ljust(origins)}  {summary}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def find_summary(place: str) -> str:
    """Return the summary of a task from its source, without importing it.

    Args:
        place: `module:attribute`, where the attribute is assigned from `Task(...)` or
            another call with a keyword argument `summary`.

    Returns:
        The text of `summary`; empty if it is not a literal.
    """
    module, _, attribute = place.partition(":")
    source = source_of(module)
    if source is None:
        return ""
    try:
        tree = ast.parse(source.read_text("utf-8"))
    except (OSError, SyntaxError, ValueError):
        return ""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and attribute in _targets(statement):
            return _summary_in(statement.value)
    return ""


def source_of(module: str) -> Path | None:
    """Return the source file of a module, without importing its parent packages."""
    top, *inner = module.split(".")
    spec = importlib.util.find_spec(top)
    for part in inner:
        if spec is None:
            return None
        folders = spec.submodule_search_locations or ()
        name = f"{spec.name}.{part}"
        spec = importlib.machinery.PathFinder.find_spec(name, folders)
    if spec is None or not (spec.origin or "").endswith(".py"):
        return None
    return Path(str(spec.origin))


def _targets(statement: ast.Assign) -> list[str]:
    return [target.id for target in statement.targets if isinstance(target, ast.Name)]


def _summary_in(value: ast.expr) -> str:
    if not isinstance(value, ast.Call):
        return ""
    for keyword in value.keywords:
        text = keyword.value
        if keyword.arg == "summary" and isinstance(text, ast.Constant):
            return str(text.value)
    return ""
