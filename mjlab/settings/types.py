"""Check values of configurations against type annotations."""

import collections.abc
import dataclasses
import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, Union


class WrongTypeError(TypeError):
    """Raised if a value does not match the annotation of its field."""


@cache
def field_types(cls: type, *, include_extras: bool = False) -> dict[str, Any]:
    """Return the annotations of the fields of a dataclass or named tuple.

    An annotation with a name that is imported only for type checkers counts as Any.

    Args:
        cls: The class.
        include_extras: Keep `Annotated` and its metadata.
    """
    try:
        return typing.get_type_hints(cls, include_extras=include_extras)
    except NameError:
        names = field_names(cls)
        return {name: _evaluated(cls, name, include_extras) for name in names}


def is_record(value: Any) -> bool:
    """Return True for an instance of a dataclass."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def union_members(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the annotation alone."""
    if typing.get_origin(annotation) in (Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def field_names(cls: type) -> tuple[str, ...]:
    """Return the names of the fields that the constructor takes."""
    if dataclasses.is_dataclass(cls):
        return tuple(f.name for f in dataclasses.fields(cls) if f.init)
    return getattr(cls, "_fields", ())


def _evaluated(cls: type, name: str, include_extras: bool) -> Any:
    for owner in cls.__mro__:
        annotation = inspect.get_annotations(owner).get(name)
        if annotation is None:
            continue
        holder = type("holder", (), {"__annotations__": {name: annotation}})
        holder.__module__ = owner.__module__
        try:
            return typing.get_type_hints(holder, include_extras=include_extras)[name]
        except NameError:
            return Any
    return Any


def check_type(value: Any, annotation: Any, path: str) -> None:
    """Raise with the path of the first value that does not match its annotation.

    Integers pass for floats, and lists for tuples.
    """
    origin = typing.get_origin(annotation)
    if annotation is Any or isinstance(annotation, typing.TypeVar):
        return
    if origin in (Union, types.UnionType):
        _check_union(value, annotation, path)
    elif origin is Literal:
        if value not in typing.get_args(annotation):
            raise _wrong(value, annotation, path)
    elif origin is None:
        if not _is_instance(value, annotation):
            raise _wrong(value, annotation, path)
    else:
        _check_generic(value, origin, annotation, path)


def _check_union(value: Any, annotation: Any, path: str) -> None:
    errors = []
    for option in typing.get_args(annotation):
        try:
            return check_type(value, option, path)
        except WrongTypeError as error:
            errors.append((option, error))
    # If only one member has the right shape, its error message is more specific.
    for option, error in errors:
        origin = typing.get_origin(option)
        if isinstance(origin, type) and _has_shape(value, origin) and _is_inside(error):
            raise error
    raise _wrong(value, annotation, path)


def _is_inside(error: Exception) -> bool:
    """True if an error is about an entry inside the value, not the value itself."""
    return "]" in str(error).split(" ", 1)[0]


def _check_generic(value: Any, origin: Any, annotation: Any, path: str) -> None:
    arguments = typing.get_args(annotation)
    if not _has_shape(value, origin):
        raise _wrong(value, annotation, path)
    if origin is tuple:
        _check_tuple(value, arguments, annotation, path)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        for key, item in value.items():
            check_type(key, arguments[0], f"{path}[{key!r}]")
            check_type(item, arguments[1], f"{path}[{key!r}]")
    elif origin in (list, set, frozenset) or origin in _SEQUENCES:
        for index, item in enumerate(value):
            check_type(item, arguments[0], f"{path}[{index}]")


_SEQUENCES = (Sequence, collections.abc.Iterable, collections.abc.Collection)


def _check_tuple(value: Any, arguments: Any, annotation: Any, path: str) -> None:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = (arguments[0],) * len(value)
    if len(value) != len(arguments):
        raise _wrong(value, annotation, path)
    for index, (item, kind) in enumerate(zip(value, arguments, strict=True)):
        check_type(item, kind, f"{path}[{index}]")


def _has_shape(value: Any, origin: Any) -> bool:
    if origin is tuple:
        return isinstance(value, tuple | list)
    if origin is collections.abc.Callable:
        return callable(value)
    if origin in _SEQUENCES:
        return isinstance(value, Sequence) and not isinstance(value, str)
    return isinstance(value, origin)


def _is_instance(value: Any, kind: Any) -> bool:
    if kind is None or kind is type(None):
        return value is None
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind is tuple:
        return isinstance(value, tuple | list)
    if kind is collections.abc.Callable or kind is typing.Callable:
        return callable(value)
    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True  # Other annotations are not checked.
    return isinstance(value, kind)


def _wrong(value: Any, annotation: Any, path: str) -> WrongTypeError:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return WrongTypeError(
        f"{path} is {shown} ({type(value).__name__}); it has to be "
        f"{describe(annotation)}."
    )


def describe(annotation: Any) -> str:
    """Describe an annotation in words."""
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        return " or ".join(describe(option) for option in arguments)
    if origin is Literal:
        return " or ".join(repr(option) for option in arguments)
    if annotation is type(None):
        return "None"
    if isinstance(annotation, type) and origin is None:
        return annotation.__name__
    return str(annotation).replace("typing.", "").replace("collections.abc.", "")
