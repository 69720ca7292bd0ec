"""Sensor that measures the height of feet above the ground."""

import torch

from mjlab.sensor import (
    ObjRef,
    RayCastSensor,
    RayCastSensorCfg,
    RingPatternCfg,
    Sensor,
    SensorContext,
    SensorError,
)
from mjlab.sensor.objects import object_id
from mjlab.sim import SensePass
from mjlab.tensors.columns import Columns


class FootHeightSensorCfg(RayCastSensorCfg):
    """Measures the height of sites above the ground below them, with one ray each.

    The ground below a foot is the facet hit by its last ray, extended as a plane to the
    current position of the foot. Rays are cast when observations are computed, after
    rewards. Heights in rewards use the current foot position; only the facet can be
    one step old.
    """

    frame: ObjRef | tuple[ObjRef, ...]
    """Sites whose height is measured, usually under the feet."""

    pattern = RingPatternCfg(rings=())
    """One downward ray."""

    ray_alignment = "yaw"

    include_geom_groups = (0,)

    start_offset = (0.0, 0.0, 0.5)
    """Offset of the rays' origins above the feet, so that feet below the surface also
    detect it."""

    max_distance = 2.0
    """Maximum length of a ray, in metres."""

    def bind(self, context: SensorContext) -> "FootHeightSensor":  # type: ignore[override]
        """Create the sensor."""
        sensor = FootHeightSensor(self, context)
        context.sim.add_sense_pass(sensor)
        return sensor


class FootHeightSensor(Sensor, SensePass):
    """Foot heights above the facets hit by rays, computed at most once per state."""

    updates_from_readings = True

    def __init__(self, cfg: FootHeightSensorCfg, context: SensorContext) -> None:
        """Allocate rays and heights."""
        self.name, sim = cfg.name, context.sim
        self.rays = RayCastSensor(cfg, context)
        """The rays, for debug visualisation."""
        self._start_height = _start_height(cfg)
        ids = [object_id(sim.mj_model, frame) for frame in cfg.frames]
        self._sites = Columns.of(ids, sim.device)
        self._sim = sim
        self._heights = torch.zeros(sim.num_envs, len(ids), device=sim.device)
        self._is_current = False

    @property
    def data(self) -> torch.Tensor:
        """Heights, m, shape (num_envs, sites), in the order of the configuration."""
        if not self._is_current:
            self._compute()
            self._is_current = True
        return self._heights

    def finish(self) -> None:
        """Compute the heights from the ray lengths, before the feet move."""
        distances = self.rays.data.distances
        torch.sub(distances, self._start_height, out=self._heights)
        self._is_current = True

    def update(self, dt: float) -> None:
        """Mark the heights as outdated after a physics step."""
        self._is_current = False

    def refresh(self) -> None:
        """Mark the heights as outdated after a write."""
        self._is_current = False

    def state(self) -> dict[str, torch.Tensor]:
        return {**self.rays.state(), "heights": self._heights}

    def _compute(self) -> None:
        hit, normal = self.rays.data.hit_pos_w, self.rays.data.normals_w
        offset = self._sites.read(self._sim.data.site_xpos) - hit
        # A ray without a hit has a zero normal: its end is treated as level ground.
        steepness = normal[..., 2].clamp(min=0.1)
        rise = (normal[..., :2] * offset[..., :2]).sum(dim=-1).div_(steepness)
        torch.add(rise, offset[..., 2], out=self._heights)


def _start_height(cfg: FootHeightSensorCfg) -> float:
    """Return the height of the ray origin above each site."""
    others = [frame.full_name for frame in cfg.frames if frame.type != "site"]
    starts, directions = cfg.local_rays()
    if others or len(starts) != 1:
        raise SensorError(
            f"Sensor {cfg.name!r} needs one ray per site; it has {len(starts)} rays, "
            f"and is attached to {others or 'sites'}."
        )
    x, y, height = (float(value) for value in starts[0])
    if (x, y) != (0.0, 0.0) or tuple(directions[0]) != (0.0, 0.0, -1.0):
        raise SensorError(
            f"Sensor {cfg.name!r}: rays have to start vertically above their sites "
            f"and point down; start_offset is {cfg.start_offset}."
        )
    if cfg.ray_alignment == "base":
        raise SensorError(
            f"Sensor {cfg.name!r}: ray_alignment='base' would tilt the rays, which "
            "have to point down; use 'yaw' or 'world'."
        )
    return height
