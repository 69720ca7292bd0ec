"""Render pages with Jinja. Templates contain all HTML, Python only prepares data."""

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
"""Package with the templates that all pages share."""


def render_page(name: str, *, start: float, package: str = _SHARED, **data: Any) -> str:
    """Render a page whose template extends `page.html`.

    Args:
        name: File name of the template.
        start: Value of `time.perf_counter()` before the page's data were collected. The
            page shows the time since then.
        package: Package with the template in its folder `templates`.
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
    """Return a Jinja environment with templates of a package and shared templates."""
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
    """Return the URL of a file, from its path relative to the page."""
    # Without "./", browsers read a name with a colon as a URL scheme.
    return f"./{quote(inside)}"


def _sha256(text: str) -> str:
    """Return the base64 SHA-256 of a script, for the content security policy."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
