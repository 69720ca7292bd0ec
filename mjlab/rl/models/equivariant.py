"""Networks that are equivariant under the reflection of a robot."""

from typing import Any

import torch
from rsl_rl.models import MLPModel
from tensordict import TensorDict
from torch import nn

from mjlab.rl.models.mirrored_columns import MirroredColumns, SignedColumns


class Image(nn.Module):
    """Module without weights that reflects the columns of the last dimension."""

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
    """Network that averages its output with the mirrored output for mirrored input."""

    def __init__(self, mlp: nn.Module, seen: nn.Module, done: nn.Module) -> None:
        """Take a network, and the reflections of its input and of its output."""
        super().__init__()
        self.mlp, self.seen, self.done = mlp, seen, done

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the output for x, shape (..., outputs)."""
        here, there = self.mlp(torch.cat((x, self.seen(x)))).chunk(2)
        return 0.5 * (here + self.done(there))


class TiedLinear(nn.Linear):
    """Equivariant linear layer: mirrored inputs give mirrored outputs.

    It computes like a plain layer, with weights shared between mirrored entries.
    """

    def __init__(
        self, inputs: int, outputs: int, seen: Image, done: Image | None
    ) -> None:
        """Start with torch's initial weights.

        Args:
            inputs: Columns of its input.
            outputs: Columns of its output.
            seen: Reflection of its input.
            done: Reflection of its output. None: the second half of the output columns
                are the features of the mirrored input, so a reflection exchanges the
                halves.
        """
        super().__init__(inputs, outputs if done is not None else outputs // 2)
        self.seen, self.done = seen, done

    def whole(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return weight and bias of the equivalent plain layer."""
        image = self.seen(self.weight)
        if self.done is None:
            return torch.cat((self.weight, image)), self.bias.repeat(2)
        weight = 0.5 * (self.weight + self.done(image.t()).t())
        return weight, 0.5 * (self.bias + self.done(self.bias))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the output."""
        return nn.functional.linear(input, *self.whole())


def tie_layers(mlp: nn.Sequential, seen: SignedColumns, done: SignedColumns) -> None:
    """Replace the layers of an MLP by tied ones, in place.

    Args:
        mlp: The MLP.
        seen: Reflection of its input.
        done: Reflection of its output.
    """
    layers = {i: part for i, part in enumerate(mlp) if isinstance(part, nn.Linear)}
    for place, layer in layers.items():
        size, is_last = layer.out_features, layer is layers[max(layers)]
        if size % 2 and not is_last:
            raise ValueError(
                f"hidden_dims has a layer of {size}; tied layers need an even width, "
                f"such as {size + 1}."
            )
        output = Image(done) if is_last else None
        mlp[place] = TiedLinear(layer.in_features, size, Image(seen), output)
        halves = [*range(size // 2, size), *range(size // 2)]
        seen = SignedColumns(halves, [1.0] * size)


class EquivariantModel(MLPModel):
    """MLP whose actions for mirrored observations are the mirrored actions.

    A critic returns the same value for an observation and its mirror image.
    """

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
        *,
        columns: MirroredColumns,
        tied: bool = False,
        output_gain: float | None = None,
        **options: Any,
    ) -> None:
        """Build the network.

        Args:
            obs: Observations by group.
            obs_groups: Groups of each network.
            obs_set: The network: "actor", "critic", "student" or "teacher".
            output_dim: Size of the output.
            columns: Reflections of all groups and of the action.
            tied: Tie the weights of each layer. Otherwise the output is the mean of a
                network and its mirror image, which takes twice the time.
            output_gain: Factor of the initial weights of the last layer, whose biases
                then start at 0. None keeps RSL-RL's initial weights.
            options: Options of RSL-RL's MLP.
        """
        super().__init__(obs, obs_groups, obs_set, output_dim, **options)
        seen = SignedColumns([], [])
        for group in self.obs_groups:
            seen = seen.then(columns.observed[group])
        last = _last_layer(self.mlp)
        acts = obs_set != "critic"
        if acts and last.out_features != len(columns.acted.places):
            raise ValueError(
                f"The {obs_set} outputs {last.out_features} numbers for "
                f"{len(columns.acted.places)} actions; an equivariant model outputs "
                "one per action. Use a distribution with a state-independent std."
            )
        self._seen = Image(seen)
        done = columns.acted if acts else SignedColumns([0], [1.0])
        if tied:
            assert isinstance(self.mlp, nn.Sequential)
            tie_layers(self.mlp, seen, done)
        else:
            self.mlp = Symmetrised(self.mlp, Image(seen), Image(done))
        if output_gain is not None:
            last = _last_layer(self.mlp)
            with torch.no_grad():
                last.weight.mul_(output_gain)
                last.bias.zero_()

    def get_latent(
        self, obs: TensorDict, masks: Any = None, hidden_state: Any = None
    ) -> torch.Tensor:
        """Return normalised observations, as RSL-RL does, without a copy."""
        groups = [obs[group] for group in self.obs_groups]
        seen = groups[0] if len(groups) == 1 else torch.cat(groups, dim=-1)
        if not self.obs_normalization:
            return seen
        known: Any = self.obs_normalizer
        return (seen - known._mean).div_(known._std + known.eps)

    def update_normalization(self, obs: TensorDict) -> None:
        """Update the observation statistics with the mirrored observations too."""
        super().update_normalization(obs)
        if self.obs_normalization:
            known: Any = self.obs_normalizer
            mean, image = known._mean, self._seen(known._mean)
            var = 0.5 * (known._var + self._seen(known._var).abs())
            known._var.copy_(var + 0.25 * (mean - image).square())
            known._mean.copy_(0.5 * (mean + image))
            known._std.copy_(known._var.sqrt())


def _last_layer(network: nn.Module) -> nn.Linear:
    return [part for part in network.modules() if isinstance(part, nn.Linear)][-1]
