"""What parts of a configuration are and take, in words."""

import typing
from pathlib import Path
from typing import Any

from mjlab.cli.kinds import is_literal, kind_of_text, named, records_of
from mjlab.cli.tree import Part, is_record, options_of

_WORDS = {
    float: ("number", "numbers"),
    int: ("whole number", "whole numbers"),
    str: ("word", "words"),
    bool: ("True or False", "values of True or False"),
    Path: ("path", "paths"),
}


def words_for(part: Part) -> str | None:
    """What a part takes, in words; None if text cannot set it."""
    kind = kind_of_text(part)
    said = [] if kind is None else [words(kind)]
    records = records_of(part)
    if records:
        said.append(" or ".join(sorted(named(records))))
    return " or ".join(said) or None


def choices(kind: Any) -> list[str]:
    """Words that can be chosen from, besides None."""
    members = options_of(kind)
    if any(
        member not in (type(None),) and not is_literal(member) for member in members
    ):
        return []
    return [str(a) for m in members for a in typing.get_args(m)]


def words(kind: Any) -> str:
    """A kind, such as "a number or None"."""
    said = [_member_words(member) for member in options_of(kind)]
    return " or ".join(dict.fromkeys(said))


def _member_words(kind: Any) -> str:
    if kind is type(None):
        return "None"
    if kind in _WORDS:
        article = "" if kind is bool else "a "
        return article + _WORDS[kind][0]
    if is_literal(kind):
        return " or ".join(str(a) for a in typing.get_args(kind))
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is dict:
        return f"a dictionary of {_many(arguments[1])}"
    if typing.get_origin(kind) is tuple and arguments:
        count = "" if arguments[-1] is Ellipsis else f"{len(arguments)} "
        return f"{count}{_many(arguments[0])}"
    return getattr(kind, "__name__", str(kind))


def _many(kind: Any) -> str:
    kinds = options_of(kind)
    return _WORDS.get(kinds[0], ("", f"values, each {words(kind)}"))[1]


def shown(part: Part, width: int = 60) -> str:
    """What a part is now, on one line."""
    value = part.value
    if is_record(value):
        return type(value).__name__
    if callable(value):
        return getattr(value, "__qualname__", repr(value))
    text = str(value) if isinstance(value, Path) else repr(value)
    return text if len(text) <= width else f"{text[: width - 3]}..."
