"""Fields and members of the classes of the installed `mjlab`, as JSON.

Runs in an environment with mjlab 1.6 and here, so it imports only the standard library
and the package:

    python -I mjlab_peer.py CLASS... > mjlab_1_6.json
"""

import dataclasses
import importlib
import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

REQUIRED = "REQUIRED"
_SKIPPED = ("mjlab.scripts", "mjlab.viewer.native", "mjlab.viewer.viser")


def fields_of(cls: type) -> dict[str, str]:
    """Return the defaults of a dataclass as text, by field name."""
    public = (each for each in dataclasses.fields(cls) if each.name[0] != "_")
    return {each.name: _default(each) for each in public}


def text_of(value: Any) -> str:
    """Return a default as text: without addresses, and records by class name only."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}(...)"
    if isinstance(value, Mapping):
        items = ", ".join(f"{key!r}: {text_of(item)}" for key, item in value.items())
        return f"{{{items}}}"
    if isinstance(value, tuple) and any(map(dataclasses.is_dataclass, value)):
        return f"({', '.join(map(text_of, value))})"
    if callable(value):
        return f"<{getattr(value, '__name__', type(value).__name__)}>"
    return re.sub(r" at 0x\w+", "", repr(value))


def members_of(cls: type) -> dict[str, str]:
    """Return public methods with their parameters, and other members as ""."""
    found = {}
    for name in dir(cls):
        value = inspect.getattr_static(cls, name)
        if name.startswith("_"):
            continue
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if inspect.isfunction(value):
            parameters = list(inspect.signature(value).parameters.values())
            plain = [p.replace(annotation=p.empty) for p in parameters]
            found[name] = str(inspect.Signature(plain))
        elif isinstance(value, property) or hasattr(value, "__get__"):
            found[name] = ""
    source = inspect.getsource(cls)
    for name in re.findall(r"self\.([a-z]\w*)\s*(?::[^=\n]+)?=[^=]", source):
        found.setdefault(name, "")
    return found


def classes(names: Iterable[str]) -> dict[str, type]:
    """Return the classes of the installed package with these names."""
    import mjlab

    wanted, found = set(names), {}
    for module in pkgutil.walk_packages(mjlab.__path__, "mjlab."):
        if module.name.startswith(_SKIPPED):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if name in wanted and inspect.isclass(value):
                found.setdefault(name, value)
    return found


def _default(field: "dataclasses.Field[Any]") -> str:
    if field.default is not dataclasses.MISSING:
        return text_of(field.default)
    if field.default_factory is not dataclasses.MISSING:
        return text_of(field.default_factory())
    return REQUIRED


def main() -> None:
    """Print fields of records and members of other classes."""
    written = {}
    for name, cls in sorted(classes(sys.argv[1:]).items()):
        fields = fields_of(cls) if dataclasses.is_dataclass(cls) else {}
        is_config = name.endswith("Cfg") or name == "ViewerConfig"
        written[name] = fields if is_config else members_of(cls) | fields
    print(json.dumps(written, indent=1))


if __name__ == "__main__":
    main()
