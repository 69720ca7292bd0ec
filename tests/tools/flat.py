"""Settings for tests, from dictionaries."""

from collections.abc import Iterator
from typing import Any

from mjlab.settings.file import Settings


def flat_settings(**configs: Any) -> Settings:
    """Settings of nested dictionaries.

    In a dictionary, "class" is the name of its class and "func" of its function.
    Without a class it is a record if it is empty or contains a value.
    """
    values: dict[str, Any] = {}
    names: dict[str, str] = {}
    for path, value in _walk(configs, ""):
        kind, _, key = path.rpartition(".")
        if key == "class":
            names[kind] = value
        elif key == "func":
            names[path] = value
        else:
            values[path] = value
        if value is not None:
            names.setdefault(kind, "Cfg")
    return Settings(values, names)


def _walk(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        yield path, value
        return
    if not value:
        yield f"{path}.class", "Cfg"
    for key, item in value.items():
        yield from _walk(item, f"{path}.{key}" if path else key)
