"""Ranges of settings, as a command line writes them.

agent.algorithm.learning-rate:log:1e-5..1e-3    equal ratios equally likely
agent.algorithm.entropy-coef:0..0.02            equal differences equally likely
agent.num-steps-per-env:int:8..64               whole numbers, both ends included
agent.actor.activation:choice:elu,relu,tanh     one of several
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mjlab.names import suggest

Kind = Literal["linear", "log", "int", "choice"]

FORMS = "a..b, log:a..b, int:a..b or choice:x,y,z"
"""Ranges that there are."""

_KINDS: tuple[Kind, ...] = ("log", "int", "choice")
# A choice may be a collection itself, such as (64, 64).
_COMMA = re.compile(r",(?![^(\[]*[)\]])")


class RangeError(ValueError):
    """A range that cannot be understood, or that holds nothing."""


@dataclass(frozen=True)
class Range:
    """Values that a setting is drawn from."""

    path: str
    """Dotted name of the setting."""

    kind: Kind
    """The way to draw."""

    ends: tuple[float, float] = (0.0, 0.0)
    """The lowest and the highest value, if they are numbers."""

    choices: tuple[str, ...] = ()
    """All values, if they are not."""

    @property
    def examples(self) -> list[str]:
        """Values of it as a command line takes them: all choices, or the ends.

        Of numbers that need not be whole, one between them is not.
        """
        if self.kind == "choice":
            return list(self.choices)
        low, high = self.ends
        between = [] if self.kind == "int" else [low + (high - low) / math.pi]
        return [self.text(value) for value in (low, high, *between)]

    def text(self, value: float | str) -> str:
        """Return a value as a command line takes it."""
        if isinstance(value, str):
            return value
        return str(int(value)) if self.kind == "int" else repr(float(value))

    def __str__(self) -> str:
        """Return it as a command line writes it."""
        if self.kind == "choice":
            return f"{self.path}:choice:{','.join(self.choices)}"
        kind = "" if self.kind == "linear" else f"{self.kind}:"
        low, high = (repr(end).removesuffix(".0") for end in self.ends)
        return f"{self.path}:{kind}{low}..{high}"


def read_ranges(texts: Sequence[str]) -> list[Range]:
    """Return the ranges that a user typed, each of a setting of its own."""
    found = [_read_range(text) for text in texts]
    paths = [one.path.replace("-", "_") for one in found]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise RangeError(f"--tune names {twice} twice: give it one range.")
    return found


def _read_range(text: str) -> Range:
    path, colon, rest = text.partition(":")
    if not path or not rest:
        raise RangeError(
            f"--tune {text}: a setting and its range have a colon between them, as in "
            f"agent.algorithm.learning-rate:log:1e-5..1e-3. A range is {FORMS}."
        )
    word, colon, inside = rest.partition(":")
    if not colon:
        return _numbers(text, path, "linear", rest)
    kind: Kind | None = next((kind for kind in _KINDS if kind == word), None)
    if kind is None:
        raise RangeError(
            f"--tune {text}: there is no range {word!r}. {suggest(word, _KINDS)} "
            f"A range is {FORMS}."
        )
    if kind == "choice":
        return Range(path, kind, choices=_choices(text, inside))
    return _numbers(text, path, kind, inside)


def _choices(text: str, inside: str) -> tuple[str, ...]:
    found = [choice.strip() for choice in _COMMA.split(inside)]
    if len(set(found)) < max(2, len(found)) or "" in found:
        raise RangeError(
            f"--tune {text}: choices are two or more different values with commas "
            "between them, as in choice:elu,relu."
        )
    return tuple(found)


def _numbers(text: str, path: str, kind: Kind, inside: str) -> Range:
    low_text, dots, high_text = inside.partition("..")
    if not dots:
        hint = f" For single values write {path}:choice:{inside}." if inside else ""
        raise RangeError(
            f"--tune {text}: a range of numbers has two dots between its ends, as in "
            f"1e-5..1e-3.{hint}"
        )
    low, high = (_number(text, end) for end in (low_text, high_text))
    head = f"{path}:" if kind == "linear" else f"{path}:{kind}:"
    if low > high:
        right = f"{head}{high_text}..{low_text}"
        raise RangeError(f"--tune {text}: the lower end comes first: {right}.")
    if low == high:
        raise RangeError(
            f"--tune {text}: both ends are {low_text}, so there is nothing to search. "
            f"To set it, write --{path} {low_text}."
        )
    if kind == "log" and low <= 0.0:
        raise RangeError(
            f"--tune {text}: ratios need ends above zero. Write {path}:{inside} for "
            "equal differences, or another lower end."
        )
    if kind == "int" and not (low.is_integer() and high.is_integer()):
        raise RangeError(
            f"--tune {text}: int needs whole ends. Write {path}:{inside} for numbers "
            "that need not be whole."
        )
    return Range(path, kind, (low, high))


def _number(text: str, end: str) -> float:
    try:
        number = float(end)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise RangeError(
            f"--tune {text}: {end!r} is no finite number. A range is {FORMS}."
        )
    return number
