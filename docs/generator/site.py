"""The site: every page of the documentation, searchable, with nothing from outside.

Pages are those of `docs/`, the project's README, and a reference of each room's public
names. What a page links to is in the site too: pictures as they are, sources as pages.
"""

import html
import json
import os
import re
import shutil
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote

from generator import api
from generator.markdown import Heading, coloured, render
from generator.sources import ROOT, summary

DOCS = ROOT / "docs"
THEME = DOCS / "theme"
HOME = ROOT / "README.md"
FRAME = "page.html"
INDEX = "search_index.js"
VERSIONS = "versions.js"
"""The list of versions, beside the folders that have one each."""

API = "API reference"
"""Group of the pages about public names."""

API_INDEX = "api/index.html"
PROJECT = "The project"

_OUTSIDE = re.compile(r"[a-z]+:|//")
_MORE = {"CONTRIBUTING.md": "Contributing", "CHANGELOG.md": "Changelog"}
_SHOWN_LEVELS = (2, 3)
_GUIDES = {
    *("To begin with", "How it works", "The simulation layer", "The manager layer"),
}
_LISTS = ("decisions/", "coming_from.")


class DeadLinkError(ValueError):
    """A link that leads nowhere."""


@dataclass
class SitePage:
    """A page of the site."""

    out: str
    """Its place in the site, such as "managers/action.html"."""

    title: str
    """Its heading."""

    group: str
    """The group of the navigation that it is in; empty for none."""

    body: str = ""
    """Its content."""

    headings: list[Heading] = field(default_factory=list)
    """Its headings with the text below each."""


class Site:
    """All pages, and the files that they need."""

    def __init__(self, version: str, name: str = "") -> None:
        """Collect pages.

        Args:
            version: The version that pages show.
            name: The folder of a site that stands beside those of other versions.
        """
        self._version = version
        self._name = name
        self.files: dict[str, Path] = {}
        """Files to copy, by their place in the site."""
        self._places = dict(_places())
        self.pages: list[SitePage] = []
        groups = dict(_groups())
        for source, out in self._places.items():
            self.pages.append(self._page(source, out, groups.get(source, "")))
        self._add_api()
        order = {n: i for i, n in enumerate([*groups.values(), API, PROJECT, ""])}
        turn = {self._places[s]: i for i, s in enumerate(groups)} | {API_INDEX: -1}
        self.pages.sort(key=lambda p: (order[p.group], turn.get(p.out, 999)))

    def write(self, folder: Path) -> None:
        """Write all of it into a folder, which is emptied before."""
        shutil.rmtree(folder, ignore_errors=True)
        frame = string.Template((THEME / FRAME).read_text("utf-8"))
        for page in self.pages:
            file = folder / page.out
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(frame.substitute(self._parts(page)), "utf-8")
        for out, source in self.files.items():
            (folder / out).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / out)
        for name in ("site.css", "site.js"):
            shutil.copyfile(THEME / name, folder / name)
        (folder / INDEX).write_text(self._index(), "utf-8")

    # Pages.

    def _page(self, source: Path, out: str, group: str) -> SitePage:
        def address(link: str) -> str:
            return self._address(source, out, link)

        made = render(source.read_text("utf-8"), address)
        title = made.headings[0].text if made.headings else source.stem
        return SitePage(out, title, group, made.html, made.headings)

    def _add_api(self) -> None:
        found = api.public_names()
        rows = []
        for room, names in found.items():
            out = f"api/{room}.html"

            def address(link: str, out: str = out) -> str:
                return link if link.startswith("#") else relative(out, link)

            made = api.room_page(room, names, address)
            rows.append((room, out, summary(made.headings[0].below), len(names)))
            self.pages.append(SitePage(out, room, API, made.html, made.headings))
        self.pages.append(_api_index(rows))

    def _address(self, source: Path, out: str, link: str) -> str:
        """Return where a link of a page leads in the site."""
        if _OUTSIDE.match(link):
            return link
        file, hash_, anchor = unquote(link).partition("#")
        if not file:
            return link
        target = (source.parent / file).resolve()
        # A folder is shown by the page or the package that it is.
        for first in ("README.md", "__init__.py"):
            if (target / first).is_file():
                target = target / first
        if target in self._places:
            return f"{relative(out, self._places[target])}{hash_}{anchor}"
        if not target.is_file() or not target.is_relative_to(ROOT):
            raise DeadLinkError(f"{source.relative_to(ROOT)}: {link} leads nowhere.")
        return relative(out, self._file(target))

    def _file(self, target: Path) -> str:
        """Return the place of a file that is no page, and have it there."""
        if target.is_relative_to(DOCS) and target.suffix != ".py":
            out = target.relative_to(DOCS).as_posix()
            self.files[out] = target
            return out
        name = target.relative_to(ROOT).as_posix()
        if target.suffix != ".py":
            self.files[f"source/{name}"] = target
            return f"source/{name}"
        out = f"source/{name}.html"
        if all(page.out != out for page in self.pages):
            code = coloured(target.read_text("utf-8"), "python")
            body = (
                f'<h1><code>{name}</code></h1><pre class="code python whole">'
                f"<code>{code}</code></pre>"
            )
            self.pages.append(SitePage(out, name, "", body))
        return out

    # Around a page.

    def _parts(self, page: SitePage) -> dict[str, str]:
        home = page.out == "index.html"
        title = "mjlab-fused" if home else f"{page.title} \N{MIDDLE DOT} mjlab-fused"
        return {
            "title": html.escape(title),
            "root": "../" * page.out.count("/"),
            "version": html.escape(self._version),
            "name": html.escape(self._name),
            "versions": self._versions(page),
            "navigation": self._navigation(page),
            "contents": _contents(page),
            "body": page.body,
            "around": self._around(page),
            "kind": "home" if home else "wide" if "whole" in page.body else "text",
        }

    def _versions(self, page: SitePage) -> str:
        """Return what loads the list of versions, if there are several folders."""
        if not self._name:
            return ""
        place = "../" * (page.out.count("/") + 1) + VERSIONS
        return f'\n<script src="{place}"></script>'

    def _navigation(self, here: SitePage) -> str:
        parts = []
        for group in dict.fromkeys(page.group for page in self.pages if page.group):
            inside = [page for page in self.pages if page.group == group]
            links = [_link(here, page) for page in inside]
            is_open = " open" if here in inside or here.out == "index.html" else ""
            items = "".join(f"<li>{link}</li>" for link in links)
            parts.append(
                f"<details{is_open}><summary>{html.escape(group)}</summary>"
                f"<ul>{items}</ul></details>"
            )
        return "\n".join(parts)

    def _around(self, page: SitePage) -> str:
        """Return links to the pages before and after in the navigation."""
        if not page.group:
            return ""
        ordered = [each for each in self.pages if each.group]
        at = ordered.index(page)
        before = ordered[at - 1] if at else None
        after = ordered[at + 1] if at + 1 < len(ordered) else None
        parts = []
        for kind, other in (("before", before), ("after", after)):
            if other is not None:
                url = relative(page.out, other.out)
                text = html.escape(other.title)
                parts.append(f'<a class="{kind}" href="{url}">{text}</a>')
        return "".join(parts)

    # The search.

    def _index(self) -> str:
        """Return all sections as a script, which a page on a disk may load."""
        entries = [
            [
                page.title,
                heading.text,
                f"{page.out}#{quote(heading.id)}",
                " ".join(heading.below.split()),
                _weight(page),
            ]
            for page in self.pages
            for heading in page.headings
        ]
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        return f"window.sections = {text};\n"


def _weight(page: SitePage) -> float:
    """Return how much a page counts in the search: guides before what lists names."""
    is_list = page.out.startswith(_LISTS) or page.group not in _GUIDES
    return 0.6 if is_list else 1.0


def relative(out: str, target: str) -> str:
    """Return the address of one place of the site, seen from another."""
    file, hash_, anchor = target.partition("#")
    return quote(os.path.relpath(file, os.path.dirname(out) or ".")) + hash_ + anchor


def _places() -> Iterator[tuple[Path, str]]:
    """Yield the Markdown of the site, each with its place there."""
    yield HOME, "index.html"
    for source in sorted(DOCS.rglob("*.md")):
        name = source.relative_to(DOCS).with_suffix(".html").as_posix()
        if name == "README.html":
            yield source, "contents.html"
        else:
            yield source, re.sub(r"README\.html$", "index.html", name)
    for name in _MORE:
        yield ROOT / name, f"{Path(name).stem.lower()}.html"


def _groups() -> Iterator[tuple[Path, str]]:
    """Yield pages in the order of the index, each with the heading that it is below.

    Pages of a folder that the index names by its first page follow that.
    """
    group, seen = "", set[Path]()
    for line in (DOCS / "README.md").read_text("utf-8").splitlines():
        if line.startswith("## "):
            group = line[3:].strip()
        for link in re.findall(r"\]\(([\w/.]+\.md)\)", line) if group else ():
            page = (DOCS / link).resolve()
            below = sorted(page.parent.glob("*.md")) if page.name == "README.md" else ()
            for each in (page, *below):
                if each not in seen:
                    seen.add(each)
                    yield each, group
    for name in _MORE:
        yield ROOT / name, PROJECT


def _api_index(rows: Iterable[tuple[str, str, str, int]]) -> SitePage:
    lines = [
        f'<tr><td><a href="{html.escape(Path(out).name)}"><code>{room}</code></a></td>'
        f"<td>{html.escape(text).replace('`', '')}</td><td>{count}</td></tr>"
        for room, out, text, count in rows
    ]
    body = (
        f'<h1 id="api-reference">{API}</h1><p>The public names of each room, from '
        "their docstrings. A room imports only from rooms that stand below it here.</p>"
        '<div class="table"><table><thead><tr><th>Room</th><th>What it is</th>'
        f"<th>Names</th></tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )
    heading = Heading(1, "api-reference", API, "Public names of each room.")
    return SitePage(API_INDEX, API, API, body, [heading])


def _link(here: SitePage, page: SitePage) -> str:
    current = ' aria-current="page"' if page is here else ""
    url, text = relative(here.out, page.out), html.escape(page.title)
    return f'<a href="{url}"{current}>{text}</a>'


def _contents(page: SitePage) -> str:
    """Return links to the headings of a page, if there are several."""
    shown = [h for h in page.headings if h.level in _SHOWN_LEVELS]
    if len(shown) < 2:
        return ""
    links = [
        f'<li class="level{h.level}"><a href="#{quote(h.id)}">{html.escape(h.text)}</a>'
        for h in shown
    ]
    return f"<h2>On this page</h2><ul>{'</li>'.join(links)}</li></ul>"


# Versions.


def write_versions(folder: Path) -> list[str]:
    """Write what leads from one version to the others; return these, the newest first.

    It is a script, as the search's index is, since a page on a disk may load no other
    data: the pages of each version by its name.
    """
    sites = [file.parent for file in folder.glob(f"*/{INDEX}")]
    names = sorted((site.name for site in sites), key=_rank, reverse=True)
    pages = {
        name: sorted(
            file.relative_to(folder / name).as_posix()
            for file in (folder / name).rglob("*.html")
        )
        for name in names
    }
    text = json.dumps(pages, separators=(",", ":"))
    (folder / VERSIONS).write_text(f"window.versions = {text};\n", "utf-8")
    first = f"{quote(names[0])}/index.html"
    (folder / "index.html").write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; '
        f'url={first}"><title>mjlab-fused</title><a href="{first}">Documentation</a>\n',
        "utf-8",
    )
    return names


def _rank(name: str) -> tuple[bool, list[int], str]:
    """Return the key that sorts releases by their numbers, above words."""
    numbers = [int(digits) for digits in re.findall(r"\d+", name)]
    return name[:1].isdigit(), numbers, name


# Links of what was built.


class _Links(HTMLParser):
    """Addresses and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.anchors.add(value)


def dead_links(folder: Path) -> list[str]:
    """Return the links of a site that lead nowhere, and what it would load.

    A link to a page outside is none of these; a picture, style or script from there is.
    """
    found = {file: _Links(file.read_text("utf-8")) for file in folder.rglob("*.html")}
    dead = []
    for file, page in found.items():
        for link in page.links:
            if _OUTSIDE.match(link):
                continue
            path, _, anchor = unquote(link).partition("#")
            target = (file.parent / path).resolve() if path else file
            if not target.is_file():
                dead.append(f"{file.relative_to(folder)}: {link}")
            elif anchor and target in found and anchor not in found[target].anchors:
                dead.append(f"{file.relative_to(folder)}: {link}")
    return dead
