"""Where the gains and limits of bound actuators are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mujoco
import torch

from mjlab.actuator.actuator import ActuatorBinding
from mjlab.actuator.compiled import (
    Slot,
    damping_slots,
    effort_limit_slots,
    is_muscle,
    stiffness_slots,
)
from mjlab.actuator.config import Quantity
from mjlab.actuator.explicit import ControlLaw
from mjlab.actuator.parameters import (
    ModelParameter,
    MuscleForce,
    Parameter,
    TensorParameter,
)
from mjlab.actuator.place import ActuatorError
from mjlab.sim import Simulation

Part = tuple[Sequence[int], Parameter]
"""Indices of actuators in their set, and what holds a quantity of theirs."""

_FINDERS: dict[Quantity, Callable[[mujoco.MjModel, int], tuple[Slot, ...]]] = {
    "stiffness": stiffness_slots,
    "damping": damping_slots,
    "effort_limit": effort_limit_slots,
}


def explicit_part(
    quantity: Quantity, law: ControlLaw, indices: Sequence[int]
) -> list[Part]:
    """Return what holds a quantity of the actuators of a control law, if it has it.

    Args:
        quantity: The quantity.
        law: The control law.
        indices: Its actuators, in its own order.
    """
    tensors: dict[Quantity, torch.Tensor | None] = {
        "stiffness": law.stiffness,
        "damping": law.damping,
        "effort_limit": law.effort_limit,
    }
    tensor = tensors[quantity]
    return [] if tensor is None else [(indices, TensorParameter(tensor))]


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
    alike: dict[object, list[tuple[int, tuple[Slot, ...], bool]]] = {}
    for binding, indices in bindings:
        targets = actuators_by_target(binding, model)
        for index, actuators in zip(indices, targets, strict=True):
            slots = _target_slots(quantity, actuators, model)
            muscle = is_muscle(model, actuators[0])
            layout = (muscle, *((s.field, s.element, s.sign) for s in slots))
            if slots:
                alike.setdefault(layout, []).append((index, slots, muscle))
    parts: list[Part] = []
    for members in alike.values():
        slots = [each for _, each, _ in members]
        muscles = members[0][2]
        parameter = MuscleForce(sim, slots) if muscles else ModelParameter(sim, slots)
        parts.append(([index for index, _, _ in members], parameter))
    return parts


def actuators_by_target(
    binding: ActuatorBinding, model: mujoco.MjModel
) -> list[list[int]]:
    """Return the MuJoCo actuators of each target, in the order of the targets."""
    by_target: dict[int, list[int]] = {}
    for actuator in binding.actuator_ids.tolist():
        # However the actuators are laid out, targets first appear in their own order.
        target = int(model.actuator_trnid[actuator, 0])
        by_target.setdefault(target, []).append(actuator)
    if len(by_target) != len(binding.target_names):
        raise ActuatorError(
            f"The {binding.cfg.kind} of {binding.target_names} has actuators on "
            f"{len(by_target)} targets instead of {len(binding.target_names)}."
        )
    return list(by_target.values())


def _target_slots(
    quantity: Quantity, actuators: Sequence[int], model: mujoco.MjModel
) -> tuple[Slot, ...]:
    """Return the slots of a quantity of one target, which several actuators drive."""
    found = [_FINDERS[quantity](model, actuator) for actuator in actuators]
    if quantity == "effort_limit":
        # The range of a joint is named by each of its actuators, and counts once.
        return tuple(dict.fromkeys(slot for slots in found for slot in slots))
    # A velocity servo keeps its gain in two slots and comes before a position servo,
    # whose own damping in one slot is then left alone.
    return max(found, key=len)
