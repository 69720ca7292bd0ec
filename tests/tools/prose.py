"""Rules of names and docstrings, and their checks.

Like `architecture.py`, everything is read with `ast`.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tests.tools.architecture import Source


@dataclass(frozen=True)
class Class:
    """A public class, with its own methods and bases."""

    path: str
    node: ast.ClassDef

    @property
    def bases(self) -> list[str]:
        """Names of its bases, without subscripts."""
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
    """Return the classes by name, except nested ones."""
    found = defaultdict(list)
    for source in sources:
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(Class(source.path, node))
    return dict(found)


def defined_twice(sources: Iterable[Source]) -> list[str]:
    """Return public class names with more than one meaning."""
    return [
        f"{name}: {', '.join(each.path for each in found)}"
        for name, found in sorted(classes(sources).items())
        if len(found) > 1 and not name.startswith("_")
    ]


def overrides(name: str, one: Class, known: dict[str, list[Class]]) -> bool:
    """Return whether a base has this method; foreign bases can have any."""
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
    """Return public methods without a docstring, also in their bases."""
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
