"""Ranges of settings on the command line (`--tune`).

agent.algorithm.learning-rate:log:1e-5..1e-3    log-uniform
agent.algorithm.entropy-coef:0..0.02            uniform
agent.num-steps-per-env:int:8..64               uniform integers, both ends included
agent.actor.activation:choice:elu,relu,tanh     categorical
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mjlab.names import suggest

Kind = Literal["linear", "log", "int", "choice"]

FORMS = "a..b, log:a..b, int:a..b or choice:x,y,z"
"""Valid forms of a range."""

_KINDS: tuple[Kind, ...] = ("log", "int", "choice")
# A choice can be a collection, such as (64, 64).
_COMMA = re.compile(r",(?![^(\[]*[)\]])")


class RangeError(ValueError):
    """Raised for a range with invalid syntax, or without values."""


@dataclass(frozen=True)
class Range:
    """Range of values of one setting."""

    path: str
    """Dotted name of the setting."""

    kind: Kind
    """Distribution of the values."""

    ends: tuple[float, float] = (0.0, 0.0)
    """Lower and upper end of a numeric range, both included."""

    choices: tuple[str, ...] = ()
    """Values of a categorical range."""

    @property
    def examples(self) -> list[str]:
        """Values as text with which the range can be validated.

        All choices, or both ends. Ranges of real numbers add a non-integer value
        between the ends.
        """
        if self.kind == "choice":
            return list(self.choices)
        low, high = self.ends
        between = [] if self.kind == "int" else [low + (high - low) / math.pi]
        return [self.text(value) for value in (low, high, *between)]

    def text(self, value: float | str) -> str:
        """Format a value for the command line."""
        if isinstance(value, str):
            return value
        return str(int(value)) if self.kind == "int" else repr(float(value))

    def __str__(self) -> str:
        """Return the range in the syntax of the command line."""
        if self.kind == "choice":
            return f"{self.path}:choice:{','.join(self.choices)}"
        kind = "" if self.kind == "linear" else f"{self.kind}:"
        low, high = (repr(end).removesuffix(".0") for end in self.ends)
        return f"{self.path}:{kind}{low}..{high}"


def read_ranges(texts: Sequence[str]) -> list[Range]:
    """Parse the ranges of `--tune`.

    Raises:
        RangeError: If a range is invalid, or a setting has two ranges.
    """
    found = [_read_range(text) for text in texts]
    paths = [one.path.replace("-", "_") for one in found]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise RangeError(f"--tune names {twice} twice: pass one range per setting.")
    return found


def _read_range(text: str) -> Range:
    path, colon, rest = text.partition(":")
    if not path or not rest:
        raise RangeError(
            f"--tune {text}: write setting and range with a colon between them, as in "
            f"agent.algorithm.learning-rate:log:1e-5..1e-3. A range is {FORMS}."
        )
    word, colon, inside = rest.partition(":")
    if not colon:
        return _numbers(text, path, "linear", rest)
    kind: Kind | None = next((kind for kind in _KINDS if kind == word), None)
    if kind is None:
        raise RangeError(
            f"--tune {text}: unknown kind of range {word!r}. {suggest(word, _KINDS)} "
            f"A range is {FORMS}."
        )
    if kind == "choice":
        return Range(path, kind, choices=_choices(text, inside))
    return _numbers(text, path, kind, inside)


def _choices(text: str, inside: str) -> tuple[str, ...]:
    found = [choice.strip() for choice in _COMMA.split(inside)]
    if len(set(found)) < max(2, len(found)) or "" in found:
        raise RangeError(
            f"--tune {text}: write two or more different choices, separated by "
            "commas, as in choice:elu,relu."
        )
    return tuple(found)


def _numbers(text: str, path: str, kind: Kind, inside: str) -> Range:
    low_text, dots, high_text = inside.partition("..")
    if not dots:
        hint = f" For single values write {path}:choice:{inside}." if inside else ""
        raise RangeError(
            f"--tune {text}: write a numeric range with two dots between its ends, as "
            f"in 1e-5..1e-3.{hint}"
        )
    low, high = (_number(text, end) for end in (low_text, high_text))
    head = f"{path}:" if kind == "linear" else f"{path}:{kind}:"
    if low > high:
        right = f"{head}{high_text}..{low_text}"
        raise RangeError(f"--tune {text}: the lower end must come first: {right}.")
    if low == high:
        raise RangeError(
            f"--tune {text}: both ends are {low_text}, so the range has one value. To "
            f"set it, write --{path} {low_text}."
        )
    if kind == "log" and low <= 0.0:
        raise RangeError(
            f"--tune {text}: log needs ends above zero. Raise the lower end, or write "
            f"{path}:{inside} for a uniform range."
        )
    if kind == "int" and not (low.is_integer() and high.is_integer()):
        raise RangeError(
            f"--tune {text}: int needs integer ends. Write {path}:{inside} for real "
            "numbers."
        )
    return Range(path, kind, (low, high))


def _number(text: str, end: str) -> float:
    try:
        number = float(end)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise RangeError(
            f"--tune {text}: {end!r} is not a finite number. A range is {FORMS}."
        )
    return number
