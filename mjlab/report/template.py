"""Render pages with Jinja templates. They contain all HTML; Python prepares data."""

import base64
import datetime
import functools
import hashlib
import time
from typing import Any
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from mjlab.report import words

_SHARED = "mjlab.report"
"""Package whose templates all pages share."""


def render_page(name: str, *, start: float, package: str = _SHARED, **data: Any) -> str:
    """Return a page whose template extends `page.html`.

    Args:
        name: File name of the template.
        start: Value of `time.perf_counter()` when the work on the page began.
        package: Package that has the template in its folder `templates`.
        data: Variables of the template.
    """
    written = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    return (
        templates(package)
        .get_template(name)
        .render(data, written=written, seconds=lambda: time.perf_counter() - start)
    )


@functools.cache
def templates(package: str = _SHARED) -> Environment:
    """Return the templates of a package, and those that all pages share."""
    packages = dict.fromkeys([package, _SHARED])
    found = Environment(
        loader=ChoiceLoader([PackageLoader(one) for one in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters.update(
        address=address,
        command_lines=words.command_lines,
        counted=words.counted,
        duration=words.duration,
        file_size=words.file_size,
        moment=words.moment,
        number=words.number,
        number_or_none=lambda v: "none" if v is None else words.number(v),
        sha256=_sha256,
        share=words.share,
        whole=words.whole,
    )
    return found


def address(inside: str) -> str:
    """Return the address of a file, from its path relative to the page."""
    # Without "./", a colon in a name would be read as a URL scheme.
    return f"./{quote(inside)}"


def _sha256(text: str) -> str:
    """Return the SHA-256 of a text in base64, for the content security policy."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
