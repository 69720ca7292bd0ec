"""Several muscle networks, each for what those before it do not cover."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from mjlab.muscle.network import MuscleNetwork, in_blocks


class MuscleCascade(nn.Module):
    """Networks whose raw outputs add up, each with a weight for each world.

    Network 0 stands alone; network j sees the sum of what its `children` gave. The last
    one, which is the one that learns, has every other as a child, so that what training
    computes is what acting computes.
    """

    def __init__(
        self,
        networks: Sequence[MuscleNetwork],
        children: Sequence[Sequence[int]],
    ) -> None:
        """Check that the networks form a cascade.

        Args:
            networks: The first without, the others with cascade inputs.
            children: For each network the earlier ones that it builds on.
        """
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.children_of = tuple(tuple(own) for own in children)
        last = len(networks) - 1
        if len(children) != len(networks) or self.children_of[0]:
            raise ValueError(
                f"{len(networks)} networks need as many lists of children, the first "
                f"of them empty, not {self.children_of}."
            )
        for j, own in enumerate(self.children_of):
            if any(not 0 <= k < j for k in own):
                raise ValueError(
                    f"Network {j} has children {own}; they have to come before it."
                )
            if networks[j].is_cascaded != (j > 0):
                raise ValueError(
                    f"Network {j} has is_cascaded={networks[j].is_cascaded}; the first "
                    "network has to be without, and every other with it."
                )
        if set(self.children_of[last]) != set(range(last)):
            raise ValueError(
                f"The last network has children {self.children_of[last]}; what it "
                f"learns adds up with the others only if they are all of "
                f"{tuple(range(last))}."
            )

    def forward(
        self,
        red: torch.Tensor,
        torque: torch.Tensor,
        weights: torch.Tensor,
    ) -> torch.Tensor:
        """Return the sum of the raw outputs, shape (rows, num_muscles).

        Args:
            red: The reduced torque map, in N m, shape (rows, num_entries).
            torque: The wanted active torques, in N m, shape (rows, num_dofs).
            weights: One for each network, shape (rows, networks); that of the first is
                not used.
        """
        previous, own = self.last_terms(red, torque, weights)
        return previous + own

    def last_terms(
        self, red: torch.Tensor, torque: torch.Tensor, weights: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what the earlier networks gave, and what the last one adds to it."""
        outputs: list[torch.Tensor] = []
        previous = red.new_zeros(red.shape[0], self._network(0).num_muscles)
        for j, own in enumerate(self.children_of):
            if j == 0:
                outputs.append(self._network(0)(red, torque))
                continue
            previous = torch.stack([outputs[k] for k in own], dim=-1).sum(-1)
            weight = weights[:, j : j + 1]
            outputs.append(
                cascade_term(self._network(j), red, torque, previous, weight)
            )
        if len(outputs) == 1:
            return previous, outputs[0]
        return previous, outputs[-1]

    def activation(self, y: torch.Tensor) -> torch.Tensor:
        """Return activations between 0 and 1 of raw outputs."""
        return self.first.activation(y)

    @property
    def first(self) -> MuscleNetwork:
        """The network that stands alone."""
        return self._network(0)

    def _network(self, index: int) -> MuscleNetwork:
        network = self.networks[index]
        assert isinstance(network, MuscleNetwork)
        return network


class CascadeCoordinator:
    """Acts by a cascade, with weights that somebody writes at each control step.

    On a CPU it runs in blocks of rows of one size, as `NetworkCoordinator` does.
    """

    def __init__(
        self, cascade: MuscleCascade, num_envs: int, *, block: int = 16
    ) -> None:
        """Allocate the weights and the blocks.

        Args:
            cascade: The networks.
            num_envs: The number of worlds.
            block: Rows that go through the networks together on a CPU.
        """
        self.cascade = cascade
        first = cascade.first
        size = num_envs + -num_envs % block
        like = first.muscle_scale
        self._red = like.new_zeros(size, first.num_entries)
        self._torque = like.new_zeros(size, first.num_dofs)
        self._activation = like.new_zeros(size, first.num_muscles)
        self._weights = like.new_ones(size, len(cascade.networks))
        self._blocks = in_blocks(size, size if like.is_cuda else block)
        self._num_envs = num_envs
        self.weights = self._weights[:num_envs]
        """Of each network in each world, shape (num_envs, networks)."""

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles)."""
        with torch.no_grad():
            self._red[: self._num_envs].copy_(red)
            self._torque[: self._num_envs].copy_(torque)
            for rows in self._blocks:
                y = self.cascade(
                    self._red[rows], self._torque[rows], self._weights[rows]
                )
                self._activation[rows].copy_(self.cascade.activation(y))
        return self._activation[: self._num_envs]

    def reset(self, mask: torch.Tensor) -> None:
        """Give the networks full weight in the worlds of `mask`."""
        self.weights.masked_fill_(mask.unsqueeze(-1), 1.0)


def cascade_term(
    network: MuscleNetwork,
    red: torch.Tensor,
    torque: torch.Tensor,
    previous: torch.Tensor,
    weight: torch.Tensor,
) -> torch.Tensor:
    """Return what a network adds to those before it: acting and training share this."""
    return weight * network(red, torque, previous, weight)


def cascade_weights(
    capacities: Sequence[torch.Tensor],
    edges: Sequence[Sequence[int]],
    thresholds: torch.Tensor,
) -> torch.Tensor:
    """Return the weight of each network in each world, shape (rows, networks).

    A network counts where the muscles can do clearly other than with the anatomies that
    the networks before it learned.

    Args:
        capacities: For each network what the muscles can do, with the anatomy cut to
            the range that it learned: `joint_capacity`, shape (rows, 3 · num_dofs).
        edges: For each network the earlier ones that it is compared with.
        thresholds: Distance above which a network counts, shape (rows, networks).
    """
    weights = [torch.ones_like(thresholds[:, 0])]
    for j in range(1, len(capacities)):
        away = [(capacities[j] - capacities[k]) for k in edges[j]]
        distances = torch.stack([(d * d).sum(-1).sqrt() for d in away], dim=-1)
        nearest = CAPACITY_SCALE * distances.min(dim=-1).values
        steep = 1000.0 * (nearest - thresholds[:, j])
        # The logistic function by tanh, whose bits do not depend on the row.
        weights.append(0.5 + 0.5 * torch.tanh(0.5 * steep))
    return torch.stack(weights, dim=-1)


CAPACITY_SCALE = 0.008
"""Torques in N m are brought to the size of observations by this."""
