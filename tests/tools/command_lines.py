"""Command lines in the pages, and the tests that they name."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.tools.architecture import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
PAGES = [page for page in PAGES if page.parent.name != "tables"]
_PROGRAMS = r"(?:python3?|mjlab|make|pip|pytest|jupyter|docker|torchrun|sbatch|eval) "
_LINE = re.compile(rf"(?:\$ )?({_PROGRAMS}.*)")
_SHELL = ("sh", "bash", "console")


@dataclass(frozen=True)
class CommandLine:
    """A command line."""

    text: str
    """The line, without comment and continuation."""

    page: str
    """Its page, relative to the repository."""


def command_lines(pages: Iterable[Path] = PAGES) -> list[CommandLine]:
    """Return all command lines, by page and in order."""
    return [
        CommandLine(text, page.relative_to(ROOT).as_posix())
        for page in pages
        for text in lines_of(page.read_text("utf-8"))
    ]


def lines_of(text: str) -> list[str]:
    """Return the command lines of a page, in their order.

    All lines of shell blocks and all indented lines are commands; so are lines of other
    blocks and spans of code that begin with a known program.
    """
    found: list[str] = []
    info: str | None = None
    prose: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.lstrip().startswith("```"):
            info = line.lstrip()[3:].strip() if info is None else None
            continue
        if info in _SHELL or (info is None and line.startswith("    ")):
            if line.strip():
                found.append(_plain(line.strip().removeprefix("$ ")))
        elif info in ("", "text") and (match := _LINE.fullmatch(line.strip())):
            found.append(_plain(match[1]))
        elif info is None:
            prose.append(line)
            # A span ends within its paragraph.
            if not line.strip():
                found += _spans("\n".join(prose))
                prose.clear()
    return [*found, *_spans("\n".join(prose))]


def is_a_test(place: str) -> bool:
    """Return True if FILE::NAME is a test."""
    file, _, name = place.partition("::")
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return name in {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}


def _spans(text: str) -> list[str]:
    spans = (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text))
    return [_plain(span) for span in spans if _LINE.fullmatch(span)]


def _plain(line: str) -> str:
    without_comment = re.sub(r"\s#\s.*$", "", line)
    return " ".join(without_comment.split())
