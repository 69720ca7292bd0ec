"""Each name that a package exports exists."""

import ast
import importlib

import pytest

from tests.tools.architecture import ROOT

FOLDERS = {"mjlab": ROOT / "mjlab", "mjlab.tasks": ROOT / "tasks"}


def packages() -> dict[str, list[str]]:
    """Exported names by package."""
    found = {}
    for top, folder in FOLDERS.items():
        for file in sorted(folder.rglob("__init__.py")):
            parts = (top, *file.parent.relative_to(folder).parts)
            if not any(part.startswith("_") for part in parts):
                found[".".join(parts)] = exported(file.read_text("utf-8"))
    return {package: names for package, names in sorted(found.items()) if names}


def exported(text: str) -> list[str]:
    """Names that a file defines, exports by `as`, or lists in `__all__`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.name for alias in node.names if alias.asname == alias.name}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
            if node.value and any(ast.unparse(t) == "__all__" for t in targets):
                names |= set(ast.literal_eval(node.value))
    return sorted(n for n in names if not n.startswith("_") and n != "TYPE_CHECKING")


@pytest.mark.parametrize("package", packages())
def test_exported_names_exist(package: str) -> None:
    module = importlib.import_module(package)
    missing = object()
    names = packages()[package]
    assert [n for n in names if getattr(module, n, missing) is missing] == []
