"""Caching functions of classes, found in the source.

Such a function returns a value, and computes it under a condition on an attribute that
it writes, as in `if self._x is None: self._x = ...`; or a decorator caches it.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.tools.architecture import ROOT

DECORATORS = ("cached_property", "cache", "lru_cache")


@dataclass(frozen=True)
class Keeper:
    """A caching function."""

    owner: str
    """Its class, as `mjlab.views.source.ViewSource`."""
    name: str
    callers: tuple[str, ...]
    """Public functions of the class that call it through `self`, including itself."""
    stores: frozenset[str]
    """Attributes that store the cached value."""

    def __str__(self) -> str:
        return f"{self.owner}.{self.name}"


def keepers_of(packages: Iterable[str]) -> list[Keeper]:
    """Return all caching functions in packages of the repository."""
    found: list[Keeper] = []
    for package in packages:
        for file in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            if package == "tasks":
                module = f"mjlab.{module}"
            found += keepers_in(file.read_text("utf-8"), module)
    return found


def keepers_in(source: str, module: str) -> list[Keeper]:
    """Return the caching functions in the source of a module."""
    classes = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ClassDef))
    return [keeper for each in classes for keeper in _in_class(each, module)]


def _in_class(node: ast.ClassDef, module: str) -> Iterator[Keeper]:
    functions = [f for f in node.body if isinstance(f, ast.FunctionDef)]
    for function in functions:
        stores = _stores(function)
        if function.name == "__init__" or not stores:
            continue
        callers = tuple(
            f.name
            for f in functions
            if not f.name.startswith("_")
            and (f is function or f"self.{function.name}" in _attributes(f))
        )
        yield Keeper(f"{module}.{node.name}", function.name, callers, stores)


def _stores(function: ast.FunctionDef) -> frozenset[str]:
    """Return the attributes in which a function caches its result, if it does."""
    named = {
        text.split("(")[0].split(".")[-1]
        for text in map(ast.unparse, function.decorator_list)
    }
    if named & {*DECORATORS}:
        return frozenset({function.name})
    nodes = list(ast.walk(function))
    if not any(isinstance(n, ast.Return) and n.value is not None for n in nodes):
        return frozenset()
    asked: set[str] = set()
    for one in nodes:
        if isinstance(one, ast.If | ast.IfExp):
            asked |= _attributes(one.test)
        elif isinstance(one, ast.BoolOp):
            asked |= _attributes(one)
    return frozenset(text.split(".")[-1] for text in asked & _written(nodes))


def _written(nodes: Iterable[ast.AST]) -> set[str]:
    """Return attributes that are assigned, or whose items are assigned."""
    found: set[str] = set()
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                item = part.value if isinstance(part, ast.Subscript) else part
                if isinstance(item, ast.Attribute):
                    found.add(ast.unparse(item))
    return found


def _attributes(node: ast.AST) -> set[str]:
    return {ast.unparse(n) for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def place_of(file: str) -> str:
    """Return the module of a source file of the repository, else an empty string."""
    path = Path(file).resolve()
    if not path.is_relative_to(ROOT):
        return ""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("mjlab", *parts) if parts[0] == "tasks" else parts)
