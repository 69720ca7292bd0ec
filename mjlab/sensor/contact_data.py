"""What a contact sensor reads out: fields, times and histories."""

from collections.abc import Callable, Iterable
from typing import Literal

import torch

from mjlab.sensor.air_time import AirTime

ContactField = Literal["found", "force", "torque", "dist", "pos", "normal", "tangent"]

# In the order in which MuJoCo writes them (mjtConDataField), with their sizes.
FIELD_SIZES: dict[ContactField, int] = {
    "found": 1,
    "force": 3,
    "torque": 3,
    "dist": 1,
    "pos": 3,
    "normal": 3,
    "tangent": 3,
}


class ContactFieldError(AttributeError):
    """A contact quantity was read that the sensor does not measure."""


class ContactData:
    """Readings of a contact sensor, written in place.

    In the shapes, P is the number of primaries and S the number of slots; dimension 1
    holds the slots of the first primary, then those of the second. Empty slots are
    zero. A reading counts as a read of its stage; times and histories do not, since
    they were taken from steps that are over.

    As in MuJoCo, normals point away from the primary, and force and torque act on the
    other side: a foot that stands on the ground has a normal that points down.
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
        # From (num_envs, length, P * S, size) to (num_envs, P * S, length, size).
        self._past = (
            {}
            if past is None
            else {f: _column(past.transpose(1, 2), part) for f, part in parts.items()}
        )

    @property
    def found(self) -> torch.Tensor:
        """The primary's number of contacts, 0 in an empty slot, (num_envs, P * S)."""
        return self._field("found")

    @property
    def force(self) -> torch.Tensor:
        """Force in N, shape (num_envs, P * S, 3).

        In the contact frame, whose axes are the normal, the tangent and their cross
        product; with `global_frame` or reduce="netforce", in the world frame.
        """
        return self._field("force")

    @property
    def torque(self) -> torch.Tensor:
        """Torque about `pos` in Nm, shape (num_envs, P * S, 3); frame as of `force`."""
        return self._field("torque")

    @property
    def dist(self) -> torch.Tensor:
        """Distance in m, negative in penetration, shape (num_envs, P * S)."""
        return self._field("dist")

    @property
    def pos(self) -> torch.Tensor:
        """Position of the contact in the world, in m, shape (num_envs, P * S, 3)."""
        return self._field("pos")

    @property
    def normal(self) -> torch.Tensor:
        """Contact normal in the world frame, shape (num_envs, P * S, 3)."""
        return self._field("normal")

    @property
    def tangent(self) -> torch.Tensor:
        """First tangent in the world frame, shape (num_envs, P * S, 3)."""
        return self._field("tangent")

    def history(self, name: ContactField) -> torch.Tensor:
        """The values after the last physics steps, the newest first.

        Shape (num_envs, P * S, history_length) or (num_envs, P * S, history_length, 3).
        After a reset the first step's value fills the whole history.
        """
        if name not in self._past:
            self._raise_missing(f"history of {name!r}", self._past)
        return self._past[name]

    @property
    def force_history(self) -> torch.Tensor:
        """The history of `force`, shape (num_envs, P * S, history_length, 3)."""
        return self.history("force")

    @property
    def current_air_time(self) -> torch.Tensor:
        """Seconds since contact was lost, 0 in contact, shape (num_envs, P)."""
        return self._times.current_air_time

    @property
    def current_contact_time(self) -> torch.Tensor:
        """Seconds since contact was made, 0 in the air, shape (num_envs, P)."""
        return self._times.current_contact_time

    @property
    def last_air_time(self) -> torch.Tensor:
        """Seconds that the last ended air phase took, shape (num_envs, P)."""
        return self._times.last_air_time

    @property
    def last_contact_time(self) -> torch.Tensor:
        """Seconds that the last ended contact phase took, shape (num_envs, P)."""
        return self._times.last_contact_time

    @property
    def _times(self) -> AirTime:
        if self._air_time is None:
            raise ContactFieldError(
                f"Contact sensor {self._name!r} measures no times: set "
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


def field_slices(fields: tuple[ContactField, ...]) -> dict[ContactField, slice]:
    """Where each of the fields lies among the values of one slot."""
    slices, start = {}, 0
    for name in fields:
        slices[name] = slice(start, start + FIELD_SIZES[name])
        start += FIELD_SIZES[name]
    return slices


def _column(block: torch.Tensor, part: slice) -> torch.Tensor:
    """A field of a block; fields of size 1 lose their last dimension."""
    is_scalar = part.stop - part.start == 1
    return block[..., part.start] if is_scalar else block[..., part]
