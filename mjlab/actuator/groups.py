"""Actuators that are computed and written together, in one operation each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import torch

from mjlab.actuator.actuator import ActuatorBinding, ActuatorTargets, Command
from mjlab.actuator.compiled import Input
from mjlab.actuator.explicit import Commands, ControlLaw
from mjlab.actuator.place import Transmission
from mjlab.sim import Simulation
from mjlab.tensors.buffers import DelayBuffer
from mjlab.tensors.columns import Columns


class Group(Protocol):
    """Actuators that share everything but their columns."""

    def apply(self, targets: ActuatorTargets) -> None:
        """Write `sim.data.ctrl` for a physics step; called once for each."""
        ...

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the past of the worlds where `mask`, shape (num_envs,), holds."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        ...


class NativeGroup:
    """Controls that pass one kind of command on to one kind of target."""

    def __init__(
        self,
        transmission: Transmission,
        command: Command,
        controls: Iterable[tuple[Input, int]],
        sim: Simulation,
    ) -> None:
        """Remember the columns.

        Args:
            transmission: What is driven.
            command: What the controls mean.
            controls: Each control, and its target's column in the targets.
            sim: The simulation.
        """
        ordered = sorted(controls, key=lambda control: control[0].ctrl)
        self._sim = sim
        self._transmission: Transmission = transmission
        self._command: Command = command
        self._targets = Columns.of([column for _, column in ordered], sim.device)
        self._controls = Columns.of([each.ctrl for each, _ in ordered], sim.device)

    def apply(self, targets: ActuatorTargets) -> None:
        """Write `sim.data.ctrl` for a physics step."""
        commands = targets.of(self._transmission, self._command)
        self._targets.move(commands, self._sim.data.ctrl, self._controls)

    def reset(self, mask: torch.Tensor) -> None:
        """Do nothing: there is no past."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return no tensors: nothing changes."""
        return {}


class DelayedNativeGroup:
    """Controls of all commands, which come late together."""

    def __init__(
        self,
        transmission: Transmission,
        controls: Sequence[tuple[Input, int]],
        sim: Simulation,
        delay: DelayBuffer,
    ) -> None:
        """Remember the columns.

        Args:
            transmission: What is driven.
            controls: Each control, and its target's column in the targets.
            sim: The simulation.
            delay: Delays the commands, shape (len(controls),).
        """
        by_command: dict[Command, list[tuple[Input, int]]] = {}
        for control in controls:
            by_command.setdefault(control[0].command, []).append(control)
        self._sim = sim
        self._transmission: Transmission = transmission
        self._sources: list[tuple[Command, Columns]] = [
            (command, Columns.of([column for _, column in some], sim.device))
            for command, some in by_command.items()
        ]
        addresses = [each.ctrl for some in by_command.values() for each, _ in some]
        self._controls = Columns.of(addresses, sim.device)
        self._delay = delay

    def apply(self, targets: ActuatorTargets) -> None:
        """Write `sim.data.ctrl` for a physics step."""
        commands = [
            columns.read(targets.of(self._transmission, command))
            for command, columns in self._sources
        ]
        late = self._delay.append_and_read(torch.cat(commands, dim=1))
        self._controls.write_all(self._sim.data.ctrl, late)

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the commands of the worlds where `mask`, shape (num_envs,), holds."""
        self._delay.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        return {f"delay.{name}": value for name, value in self._delay.state().items()}


class ExplicitGroup:
    """Motors whose efforts one control law computes."""

    def __init__(
        self,
        bindings: Sequence[ActuatorBinding],
        law: ControlLaw,
        sim: Simulation,
        delay: DelayBuffer | None,
    ) -> None:
        """Remember the columns.

        Args:
            bindings: Whose actuators stand side by side in the law.
            law: Computes the efforts.
            sim: The simulation.
            delay: Delays the commands, shape (3, n).
        """
        device = sim.device
        self._sim = sim
        self._law = law
        self._delay = delay
        self._transmission: Transmission = bindings[0].cfg.transmission
        self._targets = Columns.of(_joined(b.target_ids for b in bindings), device)
        self._controls = Columns.of(_joined(b.ctrl_adr for b in bindings), device)
        if self._transmission == "joint":
            self._fields = ("qpos", "qvel")
            positions = _joined(b.qpos_adr for b in bindings)
            velocities = _joined(b.qvel_adr for b in bindings)
        else:
            self._fields = ("ten_length", "ten_velocity")
            actuators = _joined(b.actuator_ids for b in bindings)
            positions = sim.mj_model.actuator_trnid[actuators, 0].tolist()
            velocities = positions
        self._positions = Columns.of(positions, device)
        self._velocities = Columns.of(velocities, device)

    @property
    def reads_derived(self) -> bool:
        """Whether the law reads what the velocity stage computes."""
        return self._transmission == "tendon"

    def apply(self, targets: ActuatorTargets) -> None:
        """Write `sim.data.ctrl` for a physics step."""
        data = self._sim.data
        position = self._positions.read(getattr(data, self._fields[0]))
        velocity = self._velocities.read(getattr(data, self._fields[1]))
        effort = self._law.compute(self._commands(targets), position, velocity)
        self._controls.write_all(data.ctrl, effort)

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the past of the worlds where `mask`, shape (num_envs,), holds."""
        self._law.reset(mask)
        if self._delay is not None:
            self._delay.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change."""
        state = self._law.state()
        if self._delay is not None:
            state |= {f"delay.{k}": v for k, v in self._delay.state().items()}
        return state

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
