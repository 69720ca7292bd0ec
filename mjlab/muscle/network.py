"""Muscle network, from target torques to activations, and cascades of networks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn

from mjlab.muscle.config import Filter
from mjlab.muscle.map import MuscleMap

LEAK = 0.2
"""Slope of the hidden layers' activations below 0."""

CAPACITY_SCALE = 0.008
"""Factor that scales torques (N m) in observations."""


class MuscleNetwork(nn.Module):
    """MLP from (reduced torque map, target torque) to activations.

    `forward` returns the raw output y; `activation` converts it to activations. The
    input scales are buffers, saved and published with the weights. In a cascade, two
    inputs precede the others: 0.5 times the output of the earlier networks, and the
    weight of this network.
    """

    muscle_scale: torch.Tensor
    torque_scale: torch.Tensor

    def __init__(
        self,
        num_entries: int,
        num_dofs: int,
        num_muscles: int,
        *,
        hidden: Sequence[int] = (256, 256, 256),
        output: Filter = "relu_tanh",
        is_cascaded: bool = False,
        muscle_scale: float = 200.0,
        torque_scale: float = 200.0,
        seed: int = 0,
    ) -> None:
        """Build the layers.

        Args:
            num_entries: Number of entries of the reduced torque map.
            num_dofs: Number of controlled dofs.
            num_muscles: Number of muscles.
            hidden: Widths of the hidden layers.
            output: Function from the raw output y to activations: "relu_tanh" is
                max(0, tanh(y)), "sigmoid" is the logistic function of y − 2.
            is_cascaded: Whether the network follows others in a cascade.
            muscle_scale: Entries of the torque map are divided by this value, in N m.
            torque_scale: Target torques are divided by this value, in N m.
            seed: Seed of the initial weights.
        """
        super().__init__()
        if output not in ("relu_tanh", "sigmoid"):
            raise ValueError(
                f"output is {output!r}; it has to be 'relu_tanh' or 'sigmoid'."
            )
        self.num_entries, self.num_dofs = num_entries, num_dofs
        self.num_muscles = num_muscles
        self.is_cascaded = is_cascaded
        self.output: Filter = output
        inputs = num_entries + num_dofs + (num_muscles + 1 if is_cascaded else 0)
        widths = [inputs, *hidden, num_muscles]
        generator = torch.Generator().manual_seed(seed)
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layer = nn.Linear(before, after)
            nn.init.xavier_uniform_(layer.weight, generator=generator)
            nn.init.zeros_(layer.bias)
            layers += [layer, nn.LeakyReLU(LEAK)]
        self.fc = nn.Sequential(*layers[:-1])
        self.register_buffer("muscle_scale", torch.tensor(muscle_scale))
        self.register_buffer("torque_scale", torch.tensor(torque_scale))

    @classmethod
    def for_map(cls, muscle_map: MuscleMap, **options: object) -> MuscleNetwork:
        """Build a network for a model; `options` are passed to the constructor."""
        sizes = (muscle_map.num_entries, muscle_map.num_dofs, muscle_map.num_muscles)
        return cls(*sizes, **options)  # pyright: ignore[reportArgumentType]

    def forward(
        self,
        red: torch.Tensor,
        torque: torch.Tensor,
        previous: torch.Tensor | None = None,
        weight: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the raw output y, shape (rows, num_muscles).

        Args:
            red: Reduced torque map, in N m, shape (rows, num_entries).
            torque: Target active torques, in N m, shape (rows, num_dofs).
            previous: Sum of the outputs of the earlier networks, shape (rows,
                num_muscles), in a cascade.
            weight: Weight in the cascade, shape (rows, 1).
        """
        inputs = [red / self.muscle_scale, torque / self.torque_scale]
        if (previous is not None) != self.is_cascaded:
            raise ValueError(
                "`previous` is needed if is_cascaded=True, and not allowed otherwise."
            )
        if previous is not None and weight is not None:
            inputs = [0.5 * previous, weight, *inputs]
        return self.fc(torch.cat(inputs, dim=-1))

    def activation(self, y: torch.Tensor) -> torch.Tensor:
        """Convert raw outputs to activations between 0 and 1."""
        if self.output == "relu_tanh":
            return torch.relu(torch.tanh(y))
        # Logistic function. torch.sigmoid gives different bits at the end of a tensor.
        return 0.5 + 0.5 * torch.tanh(0.5 * (y - 2.0))


class MuscleCascade(nn.Module):
    """Networks with summed raw outputs, with a weight per network and world.

    Network 0 has no cascade input; network j takes the summed output of its `children`.
    Only the last network is trained. Its children must be all other networks, so that
    training computes the same output as acting.
    """

    def __init__(
        self,
        networks: Sequence[MuscleNetwork],
        children: Sequence[Sequence[int]],
    ) -> None:
        """Check that the networks form a cascade.

        Args:
            networks: The networks; all but the first have cascade inputs.
            children: Indices of the earlier networks that each network builds on.
        """
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.children_of = tuple(tuple(own) for own in children)
        # Tuples are not registered as modules, so the state dict has each network once.
        self._firsts, self._others = tuple(networks[:1]), tuple(networks[1:])
        last = len(networks) - 1
        if len(children) != len(networks) or self.children_of[0]:
            raise ValueError(
                f"children_of is {self.children_of}; it needs {len(networks)} lists, "
                "one per network, and the first has to be empty."
            )
        for j, own in enumerate(self.children_of):
            if any(not 0 <= k < j for k in own):
                raise ValueError(
                    f"Network {j} has children {own}; they have to be earlier networks."
                )
            if networks[j].is_cascaded != (j > 0):
                raise ValueError(
                    f"Network {j} has is_cascaded={networks[j].is_cascaded}; it has to "
                    "be False for the first network and True for all others."
                )
        if set(self.children_of[last]) != set(range(last)):
            raise ValueError(
                f"The last network has children {self.children_of[last]}; they have "
                f"to be all earlier networks, {tuple(range(last))}."
            )

    @property
    def first(self) -> MuscleNetwork:
        """Network 0, which has no cascade inputs."""
        return self._firsts[0]

    @property
    def last(self) -> MuscleNetwork:
        """Last network, the only one that is trained."""
        return (self._firsts + self._others)[-1]

    def forward(
        self, red: torch.Tensor, torque: torch.Tensor, weights: torch.Tensor
    ) -> torch.Tensor:
        """Return the sum of the raw outputs, shape (rows, num_muscles).

        Args:
            red: Reduced torque map, in N m, shape (rows, num_entries).
            torque: Target active torques, in N m, shape (rows, num_dofs).
            weights: Weight of each network, shape (rows, networks). The weight of
                network 0 is not used.
        """
        previous, own = self.last_terms(red, torque, weights)
        return previous + own

    def last_terms(
        self, red: torch.Tensor, torque: torch.Tensor, weights: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the output of the earlier networks, and the last network's term."""
        outputs = [self.first(red, torque)]
        previous = torch.zeros_like(outputs[0])
        for j, network in enumerate(self._others, start=1):
            own = [outputs[k] for k in self.children_of[j]]
            previous = torch.stack(own, dim=-1).sum(-1)
            weight = weights[:, j : j + 1]
            outputs.append(cascade_term(network, red, torque, previous, weight))
        return previous, outputs[-1]

    def activation(self, y: torch.Tensor) -> torch.Tensor:
        """Convert raw outputs to activations between 0 and 1."""
        return self.first.activation(y)


def cascade_term(
    network: MuscleNetwork,
    red: torch.Tensor,
    torque: torch.Tensor,
    previous: torch.Tensor,
    weight: torch.Tensor,
) -> torch.Tensor:
    """Return a network's contribution to the summed output of its cascade.

    Used for acting and for training, so that both compute the same output.
    """
    return weight * network(red, torque, previous, weight)


def cascade_rows(cascade: MuscleCascade, rows: torch.Tensor) -> torch.Tensor:
    """Return training rows for the last network of a cascade; all weights are 1.

    Args:
        cascade: The networks.
        rows: Reduced torque map and target torque, in N m, shape (rows, num_entries +
            num_dofs).
    """
    first = cascade.first
    red, torque = rows.split([first.num_entries, first.num_dofs], dim=-1)
    weights = rows.new_ones(len(rows), len(cascade.networks))
    with torch.no_grad():
        previous, _ = cascade.last_terms(red, torque, weights)
    return torch.cat((rows, previous, weights[:, :1]), dim=-1)


def cascade_weights(
    capacities: Sequence[torch.Tensor],
    edges: Sequence[Sequence[int]],
    thresholds: torch.Tensor,
) -> torch.Tensor:
    """Return the weight of each network in each world, shape (num_worlds, networks).

    A network has a high weight if the torque capacity of the world's anatomy differs
    clearly from the capacities for which the earlier networks were trained.

    Args:
        capacities: `joint_capacity` for each network, with the anatomy clipped to its
            training range, shape (rows, 3 · num_dofs).
        edges: Indices of the earlier networks that each network is compared with.
        thresholds: Distance at which the weight of a network rises from 0 to 1, shape
            (rows, networks).
    """
    weights = [torch.ones_like(thresholds[:, 0])]
    for j in range(1, len(capacities)):
        away = [(capacities[j] - capacities[k]) for k in edges[j]]
        distances = torch.stack([(d * d).sum(-1).sqrt() for d in away], dim=-1)
        nearest = CAPACITY_SCALE * distances.min(dim=-1).values
        steep = 1000.0 * (nearest - thresholds[:, j])
        # Logistic function by tanh: its bits do not depend on the row.
        weights.append(0.5 + 0.5 * torch.tanh(0.5 * steep))
    return torch.stack(weights, dim=-1)


def in_blocks(rows: int, block: int) -> list[slice]:
    """Split `rows` rows into slices of `block` rows each.

    Matrix products of few and of many rows can use different routines and differ in
    their bits. With blocks of equal size, a world's activations do not depend on the
    number of worlds.
    """
    if rows % block:
        raise ValueError(
            f"{rows} rows cannot be divided into blocks of {block}. Use a multiple of "
            f"{block} rows."
        )
    return [slice(start, start + block) for start in range(0, rows, block)]
