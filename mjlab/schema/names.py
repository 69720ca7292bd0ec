"""Names of classes and functions in files: `module:name`."""

import importlib
import re
from typing import Any

from mjlab.schema.declare import public_modules

PUBLIC = re.compile(r"[a-zA-Z]\w*(\.[a-zA-Z]\w*)*:[a-zA-Z]\w*(\.[a-zA-Z]\w*)*")
"""A name without private parts, in the module's path or in its own."""


class ConfigFileError(ValueError):
    """A configuration that cannot be written, or a file that cannot be read."""


def name_of(value: Any, path: str) -> str:
    """The shortest public `module:name` of a class or function.

    It is the name by which users import it, and stays when the definition moves to
    another file.
    """
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None)
    if module is None or name is None:
        raise ConfigFileError(f"{path} is {value!r}, which has no name to find it by.")
    places = (m for m in public_modules(module) if _finds(f"{m}:{name}", value))
    # Of equally short ones, the file of the definition comes last.
    shortest = min(places, key=lambda m: (m.count("."), m), default=None)
    if shortest is not None and shortest.count(".") <= module.count("."):
        return f"{shortest}:{name}"
    text = f"{module}:{name}"
    if not _finds(text, value):
        raise ConfigFileError(
            f"{path} is {text!r}, which cannot be found by that name. Define it with "
            "`def` or `class` in a module, not within a function or as a lambda."
        )
    return text


def _finds(text: str, value: Any) -> bool:
    try:
        return find(text) is value
    except (ImportError, AttributeError):
        return False


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
