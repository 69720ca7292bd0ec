"""Convert the leaves of a configuration to JSON, and name all other parts.

A leaf is a number, a string, a path or a collection of these. Records, functions and
specs are not leaves: a settings file stores their names.
"""

import enum
import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from mjlab.names import suggest
from mjlab.settings.tree import Parameters, Part, SettingError
from mjlab.settings.types import WrongTypeError, check_type, is_record, union_members

IS_TASK_FILE = "__is_task_file__"
"""Attribute of a module that was imported as a task file."""


class SettingsFileError(SettingError):
    """Raised if settings cannot be written, or do not fit the task."""


def name_of(value: Any) -> str | None:
    """Return the name of a record, function or spec; None for a leaf."""
    if is_record(value):
        return type(value).__name__
    if isinstance(value, partial):
        return name_of(value.func)
    if isinstance(value, type) or inspect.isroutine(value):
        return value.__qualname__
    if callable(value) or type(value).__module__.startswith("mujoco"):
        return type(value).__name__
    return None


def to_leaf(value: Any, path: str) -> Any:
    """Convert a leaf to JSON data. A tuple becomes an array.

    Types without a JSON form become objects with a key such as "$path" or "$float".
    """
    if value is None or type(value) in (bool, str):
        return value
    for kind, write in (_WRITERS | _of_arrays()).items():
        if isinstance(value, kind):
            return write(value, path)
    raise SettingsFileError(
        f"{path} is a {type(value).__name__}, which a run's file cannot store. Use "
        "numbers, text, paths, tuples and dictionaries, or define the value in a "
        "configuration class."
    )


def from_leaf(data: Any, part: Part, path: str) -> Any:
    """Convert JSON data to the value of a part, and check its type.

    Raises:
        SettingsFileError: If the data are invalid, or the part has a different type.
    """
    kind = part.annotation
    if isinstance(kind, Parameters):
        kind = dict[str, Any]
    try:
        value = _decoded(data, part, path)
        check_type(value, kind, path)
    except WrongTypeError as error:
        raise SettingsFileError(str(error)) from error
    except RecursionError:
        raise SettingsFileError(f"{path} is nested too deeply.") from None
    return value


def _decoded(data: Any, part: Part, path: str) -> Any:
    if isinstance(data, list):
        return tuple(_decoded(item, part, path) for item in data)
    if not isinstance(data, dict):
        return data
    tags = [key for key in data if key.startswith("$")]
    if not tags:
        return {key: _decoded(item, part, path) for key, item in data.items()}
    read = _READERS.get(tags[0])
    if read is None or not data.keys() <= {tags[0], "dtype", "package"}:
        raise SettingsFileError(
            f"{path} has the unknown tag {tags[0]!r}. {suggest(tags[0], _READERS)}"
        )
    try:
        return read(data, part, path)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        if isinstance(error, SettingsFileError):
            raise
        raise SettingsFileError(f"{path}: {error}") from error


def _number(value: Any, path: str) -> Any:
    number = float(value)
    return number if math.isfinite(number) else {"$float": repr(number)}


def _items(value: Any, path: str) -> list[Any]:
    return [to_leaf(item, f"{path}[{index}]") for index, item in enumerate(value)]


def _mapping(value: Mapping[Any, Any], path: str) -> Any:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: to_leaf(item, f"{path}[{key!r}]") for key, item in value.items()}
    return {"$dict": [_items(pair, path) for pair in value.items()]}


def _path(value: Path, path: str) -> dict[str, Any]:
    """Convert a path to JSON data, relative to its package or task file, if any."""
    for name, folder in _packages():
        if value.is_relative_to(folder):
            return {"$path": value.relative_to(folder).as_posix(), "package": name}
    return {"$path": str(value)}


def _packages() -> list[tuple[str, Path]]:
    """Return the imported top-level packages and task files with their folders."""
    modules = [(n, m) for n, m in list(sys.modules.items()) if "." not in n]
    files = [
        (name, getattr(module, "__file__", None))
        for name, module in modules
        if getattr(module, "__path__", None) is not None
        or getattr(module, IS_TASK_FILE, False)
    ]
    return [(name, Path(file).parent) for name, file in files if file is not None]


def _path_of(data: dict[str, Any], part: Part, path: str) -> Path:
    if "package" not in data:
        return Path(data["$path"])
    folder = dict(_packages()).get(data["package"])
    inside = Path(data["$path"])
    if folder is None or inside.is_absolute() or ".." in inside.parts:
        raise SettingsFileError(
            f"{path} is {data['$path']!r} in the package {data['package']!r}, which "
            "the task does not import."
        )
    return folder / inside


def _enum_of(data: dict[str, Any], part: Part, path: str) -> enum.Enum:
    members = (*union_members(part.annotation), type(part.value))
    for kind in members:
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return kind[data["$enum"]]
    raise SettingsFileError(
        f"{path} is an enum member in the file, but the task has another type there."
    )


def _array_of(data: dict[str, Any], part: Part, path: str) -> Any:
    import numpy as np

    return np.array(data["$array"], dtype=np.dtype(data["dtype"]))


def _tensor_of(data: dict[str, Any], part: Part, path: str) -> Any:
    import torch

    dtype = getattr(torch, data["dtype"], None)
    if not isinstance(dtype, torch.dtype):
        raise SettingsFileError(f"{path}: torch has no dtype {data['dtype']!r}.")
    return torch.tensor(data["$tensor"], dtype=dtype)


def _of_arrays() -> dict[type, Callable[[Any, str], Any]]:
    """Return writers for types of NumPy and torch, where these are imported."""
    found: dict[type, Callable[[Any, str], Any]] = {}
    if (numpy := sys.modules.get("numpy")) is not None:
        found[numpy.integer] = lambda value, path: int(value)
        found[numpy.floating] = _number
        found[numpy.ndarray] = lambda value, path: {
            "$array": value.tolist(),
            "dtype": str(value.dtype),
        }
    if (torch := sys.modules.get("torch")) is not None:
        found[torch.Tensor] = lambda value, path: {
            "$tensor": value.tolist(),
            "dtype": str(value.dtype).removeprefix("torch."),
        }
    return found


_WRITERS: dict[type, Callable[[Any, str], Any]] = {
    enum.Enum: lambda value, path: {"$enum": value.name},
    str: lambda value, path: str(value),
    int: lambda value, path: value,
    float: _number,
    tuple: _items,
    list: lambda value, path: {"$list": _items(value, path)},
    set: lambda value, path: {"$set": _items(sorted(value), path)},
    frozenset: lambda value, path: {"$frozenset": _items(sorted(value), path)},
    dict: _mapping,
    slice: lambda v, path: {"$slice": _items((v.start, v.stop, v.step), path)},
    range: lambda v, path: {"$range": [v.start, v.stop, v.step]},
    Path: _path,
}


def _collection(tag: str, kind: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda data, part, path: kind(_decoded(data[tag], part, path))


_READERS: dict[str, Callable[[dict[str, Any], Part, str], Any]] = {
    "$dict": _collection("$dict", dict),
    "$list": _collection("$list", list),
    "$set": _collection("$set", set),
    "$frozenset": _collection("$frozenset", frozenset),
    "$slice": _collection("$slice", lambda ends: slice(*ends)),
    "$range": _collection("$range", lambda ends: range(*ends)),
    "$float": lambda data, part, path: float(data["$float"]),
    "$path": _path_of,
    "$enum": _enum_of,
    "$array": _array_of,
    "$tensor": _tensor_of,
}


# Data that is written but never read back.


def as_data(value: Any, path: str = "") -> Any:
    """Convert a value to JSON data, with the class name of each record.

    Used for contracts and other files that are not converted back to configurations.
    """
    name = name_of(value)
    if is_record(value):
        kept = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        return {"class": name} | {
            field: as_data(item, f"{path}.{field}") for field, item in kept.items()
        }
    if isinstance(value, Mapping):
        return {str(k): as_data(item, f"{path}[{k!r}]") for k, item in value.items()}
    if isinstance(value, tuple | list):
        return [as_data(item, f"{path}[{i}]") for i, item in enumerate(value)]
    return to_leaf(value, path) if name is None else name
