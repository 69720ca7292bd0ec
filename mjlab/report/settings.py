"""Report section on settings: the user's changes, and all values."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mjlab.report.record import Record
from mjlab.settings.file import Settings

Difference = tuple[str, str, str]
"""Path of a setting, its default and its value in the run, as text."""


@dataclass(frozen=True)
class Configuration:
    """Settings of a run, and their differences from the defaults."""

    rows: dict[str, str]
    """Values as text, by path of the setting."""

    differences: list[Difference]
    """Differences from the defaults."""

    @property
    def changed(self) -> set[str]:
        """Paths of the settings that differ from the defaults."""
        return {path for path, _, _ in self.differences}

    @property
    def roots(self) -> dict[str, dict[str, str]]:
        """Values grouped by the first part of the path, such as "env"."""
        found: dict[str, dict[str, str]] = {}
        for path, text in self.rows.items():
            found.setdefault(_root(path), {})[path] = text
        return found


def configuration(record: Record) -> Configuration | None:
    """Return the report section on settings, None if the settings are unknown."""
    if record.config is None:
        return None
    defaults = record.defaults
    found = () if defaults is None else differences(defaults, record.config)
    return Configuration(_rows(record.config), list(found))


def differences(default: Settings, present: Settings) -> Iterator[Difference]:
    """Yield the settings that differ.

    A part that is missing on one side, such as a term, is listed without its settings.
    """
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
    """Return whether two values are equal numbers, such as 1 and 1.0."""
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


def words(value: Any) -> str:
    """Format a value of a settings file for the report."""
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
