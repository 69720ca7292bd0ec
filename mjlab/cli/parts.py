"""Parts of a configuration: what lies below each, what it may be set to, in words."""

import collections.abc
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Union

from mjlab.schema.annotations import field_types, is_record, union_members

_GIVEN = ("self", "env", "mask", "env_ids")
"""Parameters that a term is given by its manager."""


@dataclass(frozen=True)
class Parameters:
    """Stands for the annotation of a term's `params`: its function's signature."""

    func: Callable[..., Any]


@dataclass(frozen=True)
class Part:
    """A part of a configuration."""

    value: Any
    """What it is now."""

    annotation: Any
    """What it may be: a type, or `Any`."""


def parts_of(part: Part) -> dict[str, Part]:
    """Return what lies below a part, by name; empty for what is set as a whole."""
    value = part.value
    if is_record(value):
        return _fields(value)
    if isinstance(part.annotation, Parameters):
        return _parameters(value, part.annotation.func)
    if isinstance(value, Mapping):
        below = _argument(part.annotation, Mapping, 1)
        return {str(key): Part(item, below) for key, item in value.items()}
    if isinstance(value, tuple | list) and any(is_record(item) for item in value):
        below = _argument(part.annotation, (tuple, list), 0)
        return {
            _item_name(item, index): Part(item, below)
            for index, item in enumerate(value)
        }
    return {}


def with_part(value: Any, name: str, new: Any) -> Any:
    """A copy of a value in which the part `name` is another one."""
    if is_record(value):
        copied = _shallow_copy(value)
        object.__setattr__(copied, name, new)
        return copied
    if isinstance(value, Mapping):
        key = next((key for key in value if str(key) == name), name)
        return {**value, key: new}
    items = [
        new if _item_name(item, index) == name else item
        for index, item in enumerate(value)
    ]
    return type(value)(items)


def _fields(value: Any) -> dict[str, Part]:
    hints = field_types(type(value))
    names = [field.name for field in dataclasses.fields(value) if field.init]
    parts = {name: Part(getattr(value, name), hints.get(name, Any)) for name in names}
    if {"func", "params"} <= parts.keys() and callable(value.func):
        parts["params"] = Part(value.params, Parameters(value.func))
    return parts


def _parameters(given: Mapping[str, Any], func: Callable[..., Any]) -> dict[str, Part]:
    """Return what a term is given now, and what it has defaults for."""
    call = func.__call__ if isinstance(func, type) else func
    try:
        signature = inspect.signature(call, eval_str=True)
    except (NameError, ValueError, TypeError):
        return {name: Part(value, Any) for name, value in given.items()}
    parts: dict[str, Part] = {}
    for name, parameter in signature.parameters.items():
        kind = Any if parameter.annotation is parameter.empty else parameter.annotation
        if name in given:
            parts[name] = Part(given[name], kind)
        elif name not in _GIVEN and parameter.default is not parameter.empty:
            parts[name] = Part(parameter.default, kind)
    others = {n: Part(value, Any) for n, value in given.items() if n not in parts}
    return parts | others


def _argument(annotation: Any, origins: Any, index: int) -> Any:
    """The type of what a container holds, by its annotation."""
    for option in union_members(annotation):
        origin = typing.get_origin(option)
        if isinstance(origin, type) and issubclass(origin, origins):
            arguments = typing.get_args(option)
            return arguments[index] if index < len(arguments) else Any
    return Any


def _item_name(item: Any, index: int) -> str:
    name = getattr(item, "name", None)
    return name if isinstance(name, str) and name else str(index)


def _shallow_copy(value: Any) -> Any:
    """A copy that has not gone through the constructor, so that parts may follow."""
    copied = object.__new__(type(value))
    for key, item in vars(value).items():
        object.__setattr__(copied, key, item)
    return copied


# The kinds of values that text can give.

_SCALARS = (bool, int, float, str, Path, type(None))
_SEQUENCES = (
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
)


def records_of(part: Part) -> list[type]:
    """Dataclasses that a part may be an instance of."""
    declared = [
        o for o in union_members(part.annotation) if dataclasses.is_dataclass(o)
    ]
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
    kinds = [_plain(option) for option in union_members(annotation)]
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
    """Return whether text may be part of a value, so that a comma may be, too."""
    if kind is str or kind is Path:
        return True
    return any(has_words(inside) for inside in typing.get_args(kind))


def takes_many(kind: Any) -> bool:
    """Return whether a kind is a collection of any length."""
    return any(Ellipsis in typing.get_args(member) for member in union_members(kind))


def is_literal(kind: Any) -> bool:
    """Return whether a kind is a choice of words."""
    return typing.get_origin(kind) is Literal


# In words.

_WORDS = {
    float: ("number", "numbers"),
    int: ("whole number", "whole numbers"),
    str: ("word", "words"),
    bool: ("True or False", "values of True or False"),
    Path: ("path", "paths"),
}


def words_for(part: Part) -> str | None:
    """Say what a part takes; None if text cannot set it."""
    kind = kind_of_text(part)
    said = [] if kind is None else [words(kind)]
    records = records_of(part)
    if records:
        said.append(" or ".join(sorted(named(records))))
    return " or ".join(said) or None


def choices(kind: Any) -> list[str]:
    """Words that can be chosen from, besides None."""
    members = union_members(kind)
    if any(
        member not in (type(None),) and not is_literal(member) for member in members
    ):
        return []
    return [str(a) for m in members for a in typing.get_args(m)]


def words(kind: Any) -> str:
    """A kind, such as "a number or None"."""
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


def shown(part: Part, width: int = 60) -> str:
    """Say what a part is now, on one line."""
    value = part.value
    if is_record(value):
        return type(value).__name__
    if callable(value):
        return getattr(value, "__qualname__", repr(value))
    text = str(value) if isinstance(value, Path) else repr(value)
    return text if len(text) <= width else f"{text[: width - 3]}..."
