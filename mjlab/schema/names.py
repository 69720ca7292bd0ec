"""Names of classes and functions in files: `module:name`."""

import importlib
import re
from typing import Any

PUBLIC = re.compile(r"[a-zA-Z]\w*(\.[a-zA-Z]\w*)*:[a-zA-Z]\w*(\.[a-zA-Z]\w*)*")
"""A name without private parts, in the module's path or in its own."""


class ConfigFileError(ValueError):
    """A configuration that cannot be written, or a file that cannot be read."""


def name_of(value: Any, path: str) -> str:
    """`module:name` of a class or function, if that is where it can be found."""
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None)
    if module is None or name is None:
        raise ConfigFileError(f"{path} is {value!r}, which has no name to find it by.")
    text = f"{module}:{name}"
    try:
        found = find(text)
    except (ImportError, AttributeError):
        found = None
    if found is not value:
        raise ConfigFileError(
            f"{path} is {text!r}, which cannot be found by that name. Define it with "
            "`def` or `class` in a module, not within a function or as a lambda."
        )
    return text


def find(text: str) -> Any:
    """Import what is called `module:name`; `name` may be of a class within a class."""
    module, _, name = text.partition(":")
    found: Any = importlib.import_module(module)
    first, *rest = name.split(".")
    found = getattr(found, first)
    for part in rest:
        if not isinstance(found, type):
            raise AttributeError(f"{first!r} is no class")
        found = getattr(found, part)
    return found
