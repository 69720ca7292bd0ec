"""Contact forces of the current state, between any two bodies or entities."""

from collections.abc import Sequence

import mujoco
import numpy as np
import torch

from mjlab.scene import PairKey
from mjlab.sim import Simulation
from mjlab.views.source import ContactForces, ViewSource


class PresentForces(ContactForces):
    """Contacts of all worlds in the current state, computed once for all pairs.

    Runs MuJoCo's forward dynamics on the host, on a copy of each world's state. Meant
    for inspection between steps; terms use declared contact pairs.
    """

    def __init__(self, source: ViewSource) -> None:
        """Compute the contacts of all worlds of a scene."""
        super().__init__({}, {})
        self._source = source
        self._num_envs = source.sim.num_envs
        found = [_contacts(source.sim, world) for world in range(self._num_envs)]
        counts = [len(force) for _, force in found]
        self._world = torch.arange(self._num_envs).repeat_interleave(
            torch.tensor(counts)
        )
        """World of each contact."""
        self._bodies = torch.from_numpy(np.concatenate([bodies for bodies, _ in found]))
        """The two bodies of each contact, shape (contacts, 2), -1 for a flex."""
        self._force = torch.from_numpy(np.concatenate([force for _, force in found]))
        """Force on the second body from the first, world frame, N, (contacts, 3)."""

    def _check(self, keys: Sequence[PairKey]) -> None:
        """Accept all existing bodies and entities."""

    def _on(self, first: str, second: str | None) -> torch.Tensor:
        here = self._are_of(first)
        there = ~here if second is None else self._are_of(second)
        # A contact within one entity cancels: both sides belong to it.
        as_second = (here[:, 1] & there[:, 0]).double() - (
            here[:, 0] & there[:, 1]
        ).double()
        total = torch.zeros(self._num_envs, 3, dtype=torch.float64)
        total.index_add_(0, self._world, self._force * as_second.unsqueeze(1))
        return total.float().to(self._source.sim.device)

    def _are_of(self, name: str) -> torch.Tensor:
        """Return a mask of contact sides on a body or entity, shape (contacts, 2)."""
        own = [
            index
            for body, index in self._source.body_index.items()
            if body == name or body.startswith(f"{name}/")
        ]
        return torch.isin(self._bodies, torch.tensor(own))


def _contacts(sim: Simulation, world: int) -> tuple[np.ndarray, np.ndarray]:
    """Return bodies and forces of the contacts of one world."""
    model, data = sim.engine.mj_model_of(world), sim.engine.mj_data_of(world)
    mujoco.mj_forward(model, data)
    geoms = data.contact.geom
    bodies = np.where(geoms < 0, -1, model.geom_bodyid[geoms])
    force = np.zeros((data.ncon, 3))
    wrench = np.zeros(6)
    for index in range(data.ncon):
        mujoco.mj_contactForce(model, data, index, wrench)
        force[index] = data.contact.frame[index].reshape(3, 3).T @ wrench[:3]
    return bodies.astype(np.int64).reshape(-1, 2), force
