"""Objects that dotted names of pages refer to."""

import importlib
from typing import Any


def found(dotted: str) -> Any:
    """Return the object of a dotted name, or None; a field counts by its annotation."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for name in parts[cut:]:
            if name in getattr(thing, "__annotations__", {}):
                return name
            thing = getattr(thing, name, None)
        return thing
    return None
