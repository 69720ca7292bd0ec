"""From Markdown to HTML, with the anchors that GitHub gives to headings."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_PLAIN = ("", "text", "console")
"""Languages that have no colours."""


@dataclass
class Heading:
    """A heading with the text below it, up to the next one."""

    level: int
    """1 for the title."""

    id: str
    """Its anchor."""

    text: str
    """Its words."""

    below: str = ""
    """The words below it, for the search."""


@dataclass
class Rendered:
    """A text as HTML."""

    html: str
    """All of it."""

    headings: list[Heading] = field(default_factory=list)
    """Its headings in their order."""


def render(text: str, address: Callable[[str], str]) -> Rendered:
    """Return Markdown as HTML.

    Args:
        text: The Markdown.
        address: Makes the address of a link or a picture from the one that is written.
    """
    parser = _parser()
    found = Rendered("")
    tokens = [token for token in parser.parse(text) if not _is_comment(token)]
    anchors: dict[str, int] = {}
    for index, token in enumerate(tokens):
        for each in (token, *(token.children or ())):
            _readdress(each, address)
        if token.type == "heading_open":
            words = _words(tokens[index + 1])
            anchor = _anchor(words, anchors)
            token.attrSet("id", anchor)
            _append_link(tokens[index + 1], anchor)
            found.headings.append(Heading(int(token.tag[1]), anchor, words))
        elif found.headings and not _is_of_heading(tokens, index):
            found.headings[-1].below += _searched(token)
    found.html = parser.renderer.render(tokens, parser.options, {})
    return found


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    rules: Any = parser.renderer.rules
    rules["fence"] = lambda ts, i, *_: code_block(ts[i].content, ts[i].info)
    rules["code_block"] = lambda ts, i, *_: code_block(ts[i].content)
    rules["table_open"] = lambda *_: '<div class="table"><table>\n'
    rules["table_close"] = lambda *_: "</table></div>\n"
    return parser


def code_block(text: str, info: str = "") -> str:
    """Return code with colours, as far as its language is known."""
    language = info.split()[0] if info.split() else ""
    inside = html.escape(text)
    if language not in _PLAIN:
        try:
            inside = coloured(text, language)
        except ClassNotFound as error:
            raise ValueError(f"No colours for a block of {language!r}.") from error
    return f'<pre class="code {language or "plain"}"><code>{inside}</code></pre>\n'


def coloured(text: str, language: str) -> str:
    """Return the lines of a program with marked words."""
    return highlight(text, get_lexer_by_name(language), HtmlFormatter(nowrap=True))


def slug(words: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")


def _anchor(words: str, given: dict[str, int]) -> str:
    base = slug(words)
    count = given.get(base, 0)
    given[base] = count + 1
    return f"{base}-{count}" if count else base


def _is_comment(token: Token) -> bool:
    return token.type == "html_block" and token.content.lstrip().startswith("<!--")


def _is_of_heading(tokens: list[Token], index: int) -> bool:
    return index > 0 and tokens[index - 1].type == "heading_open"


def _readdress(token: Token, address: Callable[[str], str]) -> None:
    for name in ("href", "src"):
        value = token.attrGet(name)
        if value is not None:
            token.attrSet(name, address(str(value)))
    if token.type == "image":
        token.attrSet("loading", "lazy")
    if token.type in ("html_block", "html_inline"):
        token.content = re.sub(
            r'\b(src|href)="([^"]+)"',
            lambda m: f'{m[1]}="{html.escape(address(html.unescape(m[2])))}"',
            token.content,
        )


def _append_link(inline: Token, anchor: str) -> None:
    """Have a heading end in a link to itself."""
    link = Token("html_inline", "", 0)
    link.content = f'<a class="self" href="#{anchor}" aria-label="Link">#</a>'
    inline.children = [*(inline.children or ()), link]


def _words(token: Token) -> str:
    """Return the words of an inline token."""
    kinds = ("text", "code_inline")
    parts = [each.content for each in token.children or () if each.type in kinds]
    return "".join(parts)


def _searched(token: Token) -> str:
    if token.type in ("fence", "code_block"):
        return f" {token.content}"
    breaks = ("softbreak", "hardbreak")
    parts = [
        " " if c.type in breaks else c.content
        for c in token.children or ()
        if c.type in ("text", "code_inline", *breaks)
    ]
    return " " + "".join(parts) if parts else ""
