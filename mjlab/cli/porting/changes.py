"""Record the changes of a file, and write comments where a person must decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst
from libcst.metadata import PositionProvider

NONE = "no counterpart"
UNKNOWN = "unknown"
OMIT = "omit it"

MARK = "# TODO(port):"
"""Start of a comment that asks a person to decide."""


@dataclass(frozen=True, order=True)
class Change:
    """One change of a ported file."""

    line: int
    """Line number in the original file, from 1."""

    theirs: str
    """Text in the original file."""

    ours: str
    """Replacement, `NONE` or `UNKNOWN`."""

    note: str = ""
    """Difference in meaning, or the reason."""

    decide: bool = False
    """True if a person must decide; the new file then has a comment."""

    def text(self, path: str) -> str:
        """Return the change as a line for the user."""
        more = f" ({self.note})" if self.note and self.ours != UNKNOWN else ""
        return f"{path}:{self.line}: {self.theirs} -> {self.ours}{more}"


class Noting(cst.CSTTransformer):
    """Transformer that notes changes, and writes comments above statements."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[Change] = []
        self._comments: list[list[str]] = [[]]
        """Comments to write above the enclosing statements, innermost last."""

    def _note(self, node: cst.CSTNode, theirs: str, ours: str, note: str = "") -> None:
        note = note.replace("see below", "see coming_from_mjlab.md")
        self.changes.append(Change(self._line(node), theirs, ours, note))

    def _decide(
        self, node: cst.CSTNode, theirs: str, note: str, ours: str = NONE
    ) -> None:
        self.changes.append(Change(self._line(node), theirs, ours, note, decide=True))
        self._comments[-1].append(f"{MARK} {theirs}: {note}.")

    def _line(self, node: cst.CSTNode) -> int:
        return self.get_metadata(PositionProvider, node).start.line

    def _with_comments(self, updated: Any) -> Any:
        lines = comment_lines(self._comments.pop())
        return updated.with_changes(leading_lines=[*updated.leading_lines, *lines])

    def _lift_comments(self) -> None:
        """Give the comments of a removed statement to the statement around it."""
        found = self._comments.pop()
        self._comments[-1] += found

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> bool:
        self._comments.append([])
        return True

    def visit_If(self, node: cst.If) -> bool:
        self._comments.append([])
        return True

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> Any:
        found = self._comments.pop()
        if not found:
            return updated_node
        # LibCST stores no leading lines for `elif`.
        self._comments.append(found)
        return self._with_comments(updated_node)

    def visit_For(self, node: cst.For | cst.With) -> bool:
        self._comments.append([])
        return True

    def leave_For(self, original_node: Any, updated_node: cst.For | cst.With) -> Any:
        return self._with_comments(updated_node)

    visit_With, leave_With = visit_For, leave_For


def comment_lines(texts: list[str]) -> list[cst.EmptyLine]:
    """Return a line for each comment, without repetitions."""
    return [cst.EmptyLine(comment=cst.Comment(text)) for text in dict.fromkeys(texts)]
