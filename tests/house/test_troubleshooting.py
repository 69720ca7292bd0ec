"""Every message on the page "Troubleshooting" exists in the source."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/howto/troubleshooting.md"
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
GAP = "\0"


def messages(text: str) -> list[str]:
    return ROW.findall(text)


@cache
def said() -> str:
    """Return the string literals of the source, with gaps for inserted values."""
    texts = []
    for folder in ("mjlab", "mjlab_fused", "scripts"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(file.read_text("utf-8"))
            parts = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
            texts += [text for node in parts if (text := text_of(node)) is not None]
    return re.sub("%[rs]", GAP, "\n".join(texts))


def text_of(node: ast.expr) -> str | None:
    """Return the text of a literal or of a concatenation."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or GAP for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = text_of(node.left), text_of(node.right)
        return None if sides == (None, None) else "".join(s or GAP for s in sides)
    return None


def is_said(message: str, source: str) -> bool:
    """Return whether a text has the parts of a message in order; `...` is a gap."""
    parts = [re.escape(part) for part in message.strip(".").split("...")]
    return re.search(f"[^\n]*?{GAP}[^\n]*?".join(parts), source) is not None


@pytest.mark.parametrize("message", messages(PAGE.read_text("utf-8")))
def test_a_message_of_the_page_is_in_the_source(message):
    assert is_said(message, said())


def test_message_missing_from_the_source_is_found():
    assert not is_said("There is no tusk ...", said())
    assert not is_said("There is no task called ... here", said())
