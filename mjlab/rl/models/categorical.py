"""Categorical distribution of actions, which RSL-RL lacks."""

import torch
from rsl_rl.modules.distribution import Distribution


class CategoricalDistribution(Distribution):
    """Categorical distribution of `output_dim` actions; samples are one-hot rows."""

    def __init__(self, output_dim: int) -> None:
        super().__init__(output_dim)
        self._log_probs: torch.Tensor | None = None

    def update(self, mlp_output: torch.Tensor) -> None:
        """Take the network's outputs as logits, shape (..., output_dim)."""
        self._log_probs = mlp_output.log_softmax(dim=-1)

    def sample(self) -> torch.Tensor:
        """Draw actions, shape (..., output_dim)."""
        # Gumbel-max trick.
        noise = -torch.empty_like(self._now).exponential_().log()
        return _one_hot(self._now.detach() + noise)

    def deterministic_output(self, mlp_output: torch.Tensor) -> torch.Tensor:
        """Most likely actions, shape (..., output_dim)."""
        return _one_hot(mlp_output)

    def as_deterministic_output_module(self) -> torch.nn.Module:
        """Return `deterministic_output` as a module, for exports."""
        return _MostLikely()

    @property
    def input_dim(self) -> int:
        """Size of the network's output."""
        return self.output_dim

    @property
    def mean(self) -> torch.Tensor:
        """Probabilities, shape (..., output_dim)."""
        return self._now.exp()

    @property
    def std(self) -> torch.Tensor:
        """Standard deviation of each element, shape (..., output_dim)."""
        return (self.mean * (1.0 - self.mean)).sqrt()

    @property
    def entropy(self) -> torch.Tensor:
        """Entropy in nats, shape (...)."""
        return -(self.mean * self._now).sum(dim=-1)

    @property
    def params(self) -> tuple[torch.Tensor, ...]:
        """Log-probabilities, shape (..., output_dim)."""
        return (self._now,)

    def log_prob(self, outputs: torch.Tensor) -> torch.Tensor:
        """Log-probability of actions, shape (...)."""
        return (self._now * outputs).sum(dim=-1)

    def kl_divergence(
        self,
        old_params: tuple[torch.Tensor, ...],
        new_params: tuple[torch.Tensor, ...],
    ) -> torch.Tensor:
        """Divergence of the old distribution from the new, in nats, shape (...)."""
        old, new = old_params[0], new_params[0]
        return (old.exp() * (old - new)).sum(dim=-1)

    @property
    def _now(self) -> torch.Tensor:
        if self._log_probs is None:
            raise RuntimeError(
                "Call update() first: the distribution has no parameters yet."
            )
        return self._log_probs


class _MostLikely(torch.nn.Module):
    def forward(self, mlp_output: torch.Tensor) -> torch.Tensor:
        return _one_hot(mlp_output)


def _one_hot(values: torch.Tensor) -> torch.Tensor:
    rows = torch.zeros_like(values)
    return rows.scatter_(-1, values.argmax(dim=-1, keepdim=True), 1.0)
