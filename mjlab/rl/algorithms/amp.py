"""Adversarial motion prior (AMP): a style reward that is learned from motion clips.

A discriminator D learns to output 1 for transitions of the clips and -1 for transitions
of the policy (Peng et al. 2021). The policy is rewarded for transitions that D cannot
distinguish from transitions of a clip:

    loss = E_clip (D - 1)^2 + E_policy (D + 1)^2 + (c / 2) E_clip |dD/dx|^2
    reward = max(0, 1 - (D - 1)^2 / 4)

A transition x consists of the features of a step, and of their change to the next step.
Both are normalised.
"""

from collections.abc import Sequence
from typing import Any

import torch
from rsl_rl.modules import MLP, EmpiricalNormalization
from tensordict import TensorDict
from torch import nn

_SMALLEST_STD = 1e-3
"""Number that is added to standard deviations before a division."""


def transitions(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Return transitions, shape (..., 2 * features): features, then their change.

    Args:
        before: Features of steps, shape (..., features).
        after: Features of the next steps, shape (..., features).
    """
    return torch.cat((before, after - before), dim=-1)


class Discriminator(nn.Module):
    """Network that distinguishes transitions of clips from transitions of a policy."""

    def __init__(self, width: int, hidden_dims: Sequence[int]) -> None:
        """Build the network.

        Args:
            width: Numbers in a transition.
            hidden_dims: Hidden layer sizes.
        """
        super().__init__()
        self.normalizer = EmpiricalNormalization(width, eps=_SMALLEST_STD)
        """Running mean and standard deviation of transitions."""
        self.mlp = MLP(width, 1, list(hidden_dims), "elu")
        """Network of normalised transitions."""

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the output for transitions, shape (...), unbounded.

        Args:
            rows: Transitions, shape (..., width).
        """
        return self.mlp(self.normalizer(rows)).squeeze(-1)

    def loss(
        self, clips: torch.Tensor, policy: torch.Tensor, penalty: float
    ) -> torch.Tensor:
        """Return the loss, shape ().

        Args:
            clips: Transitions of clips, shape (batch, width).
            policy: Transitions of the policy, shape (batch, width).
            penalty: Coefficient c of the squared gradient at transitions of clips.
        """
        seen = self.normalizer(clips).requires_grad_()
        real = self.mlp(seen).squeeze(-1)
        (slope,) = torch.autograd.grad(real.sum(), seen, create_graph=True)
        error = (real - 1.0).square().mean() + (self(policy) + 1.0).square().mean()
        return error + 0.5 * penalty * slope.square().sum(-1).mean()

    @torch.no_grad()
    def reward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the reward of transitions, shape (...), from 0 to 1."""
        return (1.0 - 0.25 * (self(rows) - 1.0).square()).clamp(min=0.0)


class ReplayBuffer:
    """The newest transitions of the policy, in a ring buffer."""

    def __init__(self, capacity: int, width: int, device: torch.device | str) -> None:
        """Allocate the buffer.

        Args:
            capacity: Largest number of transitions.
            width: Numbers in a transition.
            device: Device of the buffer.
        """
        self._rows = torch.zeros(capacity, width, device=device)
        self._next = self._filled = 0

    def add(self, rows: torch.Tensor) -> None:
        """Add transitions, shape (n, width); the oldest ones are overwritten."""
        capacity = len(self._rows)
        rows = rows[-capacity:]
        places = torch.arange(self._next, self._next + len(rows), device=rows.device)
        self._rows[places % capacity] = rows
        self._next = (self._next + len(rows)) % capacity
        self._filled = min(self._filled + len(rows), capacity)

    def sample(self, number: int) -> torch.Tensor:
        """Draw transitions with replacement, shape (number, width)."""
        return _drawn(self._rows[: self._filled], number)

    def state(self) -> dict[str, Any]:
        """Return a copy of the transitions, and the place of the next one."""
        return {"rows": self._rows[: self._filled].clone(), "next": self._next}

    def load_state(self, state: dict[str, Any]) -> None:
        """Restore the state that `state` returned."""
        rows = state["rows"]
        self._filled, self._next = len(rows), state["next"]
        self._rows[: self._filled] = rows


class MotionPrior:
    """Style reward of a rollout, and the training of its discriminator.

    Steps whose world diverged have no reward and are not learned from.
    """

    def __init__(
        self,
        clips: torch.Tensor,
        *,
        groups: Sequence[str],
        num_steps: int,
        num_envs: int,
        step_dt: float,
        weight: float,
        hidden_dims: Sequence[int],
        gradient_penalty: float,
        learning_rate: float,
        num_updates_per_iteration: int,
        batch_size: int,
        capacity: int,
        device: torch.device | str,
    ) -> None:
        """Build the discriminator, and normalise with the statistics of the clips.

        Args:
            clips: Transitions of the clips, shape (n, 2 * features).
            groups: Observation groups of the features.
            num_steps: Steps per world in a rollout.
            num_envs: Number of worlds.
            step_dt: Duration of a step, s.
            weight: Weight of the style reward per second.
            hidden_dims: Hidden layer sizes of the discriminator.
            gradient_penalty: Coefficient of the gradient penalty.
            learning_rate: Learning rate of the discriminator.
            num_updates_per_iteration: Gradient steps after each rollout.
            batch_size: Transitions of each kind per gradient step.
            capacity: Size of the replay buffer, in transitions.
            device: Device of the networks.
        """
        width = clips.shape[-1]
        self._clips = clips.to(device)
        self._groups = tuple(groups)
        self._scale = weight * step_dt
        self._penalty = gradient_penalty
        self._updates, self._batch = num_updates_per_iteration, batch_size
        self.discriminator = Discriminator(width, hidden_dims).to(device)
        """The discriminator, with its normaliser."""
        self.discriminator.normalizer.update(self._clips)
        self._optimizer = torch.optim.Adam(
            self.discriminator.parameters(), lr=learning_rate
        )
        self._rate = learning_rate
        self.replay = ReplayBuffer(capacity, width, device)
        """Transitions of the policy."""
        self._rollout = torch.zeros(num_steps, num_envs, width, device=device)
        self._valid = torch.zeros(num_steps, num_envs, dtype=torch.bool, device=device)

    def record(
        self,
        step: int,
        before: TensorDict,
        after: TensorDict,
        dones: torch.Tensor,
        final: TensorDict,
    ) -> None:
        """Record a step of the rollout.

        Args:
            step: Index of the step in the rollout.
            before: Observations before the step.
            after: Observations after the step, in finished worlds after the reset.
            dones: Worlds whose episode ended, shape (num_envs,).
            final: Observations before the reset of finished worlds. Diverged worlds
                have zeros.
        """
        ended, last = dones.bool(), self._features(final)
        reached = torch.where(ended.unsqueeze(-1), last, self._features(after))
        self._rollout[step] = transitions(self._features(before), reached)
        self._valid[step] = ~ended | (last != 0.0).any(-1)

    def rewards(self) -> torch.Tensor:
        """Return the style reward of the rollout, shape (num_steps, num_envs)."""
        return self._scale * self.discriminator.reward(self._rollout) * self._valid

    def update(self) -> dict[str, float]:
        """Train the discriminator after a rollout.

        Returns:
            Mean loss, and mean reward of the rollout and of the clips, from 0 to 1.
        """
        discriminator, rows = self.discriminator, self._rollout[self._valid]
        figures = {
            "style_reward": discriminator.reward(rows).mean(),
            "style_reward_of_clips": discriminator.reward(self._clips).mean(),
        }
        self.replay.add(rows)
        # As many transitions of clips as of the policy.
        discriminator.normalizer.update(rows)
        discriminator.normalizer.update(_drawn(self._clips, len(rows)))
        losses = [self._step() for _ in range(self._updates)]
        figures["style"] = torch.stack(losses).mean()
        return {name: float(value) for name, value in figures.items()}

    def _step(self) -> torch.Tensor:
        """Take a gradient step; return the loss."""
        loss = self.discriminator.loss(
            _drawn(self._clips, self._batch),
            self.replay.sample(self._batch),
            self._penalty,
        )
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return loss.detach()

    def _features(self, observations: TensorDict) -> torch.Tensor:
        return torch.cat([observations[group] for group in self._groups], dim=-1)

    def save(self) -> dict[str, Any]:
        """Return the states of discriminator, normaliser and optimiser."""
        return {
            "discriminator": self.discriminator.state_dict(),
            "optimizer": self._optimizer.state_dict(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Restore the state that `save` returned, with the learning rate as built."""
        self.discriminator.load_state_dict(state["discriminator"])
        self._optimizer.load_state_dict(state["optimizer"])
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate


def _drawn(rows: torch.Tensor, number: int) -> torch.Tensor:
    """Draw rows with replacement, shape (number, width)."""
    return rows[torch.randint(len(rows), (number,), device=rows.device)]
