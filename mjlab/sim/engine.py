"""What a simulation asks of an engine."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

import mujoco
import torch

from mjlab.sim.fields import Stage


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


class SensePass(Protocol):
    """Work of a sensor that runs once per `sim.sense()`.

    The three parts exist because Warp records its own launches but not torch's
    operations: `launch` may only launch Warp kernels (on the Warp engine), and what is
    computed with torch goes before and after it.
    """

    def prepare(self) -> None:
        """Compute inputs with torch."""
        ...

    def launch(self) -> None:
        """Run the engine's part."""
        ...

    def finish(self) -> None:
        """Compute outputs with torch."""
        ...


class Use(NamedTuple):
    """How much of a kind of room the worlds have used so far."""

    most: float
    """The most at once, per world."""

    room: int
    """What there is, per world."""


class Engine(Protocol):
    """Physics of all worlds. World i is row i of every tensor."""

    name: str
    device: torch.device
    mj_model: mujoco.MjModel
    num_envs: int
    variable_fields: frozenset[str]
    """Model fields that can differ between worlds."""

    def data(self, name: str) -> torch.Tensor:
        """The live tensor of a data field, shape (num_envs, ...)."""
        ...

    def model(self, name: str) -> torch.Tensor | None:
        """The live tensor of a per-world model field, or None while it is shared."""
        ...

    def step(self, control: Control | None, resume: bool) -> None:
        """Advance every world by one timestep."""
        ...

    def forward(self, stage: Stage) -> None:
        """Compute derived quantities up to `stage`."""
        ...

    def reset(self, mask: torch.Tensor) -> None:
        """Return the worlds of `mask` to the model's defaults."""
        ...

    def sense(self, passes: Sequence[SensePass]) -> None:
        """Run the sense passes."""
        ...

    def expand(self, names: Collection[str]) -> None:
        """Give model fields a value per world."""
        ...

    def recompute_constants(self, mask: torch.Tensor) -> None:
        """Derive constants anew from the model fields of the worlds of `mask`."""
        ...

    def overflow(self) -> dict[str, torch.Tensor]:
        """Events of missing room by kind, counted per world, shape (num_envs,)."""
        ...

    def advice(self, kind: str) -> str:
        """What a user can set when `overflow()[kind]` is not zero."""
        ...

    def bytes_per_world(self) -> int:
        """About how much memory one more world takes."""
        ...

    def use(self) -> dict[str, Use]:
        """Use of room that is allocated beforehand, by kind. Waits for the device."""
        ...

    def snapshot(self) -> dict[str, torch.Tensor]:
        """Everything the engine holds that its future depends on."""
        ...

    def restore(self, snapshot: dict[str, torch.Tensor]) -> None:
        """Continue as if from the moment of `snapshot`."""
        ...

    def mj_model_of(self, world: int) -> mujoco.MjModel:
        """The model of one world, with its own values, for drawing."""
        ...

    def mj_data_of(self, world: int) -> mujoco.MjData:
        """The state of one world, with its kinematics, for drawing."""
        ...
