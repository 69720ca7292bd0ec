"""What the muscles can do at this moment, from what an engine has computed."""

from __future__ import annotations

from typing import Protocol

import torch

from mjlab.muscle.curves import MuscleCurves
from mjlab.muscle.map import MuscleMap
from mjlab.muscle.torque_map import TorqueMap


class MuscleFields(Protocol):
    """Fields of MjData that are read, at the velocity stage."""

    @property
    def ten_J(self) -> torch.Tensor:
        """Tendon Jacobians, shape (num_envs, nJten)."""
        ...

    @property
    def actuator_length(self) -> torch.Tensor:
        """In m, shape (num_envs, actuators)."""
        ...

    @property
    def actuator_velocity(self) -> torch.Tensor:
        """In m/s, shape (num_envs, actuators)."""
        ...


class MuscleConstants(Protocol):
    """The fields of MjModel that are read: `sim.model` has them, per world."""

    @property
    def actuator_gainprm(self) -> torch.Tensor:
        """Shape (num_envs, actuators, 10)."""
        ...

    @property
    def actuator_biasprm(self) -> torch.Tensor:
        """Shape (num_envs, actuators, 10)."""
        ...

    @property
    def actuator_lengthrange(self) -> torch.Tensor:
        """In m, shape (num_envs, actuators, 2)."""
        ...

    @property
    def actuator_acc0(self) -> torch.Tensor:
        """Shape (num_envs, actuators)."""
        ...


class MuscleState:
    """The torque map and passive torques of every world, computed anew each substep.

    Torques of activations a are `torque_map.torque(red, a) + passive_torque`. The
    tensors stay where they are: whoever holds one sees the newest values.
    """

    def __init__(
        self,
        muscle_map: MuscleMap,
        num_envs: int,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Allocate.

        Args:
            muscle_map: Which muscles cross which joints.
            num_envs: The number of worlds.
            device: Where they are.
            dtype: Precision of the tensors.
        """
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
        """Of muscle and tendon, in m, shape (num_envs, num_muscles)."""
        self.velocity = zeros(muscle_map.num_muscles)
        """Rate of the length, in m/s, shape (num_envs, num_muscles)."""
        self.gain = zeros(muscle_map.num_muscles)
        """Active force at full activation, in N, at most 0, (num_envs, num_muscles)."""
        self.bias = zeros(muscle_map.num_muscles)
        """Passive force, in N, at most 0, shape (num_envs, num_muscles)."""

    def set_constants(self, constants: MuscleConstants) -> None:
        """Take the muscles' parameters, which `update` uses until the next call.

        What all worlds share is worked out only once.
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
        """Compute everything from the engine's data at the velocity stage.

        Args:
            fields: The engine's data.
            constants: The muscles' parameters; None takes those of `set_constants`.
        """
        if constants is not None:
            self.set_constants(constants)
        assert self._curves is not None, "set_constants() comes first."
        of_muscles = self._actuators
        self.length.copy_(fields.actuator_length.index_select(1, of_muscles))
        self.velocity.copy_(fields.actuator_velocity.index_select(1, of_muscles))
        self.gain.copy_(self._curves.gain(self.length, self.velocity))
        self.bias.copy_(self._curves.bias(self.length))
        arms = fields.ten_J.index_select(1, self._address) * self._gear
        self.red.copy_(arms * self.torque_map.muscle_to_entries(self.gain))
        passive = arms * self.torque_map.muscle_to_entries(self.bias)
        self.passive_torque.copy_(self.torque_map.sum_by_dof(passive))

    def force(self, activation: torch.Tensor) -> torch.Tensor:
        """Return the force of each muscle, in N, at most 0: negative pulls."""
        return self.gain * activation + self.bias

    def capacity(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the lowest and highest active torques of each dof, in N m."""
        return self.torque_map.capacity(self.red)

    def joint_capacity(self) -> torch.Tensor:
        """Return what the muscles of each dof can do, in N m, (num_envs, 3 · num_dofs).

        Half of the lowest active torques, half of the highest, and the passive ones.
        """
        low, high = self.capacity()
        return torch.cat((0.5 * low, 0.5 * high, self.passive_torque), dim=-1)


def _is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors are the same memory."""
    return one.data_ptr() == other.data_ptr() and one.shape == other.shape
