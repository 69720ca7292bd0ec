"""Create all sensors of a scene and the resources they share."""

from collections.abc import Sequence

import mujoco

from mjlab.sensor.camera import CameraSensorCfg
from mjlab.sensor.contact import ContactSensorCfg
from mjlab.sensor.contact_data import ContactPool
from mjlab.sensor.native import MujocoSensor
from mjlab.sensor.native_renderer import NativeRenderer
from mjlab.sensor.rays import RayCastSensorCfg, RayPool
from mjlab.sensor.sensor import Sensor, SensorCfg, SensorContext
from mjlab.sensor.terrain_height import TerrainHeightSensorCfg
from mjlab.sensor.vision import CameraView, RayCastData, Renderer, VisionError
from mjlab.sim import Simulation


def bind_sensors(cfgs: Sequence[SensorCfg], sim: Simulation) -> dict[str, Sensor]:
    """Create all sensors by name, including MuJoCo sensors from the scene's files.

    Ray casters and cameras share one renderer; contact sensors share one pool.
    """
    model = sim.mj_model
    cfgs = [cfg.in_model(model) for cfg in cfgs]
    contacts = [c.part(model) for c in cfgs if isinstance(c, ContactSensorCfg)]
    pool = ContactPool(contacts, sim) if contacts else None
    eyes = [c for c in cfgs if isinstance(c, CameraSensorCfg)]
    shared = [c for c in eyes if c.renderer is None or sim.engine.batch is None]
    cameras = [c.view(model) for c in shared]
    casters = [c.ray_cfg if isinstance(c, TerrainHeightSensorCfg) else c for c in cfgs]
    casters = [c for c in casters if isinstance(c, RayCastSensorCfg)]
    for caster in casters:
        _require_visible(model, "include_geom_groups", caster.met_groups)
    for eye in eyes:
        _require_visible(model, "geom_groups", eye.geom_groups)
    renderer = _make_renderer(sim, cameras, casters) if cameras or casters else None
    rays = {} if renderer is None else _share_rays(casters, sim, renderer)
    context = SensorContext(sim, pool, renderer, rays)
    sensors = {cfg.name: cfg.bind(context) for cfg in cfgs}
    found = _sensors_of_files(cfgs, model)
    return {**sensors, **{name: MujocoSensor(name, sim) for name in found}}


def _make_renderer(
    sim: Simulation, cameras: Sequence[CameraView], casters: Sequence[RayCastSensorCfg]
) -> Renderer:
    batch = sim.engine.batch
    if batch is not None:
        return NativeRenderer(batch, sim.mj_model, cameras)
    # Imported only here, so that the native engine does not need Warp.
    from mjlab.sensor.warp_renderer import WarpRenderer

    return WarpRenderer(sim, cameras, [cfg.met_groups for cfg in casters])


def _share_rays(
    casters: Sequence[RayCastSensorCfg], sim: Simulation, renderer: Renderer
) -> dict[str, RayCastData]:
    """Create one ray pool per set of geom groups; return the hits by sensor name."""
    found: dict[str, RayCastData] = {}
    # The native engine has a faster path for rays that point down (`GroundMap`).
    kinds = [(c.met_groups, c.points_down) for c in casters]
    for kind in dict.fromkeys(kinds):
        alike = [c for c, k in zip(casters, kinds, strict=True) if k == kind]
        pool = RayPool(alike, sim, renderer)
        sim.add_sense_pass(pool)
        found |= pool.data
    return found


def _require_visible(
    model: mujoco.MjModel, field: str, groups: tuple[int, ...]
) -> None:
    outside = [group for group in groups if not 0 <= group < mujoco.mjNGROUP]
    if outside or not groups:
        raise VisionError(
            f"{field}={groups} is invalid: name at least one geom group, each from 0 "
            f"to {mujoco.mjNGROUP - 1}."
        )
    present = sorted({int(group) for group in model.geom_group})
    if not set(groups) & set(present):
        raise VisionError(
            f"{field}={groups} matches no geom: the geoms of the scene are in groups "
            f"{present}."
        )


def _sensors_of_files(cfgs: Sequence[SensorCfg], model: mujoco.MjModel) -> list[str]:
    """Return names of the model's sensors that have no sensor configuration."""
    added = {cfg.name for cfg in cfgs}
    for cfg in cfgs:
        if isinstance(cfg, ContactSensorCfg):
            added.update(cfg.parts(model))
    names = [model.sensor(i).name for i in range(model.nsensor)]
    return [name for name in names if name and name not in added]
