"""Ray casters: rays from frames of the scene.

All sensors that use the same geom groups share one launch, which casts their rays, and
one pass, which computes their hits.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, get_args

import mujoco
import numpy as np
import torch

from mjlab.names import suggest
from mjlab.sensor.objects import ObjRef, SensorError
from mjlab.sensor.patterns import GridPatternCfg, PatternCfg, Vec3
from mjlab.sensor.ray_frames import (
    Headings,
    Orientations,
    Positions,
    bodies_of,
    check_frames,
)
from mjlab.sensor.sensor import Sensor, SensorCfg, SensorContext
from mjlab.sensor.vision import RayCastData, Rays, Renderer
from mjlab.settings import Config
from mjlab.sim import SensePass, Simulation

Alignment = Literal["base", "yaw", "world"]

_UNIT = 0.03
"""Unit of radii and lengths in `VizCfg`, m: `meansize` of mjlab's scenes."""

_RAY_WIDTH = 0.004
"""Radius of drawn rays and normals, m."""

_LONGEST_MISS, _MISS_FRACTION = 0.5, 0.05
"""Length of the arrow of a ray that misses, m, and as a fraction of the ray's range.
The shorter of the two is drawn."""


Color = tuple[float, float, float, float]
"""Red, green, blue and opacity, each from 0 to 1."""


class VizCfg(Config):
    """Colours and sizes of drawn rays, hits and normals."""

    hit_color: Color = (0.0, 1.0, 0.0, 0.8)
    """Colour of rays that hit a surface."""

    miss_color: Color = (1.0, 0.0, 0.0, 0.4)
    """Colour of rays that miss; only their first part is drawn."""

    hit_sphere_color: Color = (0.0, 1.0, 1.0, 1.0)
    """Colour of the spheres at hits."""

    hit_sphere_radius: float = 0.5
    """Radius of the spheres at hits, in units of 0.03 m."""

    show_rays: bool = False
    """Draw the rays as arrows."""

    show_normals: bool = False
    """Draw the surface normals at hits."""

    normal_color: Color = (1.0, 1.0, 0.0, 1.0)
    """Colour of the normals."""

    normal_length: float = 5.0
    """Length of the normals, in units of 0.03 m."""


class RayCastSensorCfg(SensorCfg):
    """Ray caster: casts a pattern of rays from one or several frames."""

    VizCfg = VizCfg

    frame: ObjRef | tuple[ObjRef, ...]
    """Bodies, sites, geoms or cameras that the pattern is fixed to."""

    pattern: PatternCfg = GridPatternCfg()
    """Ray origins and directions."""

    ray_alignment: Alignment = "base"
    """Part of the frame's rotation that the pattern follows: all of it (`base`), only
    the heading of the frame's x axis (`yaw`), or none of it (`world`)."""

    start_offset: Vec3 = (0.0, 0.0, 0.0)
    """Offset of all ray origins in the aligned frame, m. Rays that point down only
    detect terrain below their origin. Distances are measured from the ray origin."""

    max_distance: float = 10.0
    """Range of the rays, m."""

    exclude_parent_body: bool = True
    """Ignore hits on geoms of the body that the ray's frame is fixed to."""

    include_geom_groups: tuple[int, ...] | None = (0, 1, 2)
    """Geom groups that rays can hit; None means all groups. Exclude visual meshes: on
    the native engine they take twenty times as long as all other geoms."""

    debug_vis: bool = False
    """Draw the hits in viewers and videos."""

    viz: VizCfg = VizCfg()
    """Elements to draw (hits, rays, normals), with their colours and sizes."""

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Check the settings, and that the frames exist. Nothing is added."""
        check_frames(self.name, self.frames, spec)
        if self.ray_alignment not in get_args(Alignment):
            raise SensorError(
                f"Sensor {self.name!r}: ray_alignment={self.ray_alignment!r} is "
                "unknown. " + suggest(self.ray_alignment, get_args(Alignment))
            )
        if not self.max_distance > 0.0:
            raise SensorError(
                f"Sensor {self.name!r}: max_distance={self.max_distance} has to be "
                "positive."
            )
        self.pattern.check(spec)

    def in_model(self, model: mujoco.MjModel) -> "RayCastSensorCfg":
        """Return the configuration with settings filled in from the compiled model."""
        return dataclasses.replace(self, pattern=self.pattern.in_model(model))

    def bind(self, context: SensorContext) -> "RayCastSensor":
        return RayCastSensor(self, context)

    def local_rays(self) -> tuple[np.ndarray, np.ndarray]:
        """Ray origins and unit directions in the aligned frame, each (rays, 3)."""
        starts, directions = self.pattern.rays()
        return starts + self.start_offset, directions

    @property
    def num_rays(self) -> int:
        """Number of rays in each world."""
        return len(self.frames) * len(self.local_rays()[0])

    @property
    def points_down(self) -> bool:
        """True if all rays point straight down in every pose."""
        is_down = bool((self.local_rays()[1] == (0.0, 0.0, -1.0)).all())
        return is_down and self.ray_alignment != "base"

    @property
    def met_groups(self) -> tuple[int, ...]:
        """Geom groups that rays can hit, in ascending order."""
        groups = self.include_geom_groups
        return tuple(sorted(range(mujoco.mjNGROUP) if groups is None else groups))

    @property
    def frames(self) -> tuple[ObjRef, ...]:
        """The frames as a tuple."""
        return (self.frame,) if isinstance(self.frame, ObjRef) else tuple(self.frame)


class RayCastSensor(Sensor):
    """Ray caster, cast once per `sim.sense()` together with other sensors.

    Rewards and terminations run earlier in a step, so they read the hits of the
    previous observation.
    """

    def __init__(self, cfg: RayCastSensorCfg, context: SensorContext) -> None:
        """Find this sensor's rays among the hits shared with other sensors."""
        self.name = cfg.name
        self._cfg = cfg
        self.num_rays_per_frame = len(cfg.local_rays()[0])
        """Number of rays of the pattern."""
        self._data = context.rays[cfg.name]

    @property
    def data(self) -> RayCastData:
        """Hits of the rays."""
        return self._data

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {
            entry.name: getattr(self._data, entry.name)
            for entry in dataclasses.fields(self._data)
        }

    def debug_vis(self, visualizer: Any) -> None:
        """Draw hits, rays and normals, if `debug_vis` is set."""
        if not self._cfg.debug_vis:
            return
        viz, data = self._cfg.viz, self._data
        radius, length = _UNIT * viz.hit_sphere_radius, _UNIT * viz.normal_length
        missed = min(_LONGEST_MISS, _MISS_FRACTION * self._cfg.max_distance)
        parts = (data.hit, data.starts_w, data.directions_w, data.hit_pos_w)
        for world in visualizer.worlds:
            rows = (part[world].cpu().numpy() for part in (*parts, data.normals_w))
            for is_hit, start, ahead, hit, normal in zip(*rows, strict=True):
                end = hit if is_hit else start + missed * ahead
                look = {"color": viz.hit_color, "width": _RAY_WIDTH}
                if not is_hit:
                    look["color"] = viz.miss_color
                if viz.show_rays:
                    visualizer.add_arrow(world, start, end, **look)
                if not is_hit:
                    continue
                color = viz.hit_sphere_color
                visualizer.add_sphere(world, hit, radius, color=color)
                if viz.show_normals:
                    look["color"] = viz.normal_color
                    visualizer.add_arrow(world, hit, hit + length * normal, **look)


class RayPool(SensePass):
    """Sense pass that casts the rays of all sensors with the same geom groups."""

    def __init__(
        self,
        cfgs: Sequence[RayCastSensorCfg],
        sim: Simulation,
        renderer: Renderer,
    ) -> None:
        """Allocate inputs and outputs of all rays.

        Args:
            cfgs: The sensors, all with the same geom groups.
            sim: The simulation.
            renderer: Renderer that casts the rays.
        """
        frames = [frame for cfg in cfgs for frame in cfg.frames]
        self._positions = Positions(frames, sim)
        limits = [cfg.max_distance for cfg in cfgs for _ in range(cfg.num_rays)]
        self._limit = torch.tensor(limits, dtype=torch.float32, device=sim.device)
        self._rays = _allocate(cfgs, sim)
        self._all = self._allocate_data()
        self._followers: list[_Follower] = []
        self.data: dict[str, RayCastData] = {}
        """Hits by sensor name, in tensors that `finish` updates in place."""
        first_frame = first_ray = 0
        for cfg in cfgs:
            rays = slice(first_ray, first_ray + cfg.num_rays)
            own = slice(first_frame, first_frame + len(cfg.frames))
            first_ray, first_frame = rays.stop, own.stop
            part = {n: value[:, rays] for n, value in self._all.items()}
            position = self._positions.values[:, own]
            self.data[cfg.name] = RayCastData(**part, frame_pos_w=position)
            self._followers.append(_Follower(cfg, sim, self.data[cfg.name]))
        self._nothing = torch.zeros((), device=sim.device)
        self._no_geom = torch.full((), -1, dtype=torch.int32, device=sim.device)
        self._cast = renderer.add_rays(self._rays)

    def prepare(self) -> None:
        """Move the rays to the current poses of the frames."""
        self._positions.follow()
        for follower in self._followers:
            follower.follow()

    def launch(self) -> None:
        """Cast the rays."""
        self._cast()

    def finish(self) -> None:
        """Compute hits, distances and normals, with the values for misses."""
        rays, data = self._rays, self._all
        hit = data["hit"]
        reach = (rays.distance >= 0.0, rays.distance <= self._limit)
        torch.logical_and(*reach, out=hit)
        torch.where(hit, rays.distance, self._limit, out=data["distances"])
        length = data["distances"].unsqueeze(-1)
        torch.addcmul(rays.starts, rays.directions, length, out=data["hit_pos_w"])
        met = hit.unsqueeze(-1)
        torch.where(met, rays.normal, self._nothing, out=data["normals_w"])
        torch.where(hit, rays.geom, self._no_geom, out=data["geom_ids"])

    def _allocate_data(self) -> dict[str, torch.Tensor]:
        rays = self._rays
        return {
            "distances": torch.zeros_like(rays.distance),
            "hit": torch.zeros_like(rays.distance, dtype=torch.bool),
            "hit_pos_w": torch.zeros_like(rays.starts),
            "normals_w": torch.zeros_like(rays.starts),
            "geom_ids": torch.zeros_like(rays.geom),
            "starts_w": rays.starts,
            "directions_w": rays.directions,
        }


class _Follower:
    """Moves the rays of one sensor with its frames.

    Sums are written out, because the rounding of matrix products depends on the number
    of worlds.
    """

    def __init__(
        self, cfg: RayCastSensorCfg, sim: Simulation, data: RayCastData
    ) -> None:
        """Separate constant ray components from those that rotate with the frame."""
        axes, turned = _AXES[cfg.ray_alignment]
        starts, directions = (
            _Vectors(
                torch.tensor(local, dtype=torch.float32, device=sim.device), turned
            )
            for local in cfg.local_rays()
        )
        shape = (len(cfg.frames), -1)
        self._starts = data.starts_w.unflatten(1, shape)
        self._directions = data.directions_w.unflatten(1, shape)
        self._positions = data.frame_pos_w.unsqueeze(2)
        self._local_starts, self._local_directions = starts, directions
        needs_axes = starts.turn or directions.turn
        self._axes = axes(cfg.frames, sim) if axes is not None and needs_axes else None
        self._directions.copy_(directions.still)

    def follow(self) -> None:
        """Move the rays to the current poses of the frames."""
        starts, directions = self._local_starts, self._local_directions
        if self._axes is not None:
            self._axes.follow()
        if self._axes is not None and directions.turn:
            directions.write(self._axes.axes, self._directions)
        if self._axes is not None and starts.turn:
            starts.write(self._axes.axes, self._starts)
            self._starts.add_(self._positions)
        else:
            torch.add(self._positions, starts.still, out=self._starts)


class _Vectors:
    """Vectors of a pattern whose first components rotate with a frame's axes."""

    def __init__(self, local: torch.Tensor, turned: int) -> None:
        """Separate constant and rotating components.

        Args:
            local: Vectors in the aligned frame, shape (rays, 3).
            turned: Number of components that rotate.
        """
        self.still = local.clone()
        """Constant components, shape (rays, 3)."""
        self.still[:, :turned] = 0.0
        self._parts = [local[:, i : i + 1] for i in range(turned)]
        self.turn = bool(local[:, :turned].any())
        """True if any component rotates with the frame."""

    def write(self, axes: tuple[torch.Tensor, ...], out: torch.Tensor) -> None:
        """Write the rotated vectors.

        Args:
            axes: World axes of the frames, each (num_envs, frames, 3).
            out: Vectors in the world, shape (num_envs, frames, rays, 3).
        """
        last = self.still
        for axis, part in zip(axes, self._parts, strict=True):
            torch.addcmul(last, axis.unsqueeze(2), part, out=out)
            last = out


# Axes of each alignment, and the number of vector components that they rotate.
_AXES: dict[str, tuple[type[Headings] | type[Orientations] | None, int]] = {
    "world": (None, 0),
    "yaw": (Headings, 2),
    "base": (Orientations, 3),
}


def _allocate(cfgs: Sequence[RayCastSensorCfg], sim: Simulation) -> Rays:
    excluded: list[int] = []
    for cfg in cfgs:
        own = bodies_of(cfg.frames, sim.mj_model)
        rays_per_frame = cfg.num_rays // len(own)
        for body in own:
            excluded += [body if cfg.exclude_parent_body else -1] * rays_per_frame
    shape = (sim.num_envs, len(excluded))
    return Rays(
        starts=torch.zeros(*shape, 3, device=sim.device),
        directions=torch.zeros(*shape, 3, device=sim.device),
        excluded_bodies=tuple(excluded),
        geom_groups=cfgs[0].met_groups,
        points_down=all(cfg.points_down for cfg in cfgs),
        distance=torch.zeros(shape, device=sim.device),
        geom=torch.zeros(shape, dtype=torch.int32, device=sim.device),
        normal=torch.zeros(*shape, 3, device=sim.device),
    )
