"""What every sensor is: declared as a config, bound to a simulation, read as `data`.

All readers see the same moment. After each physics step the scene calls `update(dt)`,
so that terminations and rewards see the values of that step. Once per environment
step, after `forward()`, it calls `refresh()`, so that observations see the present
state. Sensors that look at the world (rays, heights, cameras) are refreshed in
`sim.sense()` instead. Between these moments nothing changes, whoever reads and
whichever world was reset.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import mujoco
import torch

from mjlab.sensor.sight import Sight
from mjlab.sim import Simulation


class Sensor(ABC):
    """A sensor of one simulation, with every output tensor allocated."""

    name: str
    """The name under which the scene finds it."""

    notes: tuple[str, ...] = ()
    """What a user should know before training with it, for the start-up report."""

    @property
    @abstractmethod
    def data(self) -> Any:
        """The readings: the same tensors every time, written in place."""

    @abstractmethod
    def update(self, dt: float) -> None:
        """Take the values of the physics step of `dt` seconds that just ended."""

    @abstractmethod
    def refresh(self) -> None:
        """Take the present values. Runs after `forward()`, before observations."""

    @abstractmethod
    def reset(self, mask: torch.Tensor) -> None:
        """Forget the past of the worlds of `mask`, shape (num_envs,)."""

    def debug_vis(self, visualizer: Any) -> None:  # noqa: B027 - drawing is optional.
        """Draw what the sensor has to show; by default nothing."""

    @abstractmethod
    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""


@dataclass(kw_only=True)
class SensorCfg(ABC):
    """Declares a sensor of the scene."""

    name: str
    """The name under which the scene finds the sensor."""

    @abstractmethod
    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add to the scene what the sensor needs, and check what it refers to."""

    @abstractmethod
    def bind(self, sim: Simulation, sight: Sight | None = None) -> Sensor:
        """Make the sensor of a simulation of that scene.

        Args:
            sim: The simulation.
            sight: What sensors that look at the world share. None lets such a sensor
                make its own; `bind_sensors` makes one for all.
        """
