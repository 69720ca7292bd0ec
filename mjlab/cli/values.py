"""Text that a user typed, as the value that a part of a configuration takes."""

import ast
import contextlib
import io
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union

from mjlab.cli.answers import UsageError
from mjlab.cli.parts import (
    Part,
    choices,
    has_words,
    is_literal,
    kind_of_text,
    named,
    records_of,
    shown,
    takes_many,
    words_for,
)
from mjlab.names import suggest
from mjlab.schema.annotations import is_record, union_members

_BOOLS = {"true": "True", "1": "True", "yes": "True", "on": "True"} | {
    "false": "False",
    "0": "False",
    "no": "False",
    "off": "False",
}


def read_value(option: str, texts: Sequence[str], part: Part) -> Any:
    """Return what a part becomes.

    Args:
        option: The option as typed, for messages.
        texts: Its values.
        part: The part as it is now.
    """
    records = records_of(part)
    if len(texts) == 1 and records:
        if texts[0] in named(records):
            return _new_record(option, named(records)[texts[0]], part.value)
        if texts[0] == "None" and type(None) in union_members(part.annotation):
            return None
    kind = kind_of_text(part)
    if kind is None:
        raise _unreadable(option, texts, part, records)
    if not texts and bool not in union_members(kind):
        none = " Write '()' for none." * takes_many(kind)
        raise UsageError(f"--{option} needs a value: {words_for(part)}.{none}")
    try:
        return _parse(kind, texts, part.value)
    except _NotThatError:
        raise _wrong(option, texts, part, kind, records) from None


class _NotThatError(Exception):
    """Text that is not of the kind that is asked for."""


def _new_record(option: str, cls: type, before: Any) -> Any:
    """An instance of `cls` that keeps what it shares with the one before."""
    if type(before) is cls:
        return before
    names = getattr(cls, "__dataclass_fields__", {})
    kept = vars(before) if is_record(before) else {}
    shared = {name: value for name, value in kept.items() if name in names}
    try:
        return cls(**shared)
    except TypeError as error:
        raise UsageError(
            f"--{option}: a {cls.__name__} cannot be made on the command line "
            f"({error}). Subclass the configuration instead."
        ) from error


def _tokens(kind: Any, texts: Sequence[str]) -> list[str]:
    """Values as tyro takes them."""
    if kind is bool and len(texts) <= 1:
        text = texts[0] if texts else "True"
        return [_BOOLS.get(text.lower(), text)]
    if len(texts) == 1 and "," in texts[0] and not has_words(kind):
        return [text for text in texts[0].split(",") if text]
    return list(texts)


def _parse(kind: Any, texts: Sequence[str], now: Any) -> Any:
    """Read text as one of the members of a kind.

    What could be read in two ways stays of the kind that it is.
    """
    members = union_members(kind)
    ordered = sorted(members, key=lambda m: (m is not type(None), not _is_of(m, now)))
    for member in ordered:
        with contextlib.suppress(_NotThatError):
            return _parse_one(member, texts)
    raise _NotThatError


def _is_of(kind: Any, value: Any) -> bool:
    cls = typing.get_origin(kind) or kind
    return type(value) is cls or (cls is Path and isinstance(value, Path))


def _parse_one(kind: Any, texts: Sequence[str]) -> Any:
    if kind is str and len(texts) == 1:
        return texts[0]  # As it is, whatever it begins with.
    if kind is type(None):
        return _as_kind(kind, None if list(texts) == ["None"] else texts)
    if typing.get_args(kind) and not is_literal(kind):
        is_python = len(texts) == 1 and texts[0].startswith(("(", "[", "{"))
        if is_python or _is_nested(kind):
            return _as_kind(kind, _python(texts))
    import tyro

    tokens = _tokens(kind, texts)

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            return tyro.cli(kind, args=tokens, console_outputs=False)
    except SystemExit:
        raise _NotThatError from None


def _is_nested(kind: Any) -> bool:
    """Return whether values in a row do not say where one collection ends."""
    arguments = typing.get_args(kind)
    inside = [member for a in arguments for member in union_members(a)]
    return Ellipsis in arguments and any(Ellipsis in typing.get_args(m) for m in inside)


# Collections as Python writes them.


def _python(texts: Sequence[str]) -> Any:
    """Return what a text says in Python's own notation."""
    try:
        return ast.literal_eval(" ".join(texts))
    except (ValueError, SyntaxError):
        raise _NotThatError from None


def _as_kind(kind: Any, value: Any) -> Any:
    """A Python value as one of `kind`, if it is that."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        for member in arguments:
            with contextlib.suppress(_NotThatError):
                return _as_kind(member, value)
    elif origin is tuple and isinstance(value, tuple | list):
        many = len(arguments) == 2 and arguments[1] is Ellipsis
        kinds = arguments[:1] * len(value) if many else arguments
        if len(kinds) == len(value):
            return tuple(map(_as_kind, kinds, value))
    elif origin is dict and isinstance(value, dict):
        of_key, of_item = arguments
        return {_as_kind(of_key, k): _as_kind(of_item, v) for k, v in value.items()}
    elif origin is Literal and value in arguments:
        return value
    elif kind is float and type(value) is int:
        return float(value)
    elif origin is None and type(value) is kind:
        return value
    raise _NotThatError


# Messages.


def _wrong(
    option: str, texts: Sequence[str], part: Part, kind: Any, records: list[type]
) -> UsageError:
    given = repr(" ".join(texts)) if texts else "nothing"
    names = choices(kind) + sorted(named(records))
    if names:
        hint = suggest(" ".join(texts), names)
        return UsageError(f"--{option} cannot be {given}. {hint}")
    return UsageError(
        f"--{option} takes {words_for(part)}, not {given}. It is {shown(part)} now."
    )


def _unreadable(
    option: str, texts: Sequence[str], part: Part, records: list[type]
) -> UsageError:
    given = " ".join(texts)
    if records:
        hint = suggest(given, sorted(named(records)))
        below = f" To change a part of it, write --{option}.PART." * is_record(
            part.value
        )
        return UsageError(f"--{option} cannot be {given!r}. {hint}{below}")
    if isinstance(part.value, Mapping) and part.value:
        return UsageError(f"--{option} is set by its parts: --{option}.PART.")
    return UsageError(
        f"--{option} cannot be set on the command line: it is {shown(part)}. Subclass "
        "the configuration instead."
    )
