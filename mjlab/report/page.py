"""The complete page."""

import base64
import datetime
import hashlib
import string
import time
from pathlib import Path

from mjlab.files import write_text
from mjlab.report import curves, outcome
from mjlab.report.chart import STYLE
from mjlab.report.head import head
from mjlab.report.markup import Html, element, escaped, joined
from mjlab.report.record import REPORT as REPORT
from mjlab.report.record import read_record
from mjlab.report.settings import settings
from mjlab.report.words import moment
from mjlab.settings.file import Settings

_HERE = Path(__file__).parent


def write_report(folder: Path, defaults: Settings | None = None) -> Path:
    """Write the report of a run into its folder.

    Args:
        folder: The run's folder.
        defaults: The task's settings, for a run that did not store its own defaults.

    Returns:
        The file.
    """
    file = folder / REPORT
    # Written atomically: readers see the old page or the new one.
    write_text(file, render(folder, defaults))
    return file


def render(folder: Path, defaults: Settings | None = None) -> str:
    """Return the report of a run as HTML; see `write_report`."""
    start = time.perf_counter()
    record = read_record(folder, defaults)
    sections = [
        curves.learning(record),
        curves.rewards(record),
        curves.terminations(record),
        curves.goals(record),
        curves.others(record),
        outcome.evaluation(record),
        outcome.findings(record),
        outcome.videos(record),
        outcome.health(record),
        settings(record),
        outcome.files(record),
    ]
    shown = [section for section in sections if section is not None]
    links = [element("a", part.title, href=f"#{part.name}") for part in shown]
    bodies = [part.html for part in shown]
    body = joined(head(record), element("nav", *links), *bodies)
    title = f"{record.info.get('task', 'A run')}, {record.folder.name}"
    return whole_page(title, body, time.perf_counter() - start)


def whole_page(title: str, body: Html, seconds: float) -> str:
    """Return a page with the style and script that all reports share.

    Args:
        title: Title for the browser.
        body: Content of the page.
        seconds: Time to create the body.
    """
    script = Html((_HERE / "page.js").read_text("utf-8"))
    styles = (STYLE, _HERE / "page.css")
    style = Html("".join(file.read_text("utf-8") for file in styles))
    now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    closing = f"Written {moment(now)} in {seconds:.2f} s from the files of this folder."
    parts = {"policy": _policy(script), "title": title, "closing": closing}
    shown = {name: escaped(text) for name, text in parts.items()}
    page = string.Template((_HERE / "page.html").read_text("utf-8"))
    return page.substitute(shown, style=style, body=body, script=script)


def _policy(script: str) -> str:
    """Return the content security policy: the page's own script, and local videos."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self' file:; "
        f"media-src data: 'self' file:; script-src 'sha256-{digest}'"
    )
