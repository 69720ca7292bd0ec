"""Interface of a physics engine."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import mujoco
import torch
from mujoco import batch as mj_batch

from mjlab.sim.fields import ModelTable, Stage


class EngineError(RuntimeError):
    """Raised if the engine cannot continue."""

    def __init__(self, message: str, worlds: Sequence[int] = ()) -> None:
        """Set the message, and the affected worlds if known."""
        super().__init__(message)
        self.worlds = tuple(worlds)
        """Indices of the affected worlds, empty if unknown."""


Control = Callable[[], None]
"""Control law: reads `sim.data` at the velocity stage and writes `sim.data.ctrl`."""

Launch = Callable[[], None]
"""Function that only launches Warp kernels."""


class SensePass:
    """Sensor computation that runs once per `sim.sense()`.

    Subclasses override the three methods. Warp captures its own launches but not
    torch's operations, so on the Warp engine `launch` must only launch Warp kernels;
    torch operations belong in `prepare` and `finish`.
    """

    def prepare(self) -> None:
        """Compute the inputs of `launch` with torch."""

    def launch(self) -> None:
        """Run the sensor computation on the engine; on Warp, only launch kernels."""

    def finish(self) -> None:
        """Compute the sensor's outputs from the results of `launch`, with torch."""


class Use(NamedTuple):
    """Maximum use and capacity of a buffer."""

    most: float
    """Maximum use per world so far."""

    room: int
    """Capacity per world."""


class Engine(Protocol):
    """Interface of a physics engine. World i is row i of every tensor."""

    name: str
    device: torch.device
    mj_model: mujoco.MjModel
    num_envs: int
    variable_fields: frozenset[str]
    """Names of the model fields that can differ between worlds."""

    @property
    def batch(self) -> mj_batch.Batch | None:
        """Batch of MuJoCo C's worlds on the native engine; None on other engines."""
        ...

    def data(self, name: str) -> torch.Tensor:
        """Return the live tensor of a data field, shape (num_envs, ...)."""
        ...

    def model(self, name: str) -> torch.Tensor | None:
        """Return the live tensor of a model field, or None if all worlds share it."""
        ...

    def step(self, control: Control | None) -> None:
        """Advance every world by one timestep; see `Simulation.step`."""

    def finish_step(self, control: Control | None) -> None:
        """Advance every world by one timestep, reusing the results of `forward()`."""

    def step_many(self, number: int, after_each: Callable[[], None] | None) -> None:
        """Advance every world by several timesteps; see `Simulation.step_many`."""

    def forward(self, stage: Stage) -> None:
        """Compute derived quantities up to `stage`."""

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the worlds of `mask` to the model's defaults."""

    def sense(self, passes: Sequence[SensePass]) -> None:
        """Run the sense passes."""

    def expand(self, names: Collection[str]) -> None:
        """Allocate per-world values for model fields."""

    def write_model(
        self, tables: Sequence[ModelTable], choice: torch.Tensor, mask: torch.Tensor
    ) -> None:
        """Write the values of each world's variant into the model fields.

        Args:
            tables: Values of the variants by model field, for fields that vary per
                world on this engine.
            choice: Index of each world's variant, shape (num_envs,), int64.
            mask: Worlds to write, shape (num_envs,), bool.
        """

    def recompute_constants(self, mask: torch.Tensor) -> None:
        """Recompute constants from the model fields of the worlds of `mask`."""

    def overflow(self) -> dict[str, torch.Tensor]:
        """Return overflow counts per world by kind, each of shape (num_envs,)."""
        ...

    def advice(self, kind: str) -> str:
        """Return the setting to change when `overflow()[kind]` is not zero."""
        ...

    def bytes_per_world(self) -> int:
        """Return the approximate memory of one additional world, in bytes."""
        ...

    def use(self) -> dict[str, Use]:
        """Return the use of buffers by kind. Synchronises with the device."""
        ...

    def snapshot(self, *, model: bool = True) -> dict[str, torch.Tensor]:
        """Return the complete state of the engine.

        Args:
            model: Whether model fields are included.
        """
        ...

    def restore(
        self, snapshot: Mapping[str, torch.Tensor], mask: torch.Tensor | None = None
    ) -> None:
        """Restore the state of `snapshot`.

        Args:
            snapshot: State returned by `snapshot`. With a mask, it can omit counters
                and derived fields, which are then unchanged.
            mask: Worlds to restore, shape (num_envs,), bool. Other worlds are
                bitwise unchanged. None means all.
        """

    def mj_model_of(self, world: int) -> mujoco.MjModel:
        """Return an MjModel with the values of one world, for rendering."""
        ...

    def mj_data_of(self, world: int) -> mujoco.MjData:
        """Return an MjData with the state and poses of one world, for rendering."""
        ...
