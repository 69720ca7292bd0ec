"""Interface of entities that can be a different object in each world."""

from collections.abc import Mapping
from typing import Protocol

import mujoco
import torch

from mjlab.entity import Entity
from mjlab.random import WorldRng
from mjlab.sim import Simulation


class PerWorldEntity(Protocol):
    """An entity with one object per world, represented by member entities."""

    members: dict[str, Entity]
    """Entities of the scene that represent the objects, by name."""

    options: tuple[str, ...]
    """Names of the objects."""

    choice: torch.Tensor
    """Object of each world, as an index into `options`; `len(options)` for a world
    without an object. Shape (num_envs,), int64."""

    which: torch.Tensor
    """Member that represents the object, as an index into `members`, (num_envs,)."""

    present: torch.Tensor
    """True in worlds that have an object, shape (num_envs,), bool."""

    @property
    def note(self) -> str:
        """Differences between worlds, as a line of the start-up report."""
        ...

    def names(self) -> list[str | None]:
        """Return the name of each world's object, None for worlds without one."""
        ...

    def has(self, option: str) -> torch.Tensor:
        """Return a mask of the worlds with the object `option`, (num_envs,), bool."""
        ...

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the worlds of `mask`, before their entities are reset."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        ...


class PerWorldSpec(Protocol):
    """Specs that are attached to a scene for an entity that differs between worlds."""

    @property
    def specs(self) -> Mapping[str, mujoco.MjSpec]:
        """Specs of the members, each with its keyframe, by name."""
        ...

    def bind(self, sim: Simulation, rng: WorldRng) -> PerWorldEntity:
        """Bind the members to a simulation, and assign an object to each world."""
        ...
