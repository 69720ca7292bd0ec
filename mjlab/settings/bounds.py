"""Bounds of numbers, declared on a field: `steps: Annotated[int, at_least(1)]`."""

import numbers
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from mjlab.settings.tree import Part, SettingError, parts_of
from mjlab.settings.types import check_type, field_types, is_record, union_members


@dataclass(frozen=True)
class Bound:
    """Range of valid numbers of a field."""

    low: float
    """Lower bound."""

    high: float | None = None
    """Upper bound. None means unbounded."""

    is_open: bool = False
    """Exclude `low` itself."""

    def check(self, value: Any, path: str) -> None:
        """Raise if a number is out of range. None and values of other types pass.

        Args:
            value: The value.
            path: Name of the setting, used in the error message.
        """
        if isinstance(value, int | float) and not isinstance(value, bool):
            if not self._holds(value):
                raise SettingError(f"{path} is {value}; it has to be {self}.")
        elif isinstance(value, tuple | list):
            for index, item in enumerate(value):
                self.check(item, f"{path}[{index}]")

    def _holds(self, value: float) -> bool:
        is_above = value > self.low if self.is_open else value >= self.low
        return is_above and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.high is not None:
            return f"from {self.low:g} to {self.high:g}"
        return f"above {self.low:g}" if self.is_open else f"{self.low:g} or more"


def at_least(low: float) -> Bound:
    """Return the bound of numbers greater than or equal to `low`."""
    return Bound(low)


def above(low: float) -> Bound:
    """Return the bound of numbers greater than `low`."""
    return Bound(low, is_open=True)


def between(low: float, high: float) -> Bound:
    """Return the bound of numbers from `low` to `high`, both included."""
    return Bound(low, high)


def check_numbers(record: Any, path: str) -> None:
    """Raise if a numeric field has a value of another type or outside its bounds.

    The error names the path of the field.

    Args:
        record: A configuration; parts of it are checked too.
        path: Path of the configuration.
    """
    if is_record(record):
        for name, kind in _number_fields(type(record)).items():
            value = getattr(record, name)
            # NumPy's scalars are numbers too.
            if not isinstance(value, numbers.Real):
                check_type(value, kind, f"{path}.{name}")
        for name, bound in bounds_of(type(record)).items():
            bound.check(getattr(record, name), f"{path}.{name}")
    for name, part in parts_of(Part(record, Any)).items():
        check_numbers(part.value, f"{path}.{name}")


@cache
def bounds_of(cls: type) -> dict[str, Bound]:
    """Return the bounds that the fields of a dataclass declare."""
    hints = field_types(cls, include_extras=True)
    return {name: bound for name, hint in hints.items() for bound in _bounds(hint)}


@cache
def _number_fields(cls: type) -> dict[str, Any]:
    """Return the annotations of numeric fields, which can allow None."""
    numeric = {int, float, type(None)}
    return {
        name: hint
        for name, hint in field_types(cls).items()
        if hint is not type(None) and set(union_members(hint)) <= numeric
    }


def _bounds(hint: Any) -> Iterator[Bound]:
    for member in union_members(hint):
        if typing.get_origin(member) is Annotated:
            yield from (e for e in member.__metadata__ if isinstance(e, Bound))
