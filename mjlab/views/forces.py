"""Forces between two things that touch, in the world frame."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import torch

from mjlab.sensor import ContactSensor
from mjlab.views.choice import Choice, ViewError, take_columns

PairKey = tuple[str, str | None]
"""Names of two bodies or entities; None stands for whatever the first one touches."""


class Touching(Protocol):
    """A view of things that can touch."""

    names: tuple[str, ...]
    choice: Choice


class ContactForces:
    """Reads the sensors that `SceneCfg.contact_pairs` was compiled to.

    Rewards and terminations read the forces of the last physics step, observations
    those of the present state, as of every sensor.
    """

    def __init__(
        self,
        sensors: Mapping[PairKey, ContactSensor],
        groups: Mapping[str, Sequence[str]],
    ) -> None:
        """Take the sensors.

        Args:
            sensors: By the names of the two sides.
            groups: Names that a configuration has for several entities at once.
        """
        self._sensors = dict(sensors)
        self._group_of = {name: group for group in groups for name in groups[group]}

    def between(self, first: Touching, second: Touching) -> torch.Tensor:
        """Force on the first from the second, N, shape (..., 3).

        Row goes with row; a view of one thing per world goes with each of k rows.
        """
        one, two = first.choice, second.choice
        if _wide(one)[1] != _wide(two)[1] and 1 not in (_wide(one)[1], _wide(two)[1]):
            raise ViewError(
                f"{first!r} has rows of shape {tuple(one.shape)} and {second!r} of "
                f"shape {tuple(two.shape)}; row goes with row."
            )
        forces = self._all_pairs(first.names, second.names)
        pairs = one.picks * len(second.names) + two.picks
        wide = torch.broadcast_shapes(_wide(one), _wide(two))
        chosen = take_columns(forces, pairs.expand(wide))
        for choice in (one, two):
            if choice.present is not None:
                here = choice.present.view(_wide(choice))
                chosen = chosen.masked_fill(~here.unsqueeze(-1), 0.0)
        both_narrow = len(one.shape) == len(two.shape) == 1
        return chosen.squeeze(1) if both_narrow else chosen

    def net(self, view: Touching) -> torch.Tensor:
        """Force on a thing from all that touches it, N, shape (..., 3)."""
        self._check([(name, None) for name in view.names])
        return view.choice.select([self._on(name, None) for name in view.names])

    def _all_pairs(self, firsts: Sequence[str], seconds: Sequence[str]) -> torch.Tensor:
        """Forces on each first from each second, shape (num_envs, pairs, 3)."""
        keys = [(a, b) for a in firsts for b in seconds]
        apart = [(a, b) for a, b in keys if a != b]
        if not apart:
            raise ViewError(f"{firsts[0]!r} has no contact with itself.")
        self._check(apart)
        found = {key: self._on(*key) for key in apart}
        # Where both sides are views of the same things, no world pairs one with itself
        # and finds a force.
        none = torch.zeros_like(found[apart[0]])
        return torch.stack([found.get(key, none) for key in keys], dim=1)

    def _on(self, first: str, second: str | None) -> torch.Tensor:
        """Force on the first from the second, shape (num_envs, 3)."""
        if (first, second) in self._sensors:
            # MuJoCo reports the force on the other side.
            return -_total(self._sensors[first, second].data.force)
        assert second is not None
        return _total(self._sensors[second, first].data.force)

    def _check(self, keys: Sequence[PairKey]) -> None:
        known = self._sensors
        missing = [
            (a, b)
            for a, b in keys
            if (a, b) not in known and (b is None or (b, a) not in known)
        ]
        if missing:
            named = dict.fromkeys((self._named(a), self._named(b)) for a, b in missing)
            lines = "".join(f"    {_line(a or '', b)},\n" for a, b in named)
            raise ViewError(
                f"The contact force {_words(*missing[0])} is not measured, because the "
                "scene does not declare it. Add to SceneCfg:\n"
                f"contact_pairs=(\n{lines})"
            )

    def _named(self, name: str | None) -> str | None:
        """What a configuration calls it."""
        return None if name is None else self._group_of.get(name, name)


def _wide(choice: Choice) -> tuple[int, int]:
    return choice.shape[0], choice.shape[1] if len(choice.shape) == 2 else 1


def _total(force: torch.Tensor) -> torch.Tensor:
    """Sum over the bodies of an entity, (num_envs, bodies, 3) to (num_envs, 3)."""
    # One after the other, so that no bit of a world depends on how many there are.
    total = force[:, 0]
    for body in range(1, force.shape[1]):
        total = total + force[:, body]
    return total


def _line(first: str, second: str | None) -> str:
    partner = "" if second is None else f", second={_pattern(second)!r}"
    return f"ContactPairCfg(first={_pattern(first)!r}{partner})"


def _pattern(name: str) -> str:
    return name if re.fullmatch(name, name) else re.escape(name)


def _words(first: str, second: str | None) -> str:
    return f"on {first!r}" + ("" if second is None else f" from {second!r}")
