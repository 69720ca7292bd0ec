"""What every view of a scene reads from and writes to."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from mjlab.entity import Entity
from mjlab.sim import Simulation
from mjlab.views.bodies import RigidBodies
from mjlab.views.choice import Choice
from mjlab.views.forces import ContactForces


@dataclass(frozen=True, eq=False)
class ViewSource:
    """The parts of a scene that views are made of."""

    sim: Simulation
    """Physics of the scene."""

    entities: Mapping[str, Entity]
    """Entities by name."""

    bodies: RigidBodies
    """Columns of all bodies."""

    forces: ContactForces
    """Contact forces that the scene declares."""

    def owner(self, element: str) -> Entity | None:
        """The entity of an element by its full name; None for the scene's own."""
        return self.entities.get(element.split("/")[0]) if "/" in element else None

    def choice(
        self,
        names: tuple[str, ...],
        which: torch.Tensor | None,
        present: torch.Tensor | None,
    ) -> Choice:
        """Which of the members of these names each world shows."""
        return Choice(names, self.sim.num_envs, self.sim.device, which, present)
