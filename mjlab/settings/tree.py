"""Access to a configuration as a tree of parts, each with a value and an annotation.

A part has a dotted path, such as `env.rewards.upright.weight`.
"""

import dataclasses
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from mjlab.settings.types import field_types, is_record, union_members


class SettingError(ValueError):
    """Raised for a path that does not exist in a configuration, or an invalid value."""


_GIVEN = ("self", "env", "mask", "env_ids")
"""Parameters that the manager passes to a term."""


@dataclass(frozen=True)
class Parameters:
    """Function or class whose signature defines the types of a term's `params`."""

    func: Callable[..., Any]


@dataclass(frozen=True)
class Part:
    """Part of a configuration: a value with its annotation."""

    value: Any
    """The current value."""

    annotation: Any
    """The type of the field, or `Any`."""


def parts_of(part: Part) -> dict[str, Part]:
    """Return the parts directly below by name; empty for a leaf."""
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
    """Return a copy of a value with a new part `name`."""
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
    """Return the parameters of a term that are given or have a default."""
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
    """Return the type of a container's items, from the container's annotation."""
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
    """Copy a record without its constructor, which would check the values too early."""
    copied = object.__new__(type(value))
    for key, item in vars(value).items():
        object.__setattr__(copied, key, item)
    return copied


def records_of(part: Part) -> list[type]:
    """Return the dataclasses in a part's annotation."""
    declared = [
        o for o in union_members(part.annotation) if dataclasses.is_dataclass(o)
    ]
    if is_record(part.value) and not declared:
        return []
    return [option for option in declared if isinstance(option, type)]


def named(records: Sequence[type]) -> dict[str, type]:
    """Return these dataclasses and all their subclasses by name."""
    found: dict[str, type] = {}
    todo = list(records)
    while todo:
        cls = todo.pop()
        found[cls.__name__] = cls
        todo += cls.__subclasses__()
    return found


def shown(part: Part, width: int = 60) -> str:
    """Return a part's value on one line."""
    value = part.value
    if is_record(value):
        return type(value).__name__
    if callable(value):
        return getattr(value, "__qualname__", repr(value))
    if isinstance(value, Enum):
        return value.name
    text = str(value) if isinstance(value, Path) else repr(value)
    return text if len(text) <= width else f"{text[: width - 3]}..."
