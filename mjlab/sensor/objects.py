"""References to named MuJoCo objects that sensors are attached to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import mujoco
import numpy as np

from mjlab.names import UnknownNameError, find_name, suggest
from mjlab.settings import Config

ObjType = Literal[
    "body", "xbody", "joint", "geom", "site", "camera", "tendon", "actuator", "mesh"
]


class SensorError(ValueError):
    """Raised for an invalid sensor configuration."""


@dataclass(frozen=True, kw_only=True)
class ObjRef:
    """Reference to a named object of the scene."""

    type: ObjType
    """Type of object. `body` means the inertial frame in MuJoCo's frame sensors and the
    link frame for rays; `xbody` means the link frame for both."""

    name: str
    """Name within the entity, or in the whole scene if `entity` is None."""

    entity: str | None = None
    """Name of the entity that owns the object."""

    @property
    def full_name(self) -> str:
        """Name in the compiled scene."""
        return self.name if self.entity is None else f"{self.entity}/{self.name}"


class OffsetCfg(Config):
    """Pose of a frame relative to its parent frame."""

    pos: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Position in the parent frame, m."""

    rot: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Orientation in the parent frame, wxyz."""


def add_site(
    spec: mujoco.MjSpec, name: str, ref: ObjRef, offset: OffsetCfg, sensor: str
) -> ObjRef:
    """Return the site `ref`, or add a site at an offset from the body `ref`.

    Args:
        spec: The scene.
        name: Name of the new site.
        ref: Body or site. The frame of a body is its link frame.
        offset: Pose of the new site; a site keeps its own pose.
        sensor: Name of the sensor, for messages.
    """
    require_object(spec, ref, sensor)
    if ref.type == "site" and offset == OffsetCfg():
        return ref
    if ref.type not in ("body", "xbody"):
        raise SensorError(
            f"Sensor {sensor!r}: {ref.full_name!r} is a {ref.type}; it has to be a "
            "body, or a site without an offset."
        )
    if not np.linalg.norm(offset.rot) > 0.0:
        raise SensorError(
            f"Sensor {sensor!r}: rot={offset.rot} is not an orientation; the length of "
            "the quaternion has to be above 0."
        )
    spec.body(ref.full_name).add_site(name=name, pos=offset.pos, quat=offset.rot)
    return ObjRef(type="site", name=name)


def object_names(spec: mujoco.MjSpec, kind: ObjType) -> list[str]:
    """Return the names of all named objects of one type in a scene."""
    if kind not in get_args(ObjType):
        raise SensorError(
            f"Objects of type {kind!r} are unknown. {suggest(kind, get_args(ObjType))}"
        )
    things: dict[str, Sequence[Any]] = {
        "body": spec.bodies,
        "xbody": spec.bodies,
        "joint": spec.joints,
        "geom": spec.geoms,
        "site": spec.sites,
        "camera": spec.cameras,
        "tendon": spec.tendons,
        "actuator": spec.actuators,
        "mesh": spec.meshes,
    }
    return [thing.name for thing in things[kind] if thing.name]


def names_of_entity(
    spec: mujoco.MjSpec, kind: ObjType, entity: str | None, sensor: str
) -> list[str]:
    """Return the names of an entity's objects of one type, without its prefix."""
    names = object_names(spec, kind)
    if entity is None:
        return names
    prefix = f"{entity}/"
    bodies = object_names(spec, "body")
    if not any(name.startswith(prefix) for name in bodies + names):
        entities = [name.split("/")[0] for name in bodies if "/" in name]
        raise UnknownNameError(
            f"Sensor {sensor!r}: there is no entity {entity!r} in the scene. "
            + suggest(entity, entities)
        )
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def require_object(spec: mujoco.MjSpec, ref: ObjRef, sensor: str) -> None:
    """Raise an error that suggests similar names if `ref` is not in the scene."""
    names = names_of_entity(spec, ref.type, ref.entity, sensor)
    try:
        find_name(ref.name, names, what=ref.type, owner=ref.entity)
    except UnknownNameError as error:
        raise UnknownNameError(f"Sensor {sensor!r}: {error}") from None


def object_id(model: mujoco.MjModel, ref: ObjRef) -> int:
    """Return the id of the referenced object in the compiled model."""
    kind = getattr(mujoco.mjtObj, f"mjOBJ_{ref.type.upper()}")
    index = mujoco.mj_name2id(model, kind, ref.full_name)
    if index < 0:
        raise UnknownNameError(
            f"The compiled model has no {ref.type} {ref.full_name!r}: call the "
            "sensor's `edit_spec` before the scene is compiled."
        )
    return index
