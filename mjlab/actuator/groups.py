"""Groups of actuators that are computed and written in one operation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from enum import IntEnum

import torch

from mjlab.actuator.actuator import (
    TARGET_FIELDS,
    ActuatorBinding,
    ActuatorTargets,
    Command,
)
from mjlab.actuator.compiled import Control
from mjlab.actuator.explicit import Commands, ControlLaw
from mjlab.actuator.place import Transmission
from mjlab.sim import Simulation
from mjlab.tensors.buffers import DelayBuffer
from mjlab.tensors.columns import Columns


class WriteTime(IntEnum):
    """When controls are written, from earliest to latest."""

    STEP = 0
    """Once per environment step: controls depend only on the current targets."""

    SUBSTEP = 1
    """Before each physics step: controls depend on the state or on earlier targets."""

    INSIDE = 2
    """Within each physics step: controls depend on results of its velocity stage."""


class ActuatorGroup(ABC):
    """Actuators of one kind that are computed and written together."""

    write_time = WriteTime.SUBSTEP
    """When `apply` must be called."""

    def __init__(
        self, transmission: Transmission, sim: Simulation, delay: DelayBuffer | None
    ) -> None:
        self._transmission: Transmission = transmission
        self._sim = sim
        self._delay = delay

    @abstractmethod
    def apply(self, targets: ActuatorTargets) -> None:
        """Compute controls and write `sim.data.ctrl`; called at `write_time`."""

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the internal state of the worlds in `mask`, shape (num_envs,), bool."""
        if self._delay is not None:
            self._delay.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, for snapshots."""
        state = {} if self._delay is None else self._delay.state()
        return {f"delay.{name}": value for name, value in state.items()}


class NativeGroup(ActuatorGroup):
    """Controls of native actuators: commands are copied to `ctrl`."""

    def __init__(
        self,
        transmission: Transmission,
        controls: Sequence[Control],
        sim: Simulation,
        delay: DelayBuffer | None = None,
    ) -> None:
        """Look up the columns of the targets, and the addresses of the controls.

        Args:
            transmission: Kind of the targets.
            controls: The controls.
            sim: The simulation.
            delay: Delay of the commands, shape (len(controls),).
        """
        super().__init__(transmission, sim, delay)
        if delay is None:
            self.write_time = WriteTime.STEP
        by_command: dict[Command, list[Control]] = {}
        for control in controls:
            by_command.setdefault(control.command, []).append(control)
        self._sources: list[tuple[str, Columns, Columns]] = [
            (
                TARGET_FIELDS[transmission, command],
                Columns.of([each.column for each in some], sim.device),
                Columns.of([each.address for each in some], sim.device),
            )
            for command, some in by_command.items()
        ]
        addresses = [each.address for some in by_command.values() for each in some]
        self._controls = Columns.of(addresses, sim.device)

    def apply(self, targets: ActuatorTargets) -> None:
        """Write `sim.data.ctrl` for a physics step."""
        ctrl = self._sim.data.ctrl
        if self._delay is None:
            for field, columns, controls in self._sources:
                columns.move(getattr(targets, field), ctrl, controls)
            return
        commands = [
            columns.read(getattr(targets, field)) for field, columns, _ in self._sources
        ]
        late = self._delay.append_and_read(torch.cat(commands, dim=1))
        self._controls.write_all(ctrl, late)


class ExplicitGroup(ActuatorGroup):
    """Motors whose efforts are computed by one control law."""

    def __init__(
        self,
        bindings: Sequence[ActuatorBinding],
        law: ControlLaw,
        sim: Simulation,
        delay: DelayBuffer | None,
    ) -> None:
        """Look up the columns of targets, controls, positions and velocities.

        Args:
            bindings: Bindings of the actuators, in the order of the law's columns.
            law: The control law.
            sim: The simulation.
            delay: Delay of the commands, shape (3, n).
        """
        super().__init__(bindings[0].cfg.transmission, sim, delay)
        device = sim.device
        self._law = law
        self._targets = Columns.of(_joined(b.target_ids for b in bindings), device)
        self._controls = Columns.of(_joined(b.ctrl_adr for b in bindings), device)
        if self._transmission == "tendon":
            self.write_time = WriteTime.INSIDE
            self._fields = ("ten_length", "ten_velocity")
            actuators = _joined(b.actuator_ids for b in bindings)
            positions = sim.mj_model.actuator_trnid[actuators, 0].tolist()
            velocities = positions
        else:
            self._fields = ("qpos", "qvel")
            positions = _joined(b.qpos_adr for b in bindings)
            velocities = _joined(b.qvel_adr for b in bindings)
        self._positions = Columns.of(positions, device)
        self._velocities = Columns.of(velocities, device)

    def apply(self, targets: ActuatorTargets) -> None:
        """Write `sim.data.ctrl` for a physics step."""
        data = self._sim.data
        position = self._positions.read(getattr(data, self._fields[0]))
        velocity = self._velocities.read(getattr(data, self._fields[1]))
        effort = self._law.compute(self._commands(targets), position, velocity)
        self._controls.write_all(data.ctrl, effort)

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the internal state of the worlds in `mask`, shape (num_envs,), bool."""
        self._law.reset(mask)
        super().reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, for snapshots."""
        return self._law.state() | super().state()

    def _commands(self, targets: ActuatorTargets) -> Commands:
        position, velocity, effort = (
            self._targets.read(targets.of(self._transmission, command))
            for command in ("position", "velocity", "effort")
        )
        if self._delay is None:
            return Commands(position, velocity, effort)
        together = torch.stack((position, velocity, effort), dim=1)
        return Commands(*self._delay.append_and_read(together).unbind(dim=1))


def _joined(parts: Iterable[torch.Tensor]) -> list[int]:
    return [int(each) for part in parts for each in part.tolist()]
