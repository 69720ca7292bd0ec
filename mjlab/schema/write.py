"""Configurations as JSON: complete, readable, and read back without a call.

JSON's own kinds stand for themselves, and an array is a tuple. What JSON has no word
for is an object with a key that begins with "$": a dataclass is
`{"$type": "module:name", field: value}`, and a function `{"$callable": "module:name"}`.
"""

import enum
import functools
import json
import math
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from mjlab.schema.names import ConfigFileError, name_of
from mjlab.schema.paths import path_data
from mjlab.schema.read import from_data
from mjlab.schema.trust import Trust
from mjlab.settings.types import field_names, is_record


def config_text(**parts: Any) -> str:
    """Configurations under names, such as env=... and agent=..., as JSON.

    Raises:
        ConfigFileError: If they could not be read back as they are.
    """
    data = to_data(parts, "config")
    from_data(data, Trust(None))
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def to_data(value: Any, path: str = "config") -> Any:
    """Return `value` as what `json` can write."""
    if value is None or type(value) in (bool, str):
        return value
    if is_record(value):
        return _record(value, path)
    if isinstance(value, tuple) and field_names(type(value)):
        return _record(value, path)
    if _is_tensor(value):
        return _tensor(value)
    for kind, write in (_WRITERS | _of_numpy()).items():
        if isinstance(value, kind):
            return write(value, path)
    if callable(value):
        return {"$callable": name_of(value, path)}
    raise ConfigFileError(
        f"{path} is a {type(value).__name__}, which cannot be written to a file. "
        "Use numbers, text, tuples, dictionaries, dataclasses, functions or paths."
    )


def _number(value: Any, path: str) -> Any:
    number = float(value)
    return number if math.isfinite(number) else {"$float": repr(number)}


def _enum(value: enum.Enum, path: str) -> dict[str, Any]:
    return {"$enum": name_of(type(value), path), "name": value.name}


def _record(value: Any, path: str) -> dict[str, Any]:
    fields = {
        name: to_data(getattr(value, name), f"{path}.{name}")
        for name in field_names(type(value))
    }
    return {"$type": name_of(type(value), path)} | fields


def _items(value: Collection[Any], path: str) -> list[Any]:
    return [to_data(item, f"{path}[{index}]") for index, item in enumerate(value)]


def _mapping(value: dict[Any, Any], path: str) -> Any:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: to_data(item, f"{path}[{key!r}]") for key, item in value.items()}
    pairs = [
        [to_data(key, f"{path}[{key!r}]"), to_data(item, f"{path}[{key!r}]")]
        for key, item in value.items()
    ]
    return {"$dict": pairs}


def _partial(value: functools.partial, path: str) -> dict[str, Any]:
    return {
        "$partial": name_of(value.func, path),
        "args": _items(value.args, path),
        "keywords": _mapping(value.keywords, path),
    }


_WRITERS: dict[type, Callable[[Any, str], Any]] = {
    enum.Enum: _enum,  # Before the kinds that some of them are as well.
    str: lambda value, path: str(value),
    int: lambda value, path: value,
    float: _number,
    tuple: _items,
    list: lambda value, path: {"$list": _items(value, path)},
    set: lambda value, path: {"$set": _items(sorted(value), path)},
    frozenset: lambda value, path: {"$frozenset": _items(sorted(value), path)},
    dict: _mapping,
    slice: lambda v, path: {"$slice": [to_data(x, path) for x in _ends(v)]},
    range: lambda v, path: {"$range": [v.start, v.stop, v.step]},
    functools.partial: _partial,
    Path: lambda value, path: path_data(value),
}


def _of_numpy() -> dict[type, Callable[[Any, str], Any]]:
    """Writers of NumPy's kinds, if anybody has loaded it."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return {}
    return {
        numpy.integer: lambda value, path: int(value),
        numpy.floating: _number,
        numpy.ndarray: lambda v, path: {"$array": v.tolist(), "dtype": str(v.dtype)},
    }


def _ends(value: slice) -> tuple[Any, Any, Any]:
    return value.start, value.stop, value.step


def _tensor(value: Any) -> dict[str, Any]:
    dtype = str(value.dtype).removeprefix("torch.")
    return {"$tensor": value.tolist(), "dtype": dtype}


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)
