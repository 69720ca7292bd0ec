"""The configuration: what the user changed, and all of it."""

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

SHOWN = 120
"""Characters of a value that a table shows."""

_TYPE = "$type"


ABSENT = object()
"""A part that there is not."""

Difference = tuple[str, Any, Any]
"""Dotted name, the default, and what the run has."""


def settings(record: Record) -> Section:
    """Differences from the task's defaults, then the complete configuration."""
    if not record.config:
        lead = "config.json is missing or damaged, so that nothing is known of it."
        return section("configuration", "Configuration", lead=lead)
    found: list[Difference] = []
    if record.defaults:
        found = list(differences(record.defaults, record.config))
        lead = f"Compared with {record.defaults_from}."
    else:
        lead = "The defaults of the task are not known, so there is nothing to compare."
    changed = {name for name, _, _ in found}
    wholes = [
        fold(f"All of {name}", _outline(part, name, changed))
        for name, part in record.config.items()
    ]
    return section(
        "configuration", "Configuration", _table(found, record), *wholes, lead=lead
    )


def _table(found: list[Difference], record: Record) -> Html | None:
    if not record.defaults:
        return None
    if not found:
        return element("p", "Nothing was changed.")
    rows = [
        [code(name), shown(default), element("b", shown(present))]
        for name, default, present in found
    ]
    count = counted(len(rows), "difference")
    return table([count, "default", "this run"], rows, class_="differences")


def differences(default: Any, present: Any, where: str = "") -> Iterator[Difference]:
    """Every part that is not the same, by the shortest name that tells it."""
    if isinstance(default, dict) and isinstance(present, dict):
        if default.get(_TYPE) != present.get(_TYPE):
            yield where, _kind(default), _kind(present)
        for key in [*default, *(key for key in present if key not in default)]:
            if key != _TYPE:
                name = f"{where}.{key}" if where else key
                yield from differences(
                    default.get(key, ABSENT), present.get(key, ABSENT), name
                )
    elif _are_records(default) and _are_records(present):
        if len(default) != len(present):
            yield where, default, present
            return
        for index, (one, other) in enumerate(zip(default, present, strict=True)):
            yield from differences(one, other, f"{where}[{index}]")
    elif not _same(default, present):
        yield where, default, present


def _same(one: Any, other: Any) -> bool:
    # For Python, True is 1.
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _are_records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _kind(data: dict[str, Any]) -> Any:
    return {_TYPE: data[_TYPE]} if _TYPE in data else data


# Values as text.


def shown(value: Any) -> str:
    """A value on one line, cut if it is long."""
    text = _words(value)
    is_short = len(text) <= SHOWN
    return text if is_short else f"{text[:SHOWN].rstrip()}\N{HORIZONTAL ELLIPSIS}"


def _words(value: Any) -> str:
    if value is ABSENT:
        return "absent"
    if isinstance(value, list):
        inside = ", ".join(map(_words, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return _record_words(value)
    return str(value) if isinstance(value, bool | None) else json.dumps(value)


def _record_words(value: dict[str, Any]) -> str:
    for key in ("$callable", "$enum", "$partial"):
        if key in value:
            member = f".{value['name']}" if "name" in value else ""
            return _short(value[key]) + member
    for key in ("$path", "$float"):
        if key in value:
            return str(value[key])
    fields = [f"{key}={_words(item)}" for key, item in value.items() if key != _TYPE]
    if _TYPE in value:
        return f"{_short(value[_TYPE])}({', '.join(fields)})"
    return f"{{{', '.join(fields)}}}"


def _short(place: Any) -> str:
    """`module:name` without the module."""
    return str(place).rpartition(":")[2]


def _outline(value: Any, name: str, changed: set[str]) -> Html:
    """A configuration as an indented list, in which what was changed is marked."""
    lines = [
        element("mark", line) if path in changed else line
        for path, line in _lines(value, name, name, 0)
    ]
    return element("pre", joined(*lines, between="\n"), class_="outline")


def _lines(value: Any, path: str, label: str, depth: int) -> Iterator[tuple[str, str]]:
    indent = "  " * depth
    below = _below(value)
    if not below:
        yield path, f"{indent}{label}: {_words(value)}"
        return
    kind = (
        f" {_short(value[_TYPE])}" if isinstance(value, dict) and _TYPE in value else ""
    )
    yield path, f"{indent}{label}:{kind}"
    for key, item in below.items():
        inner = f"{path}{key}" if key.startswith("[") else f"{path}.{key}"
        yield from _lines(item, inner, key, depth + 1)


def _below(value: Any) -> dict[str, Any]:
    """Parts that are worth a line of their own."""
    if isinstance(value, dict):
        special = any(key.startswith("$") and key != _TYPE for key in value)
        return {} if special else {k: v for k, v in value.items() if k != _TYPE}
    if _are_records(value):
        return {f"[{index}]": item for index, item in enumerate(value)}
    return {}
