"""Compatibility with the names of the published two-level controllers.

MASS (Lee et al. 2019), Generative GaitNet (2022) and their successors save a muscle
network as a state dict of `fc.0.weight`, `fc.0.bias` to `fc.6.bias`, without input
scales. Networks can be exchanged in both directions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from mjlab.muscle.buffer import TupleLayout
from mjlab.muscle.config import original_preset
from mjlab.muscle.learner import LearnerError, MuscleRegression
from mjlab.muscle.map import MuscleMap
from mjlab.muscle.network import MuscleNetwork
from mjlab.muscle.state import TorqueMap

Array = np.ndarray | torch.Tensor


class OriginalMuscleNetwork(MuscleNetwork):
    """Muscle network with the method names of the original programs."""

    def unnormalized_no_grad_forward(
        self,
        muscle_tau: Array,
        tau: Array,
        prev_out: Array | None = None,
        out_np: bool = False,
        weight: Array | float | None = None,
    ) -> torch.Tensor | np.ndarray:
        """Return raw outputs for one row or a batch.

        Args:
            muscle_tau: Reduced torque map, in N m, shape (..., num_entries).
            tau: Target active torque, in N m, shape (..., num_dofs).
            prev_out: Output of the earlier networks, in a cascade.
            out_np: Return a NumPy array.
            weight: Weight of this network in the cascade; None means 1.
        """
        with torch.no_grad():
            previous = share = None
            if prev_out is not None:
                previous = self._tensor(prev_out)
                ones = previous.new_ones(*previous.shape[:-1], 1)
                share = ones * self._tensor(1.0 if weight is None else weight)
            y = self(self._tensor(muscle_tau), self._tensor(tau), previous, share)
        return y.cpu().numpy() if out_np else y

    def forward_filter(self, unnormalized_activation: Array) -> torch.Tensor:
        """Convert raw outputs to activations."""
        return self.activation(self._tensor(unnormalized_activation))

    def get_state_dict(self) -> dict[str, torch.Tensor]:
        """Return copies of weights and scales on the CPU, for the environments."""
        return {n: t.detach().cpu().clone() for n, t in self.state_dict().items()}

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
    """Build a network with three hidden layers of 256.

    Args:
        num_total_muscle_related_dofs: Number of entries of the reduced torque map.
        num_dofs: Number of controlled dofs.
        num_muscles: Number of muscles.
        is_cpu: Use the CPU even if a CUDA device is available.
        is_cascaded: Whether the network follows others in a cascade.
    """
    sizes = (num_total_muscle_related_dofs, num_dofs, num_muscles)
    network = OriginalMuscleNetwork(*sizes, is_cascaded=is_cascaded)
    on_cuda = torch.cuda.is_available() and not is_cpu
    return network.to("cuda") if on_cuda else network


class MuscleTuples(NamedTuple):
    """Training rows of a muscle network, as an environment returns them."""

    rows: np.ndarray
    """Rows in the layout of `TupleLayout`, shape (n, width)."""

    map: MuscleMap
    """Muscle map, with the muscle and dof of each entry of the reduced torque map."""

    @classmethod
    def from_arrays(
        cls,
        tau_des: ArrayLike,
        jta_reduced: ArrayLike,
        jta: ArrayLike,
        prev_out: ArrayLike | None = None,
        weight: ArrayLike | None = None,
    ) -> MuscleTuples:
        """Convert the arrays that the published environments return to rows.

        Args:
            tau_des: Target active torques, in N m, shape (n, num_dofs).
            jta_reduced: Non-zero elements of `jta`, sorted by muscle, then by dof,
                shape (n, num_entries).
            jta: Torque map, in N m, shape (n, num_dofs, num_muscles).
            prev_out: Output of the earlier networks, shape (n, num_muscles), in a
                cascade.
            weight: Weight of the network, shape (n,), in a cascade.
        """
        red, dense = np.asarray(jta_reduced), np.asarray(jta)
        muscles, dofs = np.nonzero(dense.any(axis=0).T)
        if red.shape != (len(dense), len(muscles)) or not np.array_equal(
            red, dense[:, dofs, muscles]
        ):
            raise LearnerError(
                f"jta_reduced, shape {red.shape}, is not the non-zero elements of jta, "
                f"shape {dense.shape}, ordered by muscle and then by dof. Pass "
                "(tau_des, jta_reduced, jta), and prev_out and weight in a cascade."
            )
        _, num_dofs, num_muscles = dense.shape
        every = tuple(range(num_dofs))
        parts = [red, np.asarray(tau_des)]
        if prev_out is not None and weight is not None:
            parts += [np.asarray(prev_out), np.asarray(weight).reshape(-1, 1)]
        return cls(
            np.concatenate(parts, axis=1).astype(np.float32),
            MuscleMap(
                muscle_names=tuple(f"muscle_{i}" for i in range(num_muscles)),
                actuator_ids=tuple(range(num_muscles)),
                joint_names=tuple(f"dof_{i}" for i in every),
                dof_ids=every,
                qpos_ids=every,
                entry_muscle=tuple(muscles.tolist()),
                entry_dof=tuple(dofs.tolist()),
                entry_address=tuple(range(len(muscles))),
                entry_gear=(1.0,) * len(muscles),
            ),
        )


class MuscleLearner:
    """Trains a muscle network that is created from sizes, as in the published programs.

    The muscle map is taken from the first training tuples.
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
        """Build the network.

        Args:
            num_actuator_action: Number of controlled dofs.
            num_muscles: Number of muscles.
            num_muscle_dofs: Number of entries of the reduced torque map.
            learning_rate: Learning rate of Adam.
            num_epochs: Passes over the tuples in an update.
            batch_size: Tuples of a minibatch; the last one of an epoch can be smaller.
            is_cascaded: Whether the network follows others in a cascade.
            device: Device for training.
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
        """The network in training."""
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

    def learn(self, muscle_tuples: MuscleTuples | Sequence[Any]) -> dict[str, Any]:
        """Fit the network; return `loss` and the other metrics of `MuscleRegression`.

        Args:
            muscle_tuples: Results of `get_muscle_tuples`, from one or several worlds:
                `MuscleTuples`, or the arrays of `MuscleTuples.from_arrays` in a list.
        """
        is_one = isinstance(muscle_tuples, MuscleTuples) or self._is_row(muscle_tuples)
        worlds: Sequence[Any] = [muscle_tuples] if is_one else muscle_tuples
        many = [self._tuples(given) for given in worlds]
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
        """Return copies of weights and scales on the CPU, for the environments."""
        return self.model.get_state_dict()

    def _is_row(self, given: Sequence[Any]) -> bool:
        """Return True for the arrays of one world, which start with the torques."""
        first = given[0]
        if isinstance(first, MuscleTuples):
            return False
        return np.shape(first[0]) == (self._layout.num_dofs,)

    def _tuples(self, given: Any) -> MuscleTuples:
        """Convert the tuples of one world to `MuscleTuples`, if given as arrays."""
        if isinstance(given, list | tuple) and not isinstance(given, MuscleTuples):
            return MuscleTuples.from_arrays(*given)
        return given

    def _check(self, tuples: Any) -> None:
        if not isinstance(tuples, MuscleTuples):
            raise LearnerError(
                f"tuples is a {type(tuples).__name__}, not MuscleTuples: pass the "
                "return value of envs.call('get_muscle_tuples') unchanged, or a list "
                "(tau_des, jta_reduced, jta)."
            )
        found, layout = tuples.map, self._layout
        for name, given, there in (
            ("num_muscle_dofs", layout.num_entries, found.num_entries),
            ("num_actuator_action", layout.num_dofs, found.num_dofs),
            ("num_muscles", layout.num_muscles, found.num_muscles),
        ):
            if given != there:
                raise LearnerError(
                    f"{name} is {given}; the model of the tuples has {there}."
                )
        if self._map is not None and self._map.fingerprint != found.fingerprint:
            raise LearnerError(
                "These tuples come from a different model than the earlier tuples. Use "
                "a separate learner for each model."
            )


def load_original(
    network: MuscleNetwork,
    state: Mapping[str, Any],
    *,
    muscle_scale: float = 200.0,
    torque_scale: float = 200.0,
) -> None:
    """Load a state dict saved by the original programs into a network, in place.

    Args:
        network: A network of the same sizes.
        state: Tensors or arrays by name. Input scales in `state` have precedence.
        muscle_scale: Scale of map entries if the state dict has none, in N m.
        torque_scale: Scale of torques if the state dict has none, in N m.
    """
    scales = {"muscle_scale": muscle_scale, "torque_scale": torque_scale}
    given = {**scales, **state}
    network.load_state_dict({n: torch.as_tensor(v) for n, v in given.items()})


def to_original(network: MuscleNetwork) -> dict[str, torch.Tensor]:
    """Return a state dict for the original programs: weights without scales."""
    return {
        name: parameter.detach().cpu().clone()
        for name, parameter in network.named_parameters()
    }
