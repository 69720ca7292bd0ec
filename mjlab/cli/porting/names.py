"""Resolve a file's names, variables and modules to names of the other project."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst
from libcst.helpers import get_full_name_for_node

from mjlab.cli.porting.changes import Noting
from mjlab.cli.porting.sources import ForeignFile, ForeignFiles, project_of
from mjlab.settings.counterparts import Counterpart, Project
from mjlab.settings.mjlab_1_6 import MJLAB

_BASES = {
    "ActuatorCfg": "ActuatorCfg",
    "ActionCfg": "DrivenActionCfg",
    "TerrainCfg": "SubTerrainCfg",
}
"""Base class in this package, by the suffix of a class name in mjlab."""


_OF_RSL_RL = {
    "RslRlBaseRunnerCfg": "AgentCfg",
    "RslRlOnPolicyRunnerCfg": "AgentCfg",
    "RslRlModelCfg": "MlpModelCfg",
    "RslRlPpoAlgorithmCfg": "PpoCfg",
}
"""Class of this package under which the tables list the fields of an mjlab class."""


_FIELD_TYPES = {
    "mjlab": {
        "frame": "mjlab.sensor.ObjRef",
        "mujoco": "mjlab.sim.MujocoCfg",
        "scene": "mjlab.scene.SceneCfg",
        "sim": "mjlab.sim.SimulationCfg",
        "terrain": "mjlab.terrains.TerrainEntityCfg",
        "terrain_generator": "mjlab.terrains.TerrainGeneratorCfg",
        "viewer": "mjlab.viewer.ViewerConfig",
    },
    "isaaclab": {
        "terrain": "isaaclab.terrains.TerrainImporterCfg",
        "terrain_generator": "isaaclab.terrains.TerrainGeneratorCfg",
        "viewer": "isaaclab.envs.ViewerCfg",
    },
}
"""Class of each configuration, by the name of the attribute that holds it."""


class Resolving(Noting):
    """Transformer that resolves the names of its file to the other project."""

    def __init__(self, source: ForeignFile, sources: ForeignFiles) -> None:
        super().__init__()
        self._source, self._sources = source, sources
        self._imports = dict(imports_of(source))
        """Dotted names in the other projects, by local name."""
        self._types: list[dict[str, str]] = [dict(types_of_attributes(source))]
        """Class of variables by name, in the scopes around a node."""
        self._renamed: dict[str, str] = {}
        """New local name by old local name."""
        self._modules = dict(self._module_aliases())
        """Local names of the packages that replace a module, by its local name."""
        self._needed: dict[str, set[tuple[str, str]]] = {}
        """Imports to add: pairs of name and local name, by package."""
        self._dropped: set[str] = set()
        """Names whose use was removed."""

    def _module_aliases(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield each local module name, with the packages that replace the module."""
        uses: dict[str, list[str]] = {}
        for node in ast.walk(self._source.tree):
            if isinstance(node, ast.Attribute):
                dotted = ast.unparse(node)
                if all(map(str.isidentifier, dotted.split("."))):
                    uses.setdefault(dotted.partition(".")[0], []).append(dotted)
        for local, dotted in self._imports.items():
            if not self._is_module(dotted):
                continue
            counts: dict[str, int] = {}
            for use in uses.get(local, []):
                row = self._use(use)
                if row is not None and row[1].ours:
                    package = row[1].ours.rpartition(".")[0]
                    counts[package] = counts.get(package, 0) + 1
            project = project_of(dotted)
            assert project is not None, "Only names of supported projects are passed."
            known = project.all_packages().get(dotted)
            usual = known.ours if known else "mjlab.mdp"
            ranked = sorted(counts, key=lambda package: -counts[package]) or [usual]
            yield (
                local,
                {
                    package: local if index == 0 else _alias(package)
                    for index, package in enumerate(ranked)
                },
            )

    def _is_module(self, dotted: str) -> bool:
        project = project_of(dotted)
        if project is None or self._sources.is_own(dotted):
            return False
        known = dotted in project.all_packages() or dotted.endswith((".mdp", ".dr"))
        return known and "." in dotted

    def _use(self, use: str) -> tuple[str, Counterpart] | None:
        """Return the part of a dotted name that a table row replaces, and the row."""
        first, *rest = use.split(".")
        dotted = self._imports.get(first)
        if dotted is None or not rest:
            return None
        for cut in range(len(rest), 0, -1):
            module = ".".join([dotted, *rest[: cut - 1]])
            if self._is_module(f"{module}.{rest[cut - 1]}"):
                continue
            row = self._sources.row(module, rest[cut - 1])
            if row is not None:
                return ".".join([first, *rest[:cut]]), row
        return None

    def _reads_config(self, node: cst.BaseExpression) -> bool:
        return (get_full_name_for_node(node) or "").split(".")[0] in ("cfg", "CFG")

    @property
    def _project(self) -> Project:
        found = (project_of(dotted) for dotted in self._imports.values())
        return next((project for project in found if project), MJLAB)

    def _owners(self, dotted: str) -> list[str]:
        """Return the counterpart of a class, and its base classes with table rows."""
        module, _, name = dotted.rpartition(".")
        row = self._sources.row(module, name) if module else None
        if row is None:
            return []
        ours = row.ours.rpartition(".")[2]
        bases = [base for ending, base in _BASES.items() if name.endswith(ending)]
        # The table lists a function under its own name.
        return [_OF_RSL_RL.get(name, ours), *bases]

    def _typed(self, node: cst.BaseExpression) -> str:
        """Return the dotted class of an expression, empty if it is not known."""
        dotted = get_full_name_for_node(node) or ""
        known = (scope.get(dotted) for scope in reversed(self._types))
        found = next((cls for cls in known if cls), "")
        if found or not isinstance(node, cst.Attribute):
            return found
        return _FIELD_TYPES[self._project.roots[0]].get(node.attr.value, "")

    def _dotted_of(self, func: cst.BaseExpression) -> str:
        """Return the dotted name of a called function in the other project."""
        use = get_full_name_for_node(func) or ""
        first, _, rest = use.partition(".")
        dotted = self._imports.get(first)
        if dotted is None:
            return use if use == "dict" else ""
        return f"{dotted}.{rest}" if rest else dotted

    def _need(self, dotted: str) -> None:
        """Import a name of this package."""
        package, _, name = dotted.rpartition(".")
        self._needed.setdefault(package, set()).add((name, name))

    def _drop(self, node: cst.CSTNode) -> None:
        """Note that the names in a removed node can be unused now."""
        found = ReadNames()
        node.visit(found)
        self._dropped |= found.names


class ReadNames(cst.CSTVisitor):
    """Collects the names that are used outside imports."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self.names.add(node.value)


def imports_of(source: ForeignFile) -> Iterator[tuple[str, str]]:
    """Yield local and dotted name of each import of another project."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if project_of(alias.name):
                    bound = alias.asname or alias.name.partition(".")[0]
                    yield bound, alias.name if alias.asname else bound
        elif isinstance(node, ast.ImportFrom):
            module = source.absolute(node.module or "", node.level)
            if project_of(module):
                for alias in node.names:
                    yield alias.asname or alias.name, f"{module}.{alias.name}"


def types_of_attributes(source: ForeignFile) -> Iterator[tuple[str, str]]:
    """Yield attributes of `self` with the class that an annotation names."""
    imports = dict(imports_of(source))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            dotted = imports.get(ast.unparse(node.annotation).strip("'\""))
            if dotted:
                yield ast.unparse(node.target), dotted


def types_in_class(
    node: cst.ClassDef, imports: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield `self.field` with the class of each annotated field."""
    for line in node.body.body:
        first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        if isinstance(first, cst.AnnAssign):
            name = get_full_name_for_node(first.target)
            cls = get_full_name_for_node(first.annotation.annotation) or ""
            if name and cls in imports:
                yield f"self.{name}", imports[cls]


def types_in_function(
    node: cst.FunctionDef, imports: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield variables of a function with the class that the function gives them."""
    found = _Types(imports)
    node.visit(found)
    yield from found.types.items()


class _Types(cst.CSTVisitor):
    """Collects classes of variables from annotations, constructors and assertions."""

    def __init__(self, imports: dict[str, str]) -> None:
        super().__init__()
        self.types: dict[str, str] = {}
        self._imports = imports

    def _set(self, name: str | None, cls: cst.CSTNode) -> None:
        dotted = self._imports.get(get_full_name_for_node(cls) or "")
        if name and dotted:
            self.types[name] = dotted

    def visit_Param(self, node: cst.Param) -> None:
        if node.annotation is not None:
            self._set(node.name.value, node.annotation.annotation)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._set(get_full_name_for_node(node.target), node.annotation.annotation)

    def visit_Assign(self, node: cst.Assign) -> None:
        if isinstance(node.value, cst.Call):
            name = get_full_name_for_node(node.targets[0].target)
            self._set(name, node.value.func)

    def visit_Call(self, node: cst.Call) -> None:
        if get_full_name_for_node(node.func) == "isinstance" and len(node.args) == 2:
            name = get_full_name_for_node(node.args[0].value)
            self._set(name, node.args[1].value)


def _alias(package: str) -> str:
    """Return a local name for a package, such as `velocity_mdp`."""
    *_, parent, last = f"mjlab.{package}".split(".")
    return last if last != "mdp" else f"{parent}_mdp"
