"""Conversion between values of settings and text typed on a command line."""

import ast
import collections.abc
import contextlib
import enum
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union

from mjlab.names import suggest
from mjlab.settings.tree import (
    Parameters,
    Part,
    SettingError,
    named,
    records_of,
    shown,
)
from mjlab.settings.types import is_record, union_members

_BOOLS: dict[str, bool] = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


def read_value(option: str, texts: Sequence[str], part: Part) -> Any:
    """Parse text as the value of a part.

    Args:
        option: The option as typed, for messages.
        texts: The words after the option.
        part: The part, with its current value.
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
        raise SettingError(f"--{option} needs a value: {words_for(part)}.{none}")
    try:
        return _parse(kind, texts, part.value)
    except _NotThatError:
        raise _wrong(option, texts, part, kind, records) from None


class _NotThatError(Exception):
    """Raised if text cannot be parsed as the requested type."""


def _new_record(option: str, cls: type, before: Any) -> Any:
    """Return an instance of `cls`; fields that `before` also has keep their value."""
    if type(before) is cls:
        return before
    names = getattr(cls, "__dataclass_fields__", {})
    kept = vars(before) if is_record(before) else {}
    shared = {name: value for name, value in kept.items() if name in names}
    try:
        return cls(**shared)
    except TypeError as error:
        raise SettingError(
            f"--{option}: a {cls.__name__} cannot be created on the command line "
            f"({error}). Subclass the configuration instead."
        ) from error


def _parse(kind: Any, texts: Sequence[str], now: Any) -> Any:
    """Parse text as a type or a union of types.

    If several members of a union fit, the type of the current value is preferred.
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
        return texts[0]  # Any text is valid, also with a leading dash.
    if kind is type(None):
        return _as_kind(kind, None if list(texts) == ["None"] else texts)
    if typing.get_args(kind) and not is_literal(kind):
        is_python = len(texts) == 1 and texts[0].startswith(("(", "[", "{"))
        if is_python or _is_nested(kind):
            return _as_kind(kind, _python(texts))
    tokens = list(texts)
    if len(texts) == 1 and "," in texts[0] and not has_words(kind):
        tokens = [text for text in texts[0].split(",") if text]
    if kind is bool and not texts:
        tokens = ["true"]
    value = _take(kind, tokens)
    if tokens:
        raise _NotThatError
    return value


def _take(kind: Any, tokens: list[str]) -> Any:
    """Parse a value from the first tokens, and remove these tokens."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        for member in arguments:
            rest = [*tokens]
            with contextlib.suppress(_NotThatError):
                value = _take(member, rest)
                tokens[:] = rest
                return value
        raise _NotThatError
    if origin is tuple and Ellipsis in arguments:
        found = []
        while tokens:
            found.append(_take(arguments[0], tokens))
        return tuple(found)
    if origin is tuple:
        return tuple([_take(inside, tokens) for inside in arguments])
    if origin is dict:
        pairs = {}
        while tokens:
            key = _take(arguments[0], tokens)
            pairs[key] = _take(arguments[1], tokens)
        return pairs
    if not tokens:
        raise _NotThatError
    return _scalar(kind, tokens.pop(0))


def _scalar(kind: Any, text: str) -> Any:
    """Parse one token."""
    if is_literal(kind):
        words = {str(choice): choice for choice in typing.get_args(kind)}
        if text in words:
            return words[text]
    elif kind is bool:
        if text.lower() in _BOOLS:
            return _BOOLS[text.lower()]
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        if text in kind.__members__:
            return kind[text]
    elif kind is type(None):
        if text == "None":
            return None
    elif kind in (int, float, str, Path):
        with contextlib.suppress(ValueError):
            return kind(text)
    raise _NotThatError


def _is_nested(kind: Any) -> bool:
    """Return True for nested collections of open length, whose tokens are ambiguous."""
    arguments = typing.get_args(kind)
    inside = [member for a in arguments for member in union_members(a)]
    return Ellipsis in arguments and any(Ellipsis in typing.get_args(m) for m in inside)


# Collections in Python notation.


def _python(texts: Sequence[str]) -> Any:
    """Parse text in Python notation, such as "(1, 2)"."""
    try:
        return ast.literal_eval(" ".join(texts))
    except (ValueError, SyntaxError):
        raise _NotThatError from None


def _as_kind(kind: Any, value: Any) -> Any:
    """Convert a Python value to `kind`, or raise."""
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
) -> SettingError:
    given = repr(" ".join(texts)) if texts else "nothing"
    names = choices(kind) + sorted(named(records))
    if names:
        hint = suggest(" ".join(texts), names)
        return SettingError(f"--{option} cannot be {given}. {hint}")
    is_unset = part.value is None and type(None) not in union_members(kind)
    now = "" if is_unset else f" It is {shown(part)} now."
    return SettingError(f"--{option} takes {words_for(part)}, not {given}.{now}")


def _unreadable(
    option: str, texts: Sequence[str], part: Part, records: list[type]
) -> SettingError:
    given = " ".join(texts)
    if records:
        hint = suggest(given, sorted(named(records)))
        below = f" To change a part of it, write --{option}.PART." * is_record(
            part.value
        )
        return SettingError(f"--{option} cannot be {given!r}. {hint}{below}")
    if isinstance(part.value, Mapping) and part.value:
        return SettingError(f"--{option} is set by its parts: --{option}.PART.")
    return SettingError(
        f"--{option} cannot be set on the command line: it is {shown(part)}. Subclass "
        "the configuration instead."
    )


# Types that text can represent.

_SCALARS = (bool, int, float, str, Path, type(None))
_SEQUENCES = (
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
)


def kind_of_text(part: Part) -> Any:
    """Return the type to parse text as; None if the part cannot be typed as text."""
    annotation = part.annotation
    if annotation is Any or isinstance(annotation, Parameters | typing.TypeVar):
        return _kind_of(part.value)
    kinds = [_plain(option) for option in union_members(annotation)]
    readable = tuple(kind for kind in kinds if kind is not None)
    if not [kind for kind in readable if kind is not type(None)]:
        return None
    return Union[readable]  # noqa: UP007 - the members are known only now.


def _is_enum(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, enum.Enum)


def _plain(annotation: Any) -> Any:
    """Return the members of an annotation that can be typed as text, or None."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in (collections.abc.Callable, typing.Callable, Any):
        return None
    if origin is Literal or annotation in _SCALARS or _is_enum(annotation):
        return annotation
    if origin in _SEQUENCES or origin is list:
        inner = _plain(arguments[0])
        return None if inner is None else tuple[inner, ...]
    if origin is tuple or (isinstance(origin, type) and issubclass(origin, Mapping)):
        inside = [a if a is Ellipsis else _plain(a) for a in arguments]
        outer: Any = tuple if origin is tuple else dict
        return None if None in inside else outer[tuple(inside)]
    if origin in (Union, types.UnionType):
        inside = [kind for a in arguments if (kind := _plain(a)) is not None]
        inside = inside if set(inside) - {type(None)} else []
        return Union[tuple(inside)] if inside else None  # noqa: UP007
    return None


def _kind_of(value: Any) -> Any:
    """Return the type of a value whose annotation is `Any`."""
    if isinstance(value, bool | str):
        return type(value)
    if isinstance(value, int):
        return int | float
    if isinstance(value, float):
        return float
    if value is None:
        return int | float | str | None
    if isinstance(value, tuple | list):
        kind = _kind_of_all(value)
        # A vector keeps its length; a list of names can change its length.
        length = (kind, ...) if kind is str else (kind,) * len(value)
        return None if kind is None else tuple[length]
    if isinstance(value, Mapping) and value:
        kind = _kind_of_all(value.values())
        return None if kind is None else dict[str, kind]
    return None


def _kind_of_all(values: Collection[Any]) -> Any:
    """Return the common type of several values, or None."""
    kinds = {_kind_of(value) for value in values}
    if kinds == {float, int | float}:
        return float
    return kinds.pop() if len(kinds) == 1 else None


def has_words(kind: Any) -> bool:
    """True if a value of this type can contain text, and therefore a comma."""
    if kind is str or kind is Path:
        return True
    return any(has_words(inside) for inside in typing.get_args(kind))


def takes_many(kind: Any) -> bool:
    """Return True for a collection of any length."""
    return any(Ellipsis in typing.get_args(member) for member in union_members(kind))


def is_literal(kind: Any) -> bool:
    """Return True for a `Literal`."""
    return typing.get_origin(kind) is Literal


# Descriptions.

_WORDS = {
    float: ("number", "numbers"),
    int: ("whole number", "whole numbers"),
    str: ("word", "words"),
    bool: ("True or False", "values of True or False"),
    Path: ("path", "paths"),
}


def words_for(part: Part) -> str | None:
    """Describe the values that a part accepts; None if text cannot set it."""
    kind = kind_of_text(part)
    said = [] if kind is None else [words(kind)]
    records = records_of(part)
    if records:
        said.append(" or ".join(sorted(named(records))))
    return " or ".join(said) or None


def choices(kind: Any) -> list[str]:
    """Return the choices of a `Literal`, without None."""
    members = union_members(kind)
    if any(
        member not in (type(None),) and not is_literal(member) for member in members
    ):
        return []
    return [str(a) for m in members for a in typing.get_args(m)]


def words(kind: Any) -> str:
    """Describe a type, as in "a number or None"."""
    said = [_member_words(member) for member in union_members(kind)]
    return " or ".join(dict.fromkeys(said))


def _member_words(kind: Any) -> str:
    if kind is type(None):
        return "None"
    if kind in _WORDS:
        article = "" if kind is bool else "a "
        return article + _WORDS[kind][0]
    if is_literal(kind):
        return " or ".join(str(a) for a in typing.get_args(kind))
    if _is_enum(kind):
        return " or ".join(kind.__members__)
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is dict:
        return f"a dictionary of {_many(arguments[1])}"
    if typing.get_origin(kind) is tuple and arguments:
        count = "" if arguments[-1] is Ellipsis else f"{len(arguments)} "
        return f"{count}{_many(arguments[0])}"
    return getattr(kind, "__name__", str(kind))


def _many(kind: Any) -> str:
    kinds = union_members(kind)
    return _WORDS.get(kinds[0], ("", f"values, each {words(kind)}"))[1]
