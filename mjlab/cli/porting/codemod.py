"""Rewrites one file of another project, with a comment where a person must decide."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst.helpers import get_full_name_for_node
from libcst.metadata import MetadataWrapper, PositionProvider

from mjlab.cli.porting.sources import ForeignFile, ForeignFiles, project_of
from mjlab.settings.counterparts import Counterpart, Project, Replacement
from mjlab.settings.mjlab_1_6 import CALLS, MJLAB

NONE = "no counterpart"
UNKNOWN = "unknown"

_OMIT = "omit it"

MARK = "# TODO(port):"
"""Start of a comment that asks a person to decide."""

_BASES = {
    "ActuatorCfg": "ActuatorCfg",
    "ActionCfg": "DrivenActionCfg",
    "TerrainCfg": "SubTerrainCfg",
}
"""Base class here, by the ending of the names of mjlab's classes."""

_OF_RSL_RL = {
    "RslRlBaseRunnerCfg": "AgentCfg",
    "RslRlOnPolicyRunnerCfg": "AgentCfg",
    "RslRlModelCfg": "MlpModelCfg",
    "RslRlPpoAlgorithmCfg": "PpoCfg",
}
"""Class here with the rows of mjlab's classes that keep their name."""

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
"""Class of a configuration that is read as an attribute with this name."""

_FROZEN = {"ObjRef": "mjlab.sensor.ObjRef"}
"""Records that cannot be changed in place here."""

_CONSTRUCTORS = {
    "AdaptiveSampling": "mjlab.motion",
    "CheckpointCfg": "mjlab.rl",
    "DelayCfg": "mjlab.tensors",
    "LoggingCfg": "mjlab.rl",
}
"""Module of the records that notes of the table name."""

_HOMES = {
    "entries": "mjlab.registry",
    "load_task": "mjlab.registry",
    "match_values": "mjlab.names",
    "reflected_inertia": "mjlab.tasks.robots.robot",
}
"""Module of functions in rewritten calls that are not of `mjlab.tensors.math`."""

_CHECKS = {
    ("TerrainGeneratorCfg", "num_cols"): "without `curriculum`, at least the number of "
    "`sub_terrains`: a column has one kind of tile"
}
"""Fields whose value a person must check, with the rule."""

_WAITS = {
    "item": "synchronises with the device: keep a tensor, or use `torch.where`",
    "nonzero": "synchronises with the device: use a mask, and `torch.where`",
}
"""Methods that a term should not call, with the reason."""

_ENV_IDS = (
    "a bool tensor of shape (num_envs,); `env_ids` works, but excludes a CUDA graph"
)

_INDEXED = {
    "CommandTerm": "mjlab.managers.IndexedCommandTerm",
    "CommandTermCfg": "mjlab.managers.IndexedCommandTermCfg",
}
"""Base classes here of a project's own commands, which take world indices."""


@dataclass(frozen=True, order=True)
class Change:
    """Change that a file needs."""

    line: int
    """Line number in the original file, from 1."""

    theirs: str
    """Text in the original file."""

    ours: str
    """Replacement, `NONE` or `UNKNOWN`."""

    note: str = ""
    """Difference in meaning, or the reason."""

    decide: bool = False
    """True for a comment in the new file, because a person must decide."""

    def text(self, path: str) -> str:
        """Return the change as a line for the user."""
        more = f" ({self.note})" if self.note and self.ours != UNKNOWN else ""
        return f"{path}:{self.line}: {self.theirs} -> {self.ours}{more}"


@dataclass(frozen=True)
class Ported:
    """A file, ported."""

    source: ForeignFile
    """The file."""

    text: str
    """Its new text."""

    changes: tuple[Change, ...]
    """Its changes, by line."""

    tasks: dict[str, str]
    """Place of each task that the file registers, "module:name", by task id."""


def port_file(source: ForeignFile, sources: ForeignFiles) -> Ported:
    """Port one of several files; SyntaxError if it is invalid Python."""
    ast.parse(source.text)
    wrapper = MetadataWrapper(cst.parse_module(source.text))
    visitor = _Porter(source, sources)
    module = visitor.finish(wrapper.visit(visitor))
    return Ported(
        source, module.code, tuple(sorted(set(visitor.changes))), visitor.tasks
    )


class _Porter(cst.CSTTransformer):
    """Transformer of one module."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, source: ForeignFile, sources: ForeignFiles) -> None:
        super().__init__()
        self.changes: list[Change] = []
        self.tasks: dict[str, str] = {}
        self._source, self._sources = source, sources
        self._imports = dict(_imports(source))
        """Dotted name by local name, of names of the other projects."""
        self._types: list[dict[str, str]] = [dict(_annotated(source))]
        """Class of variables by name, in the scopes around a node."""
        self._renamed: dict[str, str] = {}
        """New local name by old local name."""
        self._modules = dict(self._module_aliases())
        """Local name of each package here by local name of a module of theirs."""
        self._needed: dict[str, set[tuple[str, str]]] = {}
        """Names to import by package here, with their local names."""
        self._dropped: set[str] = set()
        """Names whose use was removed."""
        self._keep: set[int] = set()
        """Name nodes that are no reads of a variable."""
        self._comments: list[list[str]] = [[]]
        """Comments for the statements around a node."""
        self._command_depth = 0

    # --- Statements and comments ---

    def _note(self, node: cst.CSTNode, theirs: str, ours: str, note: str = "") -> None:
        note = note.replace("see below", "see coming_from_mjlab.md")
        if ours == NONE and note.startswith(_OMIT):
            ours, note = _OMIT, note.removeprefix(_OMIT).removeprefix(": ")
        self.changes.append(Change(self._line(node), theirs, ours, note))

    def _decide(
        self, node: cst.CSTNode, theirs: str, note: str, ours: str = NONE
    ) -> None:
        self.changes.append(Change(self._line(node), theirs, ours, note, decide=True))
        self._comments[-1].append(f"{MARK} {theirs}: {note}.")

    def _line(self, node: cst.CSTNode) -> int:
        return self.get_metadata(PositionProvider, node).start.line

    def _with_comments(self, updated: Any) -> Any:
        found = dict.fromkeys(self._comments.pop())
        lines = [cst.EmptyLine(comment=cst.Comment(text)) for text in found]
        return updated.with_changes(leading_lines=[*updated.leading_lines, *lines])

    def _lift_comments(self) -> None:
        """Give the comments of a removed statement to the statement around it."""
        found = self._comments.pop()
        self._comments[-1] += found

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        self._comments.append([])
        return True

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> Any:
        first = original_node.body[0]
        if isinstance(first, cst.ImportFrom):
            return self._imported(original_node, updated_node, first)
        if isinstance(first, cst.Import):
            return self._with_comments(self._whole(updated_node, first))
        if isinstance(first, cst.Expr) and isinstance(first.value, cst.Call):
            made = self._called(original_node, updated_node, first.value)
            if made is not None:
                return made
        if isinstance(first, cst.Assign | cst.AnnAssign):
            made = self._assigned(updated_node, first)
            if made is not None:
                return made
        return self._with_comments(updated_node)

    # --- Imports ---

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def _imported(
        self,
        original: cst.SimpleStatementLine,
        updated: cst.SimpleStatementLine,
        node: cst.ImportFrom,
    ) -> Any:
        """Return the statements that replace an import."""
        name = get_full_name_for_node(node.module) if node.module else ""
        module = self._source.absolute(name or "", len(node.relative))
        project = project_of(module)
        if project is None or node.relative:
            return self._with_comments(updated)
        if isinstance(node.names, cst.ImportStar):
            made = self._star(node, module, project)
        else:
            made = self._names(node, node.names, module, project)
        if made is None:
            return self._with_comments(updated)
        lines = [cst.parse_statement(line) for line in made]
        lead = [
            *updated.leading_lines,
            *(
                cst.EmptyLine(comment=cst.Comment(text))
                for text in dict.fromkeys(self._comments.pop())
            ),
        ]
        if not lines:
            self._comments[-1] += [
                line.comment.value for line in lead if line.comment is not None
            ]
            return cst.RemoveFromParent()
        first, *rest = lines
        assert isinstance(first, cst.SimpleStatementLine)
        first = first.with_changes(
            leading_lines=lead, trailing_whitespace=updated.trailing_whitespace
        )
        return cst.FlattenSentinel([first, *rest])

    def _star(
        self, node: cst.ImportFrom, module: str, project: Project
    ) -> list[str] | None:
        if self._sources.is_own(module):
            return [f"from {self._relative(module)} import *"]
        if module.startswith(f"{project.roots[0]}.envs.mdp"):
            ours = "mjlab.mdp"
        else:
            package = project.all_packages().get(module)
            if package is None:
                self._decide(node, module, "unknown module", UNKNOWN)
                return []
            ours = package.ours
        self._note(node, module, ours)
        own = [f"from {ours} import *"]
        return ["from mjlab.mdp import *", *own] if "tasks" in module else own

    def _names(
        self,
        node: cst.ImportFrom,
        names: Sequence[cst.ImportAlias],
        module: str,
        project: Project,
    ) -> list[str] | None:
        lines: dict[str, list[str]] = {}
        for alias in names:
            name = alias.evaluated_name
            local = alias.evaluated_alias or name
            if self._sources.is_own(module) and self._is_shown(module, name):
                if project is not MJLAB:
                    return None
                place = self._relative(module)
                lines.setdefault(place, []).append(_as(name, alias.evaluated_alias))
                continue
            if local in self._modules:
                for ours, as_name in self._modules[local].items():
                    parent, _, last = ours.rpartition(".")
                    shown = None if last == as_name else as_name
                    lines.setdefault(parent, []).append(_as(last, shown))
                    if f"{module}.{name}" != ours:
                        self._note(alias, f"{module}.{name}", ours)
                continue
            row = self._sources.row(module, name)
            if row is None:
                self._decide(alias, f"{module}.{name}", "unknown name", UNKNOWN)
            elif not row.ours and name in CALLS:
                continue
            elif not row.ours:
                if row.differs.startswith(_OMIT):
                    self._note(alias, f"{module}.{name}", NONE, row.differs)
                else:
                    self._decide(alias, f"{module}.{name}", row.differs)
            elif name in CALLS and f"{name}(" not in CALLS[name][1]:
                self._note(alias, f"{module}.{name}", row.ours, row.differs)
            else:
                parent, _, last = row.ours.rpartition(".")
                if alias.evaluated_alias is None and name != last:
                    self._renamed[local] = _short(local, last)
                wanted = self._renamed.get(local, local)
                lines.setdefault(parent, []).append(
                    _as(last, None if wanted == last else wanted)
                )
                if not row.is_same:
                    self._note(alias, row.theirs, row.ours, row.differs)
        return [
            f"from {place} import {', '.join(sorted(set(each)))}"
            for place, each in sorted(lines.items())
        ]

    def _is_shown(self, module: str, name: str) -> bool:
        return name in self._sources.defined(module)

    def _relative(self, module: str) -> str:
        """Return an own module relative to this file's package."""
        here = self._source.package.split(".")
        there = module.split(".")
        shared = 0
        while shared < min(len(here), len(there)) and here[shared] == there[shared]:
            shared += 1
        return "." * (len(here) - shared + 1) + ".".join(there[shared:])

    def _whole(
        self, updated: cst.SimpleStatementLine, node: cst.Import
    ) -> cst.SimpleStatementLine:
        """Return `import x.y` with our packages."""
        names = []
        for alias in node.names:
            module = alias.evaluated_name
            project = project_of(module)
            package = project.all_packages().get(module) if project else None
            if project is None or self._sources.is_own(module) or module == "mjlab":
                names.append(alias)
            elif package is None and "mdp" not in module.split("."):
                self._decide(alias, module, "unknown module", UNKNOWN)
                names.append(alias)
            else:
                ours = package.ours if package else "mjlab.mdp"
                if ours != module:
                    self._note(alias, module, ours)
                new = cst.parse_expression(ours)
                assert isinstance(new, cst.Name | cst.Attribute)
                names.append(alias.with_changes(name=new))
        return updated.with_changes(body=[node.with_changes(names=names)])

    def _module_aliases(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield local names of modules, with the packages here that replace them."""
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
        """Return the replaced part of a dotted use of a module, and its row."""
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

    # --- Names and attributes ---

    def visit_Arg(self, node: cst.Arg) -> bool:
        if node.keyword is not None:
            self._keep.add(id(node.keyword))
        return True

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        self._keep.add(id(node.attr))
        return True

    def visit_Param(self, node: cst.Param) -> bool:
        self._keep.add(id(node.name))
        return True

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> Any:
        new = self._renamed.get(original_node.value, original_node.value)
        if new == original_node.value or id(original_node) in self._keep:
            return updated_node
        self._note(original_node, original_node.value, new)
        return updated_node.with_changes(value=new)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> Any:
        dotted = get_full_name_for_node(original_node) or ""
        plain = re.fullmatch(r"[\w.]+", dotted) is not None and _is_plain(original_node)
        if plain and dotted.partition(".")[0] in self._imports:
            found = self._use(dotted)
            if found is not None and found[0] == dotted:
                return self._module_member(original_node, updated_node, *found)
            if found is None and self._is_unknown(dotted):
                self._decide(original_node, dotted, "unknown name", UNKNOWN)
                return updated_node
        name = original_node.attr.value
        if name in _WAITS:
            self._note(original_node.attr, f".{name}()", NONE, _WAITS[name])
        member = self._member(original_node)
        if member is not None:
            key, row = member
            if not row.ours:
                self._decide(original_node.attr, f".{name}", row.note)
                return updated_node
            self._note(original_node.attr, f".{name}", row.ours, row.note)
            # A key with owners replaces those too, unless the variable has the name.
            value, new = updated_node.value, row.ours
            has_owner = "." in key and key[0].islower()
            if has_owner and isinstance(value, cst.Attribute):
                value = value.value
            elif has_owner:
                new = new.partition(".")[2]
            made = _dotted(value, new)
            template = _template(row)
            if not template:
                return made
            code = cst.Module([]).code_for_node(made)
            return cst.parse_expression(template.replace("...", code))
        return self._field_read(original_node, updated_node)

    def _is_unknown(self, use: str) -> bool:
        """Return True for a name of a module of theirs that has no row."""
        first, _, name = use.partition(".")
        dotted = f"{self._imports[first]}.{name}"
        is_name = first in self._modules and "." not in name
        return is_name and not self._is_module(dotted)

    def _module_member(
        self,
        original: cst.Attribute,
        updated: cst.Attribute,
        use: str,
        row: Counterpart,
    ) -> Any:
        package, _, last = row.ours.rpartition(".")
        if not row.ours:
            self._decide(original, use, row.differs)
            return updated
        first = use.partition(".")[0]
        alias = self._modules.get(first, {}).get(package)
        if alias is not None:
            new = f"{alias}.{last}"
        elif package == "mjlab.mdp":  # An own module shows it.
            new = f"{use.rpartition('.')[0]}.{last}"
            if new == use and not row.differs:
                return updated
        else:
            new = last
            self._need(row.ours)
        if new != use or row.differs:
            self._note(original, use, row.ours, row.differs)
        return updated if new == use else cst.parse_expression(new)

    def _member(self, node: cst.Attribute) -> tuple[str, Replacement] | None:
        name = node.attr.value
        dotted = get_full_name_for_node(node.value) or ""
        owners = dotted.replace("_env", "env").split(".")
        owner = owners[-1]
        if self._reads_config(node.value):
            return None
        cls = self._typed(node.value).rpartition(".")[2]
        keys = [f"{cls}.{name}", f"{owner}.{name}", name]
        if owners[-2:] == ["env", "scene"]:
            keys.insert(0, f"env.scene.{name}")
        own = self._sources.members
        for key in keys:
            row = self._project.members.get(key)
            if row is not None and (key != name or name not in own):
                return key, row
        return None

    def _reads_config(self, node: cst.BaseExpression) -> bool:
        return (get_full_name_for_node(node) or "").split(".")[0] in ("cfg", "CFG")

    @property
    def _project(self) -> Project:
        found = (project_of(dotted) for dotted in self._imports.values())
        return next((project for project in found if project), MJLAB)

    # --- Fields ---

    def _owners(self, dotted: str) -> list[str]:
        """Return our class for one of theirs and the bases that have rows."""
        module, _, name = dotted.rpartition(".")
        row = self._sources.row(module, name) if module else None
        if row is None:
            return []
        ours = row.ours.rpartition(".")[2]
        bases = [base for ending, base in _BASES.items() if name.endswith(ending)]
        # A function's rows are under its name.
        return [_OF_RSL_RL.get(name, ours), *bases]

    def _typed(self, node: cst.BaseExpression) -> str:
        """Return the dotted class of an expression, empty if it is not known."""
        dotted = get_full_name_for_node(node) or ""
        known = (scope.get(dotted) for scope in reversed(self._types))
        found = next((cls for cls in known if cls), "")
        if found or not isinstance(node, cst.Attribute):
            return found
        return _FIELD_TYPES[self._project.roots[0]].get(node.attr.value, "")

    def _field(self, node: cst.Attribute) -> tuple[str, Replacement] | None:
        """Return the class of a field that is read or set, and its row."""
        name = node.attr.value
        theirs = self._typed(node.value)
        if theirs:
            owners = self._owners(theirs)
            row = self._project.field(owners, name) if owners else None
            return None if row is None else (owners[0], row)
        if name in self._sources.members:
            return None
        rows = [
            (owner, fields[name])
            for owner, fields in self._project.fields.items()
            if name in fields and _is_rename(fields[name])
        ]
        is_plain = len({row.ours for _, row in rows}) == 1 and "_" in name
        is_theirs = name in ("terrain_type", "terrain_generator", "asset_name")
        return rows[0] if is_plain and is_theirs else None

    def _field_read(self, original: cst.Attribute, updated: cst.Attribute) -> Any:
        found = self._field(original)
        if found is None:
            return updated
        row, name = found[1], original.attr.value
        if _is_rename(row):
            self._note(original.attr, name, row.ours, row.note)
            return updated.with_changes(attr=cst.Name(row.ours))
        return updated

    def _assigned(
        self,
        updated: cst.SimpleStatementLine,
        node: cst.Assign | cst.AnnAssign,
    ) -> Any:
        """Return what replaces the assignment to a field, None if it stays."""
        target = node.targets[0].target if isinstance(node, cst.Assign) else node.target
        if not isinstance(target, cst.Attribute):
            return None
        owner, name = target.value, target.attr.value
        cls = self._typed(owner)
        ours = self._owners(cls)[0] if cls and self._owners(cls) else ""
        if ours in _FROZEN and isinstance(node, cst.Assign):
            record = cst.Module([]).code_for_node(owner)
            new = updated.body[0]
            assert isinstance(new, cst.Assign)
            value = cst.Module([]).code_for_node(new.value)
            self._note(target, f"{record}.{name} = ...", f"replace({record}, ...)")
            self._need("dataclasses.replace")
            line = f"{record} = replace({record}, {name}={value})"
            return self._with_comments(
                updated.with_changes(body=cst.parse_statement(line).body)  # type: ignore[union-attr]
            )
        if (ours, name) in _CHECKS:
            self._decide(target, name, _CHECKS[ours, name])
        found = self._field(target)
        if found is None or _is_rename(found[1]):
            return None
        row = found[1]
        if row.note.startswith(_OMIT):
            self._note(target, name, NONE, row.note)
        else:
            self._decide(target, name, row.note, row.ours or NONE)
        self._lift_comments()
        self._drop(node)
        return cst.RemoveFromParent()

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> Any:
        dotted = self._dotted_of(original_node.func)
        name = dotted.rpartition(".")[2]
        if self._is_call_of_table(dotted):
            return self._from_table(original_node, updated_node, name)
        func = original_node.func
        if isinstance(func, cst.Attribute):
            member = self._member(func)
            if member is not None and member[1].note.startswith("without a call"):
                return updated_node.func
            if func.attr.value == "reset" and self._resets_entity(original_node):
                self._note(func.attr, ".reset", "clear_state", "takes world indices")
                new = updated_node.func
                assert isinstance(new, cst.Attribute)
                return updated_node.with_changes(
                    func=new.with_changes(attr=cst.Name("clear_state"))
                )
        owners = self._owners(dotted)
        if name == "dict" and not owners:
            return self._of_dict(original_node, updated_node)
        if owners or ("" in self._project.fields and name):
            owners = owners or [""]
            updated_node = self._with_fields(original_node, updated_node, owners)
        return self._with_params(original_node, updated_node)

    def _dotted_of(self, func: cst.BaseExpression) -> str:
        """Return the dotted name in their project of what is called."""
        use = get_full_name_for_node(func) or ""
        first, _, rest = use.partition(".")
        dotted = self._imports.get(first)
        if dotted is None:
            return use if use == "dict" else ""
        return f"{dotted}.{rest}" if rest else dotted

    def _is_call_of_table(self, dotted: str) -> bool:
        module, _, name = dotted.rpartition(".")
        row = self._sources.row(module, name) if module else None
        return row is not None and name in CALLS

    def _from_table(self, original: cst.Call, updated: cst.Call, name: str) -> Any:
        """Return the expression that replaces a call of a function of mathematics."""
        parameters, template = CALLS[name]
        names = parameters.split()
        given: dict[str, str] = {}
        for position, arg in enumerate(updated.args):
            key = arg.keyword.value if arg.keyword else names[position]
            given[key] = cst.Module([]).code_for_node(arg.value)
        if given.keys() != set(names):
            note = f"a call with all of {', '.join(names)} can be rewritten"
            self._decide(original, f"{name}(...)", note)
            return updated
        for used in re.findall(r"(?<![.\w])([a-z]\w+)\(", template):
            if used not in ("list",):
                self._need(f"{_HOMES.get(used, 'mjlab.tensors.math')}.{used}")
        if "torch." in template and "torch" not in self._source.text:
            self._need("torch")
        self._note(original, f"{name}(...)", template.format(**{n: n for n in names}))
        new = cst.parse_expression(f"({template.format(**given)})")
        return _bare(new) if isinstance(new, cst.Call) else new

    def _resets_entity(self, call: cst.Call) -> bool:
        assert isinstance(call.func, cst.Attribute)
        typed = self._typed(call.func.value)
        named = [a.keyword.value for a in call.args if a.keyword is not None]
        return typed.endswith(".Entity") and named == ["env_ids"]

    def _with_fields(
        self, original: cst.Call, updated: cst.Call, owners: list[str]
    ) -> cst.Call:
        """Return a call with our fields of a class."""
        made: dict[str, list[str]] = {}
        args = []
        for old, arg in zip(original.args, updated.args, strict=True):
            name = old.keyword.value if old.keyword else ""
            if (owners[0], name) in _CHECKS:
                self._decide(old, name, _CHECKS[owners[0], name])
            row = self._project.field(owners, name) if name else None
            if row is None:
                args.append(arg)
                continue
            template = _template(row)
            assert arg.keyword is not None
            if _is_rename(row):
                self._note(old, name, row.ours, row.note)
                args.append(arg.with_changes(keyword=cst.Name(row.ours)))
            elif template:
                self._note(old, name, row.ours, row.note)
                value = cst.Module([]).code_for_node(arg.value)
                text = template.replace("...", value)
                if row.ours not in made:
                    args.append(arg.with_changes(keyword=cst.Name(row.ours)))
                made.setdefault(row.ours, []).append(text)
            elif row.note.startswith(_OMIT):
                self._note(old, name, NONE, row.note)
                self._drop(old)
            else:
                value = " ".join(cst.Module([]).code_for_node(old.value).split())
                self._decide(old, f"{name}={value}", row.note, row.ours or NONE)
                self._drop(old)
        args = [self._with_made(arg, made) for arg in args]
        return updated.with_changes(args=_separated(args, updated.args))

    def _with_made(self, arg: cst.Arg, made: dict[str, list[str]]) -> cst.Arg:
        """Return an argument whose value is one record, made from several fields."""
        texts = made.get(arg.keyword.value) if arg.keyword else None
        if not texts:
            return arg
        opening, _, _ = texts[0].partition("(")
        if opening in _CONSTRUCTORS:
            self._need(f"{_CONSTRUCTORS[opening]}.{opening}")
            inner = ", ".join(text[len(opening) + 1 : -1] for text in texts)
            return arg.with_changes(value=cst.parse_expression(f"{opening}({inner})"))
        return arg.with_changes(value=cst.parse_expression(texts[0]))

    def _of_dict(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Return `dict(...)` of arguments of one class, with our fields."""
        names = [arg.keyword.value for arg in original.args if arg.keyword]
        for dotted in self._imports.values():
            owners = self._owners(dotted)
            rows = [self._project.field(owners, name) for name in names]
            renamed = [row for row in rows if row is not None and _is_rename(row)]
            if renamed and len(names) > len(renamed) and owners[0].endswith("Cfg"):
                return self._with_fields(original, updated, owners)
        return updated

    def _with_params(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Return the configuration of a term with our parameters of its function."""
        given = {a.keyword.value: a for a in original.args if a.keyword is not None}
        if "func" not in given or "params" not in given:
            return updated
        dotted = self._dotted_of(given["func"].value)
        rows = self._project.fields.get(dotted.rpartition(".")[2], {})
        module, _, name = dotted.rpartition(".")
        if not rows or self._sources.row(module, name) is None:
            return updated
        written = given["params"].value
        keys = [
            str(element.key.evaluated_value)
            for element in (written.elements if isinstance(written, cst.Dict) else ())
            if isinstance(element, cst.DictElement)
            and isinstance(element.key, cst.SimpleString)
        ]
        for key in keys:
            if key in rows:
                row = rows[key]
                self._decide(given["params"], key, row.note, row.ours or NONE)
        return updated

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> Any:
        left, comparisons = original_node.left, original_node.comparisons
        if not isinstance(left, cst.Attribute) or left.attr.value != "distances":
            return updated_node
        zero = get_full_name_for_node(comparisons[0].comparator) or ""
        code = cst.Module([]).code_for_node(comparisons[0].comparator)
        if len(comparisons) != 1 or zero or float(code) != 0.0:
            return updated_node
        hits = isinstance(
            comparisons[0].operator, cst.GreaterThanEqual | cst.GreaterThan
        )
        new = updated_node.left
        assert isinstance(new, cst.Attribute)
        hit = new.with_changes(attr=cst.Name("hit"))
        self._note(left.attr, "distances >= 0", "hit", "a miss has `max_distance`")
        return hit if hits else cst.UnaryOperation(cst.BitInvert(), hit)

    # --- Statements that are calls ---

    def _called(
        self,
        original: cst.SimpleStatementLine,
        updated: cst.SimpleStatementLine,
        call: cst.Call,
    ) -> Any:
        dotted = self._dotted_of(call.func)
        module, _, name = dotted.rpartition(".")
        row = self._sources.row(module, name) if module else None
        if row is None:
            return None
        if name == "register_mjlab_task":
            return self._registered(original, updated, call)
        if not row.ours and row.differs.startswith(_OMIT):
            self._lift_comments()
            self._drop(original)
            return cst.RemoveFromParent()
        return None

    def _registered(
        self,
        original: cst.SimpleStatementLine,
        updated: cst.SimpleStatementLine,
        call: cst.Call,
    ) -> Any:
        """Return a `Task` instead of the call that registers one."""
        given = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
        task = given.get("task_id")
        if not isinstance(task, cst.SimpleString):
            self._decide(call, "register_mjlab_task", "write a `Task` for each id")
            return self._with_comments(updated)
        task_id = str(task.evaluated_value)
        name = re.sub(r"\W", "_", task_id).upper()
        new = updated.body[0]
        assert isinstance(new, cst.Expr) and isinstance(new.value, cst.Call)
        values = {arg.keyword.value: arg.value for arg in new.value.args if arg.keyword}
        lines = [f"{name} = Task("]
        for theirs, ours in (
            ("env_cfg", "env"),
            ("play_env_cfg", "play"),
            ("rl_cfg", "rl"),
        ):
            if theirs in values:
                lines.append(f"    {ours}={_factory(values[theirs])},")
        lines.append(")")
        if "runner_cls" in given:
            note = "training is `mjlab train`, and `mjlab export` writes ONNX files"
            runner = cst.Module([]).code_for_node(given["runner_cls"])
            self._decide(call, f"runner_cls={runner}", note)
            self._drop(given["runner_cls"])
        self._note(call, "register_mjlab_task(...)", f"{name} = Task(...)")
        self._need("mjlab.registry.Task")
        self.tasks[task_id] = f"{self._source.module}:{name}"
        made = cst.parse_statement("\n".join(lines))
        assert isinstance(made, cst.SimpleStatementLine)
        return self._with_comments(updated.with_changes(body=made.body))

    # --- Classes and functions ---

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        self._comments.append([])
        self._types.append(dict(_of_class(node, self._imports)))
        if self._is_command(node):
            self._command_depth += 1
        return True

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> Any:
        self._types.pop()
        methods = {
            each.name.value: each
            for each in original_node.body.body
            if isinstance(each, cst.FunctionDef)
        }
        for index, base in enumerate(original_node.bases):
            dotted = self._dotted_of(base.value)
            name = dotted.rpartition(".")[2]
            own = self._sources.is_own(dotted.rpartition(".")[0])
            if name in _INDEXED and dotted and not own:
                ours = _INDEXED[name].rpartition(".")[2]
                self._need(_INDEXED[name])
                self._dropped.add(name)
                self._note(base, name, ours)
                bases = list(updated_node.bases)
                bases[index] = bases[index].with_changes(value=cst.Name(ours))
                updated_node = updated_node.with_changes(bases=bases)
            elif name in ("ActionTerm", "Actuator") and not own:
                self._decide(original_node, name, "a subclass has other methods here")
        if self._is_command(original_node):
            self._command_depth -= 1
            if "_debug_vis_impl" in methods:
                note = "is called `debug_vis`; see `mjlab.render.overlays.Marks`"
                self._decide(original_node, "_debug_vis_impl", note)
            note = "return the tensors that change in `state()`, for snapshots"
            name = original_node.name.value
            self._decide(original_node, name, note, name)
        elif _is_term(original_node, methods):
            updated_node = self._as_term(original_node, updated_node, methods)
        return self._with_model_fields(original_node, updated_node)

    def _is_command(self, node: cst.ClassDef) -> bool:
        names = {
            each.name.value
            for each in node.body.body
            if isinstance(each, cst.FunctionDef)
        }
        return "_resample_command" in names

    def _as_term(
        self,
        original: cst.ClassDef,
        updated: cst.ClassDef,
        methods: dict[str, cst.FunctionDef],
    ) -> cst.ClassDef:
        """Return a term with our base class."""
        if not original.bases:
            self._need("mjlab.managers.ManagerTermBase")
            self._note(original, original.name.value, "ManagerTermBase")
            base = cst.Arg(cst.Name("ManagerTermBase"))
            updated = updated.with_changes(
                bases=[base], lpar=cst.LeftParen(), rpar=cst.RightParen()
            )
            updated = _with_first_line(updated, "super().__init__(cfg, env)")
        keeps = _assigned_in(methods["__call__"])
        if keeps:
            note = f"return {', '.join(keeps)} in `state()`, and write in place"
            name = original.name.value
            self._decide(original, name, note, name)
        return updated

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        self._comments.append([])
        self._types.append(dict(_of_function(node, self._imports)))
        return True

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> Any:
        self._types.pop()
        named = {p.name.value: p for p in original_node.params.params}
        if {"env", "env_ids"} <= named.keys():
            self._note(named["env_ids"], "env_ids", "mask", _ENV_IDS)
        if self._command_depth and original_node.name.value == "reset":
            self._note(original_node, "reset(env_ids)", "reset_ids(env_ids)")
            updated_node = updated_node.with_changes(name=cst.Name("reset_ids"))
            renamed = updated_node.visit(_SuperReset())
            assert isinstance(renamed, cst.FunctionDef)
            updated_node = renamed
        return self._with_model_fields(original_node, updated_node)

    def _with_model_fields(
        self,
        original: cst.FunctionDef | cst.ClassDef,
        updated: cst.FunctionDef | cst.ClassDef,
    ) -> Any:
        """Return a term with the attribute that names its model fields."""
        kept, fields = [], []
        for decorator, new in zip(original.decorators, updated.decorators, strict=True):
            call = decorator.decorator
            func = call.func if isinstance(call, cst.Call) else call
            dotted = self._dotted_of(func)
            is_fields = dotted.endswith(".requires_model_fields")
            if not is_fields or not isinstance(call, cst.Call):
                kept.append(new)
                continue
            given = [
                cst.Module([]).code_for_node(a.value)
                for a in call.args
                if a.keyword is None
            ]
            fields.append(", ".join(given) + ",")
            self._note(decorator, "requires_model_fields", "model_fields")
            self._drop(decorator)
        updated = self._with_comments(updated.with_changes(decorators=kept))
        if not fields:
            return updated
        line = f"{original.name.value}.model_fields = ({' '.join(fields)})"
        return cst.FlattenSentinel([updated, cst.parse_statement(line)])

    def visit_If(self, node: cst.If) -> bool:
        self._comments.append([])
        return True

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Any:
        found = self._comments.pop()
        if not found:
            return updated_node
        # `elif` has no lines above it of its own.
        self._comments.append(found)
        return self._with_comments(updated_node)

    def visit_For(self, node: cst.For) -> bool:
        self._comments.append([])
        return True

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> Any:
        return self._with_comments(updated_node)

    def visit_With(self, node: cst.With) -> bool:
        self._comments.append([])
        return True

    def leave_With(self, original_node: cst.With, updated_node: cst.With) -> Any:
        return self._with_comments(updated_node)

    # --- The whole module ---

    def _need(self, dotted: str) -> None:
        """Import a name of this package."""
        package, _, name = dotted.rpartition(".")
        self._needed.setdefault(package, set()).add((name, name))

    def _drop(self, node: cst.CSTNode) -> None:
        """Note that the names in a node are used less."""
        found = _Names()
        node.visit(found)
        self._dropped |= found.names

    def finish(self, module: cst.Module) -> cst.Module:
        """Return the module with the imports that it needs, and no others."""
        used = _Names()
        module.visit(used)
        unused = {name for name in self._dropped if name not in used.names}
        if unused:
            cleaned = module.visit(_WithoutImports(unused))
            assert isinstance(cleaned, cst.Module)
            module = cleaned
        present = _Imported()
        module.visit(present)
        lines = []
        for package, names in sorted(self._needed.items()):
            missing = sorted(
                _as(name, None if name == local else local)
                for name, local in names
                if local not in present.names
            )
            if missing and package:
                lines.append(f"from {package} import {', '.join(missing)}")
            elif missing:
                lines.append(f"import {', '.join(missing)}")
        if self._comments[0]:
            comments = [
                cst.EmptyLine(comment=cst.Comment(text))
                for text in dict.fromkeys(self._comments[0])
            ]
            module = module.with_changes(header=[*module.header, *comments])
        if not lines:
            return module
        at = _after_imports(module)
        body = list(module.body)
        body[at:at] = [cst.parse_statement(line) for line in lines]
        return module.with_changes(body=body)


class _Names(cst.CSTVisitor):
    """Names that are read, outside imports."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False

    def visit_Name(self, node: cst.Name) -> None:
        self.names.add(node.value)


class _Imported(cst.CSTVisitor):
    """Local names of all imports outside `if TYPE_CHECKING`."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def visit_If(self, node: cst.If) -> bool:
        return (get_full_name_for_node(node.test) or "") != "TYPE_CHECKING"

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        self.names.add(node.evaluated_alias or node.evaluated_name)


class _WithoutImports(cst.CSTTransformer):
    """Removes imports of some names."""

    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self._names = names

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> Any:
        node = updated_node.body[0]
        if not isinstance(node, cst.ImportFrom) or isinstance(
            node.names, cst.ImportStar
        ):
            return updated_node
        kept = [
            alias
            for alias in node.names
            if (alias.evaluated_alias or alias.evaluated_name) not in self._names
        ]
        if not kept:
            return cst.RemoveFromParent()
        if len(kept) == len(node.names):
            return updated_node
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(body=[node.with_changes(names=kept)])


class _SuperReset(cst.CSTTransformer):
    """Renames `super().reset`."""

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> Any:
        value = original_node.value
        is_super = isinstance(value, cst.Call) and (
            get_full_name_for_node(value.func) == "super"
        )
        if is_super and original_node.attr.value == "reset":
            return updated_node.with_changes(attr=cst.Name("reset_ids"))
        return updated_node


# --- What a node says ---


def _imports(source: ForeignFile) -> Iterator[tuple[str, str]]:
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


def _annotated(source: ForeignFile) -> Iterator[tuple[str, str]]:
    """Yield attributes of `self` with the class that an annotation names."""
    imports = dict(_imports(source))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            dotted = imports.get(ast.unparse(node.annotation).strip("'\""))
            if dotted:
                yield ast.unparse(node.target), dotted


def _of_class(node: cst.ClassDef, imports: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield `self.field` with the class of each annotated field."""
    for line in node.body.body:
        first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        if isinstance(first, cst.AnnAssign):
            name = get_full_name_for_node(first.target)
            cls = get_full_name_for_node(first.annotation.annotation) or ""
            if name and cls in imports:
                yield f"self.{name}", imports[cls]


def _of_function(
    node: cst.FunctionDef, imports: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield variables of a function with the class that the function gives them."""
    found = _Types(imports)
    node.visit(found)
    yield from found.types.items()


class _Types(cst.CSTVisitor):
    """Classes of variables: annotations, constructors and assertions."""

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


def _is_plain(node: cst.BaseExpression) -> bool:
    """Return True for names joined by dots."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _is_term(node: cst.ClassDef, methods: dict[str, cst.FunctionDef]) -> bool:
    """Return True for a class whose instances are terms."""
    if "__call__" not in methods:
        return False
    parameters = [p.name.value for p in methods["__call__"].params.params]
    return parameters[:2] == ["self", "env"]


def _assigned_in(method: cst.FunctionDef) -> list[str]:
    """Return the attributes of `self` that a method assigns."""
    text = cst.Module([]).code_for_node(method)
    found = re.findall(r"^\s*(self\.\w+)(?:\[.*\])?\s*(?:[+*/|&-]?=)[^=]", text, re.M)
    return list(dict.fromkeys(f"`{name}`" for name in found))


def _with_first_line(node: cst.ClassDef, line: str) -> cst.ClassDef:
    """Return a class whose `__init__` starts with a line, after its docstring."""
    body = list(node.body.body)
    for index, each in enumerate(body):
        if isinstance(each, cst.FunctionDef) and each.name.value == "__init__":
            lines = list(each.body.body)
            at = 1 if each.get_docstring() else 0
            lines.insert(at, cst.parse_statement(line))
            body[index] = each.with_changes(body=each.body.with_changes(body=lines))
    return node.with_changes(body=node.body.with_changes(body=body))


def _factory(value: cst.BaseExpression) -> str:
    """Return a function that makes a configuration, from a call that makes one."""
    text = cst.Module([]).code_for_node(value)
    if isinstance(value, cst.Call) and not value.args:
        return cst.Module([]).code_for_node(value.func)
    return f"lambda: {text}"


def _template(row: Replacement) -> str:
    """Return the expression of a note that makes the new value, empty for none."""
    found = re.match(r"`([^`]*\.\.\.[^`]*)`", row.note)
    return found[1] if found and found[1].count("...") == 1 and row.ours else ""


def _is_rename(row: Replacement) -> bool:
    """Return True if the value stays the same."""
    return row.ours.isidentifier() and (
        not row.note or row.note.startswith("the same value")
    )


def _separated(args: list[cst.Arg], old: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Return arguments with a comma at the end where there was one."""
    if args and old:
        args[-1] = args[-1].with_changes(
            comma=old[-1].comma, whitespace_after_arg=old[-1].whitespace_after_arg
        )
    return args


def _dotted(value: cst.BaseExpression, names: str) -> cst.BaseExpression:
    for name in names.split("."):
        value = cst.Attribute(value, cst.Name(name))
    return value


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression without its outer parentheses."""
    return node.with_changes(lpar=[], rpar=[])


def _as(name: str, alias: str | None) -> str:
    return f"{name} as {alias}" if alias else name


def _short(theirs: str, ours: str) -> str:
    """Return the local name: ours, unless it says too little by itself."""
    return theirs if ours in ("ACTION_SCALE",) else ours


def _alias(package: str) -> str:
    """Return a local name for a package, such as `velocity_mdp`."""
    *_, parent, last = f"mjlab.{package}".split(".")
    return last if last != "mdp" else f"{parent}_mdp"


def _after_imports(module: cst.Module) -> int:
    """Return the place of the first statement after the imports at the top."""
    place = 0
    for index, line in enumerate(module.body):
        first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        if isinstance(first, cst.Import | cst.ImportFrom):
            place = index + 1
        elif index == 0 and isinstance(first, cst.Expr):
            place = 1
    return place
