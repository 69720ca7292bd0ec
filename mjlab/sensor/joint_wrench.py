"""Forces and torques that joints transmit, computed by MuJoCo's sensors."""

import mujoco
import torch

from mjlab.names import UnknownNameError, match_names
from mjlab.sensor.native import MujocoSensorCfg, SensorBlock
from mjlab.sensor.objects import ObjRef, OffsetCfg, add_site, names_of_entity
from mjlab.sensor.sensor import Sensor, SensorCfg, SensorContext

_TYPES = ("force", "torque")


class JointWrenchSensorCfg(SensorCfg):
    """Six-axis force-torque sensors between bodies and their parents.

    The wrench acts on the child at the anchor of its first joint, or at the origin of a
    body without joints, in the axes of the child.
    """

    entity: str | None = None
    """Name of the entity. None means the whole scene."""

    body_names: str | tuple[str, ...] | None = None
    """Patterns of the child bodies. None selects all bodies with a hinge, slide or
    ball joint."""

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add a site, a force sensor and a torque sensor for each body."""
        bodies = self._bodies(spec)
        sites = {name: self._add_site(spec, name) for name in bodies}
        for kind in _TYPES:
            for name, site in sites.items():
                part = f"{self._part(kind)}{name}"
                MujocoSensorCfg(name=part, sensor_type=kind, obj=site).edit_spec(spec)

    def bind(self, context: SensorContext) -> "JointWrenchSensor":
        return JointWrenchSensor(self, context)

    def parts(self, model: mujoco.MjModel, kind: str) -> list[str]:
        """Return the names of the force or torque sensors, in the order of bodies."""
        names = [model.sensor(i).name for i in range(model.nsensor)]
        return [name for name in names if name.startswith(self._part(kind))]

    def _part(self, kind: str) -> str:
        return f"{self.name}:{kind}:"

    def _bodies(self, spec: mujoco.MjSpec) -> list[str]:
        """Return the names of the child bodies within the entity."""
        prefix = "" if self.entity is None else f"{self.entity}/"
        free = mujoco.mjtJoint.mjJNT_FREE
        names = [
            name
            for name in names_of_entity(spec, "body", self.entity, self.name)
            if name != "world"
            and not any(joint.type == free for joint in spec.body(prefix + name).joints)
        ]
        if self.body_names is None:
            moving = [name for name in names if spec.body(prefix + name).joints]
            if not moving:
                raise UnknownNameError(
                    f"Sensor {self.name!r}: no body of "
                    f"{self.entity or 'the scene'!r} has a hinge, slide or ball joint. "
                    "To measure bodies that are fixed to a parent, name them in "
                    "body_names."
                )
            return moving
        try:
            chosen = match_names(
                self.body_names, names, what="body with a parent", owner=self.entity
            )
        except UnknownNameError as error:
            raise UnknownNameError(f"Sensor {self.name!r}: {error}") from None
        return [names[index] for index in chosen]

    def _add_site(self, spec: mujoco.MjSpec, name: str) -> ObjRef:
        body = ObjRef(type="xbody", name=name, entity=self.entity)
        joints = spec.body(body.full_name).joints
        anchor = OffsetCfg(pos=tuple(joints[0].pos)) if joints else OffsetCfg()
        return add_site(spec, f"{self.name}_{name}", body, anchor, self.name)


class JointWrenchData:
    """Readings of a joint wrench sensor with B bodies. All tensors are live."""

    def __init__(self, cfg: JointWrenchSensorCfg, context: SensorContext) -> None:
        """Find the sensors in the compiled model."""
        model = context.sim.mj_model
        parts = cfg.parts(model, "force")
        self.body_names = tuple(part.split(":")[-1] for part in parts)
        """Names of the child bodies within the entity."""
        self._force = SensorBlock(parts, context.sim)
        self._torque = SensorBlock(cfg.parts(model, "torque"), context.sim)

    @property
    def force(self) -> torch.Tensor:
        """Force of the parent on the child, shape (num_envs, B, 3), N."""
        return self._force.read()

    @property
    def torque(self) -> torch.Tensor:
        """Torque of the parent on the child, shape (num_envs, B, 3), N m."""
        return self._torque.read()


class JointWrenchSensor(Sensor):
    """Sensor of joint wrenches, computed by MuJoCo in `step()` and `forward()`."""

    def __init__(self, cfg: JointWrenchSensorCfg, context: SensorContext) -> None:
        """Find the sensors in the compiled model."""
        self.name = cfg.name
        self._data = JointWrenchData(cfg, context)

    @property
    def data(self) -> JointWrenchData:
        """Forces and torques of the bodies, updated by the engine."""
        return self._data

    def state(self) -> dict[str, torch.Tensor]:
        """Return an empty dict: the engine's snapshot holds the readings."""
        return {}
