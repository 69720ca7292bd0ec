"""The muscle network: wanted torques and what the muscles can do, to activations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn

from mjlab.muscle.config import Filter
from mjlab.muscle.map import MuscleMap

LEAK = 0.2
"""Slope of the hidden layers' activations below 0."""


class MuscleNetwork(nn.Module):
    """A perceptron from (reduced torque map, wanted torque) to activations.

    `forward` gives the raw output y; `activation` turns it into activations. The scales
    of the inputs are buffers: they are saved and published with the weights. A network
    of a cascade sees, first, half of what the networks before it gave, and its weight.
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
            num_entries: Entries of the reduced torque map.
            num_dofs: Controlled dofs.
            num_muscles: Muscles.
            hidden: Widths of the hidden layers.
            output: "relu_tanh" cuts off what is below 0; "sigmoid" of y − 2 does not.
            is_cascaded: Whether there are networks before it.
            muscle_scale: Entries of the map count in units of this, in N m.
            torque_scale: Torques count in units of this, in N m.
            seed: Of the initial weights.
        """
        super().__init__()
        if output not in ("relu_tanh", "sigmoid"):
            raise ValueError(
                f"output is {output!r}; it can be 'relu_tanh' or 'sigmoid'."
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
        """Return a network of the sizes of a model; `options` as for the class."""
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
            red: The reduced torque map, in N m, shape (rows, num_entries).
            torque: The wanted active torques, in N m, shape (rows, num_dofs).
            previous: What earlier networks gave, shape (rows, num_muscles). For a
                network of a cascade.
            weight: Its weight in the cascade, shape (rows, 1).
        """
        inputs = [red / self.muscle_scale, torque / self.torque_scale]
        if (previous is not None) != self.is_cascaded:
            raise ValueError(
                "A network of a cascade takes what earlier ones gave, and no other."
            )
        if previous is not None and weight is not None:
            inputs = [0.5 * previous, weight, *inputs]
        return self.fc(torch.cat(inputs, dim=-1))

    def activation(self, y: torch.Tensor) -> torch.Tensor:
        """Return activations between 0 and 1 of raw outputs."""
        if self.output == "relu_tanh":
            return torch.relu(torch.tanh(y))
        # The logistic function; torch's own has other bits at the end of a tensor.
        return 0.5 + 0.5 * torch.tanh(0.5 * (y - 2.0))


def in_blocks(rows: int, block: int) -> list[slice]:
    """Return the slices of `rows` rows that hold `block` rows each.

    A matrix product of few rows may run by another routine than one of many, and give
    other bits: with blocks of one size a world's activations do not depend on how many
    worlds there are.
    """
    if rows % block:
        raise ValueError(f"{rows} rows cannot be cut into blocks of {block}.")
    return [slice(start, start + block) for start in range(0, rows, block)]
