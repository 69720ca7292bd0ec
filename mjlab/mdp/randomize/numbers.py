"""Numbers of model fields: where they are, and what is drawn for them."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from mjlab.managers.env import Env
from mjlab.mdp.randomize.distributions import (
    Choice,
    Operation,
    RandomizeError,
    Sampler,
    Target,
    check_word,
)
from mjlab.sim import Simulation
from mjlab.tensors.columns import Columns


class FieldPart:
    """Some numbers of a model field, in every world."""

    def __init__(
        self, sim: Simulation, field: str, rows: Sequence[int], axes: Sequence[int]
    ) -> None:
        """Find the numbers, and give the field a value per world if it has none.

        Args:
            sim: The simulation.
            field: The model field, options as `opt.<name>`.
            rows: Row of each number; 0 for options.
            axes: Place of each number in its row.
        """
        _refuse_chosen(sim, field, rows)
        sim.expand(field)
        self._sim = sim
        self._field = field
        compiled = sim.default(field)
        width = row_size(sim, field)
        places = [row * width + axis for row, axis in zip(rows, axes, strict=True)]
        self._columns = Columns.of(places, sim.device)
        self.default = compiled.reshape(-1)[self._columns.ids]
        """The compiled numbers, shape (len,)."""

    @classmethod
    def rows(cls, sim: Simulation, field: str, rows: Sequence[int]) -> "FieldPart":
        """All numbers of some rows."""
        width = row_size(sim, field)
        repeated = [row for row in rows for _ in range(width)]
        return cls(sim, field, repeated, list(range(width)) * len(rows))

    def write(self, mask: torch.Tensor, values: torch.Tensor) -> None:
        """Write the numbers of the worlds of `mask`; values are (num_envs, len)."""
        live = self._sim.model[self._field]
        self._columns.write(live.view(live.shape[0], -1), mask, values)


def _refuse_chosen(sim: Simulation, field: str, rows: Sequence[int]) -> None:
    for row in rows:
        owner = sim.chosen_by(field, row)
        if owner is not None:
            raise RandomizeError(
                f"{field} of the entity {owner!r} follows from which object a world "
                "has, so it cannot be randomised too. Make it alike in all options, or "
                "make options that differ in it."
            )


def row_size(sim: Simulation, field: str) -> int:
    """How many numbers a row of a model field has."""
    shape = sim.default(field).shape
    return math.prod(shape if field.startswith("opt.") else shape[1:])


class FieldNumbers:
    """Numbers of one field, and the random numbers that they are computed from."""

    def __init__(
        self,
        sim: Simulation,
        field: str,
        choice: Choice,
        rows: Sequence[int],
        params: dict[str, Any],
        *,
        operation: Operation,
        minimum: float | None = None,
        mirrors: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Resolve the ranges and check what they can lead to.

        Args:
            sim: The simulation.
            field: The model field.
            choice: What the ranges choose from.
            rows: Row of each element in the field.
            params: The term's parameters.
            operation: What is done unless the parameters say otherwise.
            minimum: Smallest number that makes sense.
            mirrors: Numbers of a row that are one axis, for each axis.
        """
        self.operation: Operation = params.get("operation") or operation
        check_word(choice.label, "operation", self.operation, Operation)
        targets = choice.resolve(params["ranges"], params.get("axes"))
        self.targets = targets
        """What is drawn."""
        self._sampler = Sampler.of(
            params, targets, label=choice.label, device=sim.device
        )
        places = [
            (slot, rows[target.element], axis)
            for slot, target in enumerate(targets)
            for axis in (mirrors[target.axis] if mirrors else (target.axis,))
        ]
        self.part = FieldPart(
            sim, field, [row for _, row, _ in places], [axis for *_, axis in places]
        )
        """Where the numbers are."""
        slots = [slot for slot, *_ in places]
        self._slots = torch.tensor(slots, device=sim.device)
        self._spreads = len(slots) > len(targets)
        self._minimum = minimum
        self._clamps = minimum is not None and self._sampler.distribution == "gaussian"
        extremes = self._extremes([targets[slot] for slot in slots])
        self._check(choice, places, extremes)
        self.extremes = extremes
        """Smallest and largest value of each number, if they are bounded."""

    def draw(self, env: Env, stream: str, ranges: Any) -> torch.Tensor:
        """Return new values, shape (num_envs, numbers)."""
        live = ranges if isinstance(ranges, torch.Tensor) else None
        drawn = self._sampler.draw(env.rng, stream, live)
        if self._spreads:
            drawn = drawn.index_select(1, self._slots)
        if self.operation == "scale":
            drawn = drawn.mul_(self.part.default)
        elif self.operation == "add":
            drawn = drawn.add_(self.part.default)
        if self._clamps or (live is not None and self._minimum is not None):
            drawn = drawn.clamp_(min=self._minimum)
        return drawn

    def _extremes(self, targets: Sequence[Target]) -> list[tuple[float, float]]:
        if self._sampler.distribution == "gaussian":
            return []
        return [
            _combined(default, target.low, target.high, self.operation)
            for default, target in zip(self.part.default.tolist(), targets, strict=True)
        ]

    def _check(
        self,
        choice: Choice,
        places: Sequence[tuple[int, int, int]],
        extremes: Sequence[tuple[float, float]],
    ) -> None:
        if self._minimum is None:
            return
        for (slot, *_), (smallest, _) in zip(places, extremes, strict=False):
            if smallest < self._minimum:
                target = self.targets[slot]
                name = choice.names[target.element]
                raise RandomizeError(
                    f"{choice.label}: the range {(target.low, target.high)} with "
                    f"operation={self.operation!r} can make that of {name!r} "
                    f"{smallest:g}, and it has to be {self._minimum:g} or more."
                )


def _combined(
    default: float, low: float, high: float, operation: Operation
) -> tuple[float, float]:
    if operation == "add":
        return default + low, default + high
    if operation == "scale":
        low, high = sorted((default * low, default * high))
    return low, high
