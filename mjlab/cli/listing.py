"""A table of tasks, made without importing one."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from mjlab.cli.static_imports import source_of


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    id: str
    """The task's name."""

    summary: str
    """What it is, or why it is broken."""

    origin: str
    """The distribution that it comes from."""

    broken: bool = False
    """Whether it cannot be used."""


def table(rows: Sequence[Row]) -> str:
    """Lay rows out in columns."""
    ids = max((len(row.id) for row in rows), default=0)
    origins = max((len(row.origin) for row in rows), default=0)
    lines = []
    for row in rows:
        summary = f"BROKEN: {row.summary}" if row.broken else row.summary
        line = f"{row.id.ljust(ids)}  {row.origin.ljust(origins)}  {summary}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def find_summary(place: str) -> str:
    """The summary of a task as its source says it, without importing that.

    Args:
        place: `module:attribute` of a task that is made by `attribute = Task(...)`, or
            by another call with a keyword argument `summary`.

    Returns:
        The text given as `summary`; empty if it is not a literal there.
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
