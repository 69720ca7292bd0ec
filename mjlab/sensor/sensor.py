"""Base classes of sensors: declared as a config, bound to a simulation, read as `data`.

All terms read consistent values. After each physics step the scene calls `update(dt)`,
so that terminations and rewards use the values of that step. Once per environment
step, after `forward()`, it calls `refresh()`, so that observations use the current
state. Ray casters, terrain height sensors and cameras are refreshed in `sim.sense()`
instead. Between these calls the values do not depend on reads or on resets of other
worlds.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import torch

from mjlab.sensor.contact_data import ContactPool
from mjlab.sensor.vision import RayCastData, Renderer
from mjlab.settings import Config
from mjlab.sim import Simulation


class Sensor(ABC):
    """A sensor of one simulation, with preallocated output tensors.

    Subclasses override the methods they need: sensors that the engine or `sim.sense()`
    refreshes need neither `update` nor `refresh`.
    """

    name: str
    """Name of the sensor in the scene."""

    updates_from_readings = False
    """True if `update` depends only on the readings of MuJoCo's own sensors, so that
    physics can run several steps ahead of it."""

    notes: tuple[str, ...] = ()
    """Notes on training with this sensor, for the start-up report."""

    @property
    @abstractmethod
    def data(self) -> Any:
        """Readings, in tensors that are allocated once and written in place."""

    def update(self, dt: float) -> None:  # noqa: B027
        """Read the values of the last physics step, of `dt` seconds."""

    def refresh(self) -> None:  # noqa: B027
        """Read the current values. Runs after `forward()`, before observations."""

    def reset(self, mask: torch.Tensor) -> None:  # noqa: B027
        """Reset history and counters of the worlds in `mask`, shape (num_envs,)."""

    def debug_vis(self, visualizer: Any) -> None:  # noqa: B027
        """Draw the sensor's debug visualisation; by default nothing."""

    @abstractmethod
    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""


@dataclass(frozen=True, eq=False)
class SensorContext:
    """A simulation, and the resources that its sensors share."""

    sim: Simulation
    """Physics of the scene."""

    contacts: ContactPool | None
    """Readings of all contact sensors, None without contact sensors."""

    renderer: Renderer | None
    """The engine's renderer for rays and cameras, None if no sensor needs it."""

    rays: Mapping[str, RayCastData]
    """Hits of rays by sensor name, in tensors that `sim.sense()` updates in place."""


class SensorCfg(Config, ABC):
    """Base class of sensor configurations."""

    name: str
    """Name of the sensor in the scene."""

    @abstractmethod
    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add the sensor's elements to the scene, and check its references."""

    def in_model(self, model: mujoco.MjModel) -> "SensorCfg":
        """Return the configuration with settings filled in from the compiled model."""
        del model
        return self

    @abstractmethod
    def bind(self, context: SensorContext) -> Sensor:
        """Create the sensor for a simulation of the scene. Called by `bind_sensors`."""
