"""Rewrite calls of mathematical functions and calls that register tasks."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from mjlab.cli.porting.members import Members
from mjlab.cli.porting.sources import ForeignFile, ForeignFiles
from mjlab.settings.mjlab_1_6 import CALLS

_HOMES = {
    "entries": "mjlab.registry",
    "load_task": "mjlab.registry",
    "match_values": "mjlab.names",
    "reflected_inertia": "mjlab.tasks.robots.robot",
}
"""Module of each function in rewritten calls that is not in `mjlab.tensors.math`."""


class Calls(Members):
    """Rewrites calls of mathematical functions, and task registrations."""

    def __init__(self, source: ForeignFile, sources: ForeignFiles) -> None:
        super().__init__(source, sources)
        self.tasks: dict[str, str] = {}
        """Place of each task that the file registers, "module:name", by task id."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> Any:
        dotted = self._dotted_of(original_node.func)
        name = dotted.rpartition(".")[2]
        if self._is_call_of_table(dotted):
            return self._from_table(original_node, updated_node, name)
        func = original_node.func
        if isinstance(func, cst.Attribute):
            member = self._member(func)
            if member is not None and member[1].is_attribute:
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

    def _is_call_of_table(self, dotted: str) -> bool:
        module, _, name = dotted.rpartition(".")
        row = self._sources.row(module, name) if module else None
        return row is not None and name in CALLS

    def _from_table(self, original: cst.Call, updated: cst.Call, name: str) -> Any:
        """Return the expression that replaces a call of a mathematical function."""
        parameters, template = CALLS[name]
        names = parameters.split()
        given: dict[str, str] = {}
        for position, arg in enumerate(updated.args):
            key = arg.keyword.value if arg.keyword else names[position]
            given[key] = cst.Module([]).code_for_node(arg.value)
        if given.keys() != set(names):
            note = f"only a call with all of {', '.join(names)} can be rewritten"
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
        if row.omit:
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


def _factory(value: cst.BaseExpression) -> str:
    """Return the code of a factory, from a call that makes a configuration."""
    text = cst.Module([]).code_for_node(value)
    if isinstance(value, cst.Call) and not value.args:
        return cst.Module([]).code_for_node(value.func)
    return f"lambda: {text}"


def _bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression without its outer parentheses."""
    return node.with_changes(lpar=[], rpar=[])
