"""The rules of names and docstrings, and what reads whether a file keeps them.

Like `architecture.py`, everything is read with `ast`.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tests.tools.architecture import Source


@dataclass(frozen=True)
class Class:
    """One public class, and the methods and bases that its text shows."""

    path: str
    node: ast.ClassDef

    @property
    def bases(self) -> list[str]:
        """Names of its bases, without what they are subscripted by."""
        return [
            ast.unparse(base).partition("[")[0].rpartition(".")[2]
            for base in self.node.bases
        ]

    @property
    def methods(self) -> dict[str, ast.FunctionDef]:
        """Its methods and properties by name."""
        nodes = self.node.body
        return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def classes(sources: Iterable[Source]) -> dict[str, list[Class]]:
    """Return the classes of each name, those within classes and functions left out."""
    found = defaultdict(list)
    for source in sources:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(Class(source.path, node))
    return dict(found)


def defined_twice(sources: Iterable[Source]) -> list[str]:
    """Return the public class names that stand for more than one thing."""
    return [
        f"{name}: {', '.join(each.path for each in found)}"
        for name, found in sorted(classes(sources).items())
        if len(found) > 1 and not name.startswith("_")
    ]


def overrides(name: str, one: Class, known: dict[str, list[Class]]) -> bool:
    """Return whether a base has this method; one that is not ours may have any."""
    return any(
        base not in known
        or any(
            name in other.methods or overrides(name, other, known)
            for other in known[base]
        )
        for base in one.bases
        if base not in ("object", "Protocol", "Generic", "NamedTuple", "Enum")
    )


def undocumented(sources: Iterable[Source]) -> list[str]:
    """Return public methods without a docstring that no base could hand on to them."""
    known = classes(sources)
    return [
        f"{one.path}::{name}.{method}"
        for name, found in sorted(known.items())
        for one in found
        for method, node in one.methods.items()
        if not name.startswith("_")
        and not method.startswith("_")
        and ast.get_docstring(node) is None
        and not is_setter(node)
        and not overrides(method, one, known)
    ]


def is_setter(node: ast.FunctionDef) -> bool:
    decorators = {ast.unparse(each) for each in node.decorator_list}
    return any(each.endswith((".setter", "overload")) for each in decorators)
