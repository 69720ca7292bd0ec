"""Student network: an estimator of a privileged observation, and a fixed policy.

As in "rapid motor adaptation" (Kumar et al. 2021), the policy is trained with the
privileged observation, and the estimator replaces it. The estimation error is a loss.
"""

from typing import Any

import torch
from rsl_rl.utils import resolve_class
from tensordict import TensorDict
from torch import nn

from mjlab.rl.models.images import ImageModel


class EstimatingModel(ImageModel):
    """Estimates an observation group, and applies the teacher's policy to it.

    The estimator outputs the group as normalised by the teacher. The policy's weights
    are frozen; `start_from` copies them from the teacher.
    """

    def __init__(
        self,
        obs: TensorDict,
        obs_groups: dict[str, list[str]],
        obs_set: str,
        output_dim: int,
        *,
        estimated: str,
        size: int,
        policy: dict[str, Any],
        **estimator: Any,
    ) -> None:
        """Build the estimator and the policy.

        Args:
            obs: Observations by group.
            obs_groups: Groups of each network. The policy uses the "teacher" entry.
            obs_set: Name of the estimator's set of groups.
            output_dim: Number of actions.
            estimated: Group to estimate.
            size: Number of values of this group.
            policy: Class and options of the policy, in RSL-RL's form.
            **estimator: Options of the estimator.
        """
        super().__init__(obs, obs_groups, obs_set, size, **estimator)
        self.estimated = estimated
        seen = obs.copy()
        seen[estimated] = torch.zeros(len(obs), size, device=obs.device)
        build, options = resolve_class(policy)
        self.policy: Any = build(seen, obs_groups, "teacher", output_dim, **options)
        self.policy.requires_grad_(False)
        self.distribution = self.policy.distribution
        self._widths = [obs[group].shape[-1] for group in self.obs_groups]
        groups = self.policy.obs_groups
        first = sum(
            seen[group].shape[-1] for group in groups[: groups.index(estimated)]
        )
        self._columns = slice(first, first + size)

    def start_from(self, teacher: nn.Module) -> None:
        """Copy the weights of the teacher, without its exploration noise."""
        own = self.policy.state_dict()
        noise = {k: v for k, v in own.items() if k.startswith("distribution.")}
        self.policy.load_state_dict({**teacher.state_dict(), **noise})

    def estimate(self, obs: TensorDict) -> torch.Tensor:
        """Return the normalised estimate, shape (batch, size)."""
        return self.mlp(self.get_latent(obs))

    def act(
        self, obs: TensorDict, estimate: torch.Tensor, stochastic_output: bool = False
    ) -> torch.Tensor:
        """Return the policy's actions for a normalised estimate."""
        mean, std = self._statistics()
        seen = obs.copy()
        seen[self.estimated] = estimate * std + mean
        return self.policy(seen, stochastic_output=stochastic_output)

    def estimation_error(self, obs: TensorDict, estimate: torch.Tensor) -> torch.Tensor:
        """Return the mean squared error of a normalised estimate, shape ()."""
        mean, std = self._statistics()
        return ((obs[self.estimated] - mean) / std - estimate).square().mean()

    def forward(
        self,
        obs: TensorDict,
        masks: torch.Tensor | None = None,
        hidden_state: Any = None,
        stochastic_output: bool = False,
    ) -> torch.Tensor:
        """Return actions, shape (batch, actions)."""
        return self.act(obs, self.estimate(obs), stochastic_output)

    def as_onnx(self, verbose: bool = False) -> nn.Module:
        """Return a module without observation groups, for export to ONNX."""
        return _OnnxForm(self, super().as_onnx(verbose))

    def _statistics(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return mean and standard deviation of the estimated group in the policy."""
        if not self.policy.obs_normalization:
            one = next(self.policy.parameters()).new_ones(())
            return torch.zeros_like(one), one
        known = self.policy.obs_normalizer
        columns = self._columns
        return known._mean[:, columns], known._std[:, columns] + known.eps


class _OnnxForm(nn.Module):
    """Export form with the inputs of RSL-RL: concatenated 1D observations, images."""

    def __init__(self, model: EstimatingModel, estimator: Any) -> None:
        super().__init__()
        self.estimator, self.policy = estimator, model.policy.as_onnx(verbose=False)
        # RSL-RL's form would treat the estimate as the parameters of a distribution.
        self.estimator.deterministic_output = nn.Identity()
        mean, std = model._statistics()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self._groups = model.policy.obs_groups
        self._observed, self._widths = model.obs_groups, model._widths
        self._estimated = model.estimated
        self.input_names, self.output_names = estimator.input_names, ["actions"]

    def forward(self, obs_1d: torch.Tensor, *obs_2d: torch.Tensor) -> torch.Tensor:
        """Return the mean actions."""
        parts = obs_1d.split(self._widths, dim=-1)
        known = dict(zip(self._observed, parts, strict=True))
        estimate = self.estimator(obs_1d, *obs_2d)
        known[self._estimated] = estimate * self.std + self.mean
        return self.policy(torch.cat([known[name] for name in self._groups], dim=-1))

    def get_dummy_inputs(self) -> tuple[torch.Tensor, ...]:
        """Return example inputs."""
        return self.estimator.get_dummy_inputs()
