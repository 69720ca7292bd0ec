"""Files to port, with the modules and names that the files define."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mjlab.cli.porting.isaaclab_2_3 import ISAAC_LAB
from mjlab.settings.counterparts import Counterpart, Project
from mjlab.settings.mjlab_1_6 import MJLAB

PROJECTS = (MJLAB, ISAAC_LAB)


def project_of(module: str) -> Project | None:
    """Return the project that a module belongs to, None for any other module."""
    return next((project for project in PROJECTS if project.has(module)), None)


@dataclass(frozen=True)
class ForeignFile:
    """A Python file to port."""

    path: Path
    """Path of the file."""

    place: Path
    """Path relative to the folder that is ported."""

    module: str
    """Dotted module name, starting at the outermost parent folder that is a package."""

    text: str
    """Text of the file."""

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed text. Raises SyntaxError if it is not valid Python."""
        return ast.parse(self.text)

    @property
    def package(self) -> str:
        """Dotted name of the package that relative imports start from."""
        is_package = self.path.name == "__init__.py"
        return self.module if is_package else self.module.rpartition(".")[0]

    def absolute(self, module: str, level: int) -> str:
        """Return the dotted name of an imported module."""
        if level == 0:
            return module
        parts = self.package.split(".")
        base = parts[: len(parts) - level + 1]
        return ".".join([*base, module] if module else base)


@dataclass(frozen=True)
class ForeignFiles:
    """All files to port."""

    files: tuple[ForeignFile, ...]
    """The files, in the order of their paths."""

    _defined: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, root: Path) -> "ForeignFiles":
        """Read a file, or all Python files of a folder."""
        found = [root] if root.is_file() else sorted(root.rglob("*.py"))
        return cls(
            tuple(
                ForeignFile(
                    path,
                    Path(path.name) if path == root else path.relative_to(root),
                    ".".join(_module(path)),
                    path.read_text("utf-8"),
                )
                for path in found
                if "__pycache__" not in path.parts
            )
        )

    @cached_property
    def modules(self) -> dict[str, ForeignFile]:
        """Files by the dotted name of the module."""
        return {source.module: source for source in self.files}

    @cached_property
    def folders(self) -> set[str]:
        """Dotted names of the packages that hold the files."""
        return {source.package for source in self.files}

    @cached_property
    def members(self) -> set[str]:
        """Names of fields, methods and attributes that the files define themselves."""
        nodes = [node for source in self.files for node in ast.walk(source.tree)]
        return {name for node in nodes for name in _members_in(node)}

    def is_own(self, module: str) -> bool:
        """True if a module is one of the files, or a package that contains one."""
        return module in self.modules or (module != "" and module in self.folders)

    def row(self, module: str, name: str) -> Counterpart | None:
        """Return the table row of a name of another project, None if it has no row.

        The `mdp` module of a task package re-exports the library's terms (`import *`).
        """
        project = project_of(module)
        if project is None or name in self.defined(module):
            return None
        if not self.is_own(module):
            return project.row(module, name)
        if "mdp" in module.split("."):
            return project.row(f"{project.roots[0]}.envs.mdp", name)
        return None

    def defined(self, module: str) -> set[str]:
        """Return the names that a ported module or package defines or exports."""
        if module not in self._defined:
            self._defined[module] = set()  # Modules can import each other.
            source = self.modules.get(module)
            if source is not None:
                self._defined[module] = set(self._names(source))
        return self._defined[module]

    def _names(self, source: ForeignFile) -> Iterator[str]:
        yield from (
            file.rpartition(".")[2]
            for file in {*self.modules, *self.folders}
            if file.rpartition(".")[0] == source.module
        )
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield node.name
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = (
                    node.targets if isinstance(node, ast.Assign) else [node.target]
                )
                yield from (t.id for t in targets if isinstance(t, ast.Name))
            elif isinstance(node, ast.ImportFrom):
                module = source.absolute(node.module or "", node.level)
                for alias in node.names:
                    if alias.name == "*":
                        yield from self.defined(module) if self.is_own(module) else ()
                    elif self.is_own(module):
                        yield alias.asname or alias.name


def _members_in(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                yield each.name
            elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                yield each.target.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node.attr


def _module(path: Path) -> list[str]:
    """Return the parts of a file's dotted name, from the outermost package on."""
    names = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    return names
