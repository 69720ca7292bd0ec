"""Reward terms: weights, the total reward, and sums over episodes."""

import math
from collections.abc import Mapping

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import (
    BoundTerm,
    Manager,
    TermCfg,
    TermError,
    bind_terms,
    try_terms,
)
from mjlab.tensors.masks import fill_where


class RewardTermCfg(TermCfg):
    """Configuration of a reward term: a function returning float32, (num_envs,)."""

    weight: float = 1.0
    """Factor of the term in the total reward. A term with weight 0 is still computed,
    so that its state and log values are correct when a curriculum raises the weight.
    Set the term to None to disable it."""


class RewardManager(Manager[BoundTerm]):
    """Manager of the reward terms: computes their weighted sum.

    The weights are one tensor on the device, which curricula write in place. If a
    weighted term is NaN or infinite, the reward of that world is 0 in that step, the
    term is counted, and the world is marked in `nonfinite`. Worlds with a non-finite
    state also get reward 0.
    """

    kind = "reward"

    def __init__(
        self,
        cfg: Mapping[str, RewardTermCfg | None],
        env: Env,
        *,
        scale_by_dt: bool = True,
    ) -> None:
        """Bind the terms and call each once.

        Args:
            cfg: The terms by name.
            env: The environment.
            scale_by_dt: Whether to multiply terms by the step duration.
        """
        for name, term in cfg.items():
            if term is not None:
                _check_stds(name, term)
        super().__init__(bind_terms(cfg, env, kind=self.kind), env)
        try_terms(self.terms.values(), env, torch.float32)
        self._scale_by_dt = scale_by_dt
        weights = [_checked_weight(name, term) for name, term in cfg.items() if term]
        device, num_envs, size = env.device, env.num_envs, len(weights)
        self.weights = torch.tensor(weights, dtype=torch.float32, device=device)
        """Weight of each term, shape (terms,). Curricula write to it in place."""
        self.values = torch.zeros(num_envs, size, device=device)
        """Unweighted values of the last step, shape (num_envs, terms)."""
        self.contributions = torch.zeros(num_envs, size, device=device)
        """Contribution of each term to the last reward, shape (num_envs, terms)."""
        self.reward = torch.zeros(num_envs, device=device)
        """The last reward, shape (num_envs,)."""
        self.episode_sums = torch.zeros(num_envs, size, device=device)
        """Contributions since each world's reset, shape (num_envs, terms)."""
        self.nonfinite = torch.zeros(num_envs, dtype=torch.bool, device=device)
        """Worlds with a non-finite term in the last step, shape (num_envs,)."""
        self._counts = torch.zeros(num_envs, size, dtype=torch.int64, device=device)
        self._log = env.episode_log
        self._columns = self._log.register([f"Episode_Reward/{n}" for n in self.terms])

    def compute(self, dt: float, diverged: torch.Tensor | None = None) -> torch.Tensor:
        """Compute and return the reward of this step, shape (num_envs,).

        Args:
            dt: Duration of the step, in seconds.
            diverged: Worlds with a non-finite state, shape (num_envs,), bool. Their
                terms are excluded from the reward and the episode sums. The worlds of
                `nonfinite` are added to the mask.
        """
        if not self.terms:
            return self.reward
        torch.stack([term() for term in self.terms.values()], dim=-1, out=self.values)
        parts = torch.mul(self.values, self.weights, out=self.contributions)
        parts.mul_(dt if self._scale_by_dt else 1.0)
        # x - x is 0 if and only if x is finite.
        is_bad = (parts - parts) != 0
        self._counts.add_(is_bad)
        torch.any(is_bad, dim=1, out=self.nonfinite)
        bad = self.nonfinite
        if diverged is not None:
            bad = diverged.logical_or_(self.nonfinite)
        fill_where(parts, bad, 0.0)
        self.episode_sums.add_(parts)
        return torch.sum(parts, dim=-1, out=self.reward)

    def weight(self, name: str) -> torch.Tensor:
        """Return the weight of a term, shape (). Writing to the tensor changes it."""
        return self.weights[self.column(name)]

    def set_weight(self, name: str, value: torch.Tensor | float) -> None:
        """Set the weight of a term, to a number or a tensor of shape ()."""
        weight = self.weight(name)
        if isinstance(value, torch.Tensor):
            weight.copy_(value)
        else:
            weight.fill_(value)

    def reset(self, mask: torch.Tensor) -> None:
        # Log the sums of the episodes that end, and clear them.
        super().reset(mask)
        # Divide by the time limit, so that an early end lowers the logged reward.
        rates = self._log.values[:, self._columns]
        torch.div(self.episode_sums, self._env.max_episode_length_s, out=rates)
        fill_where(self.episode_sums, mask, 0.0)

    def take_nonfinite(self) -> dict[str, int]:
        """Return the number of non-finite values of each term since the last call.

        Synchronises with the device.
        """
        counts = self._counts.sum(dim=0).tolist()
        self._counts.zero_()
        return {f"reward/{n}": c for n, c in zip(self.terms, counts, strict=True)}

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {
            "weights": self.weights,
            "values": self.values,
            "contributions": self.contributions,
            "reward": self.reward,
            "episode_sums": self.episode_sums,
            "nonfinite": self.nonfinite,
            "nonfinite_counts": self._counts,
        }

    def rows(self) -> list[tuple[str, ...]]:
        weights = self.weights.tolist()
        return [(n, f"{w:g}") for n, w in zip(self.terms, weights, strict=True)]


def _check_stds(name: str, cfg: RewardTermCfg) -> None:
    """Raise if a parameter that is a standard deviation is not above 0.

    The names of such parameters contain the word `std`, as in `std_walking`.
    """
    for parameter, value in cfg.params.items():
        if "std" not in parameter.split("_"):
            continue
        values = value if isinstance(value, Mapping) else {"": value}
        for pattern, std in values.items():
            if isinstance(std, int | float) and not std > 0.0:
                where = f"{parameter}[{pattern!r}]" if pattern else parameter
                raise TermError(
                    f"Reward term {name!r} has {where}={std}; it has to be above 0."
                )


def _checked_weight(name: str, cfg: RewardTermCfg) -> float:
    if not math.isfinite(cfg.weight):
        raise TermError(
            f"Reward term {name!r} has weight={cfg.weight}; it has to be finite."
        )
    return cfg.weight
