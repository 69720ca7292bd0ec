"""Rays of several sensors, prepared, cast and finished together.

One launch casts all rays that can meet the same geoms, and one pass tells hits from
misses, however many sensors there are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from mjlab.sensor.objects import ObjRef
from mjlab.sensor.ray_frames import Headings, Orientations, Positions, bodies_of
from mjlab.sensor.vision import Rays
from mjlab.sim import Simulation

Alignment = Literal["base", "yaw", "world"]


@dataclass(frozen=True, eq=False)
class RaySpec:
    """The rays of one sensor."""

    sensor: str
    """The sensor's name."""

    frames: tuple[ObjRef, ...]
    """What the pattern is fixed to, F of them."""

    starts: np.ndarray
    """In the aligned frame, in m, shape (R, 3)."""

    directions: np.ndarray
    """Unit vectors in the aligned frame, shape (R, 3)."""

    alignment: Alignment
    """How much of a frame's rotation the pattern follows."""

    max_distance: float
    """Meters beyond which nothing is seen."""

    exclude_parent_body: bool
    """Whether rays pass through the geoms of the body that their frame is fixed to."""

    geom_groups: tuple[int, ...]
    """Groups of the geoms that rays meet."""

    @property
    def num_rays(self) -> int:
        """How many rays are cast in each world."""
        return len(self.frames) * len(self.starts)

    @property
    def points_down(self) -> bool:
        """Whether all of them point straight down at all times."""
        is_down = bool((np.asarray(self.directions) == (0.0, 0.0, -1.0)).all())
        return is_down and self.alignment != "base"


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
        specs: Sequence[RaySpec],
        sim: Simulation,
        add_rays: Callable[[Rays], Callable[[], None]],
    ) -> None:
        """Allocate inputs and outputs of all rays.

        Args:
            specs: Those of each sensor. All see the same geom groups.
            sim: The simulation.
            add_rays: Returns what casts the rays.
        """
        frames = [frame for spec in specs for frame in spec.frames]
        self._positions = Positions(frames, sim)
        limits = [spec.max_distance for spec in specs for _ in range(spec.num_rays)]
        self._limit = torch.tensor(limits, dtype=torch.float32, device=sim.device)
        self._rays = _allocate(specs, sim)
        self._data = self._allocate_data()
        self._followers: list[_Follower] = []
        self._parts: dict[str, RayCastData] = {}
        first_frame = first_ray = 0
        for spec in specs:
            rays = slice(first_ray, first_ray + spec.num_rays)
            own = slice(first_frame, first_frame + len(spec.frames))
            first_ray, first_frame = rays.stop, own.stop
            part = {n: value[:, rays] for n, value in self._data.items()}
            position = self._positions.values[:, own]
            self._parts[spec.sensor] = RayCastData(**part, frame_pos_w=position)
            self._followers.append(_Follower(spec, sim, self._parts[spec.sensor]))
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

    def __init__(self, spec: RaySpec, sim: Simulation, data: RayCastData) -> None:
        """Find what of the rays ever changes."""
        axes, turned = _AXES[spec.alignment]
        starts, directions = (
            _Vectors(
                torch.tensor(local, dtype=torch.float32, device=sim.device), turned
            )
            for local in (spec.starts, spec.directions)
        )
        shape = (len(spec.frames), -1)
        self._starts = data.starts_w.unflatten(1, shape)
        self._directions = data.directions_w.unflatten(1, shape)
        self._positions = data.frame_pos_w.unsqueeze(2)
        self._local_starts, self._local_directions = starts, directions
        needs_axes = starts.turn or directions.turn
        self._axes = axes(spec.frames, sim) if axes is not None and needs_axes else None
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


def _allocate(specs: Sequence[RaySpec], sim: Simulation) -> Rays:
    excluded: list[int] = []
    for spec in specs:
        own = bodies_of(spec.frames, sim.mj_model)
        rays_per_frame = spec.num_rays // len(own)
        for body in own:
            excluded += [body if spec.exclude_parent_body else -1] * rays_per_frame
    shape = (sim.num_envs, len(excluded))
    return Rays(
        starts=torch.zeros(*shape, 3, device=sim.device),
        directions=torch.zeros(*shape, 3, device=sim.device),
        excluded_bodies=tuple(excluded),
        geom_groups=specs[0].geom_groups,
        points_down=all(spec.points_down for spec in specs),
        distance=torch.zeros(shape, device=sim.device),
        geom=torch.zeros(shape, dtype=torch.int32, device=sim.device),
        normal=torch.zeros(*shape, 3, device=sim.device),
    )
