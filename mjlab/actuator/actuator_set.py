"""All actuators of an entity: controls computed from targets, and per-world gains."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import accumulate
from typing import Any

import mujoco
import torch

from mjlab.actuator.actuator import (
    TARGET_FIELDS,
    ActuatorBinding,
    ActuatorTargets,
    Command,
)
from mjlab.actuator.compiled import Control, controls_of
from mjlab.actuator.config import Quantity
from mjlab.actuator.explicit import ExplicitActuatorCfg, LawNumbers
from mjlab.actuator.gains import (
    ABSENT,
    ActuatorQuantity,
    Part,
    TensorParameter,
    native_parts,
)
from mjlab.actuator.groups import (
    ActuatorGroup,
    ExplicitGroup,
    NativeGroup,
    WriteTime,
)
from mjlab.actuator.place import ActuatorError, Transmission
from mjlab.names import match_names
from mjlab.random import WorldRng
from mjlab.sim import Simulation
from mjlab.tensors.buffers import DelayBuffer

_Indexed = tuple[ActuatorBinding, range]
"""Binding, and the indices of its actuators in the set."""


class ActuatorSet:
    """All actuators of one entity.

    An actuator of this set drives one target of one configuration, even if it consists
    of several MuJoCo actuators. It has the name of its target, and indices follow the
    order of the configurations. Bindings of one kind are computed and written together;
    each binding with a delay but no `delay_group` is computed separately.
    """

    def __init__(
        self, bindings: Sequence[ActuatorBinding], sim: Simulation, rng: WorldRng
    ) -> None:
        """Group the bindings whose actuators are computed together.

        Args:
            bindings: The entity's actuators.
            sim: The simulation.
            rng: Random number generator, which draws the lags of delays.
        """
        self.bindings = tuple(bindings)
        self.names = tuple(name for b in self.bindings for name in b.target_names)
        """Names of the actuators."""
        self._sim = sim
        self._rng = rng
        ends = list(accumulate(len(b.target_names) for b in self.bindings))
        indexed = [
            (binding, range(end - len(binding.target_names), end))
            for binding, end in zip(self.bindings, ends, strict=True)
        ]
        native: list[_Indexed] = []
        explicit: list[_Indexed] = []
        for each in indexed:
            is_explicit = isinstance(each[0].cfg, ExplicitActuatorCfg)
            (explicit if is_explicit else native).append(each)
        parts: dict[Quantity, list[Part]] = {
            quantity: native_parts(quantity, native, sim) for quantity in ABSENT
        }
        self._groups: Sequence[ActuatorGroup] = [
            *self._build_native([binding for binding, _ in native]),
            *self._build_explicit(explicit, parts),
        ]
        times = [group.write_time for group in self._groups]
        self.write_time = max(times, default=WriteTime.STEP)
        """When `apply` must be called: the latest time of all groups.

        With explicit tendon actuators, it is `WriteTime.INSIDE`: call `apply` in
        `sim.step(control=...)`. A physics step computes tendon lengths from the state,
        so between two physics steps, the lengths are one step old.
        """
        self._quantities = {
            quantity: ActuatorQuantity(quantity, self.names, some, sim)
            for quantity, some in parts.items()
        }

    def __repr__(self) -> str:
        return f"ActuatorSet({', '.join(self.names)})"

    def apply(self, targets: ActuatorTargets) -> None:
        """Compute all controls from `targets`, and write them to `sim.data.ctrl`."""
        for group in self._groups:
            group.apply(targets)

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the internal state of the worlds in `mask`, shape (num_envs,), bool.

        Delays start again with the next command. Gains and limits are unchanged.
        """
        for group in self._groups:
            group.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot.

        Gains that are stored in model fields are excluded.
        """
        return {
            f"{index}.{name}": value
            for index, group in enumerate(self._groups)
            for name, value in group.state().items()
        }

    # Gains and limits.

    def find(self, patterns: str | Sequence[str]) -> list[int]:
        """Return the indices of the actuators whose names match a pattern."""
        return match_names(patterns, self.names, what="actuator")

    def check(self, quantity: Quantity, indices: Sequence[int]) -> None:
        """Raise if an actuator does not have the quantity."""
        self._quantities[quantity].check(indices)

    def required_model_fields(self, *quantities: Quantity) -> frozenset[str]:
        """Return the model fields that must vary per world to set `quantities`."""
        fields = (self._quantities[quantity].fields for quantity in quantities)
        return frozenset().union(*fields)

    @property
    def stiffness(self) -> torch.Tensor:
        """Copy of the position gains, shape (num_envs, num_actuators)."""
        return self._quantities["stiffness"].read()

    @property
    def damping(self) -> torch.Tensor:
        """Copy of the velocity gains, shape (num_envs, num_actuators)."""
        return self._quantities["damping"].read()

    @property
    def effort_limit(self) -> torch.Tensor:
        """Copy of the effort limits, shape (num_envs, num_actuators).

        The value is infinite without a limit, and the peak active force for a muscle.
        """
        return self._quantities["effort_limit"].read()

    def set_gains(
        self,
        mask: torch.Tensor,
        ids: torch.Tensor | None = None,
        kp: torch.Tensor | float | None = None,
        kd: torch.Tensor | float | None = None,
    ) -> None:
        """Set position and velocity gains, in place.

        Actuators without such a gain are skipped; use `check` to raise for them. Native
        actuators store their gains in the model, so the fields of
        `required_model_fields` must vary per world.

        Args:
            mask: Worlds, shape (num_envs,), bool.
            ids: Actuators, shape (k,), int64; None for all.
            kp: Position gains that broadcast to (num_envs, k); None keeps them.
            kd: Velocity gains that broadcast to (num_envs, k); None keeps them.
        """
        if kp is not None:
            self._quantities["stiffness"].write(mask, ids, kp)
        if kd is not None:
            self._quantities["damping"].write(mask, ids, kd)

    def set_effort_limit(
        self, mask: torch.Tensor, ids: torch.Tensor | None, limit: torch.Tensor | float
    ) -> None:
        """Set effort limits, in place, under the same conditions as `set_gains`.

        The force range of a native actuator becomes ±limit. A native actuator that was
        built without a limit is skipped.

        Args:
            mask: Worlds, shape (num_envs,), bool.
            ids: Actuators, shape (k,), int64; None for all.
            limit: Limits that broadcast to (num_envs, k).
        """
        self._quantities["effort_limit"].write(mask, ids, limit)

    # Construction.

    def _build_native(self, bindings: Sequence[ActuatorBinding]) -> list[NativeGroup]:
        together: dict[tuple[Transmission, Hashable], list[Control]] = {}
        late: dict[tuple[Transmission, Hashable], list[ActuatorBinding]] = {}
        for binding in bindings:
            transmission = binding.cfg.transmission
            if binding.cfg.delay is not None:
                late.setdefault((transmission, _delay_key(binding)), []).append(binding)
                continue
            for control in _controls(binding, self._sim.mj_model):
                together.setdefault((transmission, control.command), []).append(control)
        return [
            # Sorted, so that consecutive addresses form one slice.
            *(NativeGroup(key[0], sorted(c), self._sim) for key, c in together.items()),
            *(self._delayed_group(key[0], some) for key, some in late.items()),
        ]

    def _delayed_group(
        self, transmission: Transmission, bindings: Sequence[ActuatorBinding]
    ) -> NativeGroup:
        model = self._sim.mj_model
        controls = [each for b in bindings for each in _controls(b, model)]
        delay = self._delay(bindings[0], (len(controls),))
        return NativeGroup(transmission, controls, self._sim, delay)

    def _build_explicit(
        self, members: Sequence[_Indexed], parts: dict[Quantity, list[Part]]
    ) -> list[ExplicitGroup]:
        """Group bindings by control law, and add the laws' gains to `parts`."""
        together: dict[Hashable, list[_Indexed]] = {}
        for binding, indices in members:
            cfg = binding.cfg
            assert isinstance(cfg, ExplicitActuatorCfg)
            key = (type(cfg), cfg.transmission, cfg.law_key(), _delay_key(binding))
            together.setdefault(key, []).append((binding, indices))
        groups = []
        sim = self._sim
        for some in together.values():
            bindings = [binding for binding, _ in some]
            configured: Any = [(each.cfg, each.target_names) for each in bindings]
            numbers = LawNumbers(configured, sim.num_envs, sim.device)
            law = configured[0][0].build_law(numbers)
            indices = [index for _, each in some for index in each]
            for quantity, known in parts.items():
                tensor: torch.Tensor | None = getattr(law, quantity)
                if tensor is not None:
                    known.append((indices, TensorParameter(tensor)))
            delayed = bindings[0].cfg.delay is not None
            delay = self._delay(bindings[0], (3, len(indices))) if delayed else None
            groups.append(ExplicitGroup(bindings, law, sim, delay))
        return groups

    def _delay(self, binding: ActuatorBinding, shape: tuple[int, ...]) -> DelayBuffer:
        assert binding.cfg.delay is not None
        # Names in the compiled model are unique, so the stream names are unique, too.
        first = self._sim.mj_model.actuator(int(binding.actuator_ids[0])).name
        stream = f"actuator/{first}/delay"
        if binding.cfg.delay_group is not None:
            # Buffers with the same random stream draw the same lags.
            entity = first[: first.find("/") + 1]
            stream = f"actuator/{entity}{binding.cfg.delay_group}/delay group"
        return DelayBuffer(binding.cfg.delay, shape, self._rng, stream)


def _delay_key(binding: ActuatorBinding) -> Hashable:
    """Return an equal key for bindings that share a delay, None without a delay."""
    if binding.cfg.delay is None:
        return None
    return binding.cfg.delay_group or id(binding)


def _controls(binding: ActuatorBinding, model: mujoco.MjModel) -> list[Control]:
    """Return the controls of a binding; raise if two of them read one target."""
    found, kind = controls_of(binding, model), binding.cfg.transmission
    for target, controls in found.items():
        readers: dict[Command, int] = {}
        for control in controls:
            command, name = control.command, model.actuator(control.actuator).name
            if (kind, command) not in TARGET_FIELDS:
                raise ActuatorError(
                    f"The actuator {name!r} of the {kind} {target!r} is controlled by "
                    f"a {command}, but a {kind} has no {command} target. Use "
                    "XmlActuatorCfg(command='effort') to control it by effort."
                )
            first = readers.setdefault(command, control.actuator)
            if first != control.actuator:
                raise ActuatorError(
                    f"The {kind} {target!r} has two actuators, "
                    f"{model.actuator(first).name!r} and {name!r}, that read the same "
                    f"{command} target. Leave the {kind} out of the configuration and "
                    "write their controls to sim.data.ctrl."
                )
    return [control for controls in found.values() for control in controls]
