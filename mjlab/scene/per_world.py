"""An entity that is another object in each world, as a scene knows it."""

from collections.abc import Mapping
from typing import Protocol

import mujoco
import torch

from mjlab.entity import Entity
from mjlab.random import WorldRng
from mjlab.sim import Simulation


class PerWorldEntity(Protocol):
    """The object that each world has. Some entities of the scene stand for it."""

    members: dict[str, Entity]
    """Entities of the scene that stand for the objects, by name."""

    options: tuple[str, ...]
    """Names of the objects."""

    choice: torch.Tensor
    """The object of each world, counted in the order of `options`; their number where
    there is none. Shape (num_envs,), int64."""

    which: torch.Tensor
    """The member that stands for it, in the order of `members`, (num_envs,)."""

    present: torch.Tensor
    """Presence of the entity in each world, shape (num_envs,)."""

    @property
    def note(self) -> str:
        """The way in which worlds differ: a line of the start-up report."""
        ...

    def names(self) -> list[str | None]:
        """Return the object of each world by name, None where there is none."""
        ...

    def has(self, option: str) -> torch.Tensor:
        """Return whether a world has the object of that name, (num_envs,), bool."""
        ...

    def reset(self, mask: torch.Tensor) -> None:
        """Begin anew in the worlds of `mask`, before the entities do."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change, for a snapshot to be copied into."""
        ...


class PerWorldSpec(Protocol):
    """The specs that are attached to a scene for an entity that differs by world."""

    @property
    def specs(self) -> Mapping[str, mujoco.MjSpec]:
        """Specs of the members, each with its keyframe, by name."""
        ...

    def bind(self, sim: Simulation, rng: WorldRng) -> PerWorldEntity:
        """Give each world its object."""
        ...
