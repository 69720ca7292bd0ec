"""Named things of a scene that sensors are attached to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import mujoco

from mjlab.names import UnknownNameError, find_name, suggest

ObjType = Literal[
    "body", "xbody", "joint", "geom", "site", "camera", "tendon", "actuator", "mesh"
]


class SensorError(ValueError):
    """A sensor was declared in a way that has no meaning."""


@dataclass(frozen=True, kw_only=True)
class ObjRef:
    """A named thing of the scene that a sensor is attached to."""

    type: ObjType
    """Kind of thing. A `body` is its inertial frame in MuJoCo's own frame sensors, and
    its link frame for rays; an `xbody` is the link frame for both."""

    name: str
    """Its name within the entity, or in the whole scene when there is no entity."""

    entity: str | None = None
    """The entity that it belongs to."""

    @property
    def full_name(self) -> str:
        """The name in the compiled scene."""
        return self.name if self.entity is None else f"{self.entity}/{self.name}"


def object_names(spec: mujoco.MjSpec, kind: ObjType) -> list[str]:
    """The names of all things of one kind in a scene, unnamed ones left out."""
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
    """The names of one kind of thing of an entity, without the entity's prefix."""
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
    """Raise, with the nearest names, unless the scene has what `ref` names."""
    names = names_of_entity(spec, ref.type, ref.entity, sensor)
    try:
        find_name(ref.name, names, what=ref.type, owner=ref.entity)
    except UnknownNameError as error:
        raise UnknownNameError(f"Sensor {sensor!r}: {error}") from None


def object_id(model: mujoco.MjModel, ref: ObjRef) -> int:
    """The index of what `ref` names in the compiled model."""
    kind = getattr(mujoco.mjtObj, f"mjOBJ_{ref.type.upper()}")
    index = mujoco.mj_name2id(model, kind, ref.full_name)
    if index < 0:
        raise UnknownNameError(
            f"The compiled model has no {ref.type} {ref.full_name!r}: the sensor's "
            "`edit_spec` has to run before the scene is compiled."
        )
    return index
