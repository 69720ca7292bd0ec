"""Configuration section: the user's changes, and all settings."""

import json
from collections.abc import Iterator
from typing import Any

from mjlab.report.markup import (
    Html,
    Section,
    code,
    element,
    fold,
    joined,
    section,
    table,
)
from mjlab.report.record import Record
from mjlab.report.words import counted
from mjlab.settings.file import Settings

SHOWN = 120
"""Maximum characters of a value in a table."""

Difference = tuple[str, str, str]
"""Path, default and value of the run, as text."""


def settings(record: Record) -> Section:
    """Differences from the task's defaults, then the complete configuration."""
    if record.config is None:
        lead = "config.json is missing or damaged, so the configuration is unknown."
        return section("configuration", "Configuration", lead=lead)
    found: list[Difference] = []
    if record.defaults is not None:
        found = list(differences(record.defaults, record.config))
        lead = f"Compared with {record.defaults_from}."
    else:
        lead = "The defaults of the task are unknown, so no differences are shown."
    changed = {path for path, _, _ in found}
    rows = _rows(record.config)
    wholes = [
        fold(f"All of {root}", _lines(rows, root, changed))
        for root in dict.fromkeys(map(_root, rows))
    ]
    return section(
        "configuration", "Configuration", _table(found, record), *wholes, lead=lead
    )


def _table(found: list[Difference], record: Record) -> Html | None:
    if record.defaults is None:
        return None
    if not found:
        return element("p", "No changes.")
    rows = [
        [code(path), shown(default), element("b", shown(present))]
        for path, default, present in found
    ]
    count = counted(len(rows), "difference")
    return table([count, "default", "this run"], rows, class_="differences")


def differences(default: Settings, present: Settings) -> Iterator[Difference]:
    """Yield every path that differs; a missing part is listed without its contents."""
    before, after = _rows(default), _rows(present)
    differing = [
        path
        for path in dict.fromkeys([*before, *after])
        if before.get(path) != after.get(path)
        and not _are_equal(default.values.get(path), present.values.get(path))
    ]
    for path in differing:
        is_absent = path not in before or path not in after
        if is_absent and any(path.startswith(f"{above}.") for above in differing):
            continue
        yield path, before.get(path, "absent"), after.get(path, "absent")


def _are_equal(one: Any, other: Any) -> bool:
    """Return True for equal numbers with different text, such as 1 and 1.0."""
    are_numbers = all(type(value) in (int, float) for value in (one, other))
    return are_numbers and one == other


def _rows(settings: Settings) -> dict[str, str]:
    """Return paths and values as text, sorted by path within each root."""
    values = {path: words(value) for path, value in settings.values.items()}
    rows = {**settings.names, **values}
    roots = list(dict.fromkeys(map(_root, rows)))
    paths = sorted(rows, key=lambda path: (roots.index(_root(path)), path))
    return {path: rows[path] for path in paths}


def _root(path: str) -> str:
    return path.partition(".")[0]


def _lines(rows: dict[str, str], root: str, changed: set[str]) -> Html:
    """Return one line per path below a root, with changed ones marked."""
    found = [
        element("mark", f"{path}: {text}") if path in changed else f"{path}: {text}"
        for path, text in rows.items()
        if _root(path) == root
    ]
    return element("pre", joined(*found, between="\n"), class_="outline")


def shown(text: str) -> str:
    """Return a value on one line, truncated if it is long."""
    is_short = len(text) <= SHOWN
    return text if is_short else f"{text[:SHOWN].rstrip()}\N{HORIZONTAL ELLIPSIS}"


def words(value: Any) -> str:
    """Return a value of a settings file as text."""
    if isinstance(value, list):
        inside = ", ".join(map(words, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        first = next(iter(value), "")
        if first in ("$path", "$enum", "$float"):
            return str(value[first])
        if first.startswith("$"):
            return words(value[first])
        return f"{{{', '.join(f'{key}={words(item)}' for key, item in value.items())}}}"
    return str(value) if isinstance(value, bool | None) else json.dumps(value)
