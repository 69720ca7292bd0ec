"""The help that fits on a screen and comes at once."""

import ast
import dataclasses
import inspect
import itertools
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

WIDTH = 88
_COLUMN = 26


@dataclass(frozen=True)
class Option:
    """An option as the help shows it."""

    usage: str
    """How it is typed."""

    text: str
    """What it does."""

    @classmethod
    def of(cls, owner: Any, field: dataclasses.Field) -> "Option":
        """The option that a field of a dataclass is."""
        value = "" if field.type is bool else f" {field.name.split('_')[-1].upper()}"
        no = "[no-]" if field.type is bool and field.default is True else ""
        usage = f"--{no}{field.name.replace('_', '-')}{value}"
        return cls(usage, field_texts(owner).get(field.name, ""))


def short_help(
    *,
    usage: str,
    summary: str,
    options: Sequence[Option],
    examples: Sequence[str],
    closing: Sequence[str],
) -> str:
    """Lay the help out."""
    lines = [f"usage: {usage}", "", *textwrap.wrap(summary, WIDTH), "", "options:"]
    for option in [*options, Option("--help", "This text.")]:
        lines += two_columns(option.usage, option.text)
    if examples:
        lines += ["", "examples:", *(f"  {example}" for example in examples)]
    if closing:
        wrapped = (
            textwrap.wrap(line, WIDTH, break_on_hyphens=False) for line in closing
        )
        lines += ["", *itertools.chain.from_iterable(wrapped)]
    return "\n".join(lines)


def two_columns(left: str, right: str, column: int = _COLUMN) -> list[str]:
    """A term and its explanation beside it, or below where it is long."""
    head = f"  {left}"
    wrapped = textwrap.wrap(right, WIDTH - column) or [""]
    if len(head) > column - 2:
        return [head, *(" " * column + line for line in wrapped)]
    first = head.ljust(column) + wrapped[0]
    return [first.rstrip(), *(" " * column + line for line in wrapped[1:])]


@cache
def field_texts(cls: type) -> dict[str, str]:
    """The docstring below each field of a dataclass, on one line."""
    found: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if dataclasses.is_dataclass(owner):
            found |= _own_texts(owner)
    return found


def _own_texts(cls: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return {}  # A class that was made by a program has no source.
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found: dict[str, str] = {}
    for field, after in itertools.pairwise(body):
        if not isinstance(field, ast.AnnAssign) or not isinstance(after, ast.Expr):
            continue
        text = after.value
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            found[ast.unparse(field.target)] = " ".join(text.value.split())
    return found
