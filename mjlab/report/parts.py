"""Pieces that the sections of a page are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from mjlab.report.markup import Html, element, joined


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    name: str
    """What links call it."""

    title: str
    """Its heading."""

    html: Html
    """All of it."""


def section(name: str, title: str, *children: str | None, lead: str = "") -> Section:
    """A section with its heading and, if there is one, a sentence to begin with."""
    whole = element(
        "section",
        element("h2", title),
        element("p", lead, class_="lead") if lead else None,
        *children,
        id=name,
    )
    return Section(name, title, whole)


def grid(charts: Sequence[Html]) -> Html:
    """Charts side by side, as many as there is room for."""
    return element("div", *charts, class_="grid")


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, class_: str = ""
) -> Html:
    """A table; what stands in the first column names the row."""
    head = element("tr", *(element("th", column, scope="col") for column in columns))
    body = [
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(element("td", cell) for cell in row[1:]),
        )
        for row in rows
    ]
    whole = element("table", element("thead", head), element("tbody", *body))
    return element("div", whole, class_=f"table {class_}".strip())


def facts(entries: Sequence[tuple[str, str | None]]) -> Html:
    """Names with what is to be said of each; what is None is left out."""
    pairs = [
        joined(element("dt", name), element("dd", said))
        for name, said in entries
        if said is not None
    ]
    return element("dl", *pairs)


def link(file: Path, folder: Path) -> Html:
    """A link to a file of the run, which works wherever the folder is moved to."""
    inside = file.relative_to(folder).as_posix()
    return element("a", inside, href=address(file, folder))


def address(file: Path, folder: Path) -> str:
    """Where a file of the run is, seen from the page."""
    # Without the dot, a colon in a name would make it the name of a protocol.
    return f"./{quote(file.relative_to(folder).as_posix())}"


def fold(title: str, *children: str | None, is_open: bool = False) -> Html:
    """What is shown when somebody asks for it."""
    return element("details", element("summary", title), *children, open=is_open)


def code(text: str) -> Html:
    """A name or a line as a program reads it."""
    return element("code", text)
