"""Rewards, discounts and advantages of several critics."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from mjlab.names import UnknownNameError, suggest

MAIN = "critic"
"""Name of the main critic, which learns from all rewards not assigned elsewhere."""

STYLE = "style"
"""Name of the style reward (`StyleCfg`), and key of its features in `obs_groups`."""


class RewardSplit:
    """Assigns reward terms to critics, and combines the critics' advantages.

    The policy learns from A = sum_k w_k (A_k - mean A_k) / std A_k, where A_k is the
    advantage of critic k and w_k its weight. Mean and standard deviation are taken over
    the rollout, so scaling the rewards of a critic has no effect.
    """

    def __init__(
        self,
        critics: Mapping[str, Mapping[str, Any]],
        terms: Sequence[str],
        *,
        gamma: float,
        lam: float,
        device: torch.device | str,
    ) -> None:
        """Assign each reward term to a critic.

        Args:
            critics: Fields of `CriticCfg` of the additional critics, by name.
            terms: Names of all reward terms, in the column order of `split`.
            gamma: Discount of the main critic.
            lam: Lambda of the main critic.
            device: Device of the rewards.
        """
        owners = _owners(critics, terms)
        names = [MAIN, *critics]
        self._critic_of = {
            term: names.index(owner) for term, owner in zip(terms, owners, strict=True)
        }
        main = {"gamma": gamma, "lam": lam, "weight": 1.0}
        fields = [main, *(main | dict(critic) for critic in critics.values())]

        def column(field: str) -> torch.Tensor:
            return torch.tensor([one[field] for one in fields], device=device)

        self.gamma = column("gamma")
        """Discount of each critic, shape (critics,)."""
        self.lam = column("lam")
        """Lambda of each critic, shape (critics,)."""
        self._weight = column("weight")
        self._columns = [
            torch.tensor([owner == name for owner in owners], device=device).nonzero()[
                :, 0
            ]
            for name in names
        ]

    @property
    def num_critics(self) -> int:
        """Number of critics, including the main critic."""
        return len(self._columns)

    def owner(self, term: str) -> int:
        """Return the index of the critic that learns from a reward term."""
        return self._critic_of[term]

    def split(self, rewards: torch.Tensor) -> torch.Tensor:
        """Return the reward of each critic, shape (num_envs, critics).

        Args:
            rewards: Weighted reward of each term, shape (num_envs, terms).
        """
        return torch.stack([rewards[:, own].sum(1) for own in self._columns], dim=1)

    def mixed(self, advantages: torch.Tensor) -> torch.Tensor:
        """Return the combined advantage for the policy, shape (steps, num_envs, 1).

        Args:
            advantages: Advantages of the critics, shape (steps, num_envs, critics).
        """
        mean, std = advantages.mean((0, 1)), advantages.std((0, 1))
        normalised = (advantages - mean) / (std + 1e-8)
        return (normalised * self._weight).sum(-1, keepdim=True)


def _owners(
    critics: Mapping[str, Mapping[str, Any]], terms: Sequence[str]
) -> list[str]:
    """Return the name of the critic of each reward term."""
    found = dict.fromkeys(terms, MAIN)
    for name, critic in critics.items():
        for reward in critic["rewards"]:
            if reward not in found:
                raise UnknownNameError(
                    f"agent.critics[{name!r}].rewards names {reward!r}. "
                    f"{suggest(reward, list(terms))}"
                )
            if found[reward] != MAIN:
                raise ValueError(
                    f"agent.critics: the reward {reward!r} belongs to the critics "
                    f"{found[reward]!r} and {name!r}; name it in one of them."
                )
            found[reward] = name
    return list(found.values())
