"""Sensors that MuJoCo computes itself: found in the model, or added by config."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import torch

from mjlab.names import UnknownNameError, find_name, suggest
from mjlab.sensor.objects import ObjRef, SensorError, require_object
from mjlab.sensor.sensor import Sensor, SensorCfg, SensorContext
from mjlab.sim import Simulation, Stage


@dataclass(frozen=True)
class _Kind:
    """Object types that one type of MuJoCo sensor can be attached to."""

    obj: tuple[str, ...] = ()
    ref: tuple[str, ...] = ()
    ref_required: bool = False
    enum: str = ""
    intprm: tuple[int, int, int] = (0, 0, 0)


_FRAMES = ("body", "xbody", "geom", "site", "camera")
_SOLIDS = ("geom", "body")
_RAY_DISTANCE = 1 << int(mujoco.mjtRayDataField.mjRAYDATA_DIST)

SENSOR_KINDS: dict[str, _Kind] = {
    **dict.fromkeys(
        "touch accelerometer velocimeter gyro force torque magnetometer".split(),
        _Kind(obj=("site",)),
    ),
    "rangefinder": _Kind(obj=("site", "camera"), intprm=(_RAY_DISTANCE, 0, 0)),
    "camprojection": _Kind(obj=("site",), ref=("camera",), ref_required=True),
    **dict.fromkeys(
        "jointpos jointvel ballquat ballangvel "
        "jointlimitpos jointlimitvel jointlimitfrc".split(),
        _Kind(obj=("joint",)),
    ),
    "jointactuatorfrc": _Kind(obj=("joint",), enum="JOINTACTFRC"),
    **dict.fromkeys(
        "tendonpos tendonvel tendonlimitpos tendonlimitvel tendonlimitfrc".split(),
        _Kind(obj=("tendon",)),
    ),
    "tendonactuatorfrc": _Kind(obj=("tendon",), enum="TENDONACTFRC"),
    **dict.fromkeys(
        "actuatorpos actuatorvel actuatorfrc".split(), _Kind(obj=("actuator",))
    ),
    **dict.fromkeys(
        "framepos framequat framexaxis frameyaxis framezaxis "
        "framelinvel frameangvel".split(),
        _Kind(obj=_FRAMES, ref=_FRAMES),
    ),
    **dict.fromkeys("framelinacc frameangacc".split(), _Kind(obj=_FRAMES)),
    **dict.fromkeys(
        "subtreecom subtreelinvel subtreeangmom".split(), _Kind(obj=("body",))
    ),
    "insidesite": _Kind(obj=_FRAMES, ref=("site",), ref_required=True),
    "distance": _Kind(obj=_SOLIDS, ref=_SOLIDS, ref_required=True, enum="GEOMDIST"),
    "normal": _Kind(obj=_SOLIDS, ref=_SOLIDS, ref_required=True, enum="GEOMNORMAL"),
    "fromto": _Kind(obj=_SOLIDS, ref=_SOLIDS, ref_required=True, enum="GEOMFROMTO"),
    "tactile": _Kind(obj=("mesh",), ref=("geom",), ref_required=True),
    **dict.fromkeys("e_potential e_kinetic clock".split(), _Kind()),
}
"""Sensor types by their MJCF name. Contact sensors use `ContactSensorCfg` instead."""


class MujocoSensorCfg(SensorCfg):
    """A sensor that MuJoCo computes.

    Without a `sensor_type`, `name` refers to an existing sensor of the scene, such as
    "robot/imu_ang_vel" from the file of the entity "robot".
    """

    sensor_type: str | None = None
    """Type by its MJCF name, such as "gyro" or "framepos". None refers to an existing
    sensor."""

    obj: ObjRef | None = None
    """Object that the sensor is attached to, for a new sensor."""

    ref: ObjRef | None = None
    """Reference object, for sensor types that have one."""

    cutoff: float = 0.0
    """Largest absolute value of the reading, in its units. 0 means no limit."""

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add the sensor, or check that it exists."""
        if self.sensor_type is None:
            self._require_existing(spec)
            return
        kind = _kind_of(self.name, self.sensor_type)
        self._check_attachment("obj", self.obj, kind.obj, required=bool(kind.obj))
        self._check_attachment("ref", self.ref, kind.ref, required=kind.ref_required)
        if self.cutoff < 0.0:
            raise SensorError(
                f"Sensor {self.name!r}: cutoff={self.cutoff} is negative; 0 means no "
                "limit."
            )
        enum = kind.enum or self.sensor_type.upper()
        added = spec.add_sensor(
            name=self.name,
            type=getattr(mujoco.mjtSensor, f"mjSENS_{enum}"),
            cutoff=self.cutoff,
            intprm=kind.intprm,
        )
        if self.obj is not None:
            require_object(spec, self.obj, self.name)
            added.objtype, added.objname = _mj_type(self.obj), self.obj.full_name
        if self.ref is not None:
            require_object(spec, self.ref, self.name)
            added.reftype, added.refname = _mj_type(self.ref), self.ref.full_name

    def bind(self, context: SensorContext) -> "MujocoSensor":
        return MujocoSensor(self.name, context.sim)

    def _require_existing(self, spec: mujoco.MjSpec) -> None:
        given = [n for n in ("obj", "ref") if getattr(self, n) is not None]
        if given or self.cutoff:
            raise SensorError(
                f"Sensor {self.name!r} has no sensor_type, so it refers to an existing "
                f"sensor; leave {', '.join(given) or 'cutoff'} out, or set sensor_type."
            )
        names = [sensor.name for sensor in spec.sensors if sensor.name]
        find_name(self.name, names, what="sensor")

    def _check_attachment(
        self, role: str, given: ObjRef | None, valid: tuple[str, ...], *, required: bool
    ) -> None:
        where = f"Sensor {self.name!r} of type {self.sensor_type!r}"
        if given is None:
            if required:
                raise SensorError(f"{where} needs {role} of type {_either(valid)}.")
            return
        if not valid:
            raise SensorError(
                f"{where} takes no {role}: remove {role} {given.full_name!r}."
            )
        if given.type not in valid:
            raise SensorError(
                f"{where}: {role} {given.full_name!r} has type {given.type!r}, "
                f"but it has to be {_either(valid)}."
            )


class MujocoSensor(Sensor):
    """A sensor that MuJoCo computes in every `step()` and `forward()`."""

    def __init__(self, name: str, sim: Simulation) -> None:
        """Find the sensor `name` in the compiled model."""
        model = sim.mj_model
        names = [model.sensor(i).name for i in range(model.nsensor)]
        sensor_id = find_name(name, names, what="sensor")
        self.name = name
        self._sim = sim
        self._stage = Stage(int(model.sensor_needstage[sensor_id]))
        start = int(model.sensor_adr[sensor_id])
        end = start + int(model.sensor_dim[sensor_id])
        self._values = sim.engine.data("sensordata")[:, start:end]

    @property
    def data(self) -> torch.Tensor:
        """Readings, shape (num_envs, dim), in MuJoCo's frame and units.

        The tensor is a view of the engine's memory, which `step()` and `forward()`
        update.
        """
        self._sim.data.require(self.name, self._stage)
        return self._values

    def state(self) -> dict[str, torch.Tensor]:
        """Return an empty dict: the engine's snapshot holds the readings."""
        return {}


class SensorBlock:
    """Readings of MuJoCo sensors of one type with consecutive ids."""

    def __init__(self, names: Sequence[str], sim: Simulation) -> None:
        """Find the sensors in the compiled model."""
        sensors = [sim.mj_model.sensor(name) for name in names]
        self._name = names[0]
        self._sim = sim
        ids = [int(sensor.id) for sensor in sensors]
        self._stage = Stage(int(sim.mj_model.sensor_needstage[ids].max()))
        starts = [int(sensor.adr[0]) for sensor in sensors]
        dim = int(sensors[0].dim[0])
        assert starts == list(range(starts[0], starts[0] + dim * len(names), dim))
        block = sim.engine.data("sensordata")[:, starts[0] : starts[-1] + dim]
        self._values = block.unflatten(1, (len(names), dim))

    def read(self) -> torch.Tensor:
        """Return the live readings, shape (num_envs, sensors, dim)."""
        self._sim.data.require(self._name, self._stage)
        return self._values


def _kind_of(name: str, sensor_type: str) -> _Kind:
    if sensor_type == "contact":
        raise SensorError(f"Sensor {name!r}: use ContactSensorCfg for contacts.")
    if sensor_type not in SENSOR_KINDS:
        raise UnknownNameError(
            f"Sensor {name!r}: there is no sensor type {sensor_type!r}. "
            + suggest(sensor_type, SENSOR_KINDS)
        )
    return SENSOR_KINDS[sensor_type]


def _mj_type(ref: ObjRef) -> mujoco.mjtObj:
    return getattr(mujoco.mjtObj, f"mjOBJ_{ref.type.upper()}")


def _either(types: tuple[str, ...]) -> str:
    return " or ".join(repr(name) for name in types)
