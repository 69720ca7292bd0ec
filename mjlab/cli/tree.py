"""Configurations as trees: what lies below a part, and what it may be set to."""

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Union

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
    """What lies below a part, by name. Empty for what is set as a whole."""
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


def is_record(value: Any) -> bool:
    """Whether a value is an instance of a dataclass."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def options_of(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or the annotation alone."""
    if typing.get_origin(annotation) in (Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Annotations of a dataclass; one that cannot be evaluated counts as `Any`."""
    try:
        return typing.get_type_hints(cls)
    except NameError:
        return {}


def _fields(value: Any) -> dict[str, Part]:
    hints = hints_of(type(value))
    names = [field.name for field in dataclasses.fields(value) if field.init]
    parts = {name: Part(getattr(value, name), hints.get(name, Any)) for name in names}
    if {"func", "params"} <= parts.keys() and callable(value.func):
        parts["params"] = Part(value.params, Parameters(value.func))
    return parts


def _parameters(given: Mapping[str, Any], func: Callable[..., Any]) -> dict[str, Part]:
    """What a term takes: what it is given now, and what it has defaults for."""
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
    for option in options_of(annotation):
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
