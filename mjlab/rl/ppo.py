"""RSL-RL's PPO with a mixed precision that learns as much as float32."""

import math
from typing import Any

import torch
from rsl_rl.algorithms import PPO
from rsl_rl.storage import RolloutStorage
from torch import nn

from mjlab.rl.equivariant import TiedLinear


class _Rounded(torch.autograd.Function):
    """A linear layer with gradients, and perhaps an output, of bfloat16 products."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        rounds_output: bool,
    ) -> torch.Tensor:
        rounded = x.bfloat16(), weight.bfloat16()
        ctx.save_for_backward(*rounded)
        if rounds_output:
            return nn.functional.linear(*rounded, bias.bfloat16()).float()
        return nn.functional.linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (grad,) = grads
        x, weight = ctx.saved_tensors
        rounded = grad.bfloat16()
        before = (rounded @ weight).float() if ctx.needs_input_grad[0] else None
        return before, (rounded.t() @ x).float(), grad.sum(0), None


class RoundedLinear(nn.Linear):
    """A layer that learns by products in bfloat16, and acts in float32."""

    rounds_output: bool
    """Whether its output is rounded too while it learns."""

    def whole(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return its weight and its bias."""
        return self.weight, self.bias

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return its output."""
        if not torch.is_grad_enabled():
            return super().forward(input)
        out = _Rounded.apply(input, *self.whole(), self.rounds_output)
        assert isinstance(out, torch.Tensor)
        return out


class RoundedTiedLinear(RoundedLinear, TiedLinear):
    """Such a layer whose weights are tied."""

    def whole(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return its weight and its bias."""
        return TiedLinear.whole(self)


_ROUNDED = {nn.Linear: RoundedLinear, TiedLinear: RoundedTiedLinear}


def round_layers(network: nn.Module, *, outputs: bool) -> None:
    """Have the layers of a perceptron learn in bfloat16, in place.

    Args:
        network: A perceptron, whose last layer's output stays in float32.
        outputs: Whether outputs of the others are rounded too.
    """
    layers = [layer for layer in network.modules() if type(layer) in _ROUNDED]
    for layer in layers:
        layer.__class__ = _ROUNDED[type(layer)]
        layer.rounds_output = outputs and layer is not layers[-1]  # type: ignore


class Ppo(PPO):
    """PPO with RSL-RL's own update, in float32 to the last bit.

    With mixed precision the policy's output stays as it is in float32: its ratio to
    the policy that acted, and their divergence, which sets the learning rate, are small
    differences. What is rounded are gradients, and the layers of the critic.
    """

    def __init__(
        self,
        actor: Any,
        critic: Any,
        storage: RolloutStorage,
        *,
        use_mixed_precision: bool = False,
        **options: Any,
    ) -> None:
        """Take networks and storage; other options as of RSL-RL's."""
        if use_mixed_precision:
            round_layers(actor.mlp, outputs=False)
            round_layers(critic.mlp, outputs=True)
        super().__init__(actor, critic, storage, **options)

    def update(self) -> dict[str, float]:
        """Learn from what was collected, and draw no actions that nobody takes.

        RSL-RL has the policy draw them for each minibatch, for its distribution alone.

        Raises:
            RuntimeError: If the networks are no numbers any more.
        """
        distribution: Any = self.actor.distribution
        distribution.sample = lambda: distribution.mean
        try:
            losses = super().update()
        finally:
            del distribution.sample
        if lost := [name for name, loss in losses.items() if not math.isfinite(loss)]:
            raise RuntimeError(
                f"Losses of the update are not finite ({', '.join(lost)}), so the "
                "networks are lost; the newest checkpoint is from before. Either an "
                "observation or a reward was not finite, or steps of the learner are "
                "too large: try a smaller agent.algorithm.learning_rate."
            )
        return losses
