"""A robot in a mirror: which names change sides, and which joints turn round."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mjlab.names import UnknownNameError, suggest


@dataclass(frozen=True, kw_only=True)
class Mirror:
    """The reflection of a robot in its own xz plane, by the names of its parts."""

    sides: tuple[tuple[str, str], ...]
    """Beginnings of names, left and right; a name with neither is in the middle."""

    flipped_joints: str
    """Pattern of joints whose position changes its sign: those that roll or yaw."""

    def other(self, name: str) -> str:
        """Return the name of the part on the other side."""
        for left, right in self.sides:
            for here, there in ((left, right), (right, left)):
                if name.startswith(here):
                    return there + name.removeprefix(here)
        return name

    def permutation(self, names: Sequence[str]) -> list[int]:
        """Return for each name the place of its mirror image among the names."""
        places = {name: place for place, name in enumerate(names)}
        images = [self.other(name) for name in names]
        for name, image in zip(names, images, strict=True):
            if image not in places:
                raise UnknownNameError(
                    f"{name!r} is {image!r} in the mirror, which is not among the "
                    f"names. {suggest(image, list(names))}"
                )
        return [places[image] for image in images]

    def joint_signs(self, joints: Sequence[str]) -> list[float]:
        """Return -1 for joints that turn the other way in the mirror, else 1."""
        pattern = re.compile(self.flipped_joints)
        return [-1.0 if pattern.fullmatch(name) else 1.0 for name in joints]
