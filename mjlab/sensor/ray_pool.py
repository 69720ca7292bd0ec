"""Rays of several sensors, prepared, cast and finished together.

One launch casts all rays that can meet the same geoms, and one pass tells hits from
misses, however many sensors there are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from mjlab.sensor.ray_frames import Headings, Orientations, Positions, bodies_of
from mjlab.sensor.render import Rays
from mjlab.sim import Simulation

if TYPE_CHECKING:
    from mjlab.sensor.rays import RayCastSensorCfg


@dataclass(frozen=True)
class RayCastData:
    """What the rays met, written in place by `sim.sense()`.

    F is the number of frames and R the number of rays of the pattern; dimension 1 holds
    the rays of the first frame, then those of the second. The tensors are views of
    those of all sensors that cast together, so their rows are not contiguous.
    """

    distances: torch.Tensor
    """From the start to the hit, in m, shape (num_envs, F * R). Where nothing was met
    within `max_distance` it is `max_distance`, and `hit` is False."""

    hit: torch.Tensor
    """Whether the ray met something, shape (num_envs, F * R), bool."""

    hit_pos_w: torch.Tensor
    """Where, in the world frame, in m, shape (num_envs, F * R, 3). For a miss it is the
    point at `max_distance`."""

    normals_w: torch.Tensor
    """Surface normal in the world frame, 0 for a miss, shape (num_envs, F * R, 3)."""

    geom_ids: torch.Tensor
    """The geom that was met, -1 for a miss, shape (num_envs, F * R), int32."""

    starts_w: torch.Tensor
    """Starts in the world frame, in m, shape (num_envs, F * R, 3)."""

    directions_w: torch.Tensor
    """Unit directions in the world frame, shape (num_envs, F * R, 3)."""

    frame_pos_w: torch.Tensor
    """Positions of the frames in the world, in m, shape (num_envs, F, 3)."""


class RayPool:
    """The rays of sensors that can meet the same geoms; a pass of `sim.sense()`."""

    def __init__(
        self,
        cfgs: Sequence["RayCastSensorCfg"],
        sim: Simulation,
        add_rays: Callable[[Rays], Callable[[], None]],
    ) -> None:
        """Allocate inputs and outputs of all rays.

        Args:
            cfgs: The sensors. All see the same geom groups.
            sim: The simulation.
            add_rays: Returns what casts the rays.
        """
        frames = [frame for cfg in cfgs for frame in cfg.frames]
        self._positions = Positions(frames, sim)
        limits = [cfg.max_distance for cfg in cfgs for _ in range(num_rays(cfg))]
        self._limit = torch.tensor(limits, dtype=torch.float32, device=sim.device)
        self._rays = _allocate(cfgs, sim)
        self._data = self._allocate_data()
        self._followers: list[_Follower] = []
        self._parts: dict[str, RayCastData] = {}
        first_frame = first_ray = 0
        for cfg in cfgs:
            rays = slice(first_ray, first_ray + num_rays(cfg))
            own = slice(first_frame, first_frame + len(cfg.frames))
            first_ray, first_frame = rays.stop, own.stop
            part = {n: value[:, rays] for n, value in self._data.items()}
            position = self._positions.values[:, own]
            self._parts[cfg.name] = RayCastData(**part, frame_pos_w=position)
            self._followers.append(_Follower(cfg, sim, self._parts[cfg.name]))
        self._nothing = torch.zeros((), device=sim.device)
        self._no_geom = torch.full((), -1, dtype=torch.int32, device=sim.device)
        self._cast = add_rays(self._rays)

    def data(self, sensor: str) -> RayCastData:
        """What the rays of one sensor met, live."""
        return self._parts[sensor]

    def prepare(self) -> None:
        """Put the rays where the frames are."""
        self._positions.follow()
        for follower in self._followers:
            follower.follow()

    def launch(self) -> None:
        """Cast them."""
        self._cast()

    def finish(self) -> None:
        """Tell hits from misses."""
        rays, data = self._rays, self._data
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

    Written out instead of as products of matrices, whose bits depend on the number of
    worlds.
    """

    def __init__(
        self, cfg: "RayCastSensorCfg", sim: Simulation, data: RayCastData
    ) -> None:
        """Find what of the rays ever changes."""
        axes, turned = _AXES[cfg.alignment]
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
        """Put the rays where the frames are."""
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
    """Vectors of a pattern of which the first components turn with a frame's axes."""

    def __init__(self, local: torch.Tensor, turned: int) -> None:
        """Take the vectors apart.

        Args:
            local: Shape (rays, 3).
            turned: The number of components that turn.
        """
        self.still = local.clone()
        """What does not turn, shape (rays, 3)."""
        self.still[:, :turned] = 0.0
        self._parts = [local[:, i : i + 1] for i in range(turned)]
        self.turn = bool(local[:, :turned].any())
        """Whether anything turns."""

    def write(self, axes: tuple[torch.Tensor, ...], out: torch.Tensor) -> None:
        """Write the turned vectors.

        Args:
            axes: Each shape (num_envs, frames, 3).
            out: Shape (num_envs, frames, rays, 3).
        """
        last = self.still
        for axis, part in zip(axes, self._parts, strict=True):
            torch.addcmul(last, axis.unsqueeze(2), part, out=out)
            last = out


# For each alignment its axes, and how many components of a vector they turn.
_AXES: dict[str, tuple[type[Headings] | type[Orientations] | None, int]] = {
    "world": (None, 0),
    "yaw": (Headings, 2),
    "base": (Orientations, 3),
}


def num_rays(cfg: "RayCastSensorCfg") -> int:
    """How many rays a sensor casts in each world."""
    return len(cfg.frames) * len(cfg.local_rays()[0])


def points_down(cfg: "RayCastSensorCfg") -> bool:
    """Whether all rays of a sensor point straight down at all times."""
    _, directions = cfg.local_rays()
    is_down = bool((np.asarray(directions) == (0.0, 0.0, -1.0)).all())
    return is_down and cfg.alignment != "base"


def _allocate(cfgs: Sequence["RayCastSensorCfg"], sim: Simulation) -> Rays:
    excluded: list[int] = []
    for cfg in cfgs:
        own = bodies_of(cfg.frames, sim.mj_model)
        rays_per_frame = num_rays(cfg) // len(own)
        for body in own:
            excluded += [body if cfg.exclude_parent_body else -1] * rays_per_frame
    shape = (sim.num_envs, len(excluded))
    return Rays(
        starts=torch.zeros(*shape, 3, device=sim.device),
        directions=torch.zeros(*shape, 3, device=sim.device),
        excluded_bodies=tuple(excluded),
        geom_groups=cfgs[0].geom_groups,
        points_down=all(points_down(cfg) for cfg in cfgs),
        distance=torch.zeros(shape, device=sim.device),
        geom=torch.zeros(shape, dtype=torch.int32, device=sim.device),
        normal=torch.zeros(*shape, 3, device=sim.device),
    )
