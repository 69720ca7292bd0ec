"""Heights of frames above the terrain."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import mujoco
import torch

from mjlab.names import suggest
from mjlab.sensor.objects import ObjRef, SensorError
from mjlab.sensor.patterns import GridPatternCfg, PatternCfg
from mjlab.sensor.rays import RayCastSensor, RayCastSensorCfg, VizCfg
from mjlab.sensor.sensor import Sensor, SensorCfg, SensorContext
from mjlab.sim import SensePass

Reduction = Literal["min", "max", "mean", "none"]


class TerrainHeightSensorCfg(SensorCfg):
    """Measures the vertical height of frames above the terrain below them."""

    frame: ObjRef | tuple[ObjRef, ...]
    """Bodies, sites, geoms or cameras whose height is measured."""

    pattern: PatternCfg = GridPatternCfg()
    """Sample points around each frame, rotated with its heading. All rays must point
    down. `RingPatternCfg(rings=())` is one ray below the frame."""

    reduction: Reduction = "min"
    """Reduction of the heights around a frame: the height above the highest terrain
    point (`min`), above the lowest (`max`), their mean (`mean`), or all
    heights (`none`)."""

    start_height: float = 0.1
    """Height of the ray origins above the frame, m, so that a foot that penetrates the
    ground still detects it. A ceiling closer than this counts as ground."""

    max_distance: float = 10.0
    """Range of the rays below the frame, m."""

    exclude_parent_body: bool = True
    """Ignore hits on geoms of the body that the ray's frame is fixed to."""

    include_geom_groups: tuple[int, ...] | None = (0, 1, 2)
    """Geom groups that count as terrain; None means all groups."""

    VizCfg = VizCfg

    debug_vis: bool = False
    """Draw the hits in viewers and videos."""

    viz: VizCfg = VizCfg()
    """Elements to draw (hits, rays, normals), with their colours and sizes."""

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Check the settings, and that the frames exist. Nothing is added."""
        where = f"Sensor {self.name!r}"
        if self.reduction not in get_args(Reduction):
            raise SensorError(
                f"{where}: reduction={self.reduction!r} is unknown. "
                + suggest(self.reduction, get_args(Reduction))
            )
        if self.start_height < 0.0:
            raise SensorError(f"{where}: start_height={self.start_height} is negative.")
        self.ray_cfg.edit_spec(spec)
        directions = self.pattern.rays()[1]
        if (abs(directions - (0.0, 0.0, -1.0)) > 1e-6).any():
            raise SensorError(f"{where}: the rays of its pattern have to point down.")

    def bind(self, context: SensorContext) -> "TerrainHeightSensor":
        sensor = TerrainHeightSensor(self, context)
        context.sim.add_sense_pass(sensor)
        return sensor

    @property
    def ray_cfg(self) -> RayCastSensorCfg:
        """Ray caster configuration with the same frames, pattern and range."""
        return RayCastSensorCfg(
            name=self.name,
            frame=self.frame,
            pattern=self.pattern,
            ray_alignment="yaw",
            start_offset=(0.0, 0.0, self.start_height),
            max_distance=self.max_distance + self.start_height,
            exclude_parent_body=self.exclude_parent_body,
            include_geom_groups=self.include_geom_groups,
            debug_vis=self.debug_vis,
            viz=self.viz,
        )


@dataclass(frozen=True)
class TerrainHeightData:
    """Heights, written in place by `sim.sense()`. F is the number of frames."""

    heights: torch.Tensor
    """Height in m, shape (num_envs, F), or (num_envs, F, rays) without a reduction.

    Rays without a hit are excluded; if all rays of a frame miss, the height is
    `max_distance` and `hit` is False. If a ray starts inside the ground and leaves it
    through its underside, the height is -start_height: the frame is at least that deep.
    """

    hit: torch.Tensor
    """True where any ray hit the ground, bool, same shape as `heights`."""


class TerrainHeightSensor(Sensor, SensePass):
    """Sensor of heights above terrain, from rays cast once per `sim.sense()`."""

    def __init__(self, cfg: TerrainHeightSensorCfg, context: SensorContext) -> None:
        self.name = cfg.name
        self.rays = RayCastSensor(cfg.ray_cfg, context)
        """Ray caster whose hits give the heights."""
        self._reduction = cfg.reduction
        self._start_height = cfg.start_height
        self._max_distance = cfg.max_distance
        sim = context.sim
        self.num_frames = len(cfg.ray_cfg.frames)
        """Number of frames whose height is measured."""
        shape = (sim.num_envs, self.num_frames, self.rays.num_rays_per_frame)
        self._heights = torch.zeros(shape, device=sim.device)
        self._hit = torch.zeros(shape, dtype=torch.bool, device=sim.device)
        is_reduced = cfg.reduction != "none"
        self._data = TerrainHeightData(
            heights=self._heights[..., 0].clone() if is_reduced else self._heights,
            hit=self._hit[..., 0].clone() if is_reduced else self._hit,
        )

    @property
    def data(self) -> TerrainHeightData:
        """Heights above the terrain, and a mask of frames whose rays hit it."""
        return self._data

    def finish(self) -> None:
        """Compute heights from the distances of the rays."""
        rays = self.rays.data
        self._hit.copy_(rays.hit.view_as(self._hit))
        # A ray that starts inside the ground leaves it through a face whose normal
        # points along the ray.
        is_inside = (rays.normals_w * rays.directions_w).sum(dim=-1) > 0.0
        below = rays.distances.masked_fill(is_inside, 0.0)
        torch.sub(below.view_as(self._heights), self._start_height, out=self._heights)
        self._heights.masked_fill_(~self._hit, self._max_distance)
        if self._reduction != "none":
            self._reduce()

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        own = {"heights": self._data.heights, "any_hit": self._data.hit}
        return {**self.rays.state(), **own}

    def debug_vis(self, visualizer: Any) -> None:
        """Draw the rays, if `debug_vis` is set."""
        self.rays.debug_vis(visualizer)

    def _reduce(self) -> None:
        heights, hit = self._heights, self._hit
        torch.any(hit, dim=-1, out=self._data.hit)
        if self._reduction == "min":
            # Rays that miss have the height `max_distance`: the minimum ignores them.
            torch.amin(heights, dim=-1, out=self._data.heights)
            return
        if self._reduction == "max":
            lowest = heights.masked_fill(~hit, -torch.inf)
            torch.amax(lowest, dim=-1, out=self._data.heights)
        else:
            total = heights.masked_fill(~hit, 0.0).sum(dim=-1)
            torch.div(total, hit.sum(dim=-1).clamp(min=1), out=self._data.heights)
        self._data.heights.masked_fill_(~self._data.hit, self._max_distance)
