"""Resolve names and patterns to indices.

Every pattern of the project is a Python regular expression that must match a complete
name (`re.fullmatch`). `foot` therefore matches one element, and `.*_foot` several.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

_SHOWN_NAMES = 8

_LIKE = 0.5
"""Minimum similarity, from 0 to 1, of a suggested name to the unknown name."""


class UnknownNameError(ValueError):
    """Raised for a name that does not exist, or a pattern without a match."""


class AmbiguousNameError(ValueError):
    """Raised for a name that several patterns match."""


class InvalidPatternError(ValueError):
    """Raised for a pattern that is not a valid regular expression."""


def suggest(name: str, names: Iterable[str], *, otherwise: str = "") -> str:
    """Return a sentence that lists the valid names, the nearest to `name` first.

    Long lists are reduced to similar names, if there are any.

    Args:
        name: The name that does not exist.
        names: The names that exist.
        otherwise: Sentence to return if no name is similar. If empty, names are listed.
    """
    # Elements without a name cannot be suggested.
    candidates = [candidate for candidate in dict.fromkeys(names) if candidate]
    if not candidates:
        return "There are none."
    likeness = _likeness(name, candidates)
    ranked = sorted(candidates, key=lambda candidate: -likeness[candidate])
    near = [candidate for candidate in ranked if likeness[candidate] >= _LIKE]
    if not near and otherwise:
        return otherwise
    is_long = len(ranked) > _SHOWN_NAMES
    # Without a similar name, a short list keeps the order of the candidates.
    ranked = ranked if near or is_long else candidates
    chosen = near if near and is_long else ranked
    shown = [repr(candidate) for candidate in chosen[:_SHOWN_NAMES]]
    hidden = len(ranked) - len(shown)
    more = f" and {hidden} more" if hidden else ""
    order = ", nearest first" if near else ""
    return f"Valid names{order}: {', '.join(shown)}{more}."


def find_name(
    name: str, names: Sequence[str], *, what: str, owner: str | None = None
) -> int:
    """Return the index of a name.

    Args:
        name: The exact name, not a pattern.
        names: The names that exist.
        what: Kind of element in the singular, named in error messages: "joint".
        owner: Owner of the names, named in error messages: "robot".
    """
    if name in names:
        return list(names).index(name)
    raise UnknownNameError(
        f"There is no {what} {name!r}{_of(owner)}. {suggest(name, names)}"
    )


def match_names(
    patterns: str | Sequence[str],
    names: Sequence[str],
    *,
    what: str,
    owner: str | None = None,
    preserve_order: bool = False,
) -> list[int]:
    """Return the indices of the names that match a pattern, without duplicates.

    Args:
        patterns: One or several regular expressions. Each must match some name.
        names: The names that exist.
        what: Kind of element in the singular, named in error messages: "joint".
        owner: Owner of the names, named in error messages: "robot".
        preserve_order: Follow the order of the patterns (and of the names within one
            pattern) instead of the order of the names.
    """
    listed = [patterns] if isinstance(patterns, str) else list(patterns)
    matches = [_match_one(p, names, what=what, owner=owner) for p in listed]
    in_pattern_order = dict.fromkeys(index for found in matches for index in found)
    return list(in_pattern_order) if preserve_order else sorted(in_pattern_order)


def resolve_values(
    values: T | Mapping[str, T],
    names: Sequence[str],
    *,
    what: str,
    owner: str | None = None,
    required: bool = False,
) -> list[T | None]:
    """Return the value of each name, None for a name that no pattern matches.

    Args:
        values: One value for all names, or values by pattern. Each pattern must match
            some name, and a name must not match two patterns.
        names: The names that exist.
        what: Kind of element in the singular, named in error messages: "joint".
        owner: Owner of the names, named in error messages: "robot".
        required: Whether every name must get a value.
    """
    if not isinstance(values, Mapping):
        return [values] * len(names)
    claims: dict[int, str] = {}
    for pattern in values:
        for index in _match_one(pattern, names, what=what, owner=owner):
            if index in claims:
                raise AmbiguousNameError(
                    f"The patterns {claims[index]!r} and {pattern!r} both match the "
                    f"{what} {names[index]!r}{_of(owner)}; make them disjoint."
                )
            claims[index] = pattern
    claimed = [claims.get(index) for index in range(len(names))]
    missing = [n for n, pattern in zip(names, claimed, strict=True) if pattern is None]
    if required and missing:
        raise UnknownNameError(
            f"No pattern matches the {what} {missing[0]!r}{_of(owner)} "
            f"({len(missing)} of {len(names)} have no value). Patterns: "
            f"{', '.join(map(repr, values)) or 'none'}."
        )
    return [None if pattern is None else values[pattern] for pattern in claimed]


def match_values(
    values: Mapping[str, T], names: Sequence[str], *, what: str = "name"
) -> tuple[list[int], list[str], list[T]]:
    """Return the indices, names and values of all names that a pattern matches.

    Args:
        values: Values by pattern; see `resolve_values`.
        names: The names that exist.
        what: Kind of element in the singular, named in error messages.
    """
    found = [
        (index, names[index], value)
        for index, value in enumerate(resolve_values(values, names, what=what))
        if value is not None
    ]
    return [f[0] for f in found], [f[1] for f in found], [f[2] for f in found]


def _match_one(
    pattern: str, names: Sequence[str], *, what: str, owner: str | None
) -> list[int]:
    try:
        regex = re.compile(pattern)
    except re.error as error:
        raise InvalidPatternError(
            f"The {what} pattern {pattern!r}{_of(owner)} is not a regular expression: "
            f"{error}."
        ) from error
    found = [index for index, name in enumerate(names) if regex.fullmatch(name)]
    if found:
        return found
    hint = f" Write it as {re.escape(pattern)!r}." if pattern in names else ""
    raise UnknownNameError(
        f"No {what}{_of(owner)} matches {pattern!r}.{hint} {suggest(pattern, names)}"
    )


def _likeness(name: str, candidates: list[str]) -> dict[str, float]:
    """Return the similarity of each candidate to the name, from 0 to 1."""
    # Compare the literal text of a pattern, without its operators.
    spelled = re.sub(r"\\.|[^\w/ .-]|\.(?=[*+?{])|\.$", "", name).lower()
    spelled = spelled.lstrip("-")
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(spelled)

    def ratio(candidate: str) -> float:
        text = candidate.lower().lstrip("-")
        matcher.set_seq1(text)
        is_part = len(spelled) > 1 and spelled in text
        return max(matcher.ratio(), _LIKE if is_part else 0.0)

    return {candidate: ratio(candidate) for candidate in candidates}


def _of(owner: str | None) -> str:
    return "" if owner is None else f" of {owner!r}"
