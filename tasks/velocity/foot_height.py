"""Heights of feet above the ground, at the moment of asking."""

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
    """Measures the height of sites above the ground below them, one ray each.

    The ground below a foot is the facet that its ray met last, carried on as a plane to
    where the foot is now. Rays are cast when observations are made, before which
    rewards are computed. So in rewards, too, the height is of the present moment; what
    may be one step old is which facet lies below.
    """

    frame: ObjRef | tuple[ObjRef, ...]
    """The sites."""

    pattern = RingPatternCfg(rings=())
    """One ray down."""

    start_offset = (0.0, 0.0, 0.5)
    """Height of rays' starts above the feet, so that a sunken foot finds the ground
    too."""

    max_distance = 2.0
    """Meters below the start beyond which there is no ground."""

    def bind(self, context: SensorContext) -> "FootHeightSensor":  # type: ignore[override]
        """Make the sensor."""
        sensor = FootHeightSensor(self, context)
        context.sim.add_sense_pass(sensor)
        return sensor


class FootHeightSensor(Sensor, SensePass):
    """Heights above what rays met, computed at most once between two moments."""

    updates_from_readings = True

    def __init__(self, cfg: FootHeightSensorCfg, context: SensorContext) -> None:
        """Allocate rays and heights."""
        self.name, sim = cfg.name, context.sim
        self.rays = RayCastSensor(cfg, context)
        """The rays, for drawing."""
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
        """Take the heights: the feet are still where their rays have started."""
        distances = self.rays.data.distances
        torch.sub(distances, self._start_height, out=self._heights)
        self._is_current = True

    def update(self, dt: float) -> None:
        """Take note that the feet have moved."""
        self._is_current = False

    def refresh(self) -> None:
        """Take note that the feet have moved."""
        self._is_current = False

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change; copy into them to restore a snapshot."""
        return {**self.rays.state(), "heights": self._heights}

    def _compute(self) -> None:
        hit, normal = self.rays.data.hit_pos_w, self.rays.data.normals_w
        offset = self._sites.read(self._sim.data.site_xpos) - hit
        # Of a ray that met nothing the normal is zero: its end counts as level ground.
        steepness = normal[..., 2].clamp(min=0.1)
        rise = (normal[..., :2] * offset[..., :2]).sum(dim=-1).div_(steepness)
        torch.add(rise, offset[..., 2], out=self._heights)


def _start_height(cfg: FootHeightSensorCfg) -> float:
    """Return how high above each site its ray starts."""
    others = [frame.full_name for frame in cfg.frames if frame.type != "site"]
    starts, directions = cfg.local_rays()
    if others or len(starts) != 1:
        raise SensorError(
            f"Sensor {cfg.name!r} measures sites, with one ray each; it has "
            f"{len(starts)} rays, and is on {others or 'sites'}."
        )
    x, y, height = (float(value) for value in starts[0])
    if (x, y) != (0.0, 0.0) or tuple(directions[0]) != (0.0, 0.0, -1.0):
        raise SensorError(
            f"Sensor {cfg.name!r}: rays have to start right above their sites and "
            f"point down; start_offset is {cfg.start_offset}."
        )
    if cfg.ray_alignment == "base":
        raise SensorError(
            f"Sensor {cfg.name!r}: ray_alignment='base' would tilt the rays; they "
            "point down, so use 'yaw' or 'world'."
        )
    return height
