"""A network that does in a mirror what the mirror shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from rsl_rl.models import MLPModel
from tensordict import TensorDict
from torch import nn


@dataclass(frozen=True)
class SignedColumns:
    """A reflection of numbers in columns: where each comes from, and its sign."""

    places: list[int]
    """For each column the one that it shows."""

    signs: list[float]
    """1 or -1 for each column."""

    def then(self, other: "SignedColumns") -> "SignedColumns":
        """Return these columns with others on their right."""
        shifted = [len(self.places) + place for place in other.places]
        return SignedColumns([*self.places, *shifted], [*self.signs, *other.signs])


@dataclass(frozen=True)
class MirroredColumns:
    """The reflections of what a policy sees and does."""

    observed: Mapping[str, SignedColumns]
    """Those of observations by group."""

    acted: SignedColumns
    """That of actions."""


class Image(nn.Module):
    """A reflection of the last dimension, which is nothing that is learned."""

    def __init__(self, columns: SignedColumns) -> None:
        super().__init__()
        places, signs = torch.tensor(columns.places), torch.tensor(columns.signs)
        self.register_buffer("places", places, persistent=False)
        self.register_buffer("signs", signs, persistent=False)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return the mirror image of values, shape (..., columns)."""
        places, signs = self.get_buffer("places"), self.get_buffer("signs")
        return values.index_select(-1, places) * signs


class Symmetrised(nn.Module):
    """The mean of a network and of its mirror image."""

    def __init__(self, mlp: nn.Module, seen: nn.Module, done: nn.Module) -> None:
        """Take a network, and the reflections of its input and of its output."""
        super().__init__()
        self.mlp, self.seen, self.done = mlp, seen, done

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the output for x, shape (..., outputs)."""
        here, there = self.mlp(torch.cat((x, self.seen(x)))).chunk(2)
        return 0.5 * (here + self.done(there))


class EquivariantModel(MLPModel):
    """A perceptron that, for the image of observations, puts out the image of actions.

    A critic, which puts out a value, puts out the same one for both.
    """

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
        *,
        columns: MirroredColumns,
        output_gain: float | None = None,
        **options: Any,
    ) -> None:
        """Build the network.

        Args:
            obs: Observations by group.
            obs_groups: Groups of each network.
            obs_set: The network: "actor", "critic", "student" or "teacher".
            output_dim: Numbers that it puts out.
            columns: Reflections of all groups and of the action.
            output_gain: Factor of the first weights of its last layer, whose biases
                then begin at 0. None leaves them as RSL-RL makes them.
            options: Those of RSL-RL's perceptron.
        """
        super().__init__(obs, obs_groups, obs_set, output_dim, **options)
        seen = SignedColumns([], [])
        for group in self.obs_groups:
            seen = seen.then(columns.observed[group])
        last = [part for part in self.mlp.modules() if isinstance(part, nn.Linear)][-1]
        acts = obs_set != "critic"
        if acts and last.out_features != len(columns.acted.places):
            raise ValueError(
                f"The {obs_set} puts out {last.out_features} numbers for "
                f"{len(columns.acted.places)} actions; an equivariant one puts out one "
                "for each, and a distribution whose spread is the same in all states."
            )
        if output_gain is not None:
            with torch.no_grad():
                last.weight.mul_(output_gain)
                last.bias.zero_()
        done = Image(columns.acted) if acts else nn.Identity()
        self.mlp = Symmetrised(self.mlp, Image(seen), done)

    def update_normalization(self, obs: TensorDict) -> None:
        """Update the statistics of observations with these and their images."""
        if self.obs_normalization:
            seen = torch.cat([obs[group] for group in self.obs_groups], dim=-1)
            both = torch.cat((seen, self.mlp.seen(seen)))
            self.obs_normalizer.update(both)  # pyright: ignore[reportCallIssue]
