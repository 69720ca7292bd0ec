"""HTML elements with escaped text, and the building blocks of a page."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

Attribute = str | int | float | bool | None


class Html(str):
    """HTML markup, which is inserted into a page without escaping."""


_EMPTY = frozenset(["path", "rect"])
"""Void elements."""


def element(name: str, /, *children: str | None, **attributes: Attribute) -> Html:
    """Return an element with its content.

    Args:
        name: The name of the element.
        children: Its content. Text that is not `Html` is escaped; None is skipped.
        attributes: Attributes, with `_` for `-`, and a trailing `_` for names that
            Python reserves. True gives an attribute without a value; None and False
            omit the attribute.
    """
    opening = name + "".join(
        _attribute(key, value) for key, value in attributes.items()
    )
    if name in _EMPTY:
        return Html(f"<{opening}/>")
    return Html(f"<{opening}>{joined(*children)}</{name}>")


def joined(*parts: str | None, between: str = "") -> Html:
    """Concatenate pieces; text is escaped."""
    shown = (escaped(part) for part in parts if part is not None)
    return Html(escaped(between).join(shown))


def escaped(text: str) -> Html:
    """Return a text as escaped HTML; `Html` is unchanged."""
    return text if isinstance(text, Html) else Html(html.escape(text))


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{html.escape(str(value))}"'


# Building blocks of the sections.


@dataclass(frozen=True)
class Section:
    """Section of the page."""

    name: str
    """Anchor for links."""

    title: str
    """Its heading."""

    html: Html
    """Its content."""


def section(name: str, title: str, *children: str | None, lead: str = "") -> Section:
    """Return a section with its heading and an optional lead sentence."""
    whole = element(
        "section",
        element("h2", title),
        element("p", lead, class_="lead") if lead else None,
        *children,
        id=name,
    )
    return Section(name, title, whole)


def grid(charts: Sequence[Html]) -> Html:
    """Return charts in a grid, with as many columns as fit."""
    return element("div", *charts, class_="grid")


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, class_: str = ""
) -> Html:
    """Return a table; the first column is the row header."""
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
    """Return names with their descriptions; entries with None are omitted."""
    pairs = [
        joined(element("dt", name), element("dd", said))
        for name, said in entries
        if said is not None
    ]
    return element("dl", *pairs)


def cards(entries: Sequence[tuple[str, str, str]]) -> Html:
    """Return the main figures, each with a name, a value and a note."""
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
    """Return a relative link to a file of the run."""
    inside = file.relative_to(folder).as_posix()
    return element("a", inside, href=address(file, folder))


def address(file: Path, folder: Path) -> str:
    """Return the address of a file of the run, relative to the page."""
    # Without "./", a colon in a name would be read as a URL scheme.
    return f"./{quote(file.relative_to(folder).as_posix())}"


def fold(title: str, *children: str | None, is_open: bool = False) -> Html:
    """Return collapsible content."""
    return element("details", element("summary", title), *children, open=is_open)


def code(text: str) -> Html:
    """Return text in a code font."""
    return element("code", text)
