"""A teacher that is no network: what it would do is an observation."""

from typing import Any

import torch
from tensordict import TensorDict
from torch import nn


class ObservedActions(nn.Module):
    """Hands on the actions that its groups of observations hold."""

    is_recurrent = False

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
    ) -> None:
        """Check that the groups are of an action's size.

        Args:
            obs: Observations by group.
            obs_groups: Names of groups by network.
            obs_set: Name of this network.
            output_dim: Numbers of an action.
        """
        super().__init__()
        self.obs_groups = obs_groups[obs_set]
        found = sum(obs[group].shape[-1] for group in self.obs_groups)
        if found != output_dim:
            named = ", ".join(map(repr, self.obs_groups))
            raise ValueError(
                f"The {obs_set} does what {named} says, which has {found} numbers; an "
                f"action has {output_dim}."
            )

    def forward(self, obs: TensorDict) -> torch.Tensor:
        """Return the actions, shape (num_envs, output_dim)."""
        return torch.cat([obs[group] for group in self.obs_groups], dim=-1)

    def reset(
        self, dones: torch.Tensor | None = None, hidden_state: Any = None
    ) -> None:
        """Do nothing: there is nothing to forget."""

    def get_hidden_state(self) -> None:
        """Return None: there is no hidden state."""

    def detach_hidden_state(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: there is no hidden state."""
