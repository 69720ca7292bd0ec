"""What the contact sensors of a scene read and remember, kept side by side.

One operation reads all of them, and one history of each length remembers them, however
many sensors there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import torch

from mjlab.sim import Simulation
from mjlab.tensors.buffers import HistoryBuffer
from mjlab.tensors.masks import fill_where


@dataclass(frozen=True)
class ContactPart:
    """What a pool holds of one sensor."""

    name: str
    """The sensor."""

    sensor_ids: tuple[int, ...]
    """MuJoCo's contact sensors that it consists of, one for each primary."""

    num_slots: int
    """Contacts reported for each primary."""

    size: int
    """Numbers of one contact."""

    history_length: int
    """Physics steps that are remembered, 0 for none."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of one world's readings: slots of all primaries, numbers."""
        return len(self.sensor_ids) * self.num_slots, self.size

    def columns(self, model: mujoco.MjModel) -> list[int]:
        """Where the readings are in MuJoCo's `sensordata`."""
        width = self.num_slots * self.size
        starts = [int(model.sensor_adr[i]) for i in self.sensor_ids]
        return [start + offset for start in starts for offset in range(width)]


class ContactPool:
    """Reads contact sensors together.

    The scene calls the sensors in the order of their parts: the first has the pool read
    and forget, and the last has it remember.
    """

    def __init__(self, parts: Sequence[ContactPart], sim: Simulation) -> None:
        """Allocate readings and histories of all parts."""
        self.first, self.last = parts[0].name, parts[-1].name
        self._source = sim.engine.data("sensordata")
        # Neighbours remember equally long.
        ordered = sorted(parts, key=lambda part: part.history_length)
        columns: list[int] = []
        places: dict[str, slice] = {}
        for part in ordered:
            start = len(columns)
            columns += part.columns(sim.mj_model)
            places[part.name] = slice(start, len(columns))
        self._columns = torch.tensor(columns, device=sim.device)
        self._readings = torch.zeros(sim.num_envs, len(columns), device=sim.device)
        self._histories: dict[int, tuple[slice, HistoryBuffer]] = {}
        for length in sorted({p.history_length for p in ordered if p.history_length}):
            own = [places[p.name] for p in ordered if p.history_length == length]
            place = slice(own[0].start, own[-1].stop)
            width = place.stop - place.start
            history = HistoryBuffer(sim.num_envs, (width,), length, sim.device)
            self._histories[length] = (place, history)
        self._parts = {part.name: part for part in ordered}
        self._places = places

    def block(self, name: str) -> torch.Tensor:
        """Live readings of a sensor, shape (num_envs, slots, size)."""
        return self._readings[:, self._places[name]].unflatten(
            1, self._parts[name].shape
        )

    def past(self, name: str) -> torch.Tensor | None:
        """Live history of a sensor, (num_envs, length, slots, size), if it has one."""
        part = self._parts[name]
        if not part.history_length:
            return None
        place, history = self._histories[part.history_length]
        own = self._places[name]
        columns = slice(own.start - place.start, own.stop - place.start)
        return history.values[:, :, columns].unflatten(2, part.shape)

    def columns(self, name: str) -> torch.Tensor:
        """Where the readings of a sensor are in `sensordata`, int64."""
        return self._columns[self._places[name]]

    def take(self) -> None:
        """Read all sensors."""
        torch.index_select(self._source, 1, self._columns, out=self._readings)

    def remember(self) -> None:
        """Append the readings to the histories."""
        for place, history in self._histories.values():
            history.append(self._readings[:, place])

    def reset(self, mask: torch.Tensor) -> None:
        """Clear readings and histories of the worlds of `mask`."""
        fill_where(self._readings, mask, 0.0)
        for _, history in self._histories.values():
            history.reset(mask)

    def state(self, name: str) -> dict[str, torch.Tensor]:
        """The live tensors of a sensor."""
        part, past = self._parts[name], self.past(name)
        tensors = {"readings": self.block(name)}
        if past is not None:
            _, history = self._histories[part.history_length]
            empty = history.state()["empty"]
            tensors |= {"history_values": past, "history_empty": empty}
        return tensors
