"""Quantities that are computed when first read and kept until something changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, overload

import torch

from mjlab.entity.index import EntityIndex
from mjlab.entity.root import Root
from mjlab.sim import Simulation

S = TypeVar("S", bound="State")


class State:
    """What an entity's quantities are computed from, and those computed so far.

    What is kept belongs to one moment. `invalidate()` marks the next one; it runs in
    Python, after each verb of the simulation and each write, never by looking at data.
    """

    def __init__(self, sim: Simulation, index: EntityIndex, root: Root) -> None:
        self._sim = sim
        self._index = index
        self._root = root
        self._held: dict[str, torch.Tensor] = {}

    def invalidate(self) -> None:
        """Forget what was computed: the simulation has changed.

        A captured graph must begin with this, so that it computes all it reads, and
        whoever replays it must end with this, because a replay runs no Python.
        """
        self._held.clear()


class quantity(Generic[S]):
    """A read-only property of a `State` that is computed once per moment.

    Its name is written like that of `property`, which it is used in place of.
    """

    def __init__(self, compute: Callable[[S], torch.Tensor]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, state: None, owner: type[S]) -> quantity[S]: ...
    @overload
    def __get__(self, state: S, owner: type[S]) -> torch.Tensor: ...
    def __get__(self, state: S | None, owner: type[S]) -> torch.Tensor | quantity[S]:
        """Return the quantity, computing it if nobody has."""
        if state is None:
            return self
        held = state._held
        if self._name not in held:
            held[self._name] = self._compute(state)
        return held[self._name]
