"""What every sensor is: declared as a config, bound to a simulation, read as `data`.

All readers see the same moment. After each physics step the scene calls `update(dt)`,
so that terminations and rewards see the values of that step. Once per environment
step, after `forward()`, it calls `refresh()`, so that observations see the present
state. Sensors that look at the world (rays, heights, cameras) are refreshed in
`sim.sense()` instead. Between these moments nothing changes, whoever reads and
whichever world was reset.
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
    """A sensor of one simulation, with every output tensor allocated.

    A sensor overrides what it needs: one that `sim.sense()` refreshes, or the engine,
    has nothing to do in `update` and `refresh`.
    """

    name: str
    """The name under which the scene finds it."""

    updates_from_readings = False
    """True if `update` reads nothing but what MuJoCo's own sensors read, so that
    physics may be steps ahead of it."""

    notes: tuple[str, ...] = ()
    """What a user should know before training with it, for the start-up report."""

    @property
    @abstractmethod
    def data(self) -> Any:
        """The readings: the same tensors every time, written in place."""

    def update(self, dt: float) -> None:  # noqa: B027
        """Take the values of the physics step of `dt` seconds that just ended."""

    def refresh(self) -> None:  # noqa: B027
        """Take the present values. Runs after `forward()`, before observations."""

    def reset(self, mask: torch.Tensor) -> None:  # noqa: B027
        """Forget the past of the worlds of `mask`, shape (num_envs,)."""

    def debug_vis(self, visualizer: Any) -> None:  # noqa: B027
        """Draw what the sensor has to show; by default nothing."""

    @abstractmethod
    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change, for a snapshot to be copied into."""


@dataclass(frozen=True, eq=False)
class SensorContext:
    """A simulation, and what its sensors share."""

    sim: Simulation
    """Physics of the scene."""

    contacts: ContactPool | None
    """Readings of all contact sensors, if there are any."""

    renderer: Renderer | None
    """The engine's way of looking at the worlds, if any sensor looks."""

    rays: Mapping[str, RayCastData]
    """Hits of the rays of each sensor that casts some, live."""


class SensorCfg(Config, ABC):
    """Declares a sensor of the scene."""

    name: str
    """The name under which the scene finds the sensor."""

    @abstractmethod
    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add to the scene what the sensor needs, and check what it refers to."""

    @abstractmethod
    def bind(self, context: SensorContext) -> Sensor:
        """Make the sensor of a simulation of that scene; `bind_sensors` calls it."""
