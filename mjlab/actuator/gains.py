"""Gains and limits of actuators, per world, wherever they are kept.

An explicit actuator keeps them in tensors, an actuator of MuJoCo's in fields of the
model. Here both are numbers of shape (num_envs, n) that are read and written alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from mjlab.actuator.actuator import ActuatorBinding
from mjlab.actuator.compiled import FINDERS, GainSlot, actuators_by_target, is_muscle
from mjlab.actuator.config import Quantity
from mjlab.names import UnknownNameError
from mjlab.sim import SharedFieldError, Simulation
from mjlab.tensors.columns import Columns

ABSENT: dict[Quantity, float] = {
    "stiffness": 0.0,
    "damping": 0.0,
    "effort_limit": float("inf"),
}
"""Numbers that are read for actuators that do not have a quantity."""


class Parameter(Protocol):
    """One number for each of n actuators and each world."""

    fields: frozenset[str]
    """Model fields that must vary per world before `write`."""

    def read(self) -> torch.Tensor:
        """Return the numbers, shape (num_envs, n)."""
        ...

    def write(self, where: torch.Tensor, values: torch.Tensor) -> None:
        """Write `values` where `where` holds, both of shape (num_envs, n)."""
        ...


Part = tuple[Sequence[int], Parameter]
"""Indices of actuators in their set, and what holds a quantity of theirs."""


class TensorParameter:
    """Numbers that an explicit actuator keeps itself."""

    fields: frozenset[str] = frozenset()

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    def read(self) -> torch.Tensor:
        """Return the numbers, shape (num_envs, n)."""
        return self._tensor

    def write(self, where: torch.Tensor, values: torch.Tensor) -> None:
        """Write `values` where `where` holds, both of shape (num_envs, n)."""
        torch.where(where, values, self._tensor, out=self._tensor)


class ModelParameter:
    """Numbers that are elements of model fields.

    Several elements may follow from one number: a servo's gain stands in its gain and,
    negated, in its bias; a limit is both ends of a range.
    """

    def __init__(self, sim: Simulation, slots: Sequence[Sequence[GainSlot]]) -> None:
        """Remember the elements.

        Args:
            sim: The simulation whose model is meant.
            slots: For each actuator its elements; all have the same fields, elements
                and signs in the same order, and differ in the row.
        """
        self._sim = sim
        self._parts = [
            (part[0], Columns.of([slot.row for slot in part], sim.device))
            for part in zip(*slots, strict=True)
        ]
        self.fields = frozenset(slot.field for slot, _ in self._parts)

    def read(self) -> torch.Tensor:
        """Return the numbers, shape (num_envs, n)."""
        slot, rows = self._parts[0]
        return rows.read(self._sim.model[slot.field][..., slot.element]) * slot.sign

    def write(self, where: torch.Tensor, values: torch.Tensor) -> None:
        """Write `values` where `where` holds, both of shape (num_envs, n)."""
        for slot, rows in self._parts:
            if self._sim.engine.model(slot.field) is None:
                raise SharedFieldError(
                    f"Gains or limits of actuators were written, but all worlds share "
                    f"the model field {slot.field!r}. Name it in `vary`, or call "
                    f"sim.expand({slot.field!r}) first."
                )
            # Looked up each time: an expansion puts another tensor in its place.
            column = self._sim.model[slot.field][..., slot.element]
            chosen = torch.where(where, values * slot.sign, rows.read(column))
            rows.write_all(column, chosen)


class MuscleForce(ModelParameter):
    """The peak active force of muscles, in N.

    A negative force in the model means that MuJoCo takes `scale` / `acc0` instead; that
    is what is read then.
    """

    def __init__(self, sim: Simulation, slots: Sequence[Sequence[GainSlot]]) -> None:
        super().__init__(sim, slots)
        muscles = [each[0].row for each in slots]
        outputs = [int(sim.mj_model.actuator_outadr[row]) for row in muscles]
        self._muscles = Columns.of(muscles, sim.device)
        self._outputs = Columns.of(outputs, sim.device)

    def read(self) -> torch.Tensor:
        """Return the numbers, shape (num_envs, n)."""
        force = super().read()
        scale = self._muscles.read(self._sim.model["actuator_gainprm"][..., 3])
        acc0 = self._outputs.read(self._sim.model["actuator_acc0"])
        return torch.where(force < 0.0, scale / acc0, force)


def native_parts(
    quantity: Quantity,
    bindings: Sequence[tuple[ActuatorBinding, Sequence[int]]],
    sim: Simulation,
) -> list[Part]:
    """Return what holds a quantity of actuators that MuJoCo computes.

    Actuators that keep it in the same elements of the same fields are read and written
    together, whatever their kind.

    Args:
        quantity: The quantity.
        bindings: The bindings, each with the indices of its actuators.
        sim: The simulation.
    """
    model = sim.mj_model
    alike: dict[tuple[object, ...], list[tuple[int, Sequence[GainSlot]]]] = {}
    for binding, indices in bindings:
        targets = actuators_by_target(binding, model)
        for index, actuators in zip(indices, targets, strict=True):
            found = [FINDERS[quantity](model, actuator) for actuator in actuators]
            slots = _of_target(quantity, found)
            layout = [(slot.field, slot.element, slot.sign) for slot in slots]
            muscle = is_muscle(model, actuators[0])
            if slots:
                alike.setdefault((muscle, *layout), []).append((index, slots))
    parts: list[Part] = []
    for (muscle, *_), members in alike.items():
        indices, slots = zip(*members, strict=True)
        parts.append((indices, (MuscleForce if muscle else ModelParameter)(sim, slots)))
    return parts


def _of_target(
    quantity: Quantity, found: Sequence[tuple[GainSlot, ...]]
) -> tuple[GainSlot, ...]:
    """Return the slots of one target, from those of the actuators that drive it."""
    if quantity == "effort_limit":
        # The range of a joint is named by each of its actuators, and counts once.
        return tuple(dict.fromkeys(slot for slots in found for slot in slots))
    # A velocity servo keeps its gain in two slots and comes before a position servo,
    # whose own damping in one slot is then left alone.
    return max(found, key=len)


class ActuatorQuantity:
    """One quantity of all actuators of an entity, such as their stiffness."""

    def __init__(
        self,
        quantity: Quantity,
        names: Sequence[str],
        parts: Sequence[Part],
        sim: Simulation,
    ) -> None:
        """Gather the parts.

        Args:
            quantity: What it is.
            names: The names of all actuators.
            parts: Indices into `names`, and the parameter that holds their numbers.
            sim: The simulation.
        """
        self._quantity: Quantity = quantity
        self._names = names
        self._shape = (sim.num_envs, len(names))
        self._device = sim.device
        self._parts = [(Columns.of(ids, sim.device), part) for ids, part in parts]
        self.indices = frozenset(index for ids, _ in parts for index in ids)
        """The actuators that have the quantity."""
        self.fields = frozenset().union(*(part.fields for _, part in parts))
        """Model fields that must vary per world before `write`."""

    def check(self, indices: Sequence[int]) -> None:
        """Raise if one of the actuators does not have the quantity."""
        for index in indices:
            if index not in self.indices:
                able = [self._names[i] for i in sorted(self.indices)]
                shown = ", ".join(map(repr, able[:8])) or "none"
                raise UnknownNameError(
                    f"The actuator of {self._names[index]!r} has no "
                    f"{self._quantity.replace('_', ' ')} that can be set. Those that "
                    f"have one: {shown}{' and more' if len(able) > 8 else ''}."
                )

    def read(self) -> torch.Tensor:
        """Return a copy of the numbers of all actuators, shape (num_envs, N)."""
        out = torch.full(self._shape, ABSENT[self._quantity], device=self._device)
        for columns, part in self._parts:
            columns.write_all(out, part.read())
        return out

    def write(
        self, mask: torch.Tensor, ids: torch.Tensor | None, values: torch.Tensor | float
    ) -> None:
        """Write the numbers of some actuators in some worlds, in place.

        Actuators without the quantity are passed over; `check` finds them beforehand.

        Args:
            mask: Shape (num_envs,), bool.
            ids: The actuators, shape (k,), int64; None for all.
            values: One number, or numbers that broadcast to (num_envs, k).
        """
        full = torch.zeros(self._shape, device=self._device)
        chosen = torch.zeros(self._shape[1], dtype=torch.bool, device=self._device)
        if ids is None:
            full.add_(values)
            chosen.fill_(True)
        else:
            some = torch.zeros(self._shape[0], ids.shape[0], device=self._device)
            full.index_copy_(1, ids, some.add_(values))
            chosen.index_fill_(0, ids, True)
        where = mask.unsqueeze(1) & chosen
        for columns, part in self._parts:
            part.write(columns.read(where), columns.read(full))
