"""Rewrite one file of another project, with a comment where a person must decide."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper

from mjlab.cli.porting.calls import Calls
from mjlab.cli.porting.changes import Change
from mjlab.cli.porting.classes import Classes
from mjlab.cli.porting.imports import Imports
from mjlab.cli.porting.sources import ForeignFile, ForeignFiles


@dataclass(frozen=True)
class Ported:
    """Result of porting one file."""

    source: ForeignFile
    """The original file."""

    text: str
    """New text of the file."""

    changes: tuple[Change, ...]
    """Changes of the file, in the order of lines."""

    tasks: dict[str, str]
    """Place of each task that the file registers, "module:name", by task id."""


def port_file(source: ForeignFile, sources: ForeignFiles) -> Ported:
    """Port one of several files. Raises SyntaxError if it is not valid Python."""
    ast.parse(source.text)
    wrapper = MetadataWrapper(cst.parse_module(source.text))
    visitor = _Porter(source, sources)
    module = visitor.finish(wrapper.visit(visitor))
    return Ported(
        source, module.code, tuple(sorted(set(visitor.changes))), visitor.tasks
    )


class _Porter(Imports, Calls, Classes):
    """LibCST transformer that ports one module."""

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
