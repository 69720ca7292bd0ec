"""Detection of import errors of a module without importing it."""

import ast
import importlib.machinery
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_KNOWN = "mjlab"
"""Package whose names are checked in addition to the module's own package."""


class ImportFaultError(ImportError):
    """Module that cannot be imported."""


def source_of(module: str) -> Path | None:
    """Return the source file of a module without importing its parent packages.

    Returns:
        None if the module does not exist or has no Python source.
    """
    spec = _spec_of(module)
    if spec is None or not (spec.origin or "").endswith(".py"):
        return None
    return Path(str(spec.origin))


def check_imports(module: str, name: str) -> None:
    """Raise if importing a name from a module is certain to fail.

    Top-level imports of the module and of other modules of its package are followed in
    the sources; computed names are assumed to exist.

    Args:
        module: The module.
        name: The name to import.
    """
    _Check(_top(module)).name(module, name)


class _Check:
    """Follows imports within a package, each module once."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._seen: set[str] = set()

    def name(self, module: str, name: str) -> None:
        """Raise unless a module can be imported and can contain a name."""
        self.module(module)
        is_read = _top(module) in (self._package, _KNOWN) and name != "*"
        if not is_read or _spec_of(f"{module}.{name}") is not None:
            return
        file = source_of(module)
        if file is not None and not _bound(file) & {name, "*", "__getattr__"}:
            raise ImportFaultError(f"cannot import name {name!r} from {module!r}")

    def module(self, module: str) -> None:
        """Raise unless a module and its imports can be found.

        In other packages only modules are checked, since some create modules at
        runtime.
        """
        parts = module.split(".") if _top(module) == self._package else [_top(module)]
        for count in range(1, len(parts) + 1):
            one = ".".join(parts[:count])
            if _spec_of(one) is None:
                raise ImportFaultError(f"No module named {one!r}")
            if _top(one) == self._package and one not in self._seen:
                self._seen.add(one)
                self._follow(one)

    def _follow(self, module: str) -> None:
        file = source_of(module)
        for statement in _parse(file).body if file is not None else ():
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    self.module(alias.name)
            elif isinstance(statement, ast.ImportFrom):
                source = _imported_from(module, statement)
                for alias in statement.names:
                    self.name(source, alias.name)


def _top(module: str) -> str:
    return module.partition(".")[0]


def _imported_from(module: str, statement: ast.ImportFrom) -> str:
    """Return the absolute module name of a `from ... import`."""
    if not statement.level:
        return statement.module or ""
    file = source_of(module)
    is_package = file is not None and file.name == "__init__.py"
    parts = module.split(".")
    above = parts[: len(parts) - statement.level + is_package]
    return ".".join([*above, *filter(None, [statement.module])])


@cache
def _parse(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_text("utf-8"))
    except SyntaxError as error:
        where = f"{file.name}, line {error.lineno}"
        raise ImportFaultError(f"{error.msg} ({where})") from error


@cache
def _bound(file: Path) -> frozenset[str]:
    """Return the names that a module binds; "*" stands for any name."""
    return frozenset(_names(_parse(file)))


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the names bound in any branch or function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (a.asname or a.name.partition(".")[0] for a in node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _spec_of(module: str) -> importlib.machinery.ModuleSpec | None:
    top, *inner = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    name = top
    for part in inner:
        if spec is None:
            return None
        name = f"{name}.{part}"
        folders = spec.submodule_search_locations or ()
        spec = importlib.machinery.PathFinder.find_spec(name, folders)
    return spec
