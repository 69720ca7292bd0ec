"""Rewrite imports, and add the imports that the new file needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst
from libcst.helpers import get_full_name_for_node

from mjlab.cli.porting.changes import OMIT, UNKNOWN, comment_lines
from mjlab.cli.porting.names import ReadNames, Resolving
from mjlab.cli.porting.sources import project_of
from mjlab.settings.counterparts import Project
from mjlab.settings.mjlab_1_6 import CALLS, MJLAB


class Imports(Resolving):
    """Rewrites imports of the other project and of ported modules."""

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
        lead = [*updated.leading_lines, *comment_lines(self._comments.pop())]
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
                if row.omit:
                    self._note(alias, f"{module}.{name}", OMIT, row.differs)
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
        """Return the relative name of a ported module, from this file's package."""
        here = self._source.package.split(".")
        there = module.split(".")
        shared = 0
        while shared < min(len(here), len(there)) and here[shared] == there[shared]:
            shared += 1
        return "." * (len(here) - shared + 1) + ".".join(there[shared:])

    def _whole(
        self, updated: cst.SimpleStatementLine, node: cst.Import
    ) -> cst.SimpleStatementLine:
        """Return an `import x.y` statement with this package's modules."""
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

    def finish(self, module: cst.Module) -> cst.Module:
        """Return the module with exactly the imports that it needs."""
        used = ReadNames()
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
            comments = comment_lines(self._comments[0])
            module = module.with_changes(header=[*module.header, *comments])
        if not lines:
            return module
        at = _after_imports(module)
        body = list(module.body)
        body[at:at] = [cst.parse_statement(line) for line in lines]
        return module.with_changes(body=body)


class _Imported(cst.CSTVisitor):
    """Collects the local names of all imports outside `if TYPE_CHECKING`."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def visit_If(self, node: cst.If) -> bool:
        return (get_full_name_for_node(node.test) or "") != "TYPE_CHECKING"

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        self.names.add(node.evaluated_alias or node.evaluated_name)


class _WithoutImports(cst.CSTTransformer):
    """Removes some names from the `from` imports of a file."""

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


def _as(name: str, alias: str | None) -> str:
    return f"{name} as {alias}" if alias else name


def _short(theirs: str, ours: str) -> str:
    """Return the local name: the new name, or the old name if the new is ambiguous."""
    return theirs if ours in ("ACTION_SCALE",) else ours


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
