"""Rewrite attributes and methods of objects, and names of modules."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst
from libcst.helpers import get_full_name_for_node

from mjlab.cli.porting.changes import NONE, UNKNOWN
from mjlab.cli.porting.fields import Fields
from mjlab.cli.porting.sources import ForeignFile, ForeignFiles
from mjlab.settings.counterparts import Counterpart, Replacement

_WAITS = {
    "item": "synchronises with the device: keep a tensor, or use `torch.where`",
    "nonzero": "synchronises with the device: use a mask, and `torch.where`",
}
"""Methods that a term should not call, with the reason."""


class Members(Fields):
    """Rewrites names, attributes and methods."""

    def __init__(self, source: ForeignFile, sources: ForeignFiles) -> None:
        super().__init__(source, sources)
        self._keep: set[int] = set()
        """Name nodes that do not read a variable, such as keyword names."""

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
            self._note(original_node.attr, f".{name}", row.ours, row.words)
            # A key "owner.name" replaces the owner too, except for a variable `owner`.
            value, new = updated_node.value, row.ours
            has_owner = "." in key and key[0].islower()
            if has_owner and isinstance(value, cst.Attribute):
                value = value.value
            elif has_owner:
                new = new.partition(".")[2]
            made = _dotted(value, new)
            if not row.template:
                return made
            code = cst.Module([]).code_for_node(made)
            return cst.parse_expression(row.template.replace("...", code))
        return self._field_read(original_node, updated_node)

    def _is_unknown(self, use: str) -> bool:
        """Return True for a name of the other project that the table lacks."""
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
        elif package == "mjlab.mdp":  # The task's own `mdp` exports it.
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
        module, _, cls = self._typed(node.value).rpartition(".")
        keys = [f"{owner}.{name}", name]
        if module and self._sources.row(module, cls) is not None:
            keys.insert(0, f"{cls}.{name}")
        if owners[-2:] == ["env", "scene"]:
            keys.insert(0, f"env.scene.{name}")
        own = self._sources.members
        for key in keys:
            row = self._project.members.get(key)
            if row is not None and (key != name or name not in own):
                return key, row
        return None

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


def _is_plain(node: cst.BaseExpression) -> bool:
    """Return True for names joined by dots."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _dotted(value: cst.BaseExpression, names: str) -> cst.BaseExpression:
    for name in names.split("."):
        value = cst.Attribute(value, cst.Name(name))
    return value
