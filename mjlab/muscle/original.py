"""The names of the published two-level controllers, for networks trained there.

MASS (Lee et al. 2019), Generative GaitNet (2022) and their successors keep a muscle
network as a state dict of `fc.0.weight`, `fc.0.bias` to `fc.6.bias`, without the scales
of its inputs. Their networks load here, and ours load there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from mjlab.muscle.network import MuscleNetwork
from mjlab.muscle.store import check_weights

Array = np.ndarray | torch.Tensor
_SCALES = ("muscle_scale", "torque_scale")


class OriginalMuscleNetwork(MuscleNetwork):
    """A muscle network that answers to the original names."""

    def unnormalized_no_grad_forward(
        self,
        muscle_tau: Array,
        tau: Array,
        prev_out: Array | None = None,
        out_np: bool = False,
        weight: Array | float | None = None,
    ) -> torch.Tensor | np.ndarray:
        """Return raw outputs of one row or of many.

        Args:
            muscle_tau: The reduced torque map, in N m, shape (..., num_entries).
            tau: The wanted active torque, in N m, shape (..., num_dofs).
            prev_out: What earlier networks gave, for a network of a cascade.
            out_np: Return an array of numpy.
            weight: Its weight in the cascade; None is 1.
        """
        with torch.no_grad():
            red, torque = self._tensor(muscle_tau), self._tensor(tau)
            previous = share = None
            if prev_out is not None:
                previous = self._tensor(prev_out)
                ones = previous.new_ones(*previous.shape[:-1], 1)
                share = ones * self._tensor(1.0 if weight is None else weight)
            y = self(red, torque, previous, share)
        return y.cpu().numpy() if out_np else y

    def forward_filter(self, unnormalized_activation: Array) -> torch.Tensor:
        """Return activations of raw outputs."""
        return self.activation(self._tensor(unnormalized_activation))

    def get_state_dict(self) -> dict[str, torch.Tensor]:
        """Return every weight and scale, on the CPU."""
        return {name: t.detach().cpu() for name, t in self.state_dict().items()}

    def _tensor(self, value: Array | float) -> torch.Tensor:
        return torch.as_tensor(
            value, dtype=torch.float32, device=self.muscle_scale.device
        )


def generating_muscle_nn(
    num_total_muscle_related_dofs: int,
    num_dofs: int,
    num_muscles: int,
    is_cpu: bool = False,
    is_cascaded: bool = False,
) -> OriginalMuscleNetwork:
    """Return a network with three hidden layers of 256.

    Args:
        num_total_muscle_related_dofs: Entries of the reduced torque map.
        num_dofs: Controlled dofs.
        num_muscles: Muscles.
        is_cpu: Stay on the CPU even where there is a CUDA device.
        is_cascaded: Take what other networks gave before.
    """
    sizes = (num_total_muscle_related_dofs, num_dofs, num_muscles)
    network = OriginalMuscleNetwork(*sizes, is_cascaded=is_cascaded)
    on_cuda = torch.cuda.is_available() and not is_cpu
    return network.to("cuda") if on_cuda else network


def load_original(
    network: MuscleNetwork,
    state: Mapping[str, Any],
    *,
    muscle_scale: float = 200.0,
    torque_scale: float = 200.0,
) -> None:
    """Load a state dict of an original network, in place.

    Args:
        network: A network of the same sizes.
        state: Its tensors or arrays by name. Scales in it count.
        muscle_scale: The unit of map entries where the state dict has none, in N m.
        torque_scale: The unit of torques where it has none, in N m.
    """
    own = network.state_dict()
    given = {name: torch.as_tensor(np.asarray(value)) for name, value in state.items()}
    given.setdefault("muscle_scale", torch.tensor(muscle_scale))
    given.setdefault("torque_scale", torch.tensor(torque_scale))
    check_weights(given, {name: tensor.shape for name, tensor in own.items()})
    for name, tensor in own.items():
        tensor.copy_(given[name])


def to_original(network: MuscleNetwork) -> dict[str, torch.Tensor]:
    """Return the state dict that the original programs load: weights without scales."""
    return {
        name: tensor.detach().cpu().clone()
        for name, tensor in network.state_dict().items()
        if name not in _SCALES
    }
