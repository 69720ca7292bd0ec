"""HTML in which text is escaped unless it says that it is HTML."""

import html

Attribute = str | int | float | bool | None


class Html(str):
    """Text that is HTML already, and goes into a page as it is."""


_EMPTY = frozenset(["meta", "br", "source", "path", "col"])
"""Elements that hold nothing."""


def element(name: str, /, *children: str | None, **attributes: Attribute) -> Html:
    """An element with what is in it.

    Args:
        name: What the element is called.
        children: What it holds. Text that is not `Html` is escaped; None is nothing.
        attributes: By their names, with `_` for `-`, and one more at the end of a name
            that Python keeps for itself. True is an attribute without a value, and None
            or False is none.
    """
    opening = name + "".join(
        _attribute(key, value) for key, value in attributes.items()
    )
    if name in _EMPTY:
        return Html(f"<{opening}>" if name != "path" else f"<{opening}/>")
    return Html(f"<{opening}>{joined(*children)}</{name}>")


def joined(*parts: str | None, between: str = "") -> Html:
    """Several pieces in a row, of which text is escaped."""
    shown = (escaped(part) for part in parts if part is not None)
    return Html(escaped(between).join(shown))


def escaped(text: str) -> Html:
    """HTML that shows a text; what is HTML already stays."""
    return text if isinstance(text, Html) else Html(html.escape(text))


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{html.escape(str(value))}"'
