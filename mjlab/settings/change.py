"""Apply command-line settings to a configuration."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mjlab.names import suggest
from mjlab.settings.text import read_value, words_for
from mjlab.settings.tree import Part, SettingError, parts_of, shown, with_part
from mjlab.settings.types import is_record, union_members


@dataclass(frozen=True)
class Setting:
    """Command-line option that changes a setting, and its values as typed."""

    option: str
    """The option as typed, without the two dashes."""

    values: Sequence[str]
    """The words after the option."""

    @property
    def name(self) -> str:
        """Dotted name of the setting: the option with underscores."""
        return _plain(self.option)


def apply(root: Any, settings: Sequence[Setting], disabled: Sequence[str] = ()) -> Any:
    """Return a copy of a configuration with changed values.

    Each record is checked after all values are set, so the order of settings that are
    valid only together does not matter.

    Args:
        root: A dataclass, or a dictionary of dataclasses by name.
        settings: Values, by dotted names.
        disabled: Terms to disable, by dotted names; "env." can be omitted.
    """
    changed: list[tuple[str, ...]] = []
    for name in disabled:
        trail, part = _find(root, _full_name(root, name), f"disable {name}")
        _check_optional(name, part)
        root = _replaced(trail, None)
        changed.append(tuple(step for step, _ in trail))
    for setting in settings:
        trail, part = _find(root, setting.option, setting.option)
        root = _replaced(trail, read_value(setting.option, setting.values, part))
        changed.append(tuple(step for step, _ in trail))
    return _checked(root, changed, "")


def find_part(root: Any, name: str) -> Part:
    """Return the part at a dotted path; an empty path is the root."""
    return _find(root, name, f"help-config {name}")[1]


def _find(root: Any, name: str, option: str) -> tuple[list[tuple[str, Part]], Part]:
    """Find the part at a dotted path. Names in the path can contain dots themselves.

    Returns:
        Each name with the part that contains it, and the final part.
    """
    part, rest = Part(root, Any), name
    trail: list[tuple[str, Part]] = []
    while rest:
        below = parts_of(part)
        found = _first(below, rest)
        if found is None:
            raise _unknown(option, ".".join(step for step, _ in trail), part, rest)
        trail.append((found, part))
        part, rest = below[found], rest[len(found) + 1 :]
    return trail, part


def _first(below: Mapping[str, Part], rest: str) -> str | None:
    """Return the longest name that is a prefix of `rest`."""
    fitting = [
        name for name in below if f"{_plain(rest)}.".startswith(f"{_plain(name)}.")
    ]
    return max(fitting, key=len, default=None)


def _unknown(option: str, where: str, part: Part, rest: str) -> SettingError:
    wanted = rest.partition(".")[0]
    if there := _of_mjlab(option, where, part, wanted):
        return SettingError(there)
    below = parts_of(part)
    if below:
        owner = f"{where} has no part" if where else "There is no part"
        return SettingError(
            f"--{option}: {owner} {wanted!r}. {suggest(_plain(wanted), below)}"
        )
    if part.value is None:
        return SettingError(
            f"--{option}: {where} is None, so that it has no part {wanted!r}. It can "
            f"be {words_for(part)}."
        )
    return SettingError(
        f"--{option}: {where} is {shown(part)}, which has no part {wanted!r}."
    )


def _of_mjlab(option: str, where: str, part: Part, name: str) -> str:
    """Return advice for a setting of mjlab 1.6, or an empty string for other names."""
    # Imported here: only errors need the tables.
    from mjlab.settings.mjlab_1_6 import MJLAB

    row = MJLAB.field(
        [base.__name__ for base in type(part.value).__mro__], _plain(name)
    )
    if row is None:
        return ""
    typed = row.typed(where)
    todo = f"type {typed}" if typed else row.text()
    return f"--{option}: {_plain(name)!r} is a setting of mjlab 1.6. Here, {todo}."


def _full_name(root: Any, name: str) -> str:
    """Prefix a dotted name with "env." unless it starts with a configuration."""
    first = _plain(name).partition(".")[0]
    if isinstance(root, Mapping) and "env" in root and first not in root:
        return f"env.{name}"
    return name


def _check_optional(name: str, part: Part) -> None:
    if type(None) not in union_members(part.annotation):
        raise SettingError(
            f"--disable {name}: this part cannot be disabled. Valid: a term, such as "
            "rewards.NAME, or a part that can be None."
        )


def _replaced(trail: Sequence[tuple[str, Part]], new: Any) -> Any:
    """Return a copy of the tree with a new value at the end of `trail`."""
    for name, owner in reversed(trail):
        new = with_part(owner.value, name, new)
    return new


def _checked(value: Any, changed: Sequence[Sequence[str]], where: str) -> Any:
    """Construct each changed record again, innermost first, so that it is checked."""
    by_name: dict[str, list[Sequence[str]]] = {}
    for path in changed:
        if path:
            by_name.setdefault(path[0], []).append(path[1:])
    for name, paths in by_name.items():
        below = parts_of(Part(value, Any))[name].value
        path = f"{where}.{name}" if where else name
        value = with_part(value, name, _checked(below, paths, path))
    if not is_record(value) or not by_name:
        return value
    try:
        return dataclasses.replace(value)
    except (ValueError, TypeError) as error:
        raise SettingError(f"{where or 'The options'}: {error}") from error


def _plain(name: str) -> str:
    return name.replace("-", "_")
