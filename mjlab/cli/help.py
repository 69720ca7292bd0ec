"""Help texts of options and of `--help-config`, from the docstrings of fields."""

import ast
import dataclasses
import inspect
import itertools
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any

from mjlab.settings.change import find_part
from mjlab.settings.text import words_for
from mjlab.settings.tree import Parameters, Part, parts_of, shown
from mjlab.settings.types import is_record

WIDTH = 80
_COLUMN = 26


def two_columns(left: str, right: str, column: int = _COLUMN) -> list[str]:
    """Format a term and its explanation in two columns, or below a long term."""
    head = f"  {left}"
    wrapped = textwrap.wrap(right, WIDTH - column) or [""]
    if len(head) > column - 2:
        return [head, *(" " * column + line for line in wrapped)]
    first = head.ljust(column) + wrapped[0]
    return [first.rstrip(), *(" " * column + line for line in wrapped[1:])]


@cache
def field_texts(cls: type) -> dict[str, str]:
    """Return the docstring of each field of a dataclass, on one line."""
    found: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if dataclasses.is_dataclass(owner):
            found |= _own_texts(owner)
    return found


def _own_texts(cls: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return {}  # A class created at runtime has no source.
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found: dict[str, str] = {}
    for field, after in itertools.pairwise(body):
        if not isinstance(field, ast.AnnAssign) or not isinstance(after, ast.Expr):
            continue
        text = after.value
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            found[ast.unparse(field.target)] = " ".join(text.value.split())
    return found


_INDENT = 6


def reference(root: Any, name: str = "") -> str:
    """Explain the settings below a part, or list the parts of the first two levels.

    Args:
        root: The configurations by name.
        name: Dotted name of the part. Empty for an overview.
    """
    if not name:
        return "\n".join(_overview(root))
    name = name.strip(".").replace("-", "_")
    part = find_part(root, name)
    lines = [f"{name} is {_title(part)}"]
    if not parts_of(part):
        return "\n".join([*lines, *_option(name, part, "")])
    for path, owner, below in _leaves(name, part):
        text = field_texts(type(owner)).get(path.rpartition(".")[2], "")
        lines += _option(path, below, text if is_record(owner) else "")
    return "\n".join(lines)


def _overview(root: Any) -> Iterator[str]:
    yield (
        "Parts of the configuration. --help-config PART lists the settings of a part."
    )
    for config, part in parts_of(Part(root, Any)).items():
        yield ""
        yield f"{config}: {_title(part)}"
        texts = field_texts(type(part.value))
        for name, below in parts_of(part).items():
            count = sum(1 for _ in _leaves(name, below))
            size = (
                f" ({count} options)" if parts_of(below) else f" = {shown(below, 24)}"
            )
            yield from two_columns(f"{config}.{name}", texts.get(name, "") + size)


def _leaves(path: str, part: Part) -> Iterator[tuple[str, Any, Part]]:
    """Yield path, owner and part of every leaf setting.

    A record among a term's parameters, such as a `SceneEntityCfg`, shows only values
    that differ from the default; name the record itself to list all its fields.
    """
    for name, below in parts_of(part).items():
        where = f"{path}.{name}"
        if is_record(below.value) and isinstance(part.annotation, Parameters):
            yield from _unusual(where, below)
        elif parts_of(below):
            yield from _leaves(where, below)
        elif words_for(below) is not None:
            yield where, part.value, below


def _unusual(path: str, record: Part) -> Iterator[tuple[str, Any, Part]]:
    defaults = {field.name: field.default for field in fields(record.value)}
    for name, below in parts_of(record).items():
        if below.value != defaults[name]:
            yield f"{path}.{name}", record.value, below


def _option(path: str, part: Part, text: str) -> Iterator[str]:
    yield f"  --{path.replace('_', '-')}"
    said = f"{words_for(part) or 'Only in Python'}. Now: {shown(part)}"
    indent = " " * _INDENT
    for line in (text, said):
        if line:
            yield from (f"{indent}{row}" for row in _wrapped(line))


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH - _INDENT)


def _title(part: Part) -> str:
    value = part.value
    func = getattr(value, "func", None)
    computed = f" of {getattr(func, '__qualname__', func)}" if callable(func) else ""
    if is_record(value):
        return f"a {type(value).__name__}{computed}."
    return f"{shown(part)}."
