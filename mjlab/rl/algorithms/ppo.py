"""RSL-RL's PPO; options: bfloat16 gradients, several critics, style of clips."""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from rsl_rl.algorithms import PPO
from rsl_rl.storage import RolloutStorage
from tensordict import TensorDict
from torch import nn

from mjlab.rl.algorithms.amp import MotionPrior
from mjlab.rl.algorithms.critics import STYLE, RewardSplit
from mjlab.rl.models.critics import networks_of
from mjlab.rl.models.equivariant import TiedLinear


class Ppo(PPO):
    """PPO with RSL-RL's own update; in float32, results are bit-for-bit equal.

    Mixed precision rounds gradients and the critic's layers. The policy's output stays
    in float32, because the probability ratio and the KL divergence, which sets the
    learning rate, are small differences.
    """

    def __init__(
        self,
        actor: Any,
        critic: Any,
        storage: RolloutStorage,
        *,
        use_mixed_precision: bool = False,
        critics: Mapping[str, Mapping[str, Any]] | None = None,
        reward_terms: Sequence[str] = (),
        style: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Take networks, storage and RSL-RL's other options.

        Args:
            actor: The policy.
            critic: The value function, or `Critics`.
            storage: Storage of a rollout.
            use_mixed_precision: Learn with gradients in bfloat16.
            critics: Fields of `CriticCfg` of the additional critics, by name.
            reward_terms: Names of the task's reward terms; needed with `critics`.
            style: Arguments of `MotionPrior`, for a style reward.
            **options: RSL-RL's other options.
        """
        if use_mixed_precision:
            round_layers(actor.mlp, outputs=False)
            for head in networks_of(critic):
                round_layers(head.mlp, outputs=True)
        super().__init__(actor, critic, storage, **options)
        self._split: RewardSplit | None = None
        if critics:
            terms = [*reward_terms, STYLE] if style else reward_terms
            self._split = self._divide(critics, terms)
        self.prior: MotionPrior | None = None
        """Style reward, None without one."""
        if style:
            self.prior = self._learn_style(**style)

    def _divide(
        self, critics: Mapping[str, Mapping[str, Any]], terms: Sequence[str]
    ) -> RewardSplit:
        """Widen rewards, values and discounts to one column per critic."""
        made = RewardSplit(
            critics, terms, gamma=self.gamma, lam=self.lam, device=self.device
        )
        self.gamma: Any = made.gamma
        self.lam: Any = made.lam
        # RSL-RL's value loss is a mean over critics; each keeps its full weight.
        self.value_loss_coef *= made.num_critics
        kept = self.storage
        for name in ("rewards", "values", "returns"):
            column = getattr(kept, name)
            setattr(kept, name, column.repeat(1, 1, made.num_critics))
        return made

    def _learn_style(self, **options: Any) -> MotionPrior:
        """Build the style reward."""
        if self.is_multi_gpu:
            raise ValueError("agent.style trains in one process: use one device.")
        return MotionPrior(
            num_steps=self.storage.num_transitions_per_env,
            num_envs=self.storage.num_envs,
            device=self.device,
            **options,
        )

    def process_env_step(
        self,
        obs: TensorDict,
        rewards: torch.Tensor,
        dones: torch.Tensor,
        extras: dict[str, Any],
    ) -> None:
        """Store a step; with several critics, one reward for each.

        Args:
            obs: Observations after the step.
            rewards: Reward of the task, shape (num_envs,).
            dones: Worlds whose episode ended, shape (num_envs,).
            extras: "time_outs"; with several critics "reward_terms", shape
                (num_envs, terms); with a style reward "final_obs".
        """
        if self.prior is not None:
            before, final = self.transition.observations, extras["final_obs"]
            assert before is not None
            self.prior.record(self.storage.step, before, obs, dones, final)
        if self._split is None:
            super().process_env_step(obs, rewards, dones, extras)
            return
        values, step = self.transition.values, self.storage.step
        super().process_env_step(obs, rewards, dones, {})
        terms = extras["reward_terms"]
        if self.prior is not None:  # `compute_returns` adds the style reward.
            terms = nn.functional.pad(terms, (0, 1))
        parts = self._split.split(terms)
        if self.rnd:
            parts[:, 0] += self.intrinsic_rewards
        if "time_outs" in extras:
            parts += self.gamma * values * extras["time_outs"].unsqueeze(1)
        self.storage.rewards[step] = parts

    def compute_returns(self, obs: TensorDict) -> None:
        """Compute returns and advantages.

        Args:
            obs: Observations after the last step.
        """
        if self.prior is not None:
            owner = 0 if self._split is None else self._split.owner(STYLE)
            self.storage.rewards[..., owner] += self.prior.rewards()
        if self._split is None:
            super().compute_returns(obs)
            return
        per_batch = self.normalize_advantage_per_mini_batch
        self.normalize_advantage_per_mini_batch = True  # Not here, but in `mixed`.
        super().compute_returns(obs)
        self.normalize_advantage_per_mini_batch = per_batch
        self.storage.advantages = self._split.mixed(self.storage.advantages)

    def update(self) -> dict[str, float]:
        """Learn from the rollout; return the losses.

        RSL-RL samples actions for each minibatch only to update the distribution, and
        discards them. Here the mean is returned instead of a sample.

        Raises:
            RuntimeError: If a loss is not finite.
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
                "networks are unusable; resume from the newest checkpoint. Check "
                "observations and rewards for NaN or infinity, or try a smaller "
                "agent.algorithm.learning_rate."
            )
        if self.prior is not None:
            losses |= self.prior.update()
        return losses

    def save(self) -> dict[str, Any]:
        """Return the states of networks and optimisers, including the style reward."""
        saved = super().save()
        if self.prior is not None:
            saved[STYLE] = self.prior.save()
        return saved

    def load(
        self, loaded_dict: dict[str, Any], load_cfg: dict[str, Any] | None, strict: bool
    ) -> bool:
        """Load what `save` returned."""
        if self.prior is not None:
            self.prior.load(loaded_dict[STYLE])
        return super().load(loaded_dict, load_cfg, strict)

    def update_critic(self) -> dict[str, float]:
        """Train only the critic, with a fixed learning rate; return the losses."""
        policy = self.get_policy()
        kept = copy.deepcopy(policy.state_dict())
        schedule, self.schedule = self.schedule, "fixed"
        losses = self.update()
        self.schedule = schedule
        policy.load_state_dict(kept)
        # Drop the optimiser's moments for the policy, whose steps were discarded.
        for weights in policy.parameters():
            self.optimizer.state.pop(weights, None)
        return losses


# Mixed precision.


class _Rounded(torch.autograd.Function):
    """Linear layer with gradients, and optionally outputs, in bfloat16."""

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
    """Linear layer that learns in bfloat16 and acts in float32."""

    rounds_output: bool
    """Whether the output is rounded too while learning."""

    def whole(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return weight and bias."""
        return self.weight, self.bias

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the output."""
        if not torch.is_grad_enabled():
            return super().forward(input)
        out = _Rounded.apply(input, *self.whole(), self.rounds_output)
        assert isinstance(out, torch.Tensor)
        return out


class RoundedTiedLinear(RoundedLinear, TiedLinear):
    """`RoundedLinear` with tied weights."""

    def whole(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return weight and bias."""
        return TiedLinear.whole(self)


_ROUNDED = {nn.Linear: RoundedLinear, TiedLinear: RoundedTiedLinear}


def round_layers(network: nn.Module, *, outputs: bool) -> None:
    """Let the layers of an MLP learn in bfloat16, in place.

    Args:
        network: The MLP. The output of its last layer stays in float32.
        outputs: Whether outputs of hidden layers are rounded too.
    """
    layers = [layer for layer in network.modules() if type(layer) in _ROUNDED]
    for layer in layers:
        layer.__class__ = _ROUNDED[type(layer)]
        layer.rounds_output = outputs and layer is not layers[-1]  # type: ignore
