"""A self-contained HTML page with tables and pictures."""

import base64
import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto;
  padding: 0 1rem; color: #15191d; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #d9dde2; text-align: right; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; } .scroll { overflow-x: auto; }
"""

Row = Sequence[Any]


def table_text(head: Row, rows: Sequence[Row]) -> str:
    """A table for a terminal."""
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def table_markdown(head: Row, rows: Sequence[Row]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, *rows)]
    lines.insert(1, f"| --- |{' ---: |' * (len(head) - 1)}")
    return "\n".join(lines)


def table_html(head: Row, rows: Sequence[Row]) -> str:
    """Return a table of the page."""

    def row(kind: str, cells: Row) -> str:
        inner = "".join(f"<{kind}>{html.escape(str(c))}</{kind}>" for c in cells)
        return f"<tr>{inner}</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return f'<div class="scroll"><table>{row("th", head)}{body}</table></div>'


def picture(path: Path, says: str) -> str:
    """Return an SVG file embedded in the page; `says` is for screen readers."""
    data = base64.b64encode(path.read_bytes()).decode()
    source = f"data:image/svg+xml;base64,{data}"
    return f'<p><img src="{source}" alt="{html.escape(says)}"></p>'


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def heading(text: str) -> str:
    """A heading of a section."""
    return f"<h2>{html.escape(text)}</h2>"


def write_page(path: Path, title: str, parts: Sequence[str]) -> Path:
    """Write a page.

    Args:
        path: The file.
        title: Title as plain text.
        parts: HTML from the functions above.
    """
    shown = html.escape(title)
    path.write_text(
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">'
        f"<title>{shown}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{shown}</h1>\n" + "\n".join(parts) + "\n</body></html>\n",
        "utf-8",
    )
    return path
