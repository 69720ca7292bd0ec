"""Binding all sensors of a scene at once."""

from collections.abc import Sequence

import mujoco

from mjlab.sensor.camera import CameraSensorCfg
from mjlab.sensor.contact import ContactSensor, ContactSensorCfg
from mjlab.sensor.contact_pool import ContactPool
from mjlab.sensor.native import MujocoSensor
from mjlab.sensor.ray_pool import RaySpec
from mjlab.sensor.rays import RayCastSensorCfg
from mjlab.sensor.sensor import Sensor, SensorCfg
from mjlab.sensor.sight import Sight
from mjlab.sensor.terrain_height import TerrainHeightSensorCfg
from mjlab.sim import Simulation


def bind_sensors(cfgs: Sequence[SensorCfg], sim: Simulation) -> dict[str, Sensor]:
    """Make the sensors by name, those of the scene's own files included.

    Those that look at the world share one `Sight`, and contact sensors one pool.
    """
    cameras = [c.view(sim.mj_model) for c in cfgs if isinstance(c, CameraSensorCfg)]
    casters = [c for c in map(_caster, cfgs) if c is not None]
    sight = Sight(sim, cameras, casters) if cameras or casters else None
    contacts = [c.part(sim.mj_model) for c in cfgs if isinstance(c, ContactSensorCfg)]
    pool = ContactPool(contacts, sim) if contacts else None
    sensors = {cfg.name: _bind(cfg, sim, sight, pool) for cfg in cfgs}
    found = _sensors_of_files(cfgs, sim.mj_model)
    return {**sensors, **{name: MujocoSensor(name, sim) for name in found}}


def _caster(cfg: SensorCfg) -> RaySpec | None:
    """The rays of a sensor, if it has any."""
    if isinstance(cfg, TerrainHeightSensorCfg):
        cfg = cfg.ray_cfg
    return cfg.ray_spec() if isinstance(cfg, RayCastSensorCfg) else None


def _bind(
    cfg: SensorCfg, sim: Simulation, sight: Sight | None, pool: ContactPool | None
) -> Sensor:
    if isinstance(cfg, ContactSensorCfg) and pool is not None:
        return ContactSensor(cfg, sim, pool)
    return cfg.bind(sim, sight)


def _sensors_of_files(cfgs: Sequence[SensorCfg], model: mujoco.MjModel) -> list[str]:
    """Names of the model's sensors that no configuration has added or named."""
    added = {cfg.name for cfg in cfgs}
    for cfg in cfgs:
        if isinstance(cfg, ContactSensorCfg):
            added.update(cfg.parts(model))
    names = [model.sensor(i).name for i in range(model.nsensor)]
    return [name for name in names if name and name not in added]
