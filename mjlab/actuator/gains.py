"""Actuator gains and limits per world.

Explicit actuators store these numbers in tensors, native actuators in model fields. In
both cases they are read and written as tensors of shape (num_envs, n).
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
"""Values that `read` returns for actuators without the quantity."""


class Parameter(Protocol):
    """Storage of one value for each of n actuators in each world."""

    fields: frozenset[str]
    """Model fields that must vary per world before `write`."""

    def read(self) -> torch.Tensor:
        """Return the values, shape (num_envs, n)."""
        ...

    def write(self, where: torch.Tensor, values: torch.Tensor) -> None:
        """Write `values` where `where` is true, both of shape (num_envs, n)."""
        ...


Part = tuple[Sequence[int], Parameter]
"""Indices in the `ActuatorSet`, and the parameter with these actuators' values."""


class TensorParameter:
    """Values stored in a tensor of an explicit actuator."""

    fields: frozenset[str] = frozenset()

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    def read(self) -> torch.Tensor:
        """Return the values, shape (num_envs, n)."""
        return self._tensor

    def write(self, where: torch.Tensor, values: torch.Tensor) -> None:
        """Write `values` where `where` is true, both of shape (num_envs, n)."""
        torch.where(where, values, self._tensor, out=self._tensor)


class ModelParameter:
    """Values stored in elements of model fields.

    One value can be stored in several elements: a servo's gain in `gainprm` and,
    negated, in `biasprm`; a limit in both ends of a range.
    """

    def __init__(self, sim: Simulation, slots: Sequence[Sequence[GainSlot]]) -> None:
        """Look up the model elements that hold the values.

        Args:
            sim: The simulation that owns the model.
            slots: Elements of each actuator. All actuators have the same fields,
                elements and signs in the same order, and differ only in the row.
        """
        self._sim = sim
        self._parts = [
            (part[0], Columns.of([slot.row for slot in part], sim.device))
            for part in zip(*slots, strict=True)
        ]
        self.fields = frozenset(slot.field for slot, _ in self._parts)

    def read(self) -> torch.Tensor:
        """Return the values, shape (num_envs, n)."""
        slot, rows = self._parts[0]
        return rows.read(self._sim.model[slot.field][..., slot.element]) * slot.sign

    def write(self, where: torch.Tensor, values: torch.Tensor) -> None:
        """Write `values` where `where` is true, both of shape (num_envs, n)."""
        for slot, rows in self._parts:
            if self._sim.engine.model(slot.field) is None:
                raise SharedFieldError(
                    f"Gains or limits of actuators were written, but all worlds share "
                    f"the model field {slot.field!r}. Name it in `vary`, or call "
                    f"sim.expand({slot.field!r}) first."
                )
            # Looked up each time, because an expansion replaces the tensor.
            column = self._sim.model[slot.field][..., slot.element]
            chosen = torch.where(where, values * slot.sign, rows.read(column))
            rows.write_all(column, chosen)


class MuscleForce(ModelParameter):
    """Peak active force of muscles, in N.

    If the force in the model is negative, MuJoCo uses `scale` / `acc0` instead, and
    `read` returns this value.
    """

    def __init__(self, sim: Simulation, slots: Sequence[Sequence[GainSlot]]) -> None:
        super().__init__(sim, slots)
        muscles = [each[0].row for each in slots]
        outputs = [int(sim.mj_model.actuator_outadr[row]) for row in muscles]
        self._muscles = Columns.of(muscles, sim.device)
        self._outputs = Columns.of(outputs, sim.device)

    def read(self) -> torch.Tensor:
        """Return the values, shape (num_envs, n)."""
        force = super().read()
        scale = self._muscles.read(self._sim.model["actuator_gainprm"][..., 3])
        acc0 = self._outputs.read(self._sim.model["actuator_acc0"])
        return torch.where(force < 0.0, scale / acc0, force)


def native_parts(
    quantity: Quantity,
    bindings: Sequence[tuple[ActuatorBinding, Sequence[int]]],
    sim: Simulation,
) -> list[Part]:
    """Return where native actuators store a quantity.

    Actuators that store the quantity in the same elements of the same fields are read
    and written together, even if they are of different types.

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
    """Return the slots of one target, from the slots of its actuators."""
    if quantity == "effort_limit":
        # Several actuators of a joint can refer to the joint's range: list it once.
        return tuple(dict.fromkeys(slot for slots in found for slot in slots))
    # With a velocity servo and a position servo on one target, the velocity servo's
    # gain (two slots) is used. The position servo's own damping (one slot) is
    # unchanged.
    return max(found, key=len)


class ActuatorQuantity:
    """One quantity, such as stiffness, of all actuators of an entity."""

    def __init__(
        self,
        quantity: Quantity,
        names: Sequence[str],
        parts: Sequence[Part],
        sim: Simulation,
    ) -> None:
        """Combine parameters that cover different actuators.

        Args:
            quantity: The quantity.
            names: Names of all actuators.
            parts: Indices into `names`, and the parameter with their values.
            sim: The simulation.
        """
        self._quantity: Quantity = quantity
        self._names = names
        self._shape = (sim.num_envs, len(names))
        self._device = sim.device
        self._parts = [(Columns.of(ids, sim.device), part) for ids, part in parts]
        self.indices = frozenset(index for ids, _ in parts for index in ids)
        """Indices of the actuators that have the quantity."""
        self.fields = frozenset().union(*(part.fields for _, part in parts))
        """Model fields that must vary per world before `write`."""

    def check(self, indices: Sequence[int]) -> None:
        """Raise if an actuator does not have the quantity."""
        for index in indices:
            if index not in self.indices:
                able = [self._names[i] for i in sorted(self.indices)]
                shown = ", ".join(map(repr, able[:8])) or "none"
                raise UnknownNameError(
                    f"The actuator of {self._names[index]!r} has no "
                    f"{self._quantity.replace('_', ' ')} that can be set. Actuators "
                    f"with one: {shown}{' and more' if len(able) > 8 else ''}."
                )

    def read(self) -> torch.Tensor:
        """Return a copy of the values of all actuators, shape (num_envs, N)."""
        out = torch.full(self._shape, ABSENT[self._quantity], device=self._device)
        for columns, part in self._parts:
            columns.write_all(out, part.read())
        return out

    def write(
        self, mask: torch.Tensor, ids: torch.Tensor | None, values: torch.Tensor | float
    ) -> None:
        """Write the values of selected actuators in selected worlds, in place.

        Actuators without the quantity are skipped; use `check` to raise for them.

        Args:
            mask: Worlds, shape (num_envs,), bool.
            ids: Actuators, shape (k,), int64; None for all.
            values: One value, or values that broadcast to (num_envs, k).
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
