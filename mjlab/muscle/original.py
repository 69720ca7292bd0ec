"""The names of the published two-level controllers, for what was made there.

MASS (Lee et al. 2019), Generative GaitNet (2022) and their successors keep a muscle
network as a state dict of `fc.0.weight`, `fc.0.bias` to `fc.6.bias`, without the scales
of its inputs. Their networks load here, and ours load there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from mjlab.muscle.buffer import TupleLayout
from mjlab.muscle.config import original_preset
from mjlab.muscle.learner import LearnerError, MuscleRegression
from mjlab.muscle.map import MuscleMap
from mjlab.muscle.network import MuscleNetwork
from mjlab.muscle.state import TorqueMap
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


class MuscleTuples(NamedTuple):
    """Rows for a muscle network to learn from, as a world returns them."""

    rows: np.ndarray
    """The parts of `TupleLayout` side by side, shape (n, width)."""

    map: MuscleMap
    """The muscle and the dof of each entry of the reduced torque map."""


class MuscleLearner:
    """Fits a muscle network that is made by its sizes, as the published programs do.

    Which muscle crosses which joint comes with the first tuples.
    """

    def __init__(
        self,
        *,
        num_actuator_action: int,
        num_muscles: int,
        num_muscle_dofs: int,
        learning_rate: float = 1e-4,
        num_epochs: int = 4,
        batch_size: int = 512,
        is_cascaded: bool = False,
        device: torch.device | str = "cpu",
    ) -> None:
        """Make the network.

        Args:
            num_actuator_action: Controlled dofs.
            num_muscles: Muscles.
            num_muscle_dofs: Entries of the reduced torque map.
            learning_rate: Of Adam.
            num_epochs: Passes over the tuples in an update.
            batch_size: Tuples of a minibatch; the last of an epoch may be smaller.
            is_cascaded: Whether other networks act before it.
            device: Where it learns.
        """
        self.device = torch.device(device)
        """Device of the network."""
        if self.device.type == "cuda" and not torch.cuda.is_available():
            raise LearnerError(
                f"device={str(device)!r}, but PyTorch sees no CUDA device. "
                "Leave the device out, or use device='cpu'."
            )
        sizes = (num_muscle_dofs, num_actuator_action, num_muscles)
        self.model = OriginalMuscleNetwork(*sizes, is_cascaded=is_cascaded)
        """The network that learns."""
        self.model.to(self.device)
        self._cfg = dataclasses.replace(
            original_preset(),
            learning_rate=learning_rate,
            final_learning_rate=learning_rate,
            epochs=num_epochs,
            batch_size=batch_size,
            allow_small_batch=True,
        )
        self._layout = TupleLayout(*sizes, is_cascaded)
        self._map: MuscleMap | None = None
        self._regression: MuscleRegression | None = None

    def learn(
        self, muscle_tuples: MuscleTuples | Sequence[MuscleTuples]
    ) -> dict[str, Any]:
        """Fit the network; return `loss` and the other figures of `MuscleRegression`.

        Args:
            muscle_tuples: What `get_muscle_tuples` returned, of one world or of many.
        """
        one = isinstance(muscle_tuples, MuscleTuples)
        many = [muscle_tuples] if one else list(muscle_tuples)
        for each in many:
            self._check(each)
        if self._regression is None:
            self._map = many[0].map
            torque_map = TorqueMap(self._map, self.device)
            self._regression = MuscleRegression(
                self.model, torque_map, self._layout, self._cfg
            )
        rows = np.concatenate([each.rows for each in many])
        return self._regression.learn(torch.as_tensor(rows))

    def get_state_dict(self) -> dict[str, torch.Tensor]:
        """Return copies of weights and scales on the CPU, which worlds can take."""
        return {
            name: tensor.detach().cpu().clone()
            for name, tensor in self.model.state_dict().items()
        }

    def _check(self, tuples: Any) -> None:
        if not isinstance(tuples, MuscleTuples):
            raise LearnerError(
                f"A {type(tuples).__name__} is no MuscleTuples: hand over what "
                "envs.call('get_muscle_tuples') returned, as it is."
            )
        found, layout = tuples.map, self._layout
        for name, given, there in (
            ("num_muscle_dofs", layout.num_entries, found.num_entries),
            ("num_actuator_action", layout.num_dofs, found.num_dofs),
            ("num_muscles", layout.num_muscles, found.num_muscles),
        ):
            if given != there:
                raise LearnerError(f"{name} is {given}; the tuples' model has {there}.")
        if self._map is not None and self._map.fingerprint != found.fingerprint:
            raise LearnerError("These tuples are of another model than those before.")


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
