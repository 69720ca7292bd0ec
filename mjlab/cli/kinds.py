"""Kinds of values that text can give to a part of a configuration."""

import collections.abc
import enum
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Literal, Union

from mjlab.cli.tree import Parameters, Part, is_record, options_of

_SCALARS = (bool, int, float, str, Path, type(None))
_SEQUENCES = (
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
)


def records_of(part: Part) -> list[type]:
    """Dataclasses that a part may be an instance of."""
    declared = [o for o in options_of(part.annotation) if is_dataclass(o)]
    if is_record(part.value) and not declared:
        return []
    return [option for option in declared if isinstance(option, type)]


def named(records: Sequence[type]) -> dict[str, type]:
    """These dataclasses and all that inherit them, by name."""
    found: dict[str, type] = {}
    todo = list(records)
    while todo:
        cls = todo.pop()
        found[cls.__name__] = cls
        todo += cls.__subclasses__()
    return found


def kind_of_text(part: Part) -> Any:
    """The kind of value that text can give, None if there is none."""
    annotation = part.annotation
    if annotation is Any or isinstance(annotation, Parameters | typing.TypeVar):
        return _kind_of(part.value)
    kinds = [_plain(option) for option in options_of(annotation)]
    readable = tuple(kind for kind in kinds if kind is not None)
    if not [kind for kind in readable if kind is not type(None)]:
        return None
    return Union[readable]  # noqa: UP007 - the members are known only now.


def _is_enum(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, enum.Enum)


def _plain(annotation: Any) -> Any:
    """An annotation as tyro reads it, None for what no text can give."""
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
    """The kind of a value whose annotation says nothing."""
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
        # A vector keeps its length, and a list of names does not.
        length = (kind, ...) if kind is str else (kind,) * len(value)
        return None if kind is None else tuple[length]
    if isinstance(value, Mapping) and value:
        kind = _kind_of_all(value.values())
        return None if kind is None else dict[str, kind]
    return None


def _kind_of_all(values: Collection[Any]) -> Any:
    """The kind of several values, None if they have none in common."""
    kinds = {_kind_of(value) for value in values}
    if kinds == {float, int | float}:
        return float
    return kinds.pop() if len(kinds) == 1 else None


def has_words(kind: Any) -> bool:
    """Whether text itself may be part of a value, so that a comma may be, too."""
    if kind is str or kind is Path:
        return True
    return any(has_words(inside) for inside in typing.get_args(kind))


def takes_many(kind: Any) -> bool:
    """Whether a kind is a collection of any length."""
    return any(Ellipsis in typing.get_args(member) for member in options_of(kind))


def is_literal(kind: Any) -> bool:
    """Whether a kind is a choice of words."""
    return typing.get_origin(kind) is Literal
