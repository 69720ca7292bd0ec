"""Rays from frames of the scene into the scene."""

import dataclasses
from dataclasses import dataclass, field
from typing import Literal, get_args

import mujoco
import torch

from mjlab.names import suggest
from mjlab.sensor.patterns import GridPatternCfg, PatternCfg, Vec3
from mjlab.sensor.render import Rays, Sight, make_sight
from mjlab.sensor.sensor import (
    ObjRef,
    Sensor,
    SensorCfg,
    SensorError,
    object_id,
    require_object,
)
from mjlab.sim import Simulation

Alignment = Literal["base", "yaw", "world"]

# For each type of frame: its position, its matrix, and the body it is fixed to.
_FRAMES: dict[str, tuple[str, str, str | None]] = {
    "body": ("xpos", "xmat", None),
    "xbody": ("xpos", "xmat", None),
    "site": ("site_xpos", "site_xmat", "site_bodyid"),
    "geom": ("geom_xpos", "geom_xmat", "geom_bodyid"),
    "camera": ("cam_xpos", "cam_xmat", "cam_bodyid"),
}


@dataclass(kw_only=True)
class RayCastSensorCfg(SensorCfg):
    """Casts a pattern of rays from one or several frames."""

    frame: ObjRef | tuple[ObjRef, ...]
    """Bodies, sites, geoms or cameras that the pattern is fixed to."""

    pattern: PatternCfg = field(default_factory=GridPatternCfg)
    """Where rays start and point."""

    alignment: Alignment = "yaw"
    """How much of the frame's rotation the pattern follows: all of it (`base`), only
    the heading of the frame's x axis (`yaw`), nothing (`world`)."""

    start_offset: Vec3 = (0.0, 0.0, 0.0)
    """Added to every start, in the aligned frame. Rays that look down on terrain higher
    than the robot have to start above it. Distances count from the start."""

    max_distance: float = 10.0
    """Meters beyond which nothing is seen."""

    exclude_parent_body: bool = True
    """Whether rays pass through the geoms of the body that their frame is fixed to."""

    geom_groups: tuple[int, ...] = (0,)
    """Groups of the geoms that rays meet. Keep visual meshes out of them: on the native
    engine they cost twenty times the rest."""

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Check the settings, and that the frames exist. Nothing is added."""
        check_frames(self.name, self.frames, spec)
        if self.alignment not in get_args(Alignment):
            raise SensorError(
                f"Sensor {self.name!r}: alignment={self.alignment!r} is unknown. "
                + suggest(self.alignment, get_args(Alignment))
            )
        if not self.max_distance > 0.0:
            raise SensorError(
                f"Sensor {self.name!r}: max_distance={self.max_distance} has to be "
                "positive."
            )
        self.pattern.rays()

    def bind(self, sim: Simulation, sight: Sight | None = None) -> "RayCastSensor":
        """Make the sensor."""
        sight = sight or make_sight(sim, ray_groups=[self.geom_groups])
        sensor = RayCastSensor(self, sim, sight)
        sim.add_sense_pass(sensor)
        return sensor

    @property
    def frames(self) -> tuple[ObjRef, ...]:
        """The frames as a tuple."""
        return (self.frame,) if isinstance(self.frame, ObjRef) else tuple(self.frame)


@dataclass(frozen=True)
class RayCastData:
    """What the rays met, written in place by `sim.sense()`.

    F is the number of frames and R the number of rays of the pattern; dimension 1 holds
    the rays of the first frame, then those of the second.
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


class RayCastSensor(Sensor):
    """Casts its rays once per `sim.sense()`; it is a sense pass of the simulation.

    Rewards and terminations, which come before, see what the last observation saw.
    """

    def __init__(self, cfg: RayCastSensorCfg, sim: Simulation, sight: Sight) -> None:
        """Allocate inputs and outputs of all rays."""
        self.name = cfg.name
        self._max_distance = cfg.max_distance
        self._frames = _Frames(cfg.frames, cfg.alignment, sim)
        starts, directions = cfg.pattern.rays()
        local = torch.tensor(starts + cfg.start_offset, dtype=torch.float32)
        self._local_starts = local.to(sim.device)
        self._local_directions = torch.tensor(
            directions, dtype=torch.float32, device=sim.device
        )
        num_rays = len(cfg.frames) * len(starts)
        self.num_rays_per_frame = len(starts)
        """The number of rays of the pattern."""
        bodies = _bodies(cfg.frames, sim.mj_model) if cfg.exclude_parent_body else [-1]
        self._rays = _allocate(cfg, bodies, num_rays, sim)
        self._data = RayCastData(
            distances=torch.zeros_like(self._rays.distance),
            hit=torch.zeros_like(self._rays.distance, dtype=torch.bool),
            hit_pos_w=torch.zeros_like(self._rays.starts),
            normals_w=torch.zeros_like(self._rays.starts),
            geom_ids=torch.zeros_like(self._rays.geom),
            starts_w=self._rays.starts,
            directions_w=self._rays.directions,
            frame_pos_w=self._frames.positions,
        )
        self._cast = sight.add_rays(self._rays)

    @property
    def data(self) -> RayCastData:
        """What the rays met."""
        return self._data

    def prepare(self) -> None:
        """Put the rays where the frames are."""
        self._frames.follow()
        shape = (-1, len(self._frames), self.num_rays_per_frame, 3)
        starts = self._rays.starts.view(shape)
        self._frames.rotate(self._local_starts, starts)
        starts.add_(self._frames.positions.unsqueeze(2))
        self._frames.rotate(self._local_directions, self._rays.directions.view(shape))

    def launch(self) -> None:
        """Cast them."""
        self._cast()

    def finish(self) -> None:
        """Tell hits from misses."""
        rays, data = self._rays, self._data
        torch.logical_and(
            rays.distance >= 0.0, rays.distance <= self._max_distance, out=data.hit
        )
        missed = ~data.hit
        data.distances.copy_(rays.distance).masked_fill_(missed, self._max_distance)
        torch.mul(rays.directions, data.distances.unsqueeze(-1), out=data.hit_pos_w)
        data.hit_pos_w.add_(rays.starts)
        data.normals_w.copy_(rays.normal).masked_fill_(missed.unsqueeze(-1), 0.0)
        data.geom_ids.copy_(rays.geom).masked_fill_(missed, -1)

    def update(self, dt: float) -> None:
        """Do nothing: rays are cast in `sim.sense()`."""

    def refresh(self) -> None:
        """Do nothing: rays are cast in `sim.sense()`."""

    def reset(self, mask: torch.Tensor) -> None:
        """Do nothing: a reset is followed by `sim.sense()` before anybody reads."""

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        return {
            entry.name: getattr(self._data, entry.name)
            for entry in dataclasses.fields(self._data)
        }


class _Frames:
    """Poses of frames of several types, and the axes that a pattern follows."""

    def __init__(
        self, frames: tuple[ObjRef, ...], alignment: Alignment, sim: Simulation
    ) -> None:
        self._alignment = alignment
        self._sources = []
        for kind in dict.fromkeys(frame.type for frame in frames):
            position, matrix, _ = _FRAMES[kind]
            places = [i for i, frame in enumerate(frames) if frame.type == kind]
            ids = [object_id(sim.mj_model, frames[i]) for i in places]
            self._sources.append(
                (
                    getattr(sim.data, position),
                    getattr(sim.data, matrix),
                    torch.tensor(ids, device=sim.device),
                    torch.tensor(places, device=sim.device),
                )
            )
        shape = (sim.num_envs, len(frames))
        self.positions = torch.zeros(*shape, 3, device=sim.device)
        # Columns are the axes of the aligned frame, so these start as world axes.
        self._axes = torch.eye(3, device=sim.device).repeat(*shape, 1, 1)
        self._poses = torch.zeros(*shape, 3, 3, device=sim.device)

    def __len__(self) -> int:
        """The number of frames."""
        return self.positions.shape[1]

    def follow(self) -> None:
        """Take the present poses."""
        for position, matrix, ids, places in self._sources:
            self.positions.index_copy_(1, places, position.index_select(1, ids))
            if self._alignment != "world":
                self._poses.index_copy_(1, places, matrix.index_select(1, ids))
        if self._alignment == "base":
            self._axes.copy_(self._poses)
        elif self._alignment == "yaw":
            self._follow_heading()

    def rotate(self, local: torch.Tensor, out: torch.Tensor) -> None:
        """Write vectors of shape (R, 3), turned by each frame's axes, into `out`.

        Written out, since the bits of a batched matrix product depend on the number of
        worlds.
        """
        axes = self._axes.unsqueeze(2)
        x, y, z = local[:, 0:1], local[:, 1:2], local[:, 2:3]
        torch.mul(axes[..., 0], x, out=out)
        out.add_(axes[..., 1] * y)
        out.add_(axes[..., 2] * z)

    def _follow_heading(self) -> None:
        """Turn the axes about z, so that x points where the frame's x axis points.

        Where that axis is vertical it has no heading, and the frame's y axis, which is
        horizontal then, gives it.
        """
        poses = self._poses
        x_ahead, x_left = poses[..., 0, 0], poses[..., 1, 0]
        is_vertical = x_ahead * x_ahead + x_left * x_left < 1e-6
        ahead = torch.where(is_vertical, poses[..., 1, 1], x_ahead)
        left = torch.where(is_vertical, -poses[..., 0, 1], x_left)
        length = torch.sqrt(ahead * ahead + left * left)
        cos, sin = ahead / length, left / length
        self._axes[..., 0, 0].copy_(cos)
        self._axes[..., 1, 1].copy_(cos)
        self._axes[..., 1, 0].copy_(sin)
        self._axes[..., 0, 1].copy_(-sin)


def check_frames(sensor: str, frames: tuple[ObjRef, ...], spec: mujoco.MjSpec) -> None:
    """Raise unless there are frames, and rays can be fixed to all of them."""
    if not frames:
        raise SensorError(f"Sensor {sensor!r}: frame is empty.")
    for frame in frames:
        if frame.type not in _FRAMES:
            raise SensorError(
                f"Sensor {sensor!r}: rays cannot start from {frame.full_name!r}, which "
                f"is of type {frame.type!r}. {suggest(frame.type, _FRAMES)}"
            )
        require_object(spec, frame, sensor)


def _bodies(frames: tuple[ObjRef, ...], model: mujoco.MjModel) -> list[int]:
    """The body that each frame is fixed to; the world is not left out of rays."""
    bodies = []
    for frame in frames:
        index, owner = object_id(model, frame), _FRAMES[frame.type][2]
        body = index if owner is None else int(getattr(model, owner)[index])
        bodies.append(body if body > 0 else -1)
    return bodies


def _allocate(
    cfg: RayCastSensorCfg, bodies: list[int], num_rays: int, sim: Simulation
) -> Rays:
    excluded = [body for body in bodies for _ in range(num_rays // len(bodies))]
    shape = (sim.num_envs, num_rays)
    return Rays(
        starts=torch.zeros(*shape, 3, device=sim.device),
        directions=torch.zeros(*shape, 3, device=sim.device),
        excluded_bodies=tuple(excluded),
        geom_groups=cfg.geom_groups,
        distance=torch.zeros(shape, device=sim.device),
        geom=torch.zeros(shape, dtype=torch.int32, device=sim.device),
        normal=torch.zeros(*shape, 3, device=sim.device),
    )
