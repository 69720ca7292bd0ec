"""Reflections of the columns of observations and actions."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class SignedColumns:
    """Reflection of the columns of a tensor, as a signed permutation."""

    places: list[int]
    """Source column of each column."""

    signs: list[float]
    """1 or -1 for each column."""

    def then(self, other: "SignedColumns") -> "SignedColumns":
        """Return the concatenation of these columns and of `other`."""
        shifted = [len(self.places) + place for place in other.places]
        return SignedColumns([*self.places, *shifted], [*self.signs, *other.signs])


@dataclass(frozen=True)
class MirroredColumns:
    """Reflections of the columns of observation groups and of actions."""

    observed: Mapping[str, SignedColumns]
    """Reflections of observations, by group."""

    acted: SignedColumns
    """Reflection of actions."""
