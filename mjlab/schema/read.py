"""Reading of configurations that `write.py` wrote.

Nothing is called but constructors of configurations, and nothing can be named but what
the file's `Trust` lists.
"""

import dataclasses
import enum
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mjlab.names import suggest
from mjlab.schema.declare import is_term
from mjlab.schema.names import ConfigFileError
from mjlab.schema.paths import path_of
from mjlab.schema.trust import Trust
from mjlab.settings.types import (
    WrongTypeError,
    check_type,
    field_names,
    field_types,
)


def parse_config(
    text: str, trust: Trust | None = None, *, where: str = "config"
) -> dict[str, Any]:
    """Read what `config_text` made.

    Args:
        text: The text.
        trust: What it may name. None is what mjlab declares.
        where: Where it comes from, for errors.
    """
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ConfigFileError(f"{where} is not JSON: {error}") from error
    return from_data(data, trust)


def from_data(data: Any, trust: Trust | None = None, path: str = "config") -> Any:
    """Return what `to_data` was given."""
    return _read(data, trust or Trust(), path)


def _read(data: Any, trust: Trust, path: str) -> Any:
    if isinstance(data, list):
        return tuple(
            _read(item, trust, f"{path}[{index}]") for index, item in enumerate(data)
        )
    if not isinstance(data, dict):
        return data
    tags = [key for key in data if key.startswith("$")]
    if not tags:
        return {
            key: _read(item, trust, f"{path}[{key!r}]") for key, item in data.items()
        }
    read = _READERS.get(tags[0])
    if len(tags) > 1 or read is None:
        hint = suggest(tags[0], list(_READERS))
        raise ConfigFileError(f"{path} has the unknown tag {tags[-1]!r}. {hint}")
    try:
        return read(data, trust, path)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        if isinstance(error, ConfigFileError):
            raise
        raise ConfigFileError(f"{path}: {error}") from error


def _read_record(data: dict[str, Any], trust: Trust, path: str) -> Any:
    cls: Any = trust.find(data["$type"], path)
    is_record = dataclasses.is_dataclass(cls) or _is_named_tuple(cls)
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
        values[name] = _read(item, trust, where)
        try:
            check_type(values[name], types.get(name, Any), where)
        except WrongTypeError as error:
            raise ConfigFileError(str(error)) from error
    return cls(**values)


def _is_named_tuple(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, tuple)


def _read_mapping(data: dict[str, Any], trust: Trust, path: str) -> dict[Any, Any]:
    return dict(_read(data["$dict"], trust, path))


def _read_partial(data: dict[str, Any], trust: Trust, path: str) -> functools.partial:
    func = trust.find_bindable(data["$partial"], path)
    args = _read(data["args"], trust, path)
    keywords = _read(data["keywords"], trust, path)
    if is_term(func) and (args or "env" in keywords or isinstance(func, type)):
        raise ConfigFileError(
            f"{path} binds the environment of {data['$partial']!r}, a term, which is "
            "given it when it runs. Bind parameters by name."
        )
    return functools.partial(func, *args, **keywords)


def _read_path(data: dict[str, Any], trust: Trust, path: str) -> Path:
    return path_of(data["$path"], data.get("package"), trust, path)


def _read_enum(data: dict[str, Any], trust: Trust, path: str) -> Any:
    cls = trust.find(data["$enum"], path)
    if not (isinstance(cls, type) and issubclass(cls, enum.Enum)):
        raise ConfigFileError(f"{path} is {data['$enum']!r}, which is no enumeration.")
    return cls[data["name"]]


def _read_tensor(data: dict[str, Any], trust: Trust, path: str) -> Any:
    import torch

    dtype = getattr(torch, data["dtype"], None)
    if not isinstance(dtype, torch.dtype):
        raise ConfigFileError(f"{path} has dtype {data['dtype']!r}, which torch lacks.")
    return torch.tensor(data["$tensor"], dtype=dtype)


def _read_array(data: dict[str, Any], trust: Trust, path: str) -> Any:
    # Imported here: listings and reports of runs do without it.
    import numpy as np

    return np.array(data["$array"], dtype=data["dtype"])


def _read_callable(data: dict[str, Any], trust: Trust, path: str) -> Any:
    return trust.find(data["$callable"], path)


def _read_items(tag: str, kind: Callable[[Any], Any]) -> Callable[..., Any]:
    def read(data: dict[str, Any], trust: Trust, path: str) -> Any:
        return kind(_read(data[tag], trust, path))

    return read


_READERS: dict[str, Callable[[dict[str, Any], Trust, str], Any]] = {
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
    "$float": lambda data, trust, path: float(data["$float"]),
    "$array": _read_array,
    "$tensor": _read_tensor,
}
