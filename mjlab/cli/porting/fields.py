"""Rewrite fields of configurations: arguments, assignments and reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from mjlab.cli.porting.changes import NONE, OMIT
from mjlab.cli.porting.names import Resolving
from mjlab.settings.counterparts import Replacement

_FROZEN = {"ObjRef": "mjlab.sensor.ObjRef"}
"""Records that are frozen in this package, so fields cannot be assigned."""


_CONSTRUCTORS = {
    "AdaptiveSampling": "mjlab.motion",
    "CheckpointCfg": "mjlab.rl",
    "DelayCfg": "mjlab.tensors",
    "LoggingCfg": "mjlab.rl",
}
"""Module of each record that the table of fields constructs."""


_CHECKS = {
    ("TerrainGeneratorCfg", "num_cols"): "without `curriculum`, at least the number of "
    "`sub_terrains`: a column has one kind of tile"
}
"""Fields whose value a person must check, with the rule."""


class Fields(Resolving):
    """Rewrites fields of configurations, and parameters of terms."""

    def _field(self, node: cst.Attribute) -> tuple[str, Replacement] | None:
        """Return the class of a field that is read or set, and its table row."""
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
            if name in fields and fields[name].keeps_value
        ]
        is_plain = len({row.ours for _, row in rows}) == 1 and "_" in name
        is_theirs = name in ("terrain_type", "terrain_generator", "asset_name")
        return rows[0] if is_plain and is_theirs else None

    def _field_read(self, original: cst.Attribute, updated: cst.Attribute) -> Any:
        found = self._field(original)
        if found is None:
            return updated
        row, name = found[1], original.attr.value
        if row.keeps_value:
            self._note(original.attr, name, row.ours, row.words)
            return updated.with_changes(attr=cst.Name(row.ours))
        return updated

    def _assigned(
        self,
        updated: cst.SimpleStatementLine,
        node: cst.Assign | cst.AnnAssign,
    ) -> Any:
        """Return the replacement of an assignment to a field, None to keep it."""
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
        if found is None or found[1].keeps_value:
            return None
        row = found[1]
        if row.omit:
            self._note(target, name, OMIT, row.note)
        else:
            self._decide(target, name, row.words, row.ours or NONE)
        self._lift_comments()
        self._drop(node)
        return cst.RemoveFromParent()

    def _with_fields(
        self, original: cst.Call, updated: cst.Call, owners: list[str]
    ) -> cst.Call:
        """Return a constructor call with the field names of this package."""
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
            template = row.template
            assert arg.keyword is not None
            if row.keeps_value:
                self._note(old, name, row.ours, row.words)
                args.append(arg.with_changes(keyword=cst.Name(row.ours)))
            elif template:
                self._note(old, name, row.ours, row.words)
                value = cst.Module([]).code_for_node(arg.value)
                text = template.replace("...", value)
                if row.ours not in made:
                    args.append(arg.with_changes(keyword=cst.Name(row.ours)))
                made.setdefault(row.ours, []).append(text)
            elif row.omit:
                self._note(old, name, OMIT, row.note)
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
        """Return a `dict(...)` of constructor arguments with the field names here."""
        names = [arg.keyword.value for arg in original.args if arg.keyword]
        for dotted in self._imports.values():
            owners = self._owners(dotted)
            rows = [self._project.field(owners, name) for name in names]
            renamed = [row for row in rows if row is not None and row.keeps_value]
            if renamed and len(names) > len(renamed) and owners[0].endswith("Cfg"):
                return self._with_fields(original, updated, owners)
        return updated

    def _with_params(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Note term parameters that a person must change; return the call unchanged."""
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


def _separated(args: list[cst.Arg], old: Sequence[cst.Arg]) -> list[cst.Arg]:
    """Return arguments with a trailing comma if the old call had one."""
    if args and old:
        args[-1] = args[-1].with_changes(
            comma=old[-1].comma, whitespace_after_arg=old[-1].whitespace_after_arg
        )
    return args
