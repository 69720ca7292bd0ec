"""Rewrite classes and functions: commands, terms and events."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst
from libcst.helpers import get_full_name_for_node

from mjlab.cli.porting.names import Resolving, types_in_class, types_in_function
from mjlab.cli.porting.sources import ForeignFile, ForeignFiles

_ENV_IDS = (
    "a bool tensor of shape (num_envs,); `env_ids` works, but excludes a CUDA graph"
)


_INDEXED = {
    "CommandTerm": "mjlab.managers.IndexedCommandTerm",
    "CommandTermCfg": "mjlab.managers.IndexedCommandTermCfg",
}
"""This package's base classes for a project's own commands, which use world indices."""


class Classes(Resolving):
    """Rewrites classes and functions."""

    def __init__(self, source: ForeignFile, sources: ForeignFiles) -> None:
        super().__init__(source, sources)
        self._command_depth = 0

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:
        self._comments.append([])
        self._types.append(dict(types_in_class(node, self._imports)))
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
        """Return a term class with this package's base class."""
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
        self._types.append(dict(types_in_function(node, self._imports)))
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
        """Return a term whose attribute `model_fields` replaces mjlab's decorator."""
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
