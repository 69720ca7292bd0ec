"""Who decides on the activations: the network, the optimum, or both."""

from __future__ import annotations

from typing import Protocol

import torch

from mjlab.muscle.network import MuscleNetwork, in_blocks
from mjlab.muscle.qp import BoxQp


class Coordinator(Protocol):
    """Finds activations whose torques are the wanted ones."""

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles).

        Args:
            red: The reduced torque map, in N m, shape (num_envs, num_entries).
            torque: The wanted active torques, in N m, shape (num_envs, num_dofs).
        """
        ...

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the past of the worlds where `mask`, shape (num_envs,), holds."""
        ...


class NetworkCoordinator:
    """The muscle network, in blocks of rows of one size on a CPU.

    On CUDA the worlds are one block: matrix products there are one launch each.
    """

    def __init__(
        self, network: MuscleNetwork, num_envs: int, *, block: int = 16
    ) -> None:
        """Allocate the blocks.

        Args:
            network: The network, on the worlds' device. It is used as it is at each
                call, so that weights written in place count at once.
            num_envs: The number of worlds.
            block: Rows that go through the network together on a CPU.
        """
        self.network = network
        weight = network.muscle_scale
        size = num_envs + -num_envs % block
        self._red = weight.new_zeros(size, network.num_entries)
        self._torque = weight.new_zeros(size, network.num_dofs)
        self._activation = weight.new_zeros(size, network.num_muscles)
        whole = weight.device.type == "cuda"
        self._blocks = in_blocks(size, size if whole else block)
        self._num_envs = num_envs

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles)."""
        with torch.no_grad():
            self._red[: self._num_envs].copy_(red)
            self._torque[: self._num_envs].copy_(torque)
            for rows in self._blocks:
                y = self.network(self._red[rows], self._torque[rows])
                self._activation[rows].copy_(self.network.activation(y))
        return self._activation[: self._num_envs]

    def reset(self, mask: torch.Tensor) -> None:
        """Do nothing: a network has no past."""


class QpCoordinator:
    """The optimum, begun at the activations of the substep before."""

    def __init__(self, qp: BoxQp, start: torch.Tensor, iterations: int = 50) -> None:
        """Remember the number of iterations.

        Args:
            qp: The optimisation.
            start: Activations of the first substep, shape (num_envs, num_muscles).
            iterations: For each substep.
        """
        self._qp = qp
        self._iterations = iterations
        self._activation = start.clone()

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles)."""
        new = self._qp.solve(
            red, torque, start=self._activation, iterations=self._iterations
        )
        self._activation.copy_(new)
        return self._activation

    def reset(self, mask: torch.Tensor) -> None:
        """Begin at no activation in the worlds of `mask`."""
        self._activation.masked_fill_(mask.unsqueeze(-1), 0.0)


class RefinedCoordinator:
    """What another coordinator proposes, made better by a few steps to the optimum."""

    def __init__(self, proposer: Coordinator, qp: BoxQp, iterations: int = 10) -> None:
        """Remember both.

        Args:
            proposer: Whose activations are the start, usually a network.
            qp: The optimisation.
            iterations: For each substep.
        """
        self._proposer = proposer
        self._qp = qp
        self._iterations = iterations

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles)."""
        proposal = self._proposer.act(red, torque)
        return self._qp.solve(red, torque, start=proposal, iterations=self._iterations)

    def reset(self, mask: torch.Tensor) -> None:
        """Forget the past of the worlds where `mask`, shape (num_envs,), holds."""
        self._proposer.reset(mask)
