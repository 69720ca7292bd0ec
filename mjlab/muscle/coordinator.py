"""Who decides on the activations: the network, the optimum, or both."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import nn

from mjlab.muscle.network import LEAK, MuscleNetwork, in_blocks
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
        block = size if weight.device.type == "cuda" else block
        entries = network.num_entries
        inputs = weight.new_zeros(size, entries + network.num_dofs)
        self._red = inputs[:num_envs, :entries]
        self._torque = inputs[:num_envs, entries:]
        outputs = weight.new_zeros(size, network.num_muscles)
        self._outputs = outputs
        self._num_envs = num_envs
        self._blocks = [
            (inputs[rows], outputs[rows]) for rows in in_blocks(size, block)
        ]
        self._layers = [
            (layer.weight.t(), layer.bias)
            for layer in network.fc
            if isinstance(layer, nn.Linear)
        ]
        # Blocks come one after the other, so that one set of these serves all.
        self._hidden = [
            weight.new_zeros(block, bias.shape[0]) for _, bias in self._layers[:-1]
        ]

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles)."""
        with torch.no_grad():
            torch.div(red, self.network.muscle_scale, out=self._red)
            torch.div(torque, self.network.torque_scale, out=self._torque)
            for inputs, outputs in self._blocks:
                self._run(inputs, outputs)
            return self.network.activation(self._outputs)[: self._num_envs]

    def reset(self, mask: torch.Tensor) -> None:
        """Do nothing: a network has no past."""

    def _run(self, inputs: torch.Tensor, outputs: torch.Tensor) -> None:
        """What `MuscleNetwork.forward` computes, in memory that is there already."""
        x = inputs
        for (weight, bias), hidden in zip(self._layers, self._hidden, strict=False):
            torch.addmm(bias, x, weight, out=hidden)
            x = nn.functional.leaky_relu_(hidden, LEAK)
        weight, bias = self._layers[-1]
        torch.addmm(bias, x, weight, out=outputs)


class QpCoordinator:
    """The optimum, begun at the activations of the substep before."""

    def __init__(self, qp: BoxQp, start: torch.Tensor, iterations: int = 50) -> None:
        """Remember the number of iterations.

        Args:
            qp: The optimisation.
            start: Activations of the first substep, shape (num_envs, num_muscles). It
                is written in place: its owner has the newest ones.
            iterations: For each substep.
        """
        self._qp = qp
        self._iterations = iterations
        self._activation = start

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
