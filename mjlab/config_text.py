"""Configurations as JSON: complete, readable, and read back without running anything.

JSON's own kinds stand for themselves, and an array is a tuple. What JSON has no word
for is an object with a key that begins with "$": a dataclass is
`{"$type": "module:name", field: value}`, and a function `{"$callable": "module:name"}`.

A file can name only what is defined in trusted packages: it cannot have anything else
imported, and cannot reach through a trusted module to what that imports.
"""

import dataclasses
import enum
import functools
import importlib
import json
import math
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.names import suggest
from mjlab.type_check import WrongTypeError, check_type, field_names, field_types

TRUSTED = ("mjlab",)
"""Packages whose names a file may use. A task of another distribution adds its own."""


class ConfigFileError(ValueError):
    """A configuration that cannot be written, or a file that cannot be read."""


def config_text(**parts: Any) -> str:
    """Configurations under names, such as env=... and agent=..., as JSON.

    Raises:
        ConfigFileError: If they could not be read back as they are.
    """
    data = to_data(parts, "config")
    from_data(data, packages=None)
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def parse_config(
    text: str, packages: Collection[str] | None = TRUSTED, *, where: str = "config"
) -> dict[str, Any]:
    """Read what `config_text` made.

    Args:
        text: The text.
        packages: Top-level packages that it may name things of. None trusts all that is
            installed.
        where: Where it comes from, for errors.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigFileError(f"{where} is not JSON: {error}") from error
    return from_data(data, packages=packages, path="config")


# Writing.


def to_data(value: Any, path: str = "config") -> Any:
    """Return `value` as what `json` can write."""
    if value is None or type(value) in (bool, str):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _record(value, path)
    if isinstance(value, tuple) and field_names(type(value)):
        return _record(value, path)
    if _is_tensor(value):
        return _tensor(value)
    for kind, write in _WRITERS.items():
        if isinstance(value, kind):
            return write(value, path)
    if callable(value):
        return {"$callable": _name_of(value, path)}
    raise ConfigFileError(
        f"{path} is a {type(value).__name__}, which cannot be written to a file. "
        "Use numbers, text, tuples, dictionaries, dataclasses, functions or paths."
    )


def _number(value: float | np.floating, path: str) -> Any:
    number = float(value)
    return number if math.isfinite(number) else {"$float": repr(number)}


def _enum(value: enum.Enum, path: str) -> dict[str, Any]:
    return {"$enum": _name_of(type(value), path), "name": value.name}


def _record(value: Any, path: str) -> dict[str, Any]:
    fields = {
        name: to_data(getattr(value, name), f"{path}.{name}")
        for name in field_names(type(value))
    }
    return {"$type": _name_of(type(value), path)} | fields


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
        "$partial": _name_of(value.func, path),
        "args": _items(value.args, path),
        "keywords": _mapping(value.keywords, path),
    }


def _path(value: Path, path: str) -> dict[str, Any]:
    """A path, relative to its package where it is a file of a loaded one."""
    for package in TRUSTED:
        folder = _package_folder(package)
        if folder is not None and value.is_relative_to(folder):
            return {"$path": value.relative_to(folder).as_posix(), "package": package}
    return {"$path": str(value)}


def _array(value: np.ndarray, path: str) -> dict[str, Any]:
    return {"$array": value.tolist(), "dtype": str(value.dtype)}


_WRITERS: dict[type, Callable[[Any, str], Any]] = {
    enum.Enum: _enum,  # Before the kinds that some of them are as well.
    str: lambda value, path: str(value),
    int: lambda value, path: value,
    np.integer: lambda value, path: int(value),
    float: _number,
    np.floating: _number,
    tuple: _items,
    list: lambda value, path: {"$list": _items(value, path)},
    set: lambda value, path: {"$set": _items(sorted(value), path)},
    frozenset: lambda value, path: {"$frozenset": _items(sorted(value), path)},
    dict: _mapping,
    slice: lambda v, path: {"$slice": [to_data(x, path) for x in _ends(v)]},
    range: lambda v, path: {"$range": [v.start, v.stop, v.step]},
    functools.partial: _partial,
    Path: _path,
    np.ndarray: _array,
}


def _ends(value: slice) -> tuple[Any, Any, Any]:
    return value.start, value.stop, value.step


def _tensor(value: Any) -> dict[str, Any]:
    dtype = str(value.dtype).removeprefix("torch.")
    return {"$tensor": value.tolist(), "dtype": dtype}


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _name_of(value: Any, path: str) -> str:
    """`module:name` of a class or function, if that is where it can be found."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None)
    if module is None or name is None:
        raise ConfigFileError(f"{path} is {value!r}, which has no name to find it by.")
    text = f"{module}:{name}"
    try:
        found = _walk(text)
    except (ImportError, AttributeError):
        found = None
    if found is not value:
        raise ConfigFileError(
            f"{path} is {text!r}, which cannot be found by that name. Define it with "
            "`def` or `class` in a module, not within a function or as a lambda."
        )
    return text


# Reading.


def from_data(
    data: Any, *, packages: Collection[str] | None = TRUSTED, path: str = "config"
) -> Any:
    """Return what `to_data` was given."""
    if isinstance(data, list):
        return tuple(
            from_data(item, packages=packages, path=f"{path}[{index}]")
            for index, item in enumerate(data)
        )
    if not isinstance(data, dict):
        return data
    tags = [key for key in data if key.startswith("$")]
    if not tags:
        return {
            key: from_data(item, packages=packages, path=f"{path}[{key!r}]")
            for key, item in data.items()
        }
    read = _READERS.get(tags[0])
    if len(tags) > 1 or read is None:
        hint = suggest(tags[0], list(_READERS))
        raise ConfigFileError(f"{path} has the unknown tag {tags[-1]!r}. {hint}")
    try:
        return read(data, packages, path)
    except (TypeError, ValueError, KeyError) as error:
        if isinstance(error, ConfigFileError):
            raise
        raise ConfigFileError(f"{path}: {error}") from error


def _read_record(data: dict[str, Any], packages: Any, path: str) -> Any:
    cls: Any = resolve(data["$type"], packages, path)
    is_record = dataclasses.is_dataclass(cls) or issubclass(cls, tuple)
    if not isinstance(cls, type) or not is_record:
        raise ConfigFileError(f"{path} is {data['$type']!r}, which is no dataclass.")
    names = field_names(cls)
    values: dict[str, Any] = {}
    types = field_types(cls)
    for name, item in data.items():
        if name == "$type":
            continue
        where = f"{path}.{name}"
        if name not in names:
            raise ConfigFileError(
                f"{where} is unknown: {cls.__name__} has no field {name!r}. "
                + suggest(name, names)
            )
        values[name] = from_data(item, packages=packages, path=where)
        try:
            check_type(values[name], types.get(name, Any), where)
        except WrongTypeError as error:
            raise ConfigFileError(str(error)) from error
    return cls(**values)


def _read_mapping(data: dict[str, Any], packages: Any, path: str) -> dict[Any, Any]:
    pairs = from_data(data["$dict"], packages=packages, path=path)
    return dict(pairs)


def _read_partial(data: dict[str, Any], packages: Any, path: str) -> functools.partial:
    func = resolve(data["$partial"], packages, path)
    args = from_data(data["args"], packages=packages, path=path)
    keywords = from_data(data["keywords"], packages=packages, path=path)
    return functools.partial(func, *args, **keywords)


def _read_path(data: dict[str, Any], packages: Any, path: str) -> Path:
    if "package" not in data:
        return Path(data["$path"])
    package = data["package"]
    folder = _package_folder(package) if package in TRUSTED else None
    if folder is None:
        raise ConfigFileError(f"{path} is in the package {package!r}, not one of ours.")
    return folder / data["$path"]


def _read_enum(data: dict[str, Any], packages: Any, path: str) -> Any:
    cls = resolve(data["$enum"], packages, path)
    if not (isinstance(cls, type) and issubclass(cls, enum.Enum)):
        raise ConfigFileError(f"{path} is {data['$enum']!r}, which is no enumeration.")
    return cls[data["name"]]


def _read_tensor(data: dict[str, Any], packages: Any, path: str) -> Any:
    import torch

    dtype = getattr(torch, data["dtype"], None)
    if not isinstance(dtype, torch.dtype):
        raise ConfigFileError(f"{path} has dtype {data['dtype']!r}, which torch lacks.")
    return torch.tensor(data["$tensor"], dtype=dtype)


def _read_callable(data: dict[str, Any], packages: Any, path: str) -> Any:
    return resolve(data["$callable"], packages, path)


def _read_items(tag: str, kind: Callable[[Any], Any]) -> Callable[..., Any]:
    def read(data: dict[str, Any], packages: Any, path: str) -> Any:
        return kind(from_data(data[tag], packages=packages, path=path))

    return read


_READERS: dict[str, Callable[[dict[str, Any], Any, str], Any]] = {
    "$type": _read_record,
    "$callable": _read_callable,
    "$partial": _read_partial,
    "$dict": _read_mapping,
    "$list": _read_items("$list", list),
    "$set": _read_items("$set", set),
    "$frozenset": _read_items("$frozenset", frozenset),
    "$slice": _read_items("$slice", lambda ends: slice(*ends)),
    "$range": _read_items("$range", lambda ends: range(*ends)),
    "$path": _read_path,
    "$enum": _read_enum,
    "$float": lambda data, packages, path: float(data["$float"]),
    "$array": lambda d, packages, path: np.array(d["$array"], dtype=d["dtype"]),
    "$tensor": _read_tensor,
}


def resolve(text: str, packages: Collection[str] | None, path: str) -> Any:
    """The class or function called `module:name`, if its package is trusted."""
    module = text.partition(":")[0]
    package = module.partition(".")[0]
    if packages is not None and package not in packages and module != "__main__":
        raise ConfigFileError(
            f"{path} names {text!r}. Only what is defined in "
            f"{', '.join(sorted(packages))} is trusted; if you know where the file "
            f"comes from, trust the package {package!r} as well."
        )
    try:
        found = _walk(text)
    except (ImportError, AttributeError) as error:
        raise ConfigFileError(f"{path} names {text!r}: {error}.") from error
    # Through a module one reaches what it imports, such as `module:os.system`.
    defined = (getattr(found, "__module__", None), getattr(found, "__qualname__", None))
    if defined != tuple(text.split(":")):
        raise ConfigFileError(f"{path} names {text!r}, which is not defined there.")
    return found


def _walk(text: str) -> Any:
    module, _, name = text.partition(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _package_folder(package: str) -> Path | None:
    module = sys.modules.get(package) or importlib.import_module(package)
    return None if module.__file__ is None else Path(module.__file__).parent
