"""HTML in which text is escaped unless it is HTML, and the pieces of a page."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

Attribute = str | int | float | bool | None


class Html(str):
    """Text that is HTML already, and goes into a page as it is."""


_EMPTY = frozenset(["path", "rect"])
"""Elements that hold nothing."""


def element(name: str, /, *children: str | None, **attributes: Attribute) -> Html:
    """Return an element with its content.

    Args:
        name: The name of the element.
        children: Its content. Text that is not `Html` is escaped; None is nothing.
        attributes: By their names, with `_` for `-`, and one more at the end of a name
            that Python keeps for itself. True is an attribute without a value, and None
            or False is none.
    """
    opening = name + "".join(
        _attribute(key, value) for key, value in attributes.items()
    )
    if name in _EMPTY:
        return Html(f"<{opening}/>")
    return Html(f"<{opening}>{joined(*children)}</{name}>")


def joined(*parts: str | None, between: str = "") -> Html:
    """Return several pieces in a row, of which text is escaped."""
    shown = (escaped(part) for part in parts if part is not None)
    return Html(escaped(between).join(shown))


def escaped(text: str) -> Html:
    """Return HTML that shows a text; what is HTML already stays."""
    return text if isinstance(text, Html) else Html(html.escape(text))


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{html.escape(str(value))}"'


# Pieces that the sections of a page are made of.


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    name: str
    """Its name for links."""

    title: str
    """Its heading."""

    html: Html
    """All of it."""


def section(name: str, title: str, *children: str | None, lead: str = "") -> Section:
    """Return a section with its heading and a sentence to begin with, if given."""
    whole = element(
        "section",
        element("h2", title),
        element("p", lead, class_="lead") if lead else None,
        *children,
        id=name,
    )
    return Section(name, title, whole)


def grid(charts: Sequence[Html]) -> Html:
    """Return charts side by side, as many as there is room for."""
    return element("div", *charts, class_="grid")


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, class_: str = ""
) -> Html:
    """Return a table; the first column names the row."""
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
    """Return names with their descriptions; what is None is left out."""
    pairs = [
        joined(element("dt", name), element("dd", said))
        for name, said in entries
        if said is not None
    ]
    return element("dl", *pairs)


def cards(entries: Sequence[tuple[str, str, str]]) -> Html:
    """Return main figures, each a name, a value and a note."""
    shown = [
        element(
            "div",
            element("dt", name),
            element("dd", element("b", value), element("small", note)),
        )
        for name, value, note in entries
    ]
    return element("dl", *shown, class_="figures")


def link(file: Path, folder: Path) -> Html:
    """Return a link to a file of the run, which works wherever the folder is."""
    inside = file.relative_to(folder).as_posix()
    return element("a", inside, href=address(file, folder))


def address(file: Path, folder: Path) -> str:
    """Return the address of a file of the run, seen from the page."""
    # Without the dot, a colon in a name would make it the name of a protocol.
    return f"./{quote(file.relative_to(folder).as_posix())}"


def fold(title: str, *children: str | None, is_open: bool = False) -> Html:
    """Return content that is shown on demand."""
    return element("details", element("summary", title), *children, open=is_open)


def code(text: str) -> Html:
    """Return a name or a line as a program reads it."""
    return element("code", text)
