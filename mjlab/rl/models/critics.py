"""Several critics, each with its own network."""

from collections.abc import Iterable
from typing import Any

import torch
from rsl_rl.utils import resolve_class
from tensordict import TensorDict
from torch import nn


class Critics(nn.Module):
    """Critics with networks of the same shape; each estimates its own return."""

    is_recurrent = False

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
        *,
        names: Iterable[str],
        model: dict[str, Any],
        **shared: Any,
    ) -> None:
        """Build one network per critic.

        Args:
            obs: Observations by group.
            obs_groups: Groups of each network.
            obs_set: Name of the set of groups that all critics observe.
            output_dim: Size of the output of each critic.
            names: Names of the critics.
            model: Class and options of a network, in RSL-RL's form.
            **shared: Further options, such as encoders shared with the actor.
        """
        super().__init__()
        build, options = resolve_class(model)
        self.by_name = nn.ModuleDict(
            {
                name: build(obs, obs_groups, obs_set, output_dim, **options, **shared)
                for name in names
            }
        )
        """The networks, by name of the critic."""

    def forward(
        self,
        obs: TensorDict,
        masks: torch.Tensor | None = None,
        hidden_state: Any = None,
    ) -> torch.Tensor:
        """Return the values of all critics, shape (batch, critics)."""
        return torch.cat([one(obs, masks=masks) for one in self._all()], dim=-1)

    def update_normalization(self, obs: TensorDict) -> None:
        """Update the observation statistics of all critics."""
        for one in self._all():
            one.update_normalization(obs)

    def reset(
        self, dones: torch.Tensor | None = None, hidden_state: Any = None
    ) -> None:
        """Do nothing: there is no hidden state."""

    def get_hidden_state(self) -> None:
        """Return None: there is no hidden state."""

    def _all(self) -> Iterable[Any]:
        return self.by_name.values()


def networks_of(critic: Any) -> list[Any]:
    """Return the networks of `Critics`, or the critic itself."""
    return list(critic.by_name.values()) if isinstance(critic, Critics) else [critic]
