"""Current moment arms and forces of the muscles, from engine data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from mjlab.muscle.force import MuscleCurves
from mjlab.muscle.map import MuscleMap


class MuscleFields(Protocol):
    """Fields of MjData that the muscle state reads, valid at the velocity stage."""

    ten_J: torch.Tensor
    """Tendon Jacobians, shape (num_envs, nJten)."""
    actuator_length: torch.Tensor
    """Actuator lengths in m, shape (num_envs, actuators)."""
    actuator_velocity: torch.Tensor
    """Actuator velocities in m/s, shape (num_envs, actuators)."""


class MuscleConstants(Protocol):
    """Fields of MjModel that the muscle state reads, per world, as in `sim.model`."""

    actuator_gainprm: torch.Tensor
    """Gain parameters, shape (num_envs, actuators, 10)."""
    actuator_biasprm: torch.Tensor
    """Bias parameters, shape (num_envs, actuators, 10)."""
    actuator_lengthrange: torch.Tensor
    """Length ranges in m, shape (num_envs, actuators, 2)."""
    actuator_acc0: torch.Tensor
    """Joint acceleration per unit force, shape (num_envs, actuators)."""


class TorqueMap:
    """Batched products with the sparse torque map, given by its entries `red`.

    Sums are over gathered rows of fixed length, without atomic operations, so that the
    bits of a world's torques are reproducible and independent of the other worlds.
    """

    def __init__(
        self, muscle_map: MuscleMap, device: torch.device | str = "cpu"
    ) -> None:
        """Copy the indices of a map to the device of the worlds."""
        self.num_muscles = muscle_map.num_muscles
        self.num_dofs = muscle_map.num_dofs
        self.num_entries = muscle_map.num_entries
        muscles, dofs = muscle_map.entry_muscle, muscle_map.entry_dof
        self.muscle = torch.tensor(muscles, device=device)
        """Muscle of each entry, int64."""
        self._dof = torch.tensor(dofs, device=device)
        self._of_dof = _Gather(dofs, self.num_dofs, device)
        self._of_muscle = _Gather(muscles, self.num_muscles, device)

    def torque(self, red: torch.Tensor, activation: torch.Tensor) -> torch.Tensor:
        """Return the torques of activations, in N m, shape (rows, num_dofs).

        Args:
            red: Reduced torque map, in N m, shape (rows, num_entries).
            activation: Activations, shape (rows, num_muscles).
        """
        return self._of_dof.sum(red * activation.index_select(-1, self.muscle))

    def pull(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Multiply torques by the transposed torque map, shape (rows, num_muscles).

        Args:
            red: Reduced torque map, in N m, shape (rows, num_entries).
            torque: Torques, shape (rows, num_dofs).
        """
        return self._of_muscle.sum(red * torque.index_select(-1, self._dof))

    def muscle_to_entries(self, values: torch.Tensor) -> torch.Tensor:
        """Gather values of muscles by entry, shape (rows, num_entries)."""
        return values.index_select(-1, self.muscle)

    def sum_by_dof(self, entries: torch.Tensor) -> torch.Tensor:
        """Sum the entries of each dof, shape (rows, num_dofs)."""
        return self._of_dof.sum(entries)

    def capacity(self, red: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the lowest and highest active torques, each (rows, num_dofs), N m."""
        terms = self._of_dof.terms(red)
        return terms.clamp_max(0.0).sum(-1), terms.clamp_min(0.0).sum(-1)


class MuscleState:
    """Torque map and passive torques of all worlds, computed in each substep.

    Torques of activations a are `torque_map.torque(red, a) + passive_torque`. The
    tensors are updated in place, so references to them stay current.
    """

    def __init__(
        self,
        muscle_map: MuscleMap,
        num_envs: int,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Allocate the tensors of `num_envs` worlds on their device."""
        self.torque_map = TorqueMap(muscle_map, device)
        self._dtype = dtype
        self._curves: MuscleCurves | None = None
        self._shared: tuple[torch.Tensor, ...] = ()
        self._actuators = torch.tensor(muscle_map.actuator_ids, device=device)
        self._address = torch.tensor(muscle_map.entry_address, device=device)
        self._gear = torch.tensor(muscle_map.entry_gear, device=device, dtype=dtype)

        def zeros(count: int) -> torch.Tensor:
            return torch.zeros(num_envs, count, device=device, dtype=dtype)

        self.red = zeros(muscle_map.num_entries)
        """Torque of each entry per unit of activation, in N m, shape (num_envs,
        num_entries)."""
        self.passive_torque = zeros(muscle_map.num_dofs)
        """Torque without activation, in N m, shape (num_envs, num_dofs)."""
        self.length = zeros(muscle_map.num_muscles)
        """Muscle-tendon length, in m, shape (num_envs, num_muscles)."""
        self.velocity = zeros(muscle_map.num_muscles)
        """Muscle-tendon velocity, in m/s, shape (num_envs, num_muscles)."""
        self.gain = zeros(muscle_map.num_muscles)
        """Active force at full activation, in N, at most 0, (num_envs, num_muscles)."""
        self.bias = zeros(muscle_map.num_muscles)
        """Passive force, in N, at most 0, shape (num_envs, num_muscles)."""

    def set_constants(self, constants: MuscleConstants) -> None:
        """Set the muscle parameters that `update` uses until the next call.

        Parameters shared by all worlds are processed only once.
        """
        present = (
            constants.actuator_lengthrange,
            constants.actuator_acc0,
            constants.actuator_gainprm,
            constants.actuator_biasprm,
        )
        is_shared = all(tensor.stride(0) == 0 for tensor in present)
        if is_shared and self._shared and all(map(_is_same, present, self._shared)):
            return
        self._shared = present if is_shared else ()
        rows = [tensor[:1] if is_shared else tensor for tensor in present]
        of_muscles = [row.index_select(1, self._actuators) for row in rows]
        self._curves = MuscleCurves(*(row.to(self._dtype) for row in of_muscles))

    def update(
        self, fields: MuscleFields, constants: MuscleConstants | None = None
    ) -> None:
        """Compute torque map, passive torques and muscle state at the velocity stage.

        Args:
            fields: The engine's data.
            constants: Muscle parameters; None keeps those set by `set_constants`.
        """
        if constants is not None:
            self.set_constants(constants)
        assert self._curves is not None, "Call set_constants() first."
        of_muscles = self._actuators
        torch.index_select(fields.actuator_length, 1, of_muscles, out=self.length)
        torch.index_select(fields.actuator_velocity, 1, of_muscles, out=self.velocity)
        self._curves.gain(self.length, self.velocity, out=self.gain)
        self._curves.bias(self.length, out=self.bias)
        arms = fields.ten_J.index_select(1, self._address) * self._gear
        torch.mul(arms, self.torque_map.muscle_to_entries(self.gain), out=self.red)
        passive = arms * self.torque_map.muscle_to_entries(self.bias)
        self.passive_torque.copy_(self.torque_map.sum_by_dof(passive))

    def force(self, activation: torch.Tensor) -> torch.Tensor:
        """Return the force of each muscle, in N, at most 0 (negative is a pull)."""
        return self.gain * activation + self.bias

    def capacity(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the lowest and highest active torques of each dof, in N m."""
        return self.torque_map.capacity(self.red)

    def joint_capacity(self) -> torch.Tensor:
        """Return the torque capacity of each dof, in N m, (num_envs, 3 · num_dofs).

        Concatenates 0.5 times the lowest active torques, 0.5 times the highest active
        torques, and the passive torques.
        """
        low, high = self.capacity()
        return torch.cat((0.5 * low, 0.5 * high, self.passive_torque), dim=-1)


def _is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return True if two tensors are views of the same memory."""
    return one.data_ptr() == other.data_ptr() and one.shape == other.shape


class _Gather:
    """Sums entries of the torque map by muscle or by dof."""

    def __init__(
        self, target: Sequence[int], count: int, device: torch.device | str
    ) -> None:
        rows = [[k for k, t in enumerate(target) if t == i] for i in range(count)]
        width = max(map(len, rows))
        # Pad short rows with index 0, and give the padding a weight of 0.
        index = [row + [0] * (width - len(row)) for row in rows]
        share = [[1.0] * len(row) + [0.0] * (width - len(row)) for row in rows]
        self._index = torch.tensor(index, device=device).view(-1)
        shares = torch.tensor(share, device=device, dtype=torch.float64)
        self._shares = {
            dtype: shares.to(dtype) for dtype in (torch.float32, torch.float64)
        }
        self._shape = (-1, count, width)

    def terms(self, entries: torch.Tensor) -> torch.Tensor:
        """Return the weighted entries of each sum, shape (rows, targets, terms)."""
        gathered = entries.index_select(-1, self._index).view(self._shape)
        return gathered * self._shares[entries.dtype]

    def sum(self, entries: torch.Tensor) -> torch.Tensor:
        """Return the weighted sum for each target, shape (rows, targets)."""
        return self.terms(entries).sum(-1)
