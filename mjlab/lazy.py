"""Import the names of a package on first use.

A package lists these names once, in an `if TYPE_CHECKING:` block, which type checkers
read too:

    if TYPE_CHECKING:
        from mjlab.rl.loop import TrainingLoop as TrainingLoop

    __getattr__ = imported_on_use(__name__, __file__)
"""

import ast
import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


def imported_on_use(package: str, file: str) -> Callable[[str], Any]:
    """Return a package's `__getattr__`, which imports the names listed in its file.

    Args:
        package: Name of the package.
        file: Its `__init__.py`.
    """

    def get(name: str) -> Any:
        modules = modules_by_name(file)
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(modules[name]), name)

    return get


@cache
def modules_by_name(file: str) -> dict[str, str]:
    """Return the module of each name that a file imports under `if TYPE_CHECKING:`."""
    return {
        alias.name: statement.module
        for block in ast.parse(Path(file).read_text("utf-8")).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
