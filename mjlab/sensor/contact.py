"""Contact sensors of geoms, bodies or subtrees."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NoReturn, get_args

import mujoco
import torch

from mjlab.names import UnknownNameError, match_names, suggest
from mjlab.sensor.contact_data import (
    FIELD_SIZES,
    AirTime,
    ContactData,
    ContactField,
    ContactPart,
    field_slices,
)
from mjlab.sensor.objects import ObjType, SensorError, names_of_entity
from mjlab.sensor.sensor import Sensor, SensorCfg, SensorContext
from mjlab.sim import Stage

MatchMode = Literal["geom", "body", "subtree"]
Reduction = Literal["none", "mindist", "maxforce", "netforce"]
SecondaryPolicy = Literal["first", "any", "error"]

_WRENCH: tuple[ContactField, ...] = ("force", "torque")
_AXES: tuple[ContactField, ...] = ("normal", "tangent")
_MATCH_TYPES: dict[MatchMode, tuple[ObjType, mujoco.mjtObj]] = {
    "geom": ("geom", mujoco.mjtObj.mjOBJ_GEOM),
    "body": ("body", mujoco.mjtObj.mjOBJ_BODY),
    "subtree": ("body", mujoco.mjtObj.mjOBJ_XBODY),
}


@dataclass(kw_only=True)
class ContactMatch:
    """Geoms, bodies or subtrees on one side of a contact, selected by name."""

    mode: MatchMode
    """Type of element. A `subtree` is a body with all of its descendants."""

    pattern: str | tuple[str, ...]
    """Names of geoms or bodies within the entity, as regular expressions."""

    entity: str | None = None
    """Entity that owns the elements. None matches names of the whole scene."""

    exclude: tuple[str, ...] = ()
    """Patterns of matched names to exclude."""

    def names(self, spec: mujoco.MjSpec, sensor: str) -> list[str]:
        """Full names of the matching elements, in the order of the scene."""
        if self.mode not in _MATCH_TYPES:
            raise SensorError(
                f"Sensor {sensor!r}: mode={self.mode!r} is unknown. "
                + suggest(self.mode, _MATCH_TYPES)
            )
        kind = _MATCH_TYPES[self.mode][0]
        local = names_of_entity(spec, kind, self.entity, sensor)
        try:
            chosen = match_names(self.pattern, local, what=kind, owner=self.entity)
            dropped = (
                match_names(self.exclude, local, what=kind, owner=self.entity)
                if self.exclude
                else []
            )
        except UnknownNameError as error:
            raise UnknownNameError(f"Sensor {sensor!r}: {error}") from None
        kept = [local[index] for index in chosen if index not in dropped]
        if not kept:
            raise SensorError(
                f"Sensor {sensor!r}: exclude={self.exclude} removes all matches of "
                f"{self.pattern!r}."
            )
        return [f"{self.entity}/{name}" if self.entity else name for name in kept]


class ContactSensorCfg(SensorCfg):
    """Contact sensor. Adds one MuJoCo contact sensor for each primary element."""

    primary: ContactMatch
    """Elements whose contacts are measured. Each matching element has separate
    readings."""

    secondary: ContactMatch | None = None
    """Other side of the contact. None means any geom."""

    secondary_policy: SecondaryPolicy = "error"
    """Handling of several `secondary` matches: raise an error (`error`), use the first
    match (`first`), or accept contact with any geom (`any`)."""

    fields: tuple[ContactField, ...] = ("found", "force")
    """Measured quantities. If neither `fields` nor `reduce` uses forces, the sensor
    does not need the constraint solver, so reading it in an observation is cheaper."""

    reduce: Reduction = "maxforce"
    """Contacts that fill the slots if there are more contacts than slots: the first in
    MuJoCo's order (`none`), the deepest (`mindist`) or the strongest (`maxforce`).
    `netforce` reports the sum of all contacts as one contact."""

    num_slots: int = 1
    """Contacts reported for each primary."""

    track_air_time: bool = False
    """Measure air time and contact time of each primary."""

    global_frame: bool = False
    """Rotate force and torque from the contact frame to the world frame.
    With `reduce="netforce"` they are always in the world frame."""

    history_length: int = 0
    """Length of the history in physics steps, 0 for none."""

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add a contact sensor for each primary."""
        self._check()
        primaries = self.primary.names(spec, self.name)
        secondary = self._secondary_name(spec)
        data = sum(1 << list(FIELD_SIZES).index(f) for f in self.measured_fields)
        reduce = get_args(Reduction).index(self.reduce)
        for primary in primaries:
            sensor = spec.add_sensor(
                name=_mj_sensor_name(self.name, primary),
                type=mujoco.mjtSensor.mjSENS_CONTACT,
                objtype=_MATCH_TYPES[self.primary.mode][1],
                objname=primary,
                intprm=[data, reduce, self.num_slots],
            )
            if self.secondary is not None and secondary:
                sensor.reftype = _MATCH_TYPES[self.secondary.mode][1]
                sensor.refname = secondary

    def bind(self, context: SensorContext) -> "ContactSensor":
        return ContactSensor(self, context)

    def part(self, model: mujoco.MjModel) -> ContactPart:
        """Return the layout of this sensor's readings in the contact pool."""
        return ContactPart(
            name=self.name,
            sensor_ids=tuple(_sensor_ids(model, self.name)),
            num_slots=self.num_slots,
            size=sum(FIELD_SIZES[name] for name in self.measured_fields),
            history_length=self.history_length,
        )

    def parts(self, model: mujoco.MjModel) -> list[str]:
        """Names of the MuJoCo sensors, one for each primary, in the compiled model."""
        return [model.sensor(i).name for i in _sensor_ids(model, self.name)]

    @property
    def measured_fields(self) -> tuple[ContactField, ...]:
        """Requested fields and the fields they need, in MuJoCo's order."""
        wanted = set(self.fields)
        if self.track_air_time:
            wanted.add("found")
        if self.turns_to_world:
            wanted.update(_AXES)
        return tuple(name for name in FIELD_SIZES if name in wanted)

    @property
    def turns_to_world(self) -> bool:
        """True if force and torque must be rotated from the contact frame."""
        return self.global_frame and self.reduce != "netforce"

    def _secondary_name(self, spec: mujoco.MjSpec) -> str:
        """Return the full name of the secondary element, "" for any geom."""
        if self.secondary is None or self.secondary_policy == "any":
            return ""
        names = self.secondary.names(spec, self.name)
        if len(names) > 1 and self.secondary_policy == "error":
            raise SensorError(
                f"Sensor {self.name!r}: secondary matches {len(names)} names, "
                f"{', '.join(map(repr, names[:8]))}; it has to match one. Match a body "
                "or a subtree that contains all of them, leave secondary out, or set "
                "secondary_policy to 'first' or 'any'."
            )
        return names[0]

    def _check(self) -> None:
        for name in self.fields:
            self._check_choice("fields", name, FIELD_SIZES)
        self._check_choice("reduce", self.reduce, get_args(Reduction))
        policies = get_args(SecondaryPolicy)
        self._check_choice("secondary_policy", self.secondary_policy, policies)
        if not self.fields:
            self._complain("fields is empty; name at least one, such as 'found'.")
        if self.num_slots < 1:
            self._complain(f"num_slots={self.num_slots} has to be 1 or more.")
        if self.history_length < 0:
            self._complain(f"history_length={self.history_length} is negative.")
        if self.reduce == "netforce":
            self._check_netforce()
        if self.global_frame and not set(_WRENCH) & set(self.fields):
            self._complain("global_frame=True needs 'force' or 'torque' in fields.")

    def _check_netforce(self) -> None:
        if self.num_slots > 1:
            self._complain(
                "reduce='netforce' gives one contact; num_slots has to be 1, not "
                f"{self.num_slots}."
            )
        senseless = {"dist", *_AXES} & set(self.fields)
        if senseless:
            self._complain(
                "reduce='netforce' sums contacts, so fields cannot contain "
                f"{', '.join(sorted(senseless))}."
            )

    def _check_choice(self, setting: str, value: str, valid: Iterable[str]) -> None:
        if value not in valid:
            self._complain(f"{setting}: {value!r} is unknown. {suggest(value, valid)}")

    def _complain(self, what: str) -> NoReturn:
        raise SensorError(f"Contact sensor {self.name!r}: {what}")


class ContactSensor(Sensor):
    """Reads MuJoCo's contact sensors of all primaries in one operation."""

    updates_from_readings = True

    def __init__(self, cfg: ContactSensorCfg, context: SensorContext) -> None:
        """Find the MuJoCo sensors that `cfg.edit_spec` added."""
        self.name = cfg.name
        sim, pool = context.sim, context.contacts
        assert pool is not None, "Call `bind_sensors` first."
        self._sim, self._pool = sim, pool
        ids = _sensor_ids(sim.mj_model, cfg.name)
        self.primary_names = tuple(
            sim.mj_model.sensor(i).name.removeprefix(_mj_sensor_name(cfg.name, ""))
            for i in ids
        )
        """Full names of the primaries, in the order of the outputs."""
        self._stage = Stage(max(int(sim.mj_model.sensor_needstage[i]) for i in ids))
        parts = field_slices(cfg.measured_fields)
        self._block = pool.block(cfg.name)
        self._columns = pool.columns(cfg.name)
        self._source = sim.engine.data("sensordata")
        self._slots_per_primary = cfg.num_slots
        self._wrench = [parts[name] for name in _WRENCH if name in parts]
        self._axes = [parts[name] for name in _AXES] if cfg.turns_to_world else []
        self._air_time = (
            AirTime(sim.num_envs, len(ids), sim.device) if cfg.track_air_time else None
        )
        self._cached: dict[tuple[str, int], torch.Tensor] = {}
        # True while the block holds the engine's current readings.
        self._is_taken = True
        self._data = ContactData(
            cfg.name,
            self._block,
            parts,
            pool.past(cfg.name),
            self._air_time,
            self._note_read,
        )

    @property
    def data(self) -> ContactData:
        """The readings, refreshed after each physics step and before observations."""
        return self._data

    def compute_first_contact(self, dt: float) -> torch.Tensor:
        """Mask of primaries that made contact in the last `dt` seconds, (num_envs, P).

        Contact that has lasted since the reset does not count.
        """
        return self._once("landed", dt, self._data.times.landed_within)

    def compute_first_air(self, dt: float) -> torch.Tensor:
        """Mask of primaries that lost contact in the last `dt` seconds, (num_envs, P).

        A primary in the air since the reset does not count.
        """
        return self._once("lifted", dt, self._data.times.lifted_within)

    def is_in_contact(self) -> torch.Tensor:
        """Mask of primaries in contact in the last physics step, (num_envs, P).

        False for all primaries at the start of an episode.
        """
        times = self._data.times
        return self._once("touching", 0.0, lambda _: times.current_contact_time > 0.0)

    def update(self, dt: float) -> None:
        """Read the contacts of the last physics step, and update the air times."""
        self._cached.clear()
        self._is_taken = True
        if self._pool.first == self.name:
            self._pool.take()
        self._turn_to_world()
        if self._air_time is not None:
            # The first slot of a primary is filled whenever it has a contact at all;
            # `found` is MuJoCo's first field.
            found = self._block[:, :: self._slots_per_primary, 0]
            self._air_time.update(found, dt)
        if self._pool.last == self.name:
            self._pool.remember()

    def refresh(self) -> None:
        """Read the current contacts, if `forward()` has computed their stage.

        Otherwise the readings are out of date: the next read computes the stage, or
        raises `StaleReadError` if no term was known to read this sensor.
        """
        self._is_taken = self._sim.reads.fresh >= self._stage
        if self._is_taken:
            self._take()

    def invalidate(self) -> None:
        """Clear cached air time results, and mark the readings as out of date.

        A graph replay or a restored state changes readings without running Python.
        """
        self._cached.clear()
        self._is_taken &= self._sim.reads.fresh >= self._stage

    def reset(self, mask: torch.Tensor) -> None:
        """Clear readings, times and history of the worlds in `mask`."""
        self._cached.clear()
        if self._pool.first == self.name:
            self._pool.reset(mask)
        if self._air_time is not None:
            self._air_time.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """The live state tensors; copy into them to restore a snapshot."""
        tensors = self._pool.state(self.name)
        if self._air_time is not None:
            tensors |= self._air_time.state()
        return tensors

    def _take(self) -> None:
        """Copy the engine's current readings of this sensor."""
        flat = self._source.index_select(1, self._columns)
        self._block.copy_(flat.view_as(self._block))
        self._turn_to_world()

    def _turn_to_world(self) -> None:
        if self._axes:
            normal, tangent = (self._block[..., part] for part in self._axes)
            second_tangent = torch.linalg.cross(normal, tangent)
            for part in self._wrench:
                value = self._block[..., part]
                value.copy_(
                    value[..., 0:1] * normal
                    + value[..., 1:2] * tangent
                    + value[..., 2:3] * second_tangent
                )

    def _note_read(self) -> None:
        self._sim.data.require(self.name, self._stage)
        # Another sensor can have computed this stage without reading this sensor.
        if not self._is_taken:
            self._take()
            self._is_taken = True

    def _once(
        self, what: str, dt: float, compute: Callable[[int], torch.Tensor]
    ) -> torch.Tensor:
        """Return a result that is cached until the next physics step."""
        steps = round(dt / self._sim.timestep)
        if (what, steps) not in self._cached:
            self._cached[what, steps] = compute(steps)
        return self._cached[what, steps]


def _mj_sensor_name(sensor: str, primary: str) -> str:
    # A colon, because a slash would make the sensor look like an entity.
    return f"{sensor}:{primary}"


def _sensor_ids(model: mujoco.MjModel, sensor: str) -> list[int]:
    prefix = _mj_sensor_name(sensor, "")
    ids = [i for i in range(model.nsensor) if model.sensor(i).name.startswith(prefix)]
    if not ids:
        raise UnknownNameError(
            f"The compiled model has no contact sensor {sensor!r}: call its "
            "`edit_spec` before the scene is compiled."
        )
    return ids
