"""The interface of an engine, as a simulation asks it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

import mujoco
import torch
from mujoco import batch as mj_batch

from mjlab.sim.fields import ModelTable, Stage


class EngineError(RuntimeError):
    """The engine could not go on."""

    def __init__(self, message: str, worlds: Sequence[int] = ()) -> None:
        """Say why, and in which worlds if that is known."""
        super().__init__(message)
        self.worlds = tuple(worlds)
        """The worlds in which it could not."""


Control = Callable[[], None]
"""A control law: reads `sim.data` at the velocity stage and writes `sim.data.ctrl`."""

Launch = Callable[[], None]
"""Launches of Warp kernels, and nothing else."""


class SensePass:
    """Work of a sensor that runs once per `sim.sense()`; a pass overrides its parts.

    The three parts exist because Warp records its own launches but not torch's
    operations: `launch` may only launch Warp kernels (on the Warp engine), and what is
    computed with torch goes before and after it.
    """

    def prepare(self) -> None:
        """Compute inputs with torch."""

    def launch(self) -> None:
        """Run the engine's part."""

    def finish(self) -> None:
        """Compute outputs with torch."""


class Use(NamedTuple):
    """Use of a kind of room, as the worlds have used it so far."""

    most: float
    """The most at once, per world."""

    room: int
    """The room there is, per world."""


class Engine(Protocol):
    """Physics of all worlds. World i is row i of every tensor."""

    name: str
    device: torch.device
    mj_model: mujoco.MjModel
    num_envs: int
    variable_fields: frozenset[str]
    """Model fields that can differ between worlds."""

    @property
    def batch(self) -> mj_batch.Batch | None:
        """MuJoCo C's worlds, where these compute; None where there are none."""
        ...

    def data(self, name: str) -> torch.Tensor:
        """Return the live tensor of a data field, shape (num_envs, ...)."""
        ...

    def model(self, name: str) -> torch.Tensor | None:
        """Return the live tensor of a per-world model field, None while shared."""
        ...

    def step(self, control: Control | None) -> None:
        """Advance every world by one timestep; see `Simulation.step`."""

    def finish_step(self, control: Control | None) -> None:
        """Advance every world by one timestep, from the stages of `forward()`."""

    def step_many(self, number: int, after_each: Callable[[], None] | None) -> None:
        """Advance every world by several timesteps; see `Simulation.step_many`."""

    def forward(self, stage: Stage) -> None:
        """Compute derived quantities up to `stage`."""

    def reset(self, mask: torch.Tensor) -> None:
        """Return the worlds of `mask` to the model's defaults."""

    def sense(self, passes: Sequence[SensePass]) -> None:
        """Run the sense passes."""

    def expand(self, names: Collection[str]) -> None:
        """Give model fields a value per world."""

    def write_model(
        self, tables: Sequence[ModelTable], choice: torch.Tensor, mask: torch.Tensor
    ) -> None:
        """Write the rows of model fields that are one of several things in each world.

        Args:
            tables: The rows, of fields that vary per world on this engine.
            choice: Which of the things each world has, shape (num_envs,), int64.
            mask: The worlds to write, shape (num_envs,), bool.
        """

    def recompute_constants(self, mask: torch.Tensor) -> None:
        """Derive constants anew from the model fields of the worlds of `mask`."""

    def overflow(self) -> dict[str, torch.Tensor]:
        """Return events of missing room by kind, per world, shape (num_envs,)."""
        ...

    def advice(self, kind: str) -> str:
        """Return what a user can set when `overflow()[kind]` is not zero."""
        ...

    def bytes_per_world(self) -> int:
        """Return about how much memory one more world takes."""
        ...

    def use(self) -> dict[str, Use]:
        """Return the use of allocated room, by kind. Waits for the device."""
        ...

    def snapshot(self, *, model: bool = True) -> dict[str, torch.Tensor]:
        """Return everything the engine holds that its future depends on.

        Args:
            model: Whether the model's fields are among it.
        """
        ...

    def restore(
        self, snapshot: Mapping[str, torch.Tensor], mask: torch.Tensor | None = None
    ) -> None:
        """Continue as if from the moment of `snapshot`.

        Args:
            snapshot: What `snapshot` returned. With a mask it may leave out counters
                and derived fields, which then stay as they are.
            mask: The worlds, shape (num_envs,), bool; no bit of the others changes.
                None means all.
        """

    def mj_model_of(self, world: int) -> mujoco.MjModel:
        """Return the model of one world, with its own values, for drawing."""
        ...

    def mj_data_of(self, world: int) -> mujoco.MjData:
        """Return the state of one world, with its kinematics, for drawing."""
        ...
