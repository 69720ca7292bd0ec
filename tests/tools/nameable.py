"""The closed list: every class and function of ours that a file can name.

`tests/tools/nameable.txt` is the list that somebody has looked through;
`python -m tests.tools.nameable` writes it anew.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from mjlab.schema import TRUSTED, ConfigFileError, Trust, to_data

LIST = Path(__file__).with_suffix(".txt")


def modules() -> Iterator[ModuleType]:
    """Every module of ours whose requirements are installed."""
    for package in map(importlib.import_module, TRUSTED):
        yield package
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            try:
                yield importlib.import_module(found.name)
            except ImportError as error:
                assert "not installed" in str(error)


def names() -> Iterator[tuple[str, Any]]:
    """Every name that a module has, with what it stands for."""
    for module in modules():
        for name, value in list(vars(module).items()):
            yield f"{module.__name__}:{name}", value
            if isinstance(value, type):
                for part, inner in list(vars(value).items()):
                    yield f"{module.__name__}:{name}.{part}", inner


def nameable(trust: Trust | None = None) -> dict[str, Any]:
    """What a file can name, by the name that is written for it."""
    trust = trust or Trust()
    found: dict[str, Any] = {}
    for name, _ in names():
        try:
            value = trust.find(name, "")
        except ConfigFileError:
            continue
        found[to_data(value)["$callable"]] = value
    return dict(sorted(found.items()))


if __name__ == "__main__":
    found = list(nameable())
    LIST.write_text("\n".join(found) + "\n", "utf-8")
    print(f"A file can name {len(found)} classes and functions: {LIST.name}.")
