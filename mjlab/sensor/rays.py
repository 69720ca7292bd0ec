"""Rays from frames of the scene into the scene."""

import dataclasses
from dataclasses import dataclass, field
from typing import get_args

import mujoco
import numpy as np
import torch

from mjlab.names import suggest
from mjlab.sensor.objects import ObjRef, SensorError
from mjlab.sensor.patterns import GridPatternCfg, PatternCfg, Vec3
from mjlab.sensor.ray_frames import check_frames
from mjlab.sensor.ray_pool import Alignment, RayCastData, RaySpec
from mjlab.sensor.sensor import Sensor, SensorCfg
from mjlab.sensor.sight import Sight
from mjlab.sim import Simulation


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
        return RayCastSensor(self, sight or Sight(sim, casters=[self.ray_spec()]))

    def local_rays(self) -> tuple[np.ndarray, np.ndarray]:
        """Starts and unit directions in the aligned frame, both of shape (rays, 3)."""
        starts, directions = self.pattern.rays()
        return starts + self.start_offset, directions

    def ray_spec(self) -> RaySpec:
        """The rays, as those of all sensors are cast."""
        starts, directions = self.local_rays()
        return RaySpec(
            sensor=self.name,
            frames=self.frames,
            starts=starts,
            directions=directions,
            alignment=self.alignment,
            max_distance=self.max_distance,
            exclude_parent_body=self.exclude_parent_body,
            geom_groups=self.geom_groups,
        )

    @property
    def frames(self) -> tuple[ObjRef, ...]:
        """The frames as a tuple."""
        return (self.frame,) if isinstance(self.frame, ObjRef) else tuple(self.frame)


class RayCastSensor(Sensor):
    """Rays that are cast once per `sim.sense()`, with those of other sensors.

    Rewards and terminations, which come before, see what the last observation saw.
    """

    def __init__(self, cfg: RayCastSensorCfg, sight: Sight) -> None:
        """Find the sensor's rays among all that are cast."""
        self.name = cfg.name
        self.num_rays_per_frame = len(cfg.local_rays()[0])
        """The number of rays of the pattern."""
        self._data = sight.rays(cfg.name)

    @property
    def data(self) -> RayCastData:
        """What the rays met."""
        return self._data

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
