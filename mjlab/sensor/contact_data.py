"""Readings of contact sensors: fields, histories, air time and contact time.

One operation reads all contact sensors of a scene. Sensors with the same history length
share one history buffer.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal

import mujoco
import torch

from mjlab.sim import Simulation
from mjlab.tensors.buffers import HistoryBuffer
from mjlab.tensors.masks import fill_where

ContactField = Literal["found", "force", "torque", "dist", "pos", "normal", "tangent"]

# Size of each field, in the order in which MuJoCo writes them (mjtConDataField).
FIELD_SIZES: dict[ContactField, int] = {
    "found": 1,
    "force": 3,
    "torque": 3,
    "dist": 1,
    "pos": 3,
    "normal": 3,
    "tangent": 3,
}


class AirTime:
    """Air time and contact time, counted in physics steps.

    Steps are counted as integers and multiplied by their duration, so that no rounding
    accumulates over an episode. A phase ends when the opposite phase begins; a reset
    discards the unfinished phase.
    """

    def __init__(self, num_envs: int, width: int, device: torch.device) -> None:
        """Allocate the counters of `width` elements in each world."""
        counters = torch.zeros(num_envs, width, 8, dtype=torch.int32, device=device)
        # Last dimension: numbers of steps in the current air phase and the current
        # contact phase (one of them is 0) and in the last completed phases, then
        # the same four durations in seconds, as float32.
        self._counters, self._steps = counters, counters[..., :4]
        self._times = counters[..., 4:].view(torch.float32)
        self._is_air = torch.tensor([True, False], device=device)
        air, contact, last_air, last_contact = self._times.unbind(dim=-1)
        self.current_air_time = air
        """Seconds since contact was lost, 0 in contact, shape (num_envs, width)."""
        self.current_contact_time = contact
        """Seconds since contact was made, 0 in the air, shape (num_envs, width)."""
        self.last_air_time = last_air
        """Duration of the last completed air phase, s, shape (num_envs, width)."""
        self.last_contact_time = last_contact
        """Duration of the last completed contact phase, s, shape (num_envs, width)."""

    def update(self, in_contact: torch.Tensor, dt: float) -> None:
        """Count one physics step of `dt` seconds.

        Args:
            in_contact: Nonzero in contact, 0 in the air, float32 (num_envs, width).
            dt: Duration of a physics step.
        """
        running, ended = self._steps[..., :2], self._steps[..., 2:]
        goes_on = torch.empty_like(running)
        torch.logical_xor(in_contact.unsqueeze(-1), self._is_air, out=goes_on)
        after = torch.addcmul(goes_on, running, goes_on)
        # A phase that continues is longer than before; a phase that ended is 0.
        torch.where(running > after, running, ended, out=ended)
        running.copy_(after)
        torch.mul(self._steps, dt, out=self._times)

    def landed_within(self, steps: int) -> torch.Tensor:
        """True if an air phase ended in the last `steps` physics steps.

        Shape (num_envs, width). Contact that has lasted since the reset does not count.
        """
        return self._began_within(steps, phase=1)

    def lifted_within(self, steps: int) -> torch.Tensor:
        """True if a contact phase ended in the last `steps` physics steps.

        Shape (num_envs, width).
        """
        return self._began_within(steps, phase=0)

    def reset(self, mask: torch.Tensor) -> None:
        """Clear the phases of the worlds in `mask`, shape (num_envs,)."""
        fill_where(self._counters, mask, 0)  # Integer 0 has the bits of 0.0.

    def state(self) -> dict[str, torch.Tensor]:
        """The live state tensors; copy into them to restore a snapshot."""
        return {"phase_steps": self._steps, "phase_times": self._times}

    def _began_within(self, steps: int, *, phase: int) -> torch.Tensor:
        running, other_ended = self._steps[..., phase], self._steps[..., 3 - phase]
        return running.logical_and(other_ended).logical_and_(running <= steps)


class ContactFieldError(AttributeError):
    """Raised on a read of a contact quantity that the sensor does not measure."""


class _Tensor(property):
    """Property whose static type is `torch.Tensor`."""

    def __get__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, instance: Any, owner: type | None = None, /
    ) -> torch.Tensor:
        return super().__get__(instance, owner)


class ContactData:
    """Readings of a contact sensor, written in place.

    In the shapes, P is the number of primaries and S the number of slots; dimension 1
    holds the slots of the first primary, then the slots of the second, and so on. Empty
    slots are zero. Reading a field requires its stage to be computed. Air times and
    histories do not, because they come from completed physics steps.

    As in MuJoCo, normals point away from the primary, and force and torque act on the
    other side: the normal of a foot that stands on the ground points down.
    """

    def __init__(
        self,
        name: str,
        block: torch.Tensor,
        parts: dict[ContactField, slice],
        past: torch.Tensor | None,
        air_time: AirTime | None,
        note_read: Callable[[], None],
    ) -> None:
        self._name = name
        self._note_read = note_read
        self._air_time = air_time
        self._fields = {f: _column(block, part) for f, part in parts.items()}
        # Transposed to (num_envs, P * S, length, size).
        self._past = (
            {}
            if past is None
            else {f: _column(past.transpose(1, 2), part) for f, part in parts.items()}
        )

    found = _Tensor(lambda data: data._field("found"))
    """The primary's number of contacts, 0 in an empty slot, (num_envs, P * S)."""

    force = _Tensor(lambda data: data._field("force"))
    """Force in N, shape (num_envs, P * S, 3).

    It is given in the contact frame (axes: normal, tangent, normal x tangent), or in
    the world frame with `global_frame` or reduce="netforce".
    """

    torque = _Tensor(lambda data: data._field("torque"))
    """Torque about `pos` in N m, shape (num_envs, P * S, 3); same frame as `force`."""

    dist = _Tensor(lambda data: data._field("dist"))
    """Distance in m, negative in penetration, shape (num_envs, P * S)."""

    pos = _Tensor(lambda data: data._field("pos"))
    """Position of the contact in the world, in m, shape (num_envs, P * S, 3)."""

    normal = _Tensor(lambda data: data._field("normal"))
    """Contact normal in the world frame, shape (num_envs, P * S, 3)."""

    tangent = _Tensor(lambda data: data._field("tangent"))
    """First tangent in the world frame, shape (num_envs, P * S, 3)."""

    def history(self, name: ContactField) -> torch.Tensor:
        """Values after the last physics steps, newest first.

        Shape (num_envs, P * S, history_length) or (num_envs, P * S, history_length, 3).
        After a reset the first step's value fills the whole history.
        """
        if name not in self._past:
            self._raise_missing(f"history of {name!r}", self._past)
        return self._past[name]

    @property
    def force_history(self) -> torch.Tensor | None:
        """History of `force`, N, shape (num_envs, P * S, history_length, 3).

        None without a history, as in mjlab; `history("force")` raises an error instead.
        """
        return self._past.get("force")

    current_air_time = _Tensor(attrgetter("times.current_air_time"))
    """Seconds since contact was lost, 0 in contact, shape (num_envs, P)."""

    current_contact_time = _Tensor(attrgetter("times.current_contact_time"))
    """Seconds since contact was made, 0 in the air, shape (num_envs, P)."""

    last_air_time = _Tensor(attrgetter("times.last_air_time"))
    """Duration of the last completed air phase, s, shape (num_envs, P)."""

    last_contact_time = _Tensor(attrgetter("times.last_contact_time"))
    """Duration of the last completed contact phase, s, shape (num_envs, P)."""

    @property
    def times(self) -> AirTime:
        """Air time and contact time counters."""
        if self._air_time is None:
            raise ContactFieldError(
                f"Contact sensor {self._name!r} does not track air time: set "
                "track_air_time=True."
            )
        return self._air_time

    def _field(self, name: ContactField) -> torch.Tensor:
        if name not in self._fields:
            self._raise_missing(f"field {name!r}", self._fields)
        self._note_read()
        return self._fields[name]

    def _raise_missing(self, what: str, valid: Iterable[str]) -> None:
        raise ContactFieldError(
            f"Contact sensor {self._name!r} has no {what}. It has "
            f"{', '.join(map(repr, valid)) or 'none'}."
        )


@dataclass(frozen=True)
class ContactPart:
    """Layout of one sensor's readings in a pool."""

    name: str
    """Name of the sensor."""

    sensor_ids: tuple[int, ...]
    """Ids of the MuJoCo contact sensors, one for each primary."""

    num_slots: int
    """Contacts reported for each primary."""

    size: int
    """Number of values per contact."""

    history_length: int
    """Length of the history in physics steps, 0 for none."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of one world's readings: (slots of all primaries, values per slot)."""
        return len(self.sensor_ids) * self.num_slots, self.size

    def columns(self, model: mujoco.MjModel) -> list[int]:
        """Return the columns of the readings in MuJoCo's `sensordata`."""
        width = self.num_slots * self.size
        starts = [int(model.sensor_adr[i]) for i in self.sensor_ids]
        return [start + offset for start in starts for offset in range(width)]


class ContactPool:
    """Reads all contact sensors of a scene in one operation.

    The scene calls the sensors in the order of their parts: the first sensor
    triggers reading and resetting, the last one appends to the histories.
    """

    def __init__(self, parts: Sequence[ContactPart], sim: Simulation) -> None:
        """Allocate readings and histories of all parts."""
        self.first, self.last = parts[0].name, parts[-1].name
        self._source = sim.engine.data("sensordata")
        # Sensors with the same history length are adjacent.
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
        """Return live readings of a sensor, shape (num_envs, slots, size)."""
        return self._readings[:, self._places[name]].unflatten(
            1, self._parts[name].shape
        )

    def past(self, name: str) -> torch.Tensor | None:
        """Return the live history of a sensor, (num_envs, length, slots, size)."""
        part = self._parts[name]
        if not part.history_length:
            return None
        place, history = self._histories[part.history_length]
        own = self._places[name]
        columns = slice(own.start - place.start, own.stop - place.start)
        return history.values[:, :, columns].unflatten(2, part.shape)

    def columns(self, name: str) -> torch.Tensor:
        """Columns of a sensor's readings in `sensordata`, int64."""
        return self._columns[self._places[name]]

    def take(self) -> None:
        """Copy the readings of all sensors from `sensordata`."""
        torch.index_select(self._source, 1, self._columns, out=self._readings)

    def remember(self) -> None:
        """Append the readings to the histories."""
        for place, history in self._histories.values():
            history.append(self._readings[:, place])

    def reset(self, mask: torch.Tensor) -> None:
        """Clear readings and histories of the worlds in `mask`."""
        fill_where(self._readings, mask, 0.0)
        for _, history in self._histories.values():
            history.reset(mask)

    def state(self, name: str) -> dict[str, torch.Tensor]:
        """Return the live state tensors of a sensor."""
        part, past = self._parts[name], self.past(name)
        tensors = {"readings": self.block(name)}
        if past is not None:
            _, history = self._histories[part.history_length]
            empty = history.state()["empty"]
            tensors |= {"history_values": past, "history_empty": empty}
        return tensors


def field_slices(fields: tuple[ContactField, ...]) -> dict[ContactField, slice]:
    """Return the slice of each field within the values of one contact slot."""
    slices, start = {}, 0
    for name in fields:
        slices[name] = slice(start, start + FIELD_SIZES[name])
        start += FIELD_SIZES[name]
    return slices


def _column(block: torch.Tensor, part: slice) -> torch.Tensor:
    """Return a field of a block, without its last dimension if that has size 1."""
    is_scalar = part.stop - part.start == 1
    return block[..., part.start] if is_scalar else block[..., part]
