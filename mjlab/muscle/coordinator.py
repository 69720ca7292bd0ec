"""Coordinators: compute muscle activations from target torques."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import nn

from mjlab.muscle.network import LEAK, MuscleCascade, MuscleNetwork, in_blocks
from mjlab.muscle.state import TorqueMap


class Coordinator(Protocol):
    """Interface of coordinators, which compute activations from target torques."""

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles).

        Args:
            red: Reduced torque map, in N m, shape (num_envs, num_entries).
            torque: Target active torques, in N m, shape (num_envs, num_dofs).
        """
        ...

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the worlds in `mask`, shape (num_envs,)."""
        ...


class NetworkCoordinator:
    """Coordinator that evaluates the muscle network.

    On a CPU, worlds are evaluated in blocks of equal size; see `in_blocks`. On CUDA,
    all worlds form one block, so that each matrix product is one launch.
    """

    def __init__(
        self, network: MuscleNetwork, num_envs: int, *, block: int = 16
    ) -> None:
        """Allocate the blocks.

        Args:
            network: The network, on the worlds' device. It is not copied, so weights
                written in place take effect in the next call. The constructor changes
                the memory layout of the weights.
            num_envs: Number of worlds.
            block: Batch size on a CPU, in worlds.
        """
        self.network = network
        weight = network.muscle_scale
        block = num_envs if weight.device.type == "cuda" else block
        size = num_envs + -num_envs % block
        entries = network.num_entries
        inputs = weight.new_zeros(size, entries + network.num_dofs)
        self._red = inputs[:num_envs, :entries]
        self._torque = inputs[:num_envs, entries:]
        muscles = network.num_muscles
        self._outputs = _rows_of_lines(weight, size, muscles)
        self._blocks = [
            (inputs[rows], self._outputs[rows, :muscles])
            for rows in in_blocks(size, block)
        ]
        linear = [layer for layer in network.fc if isinstance(layer, nn.Linear)]
        for layer in linear:
            # In column-major order, matrix products take about 14 % less time on a CPU.
            layer.weight.data = layer.weight.data.t().contiguous().t()
        self._layers = [(layer.weight.t(), layer.bias) for layer in linear]
        # Blocks are evaluated in sequence, so they can share these tensors.
        widths = [bias.shape[0] for _, bias in self._layers[:-1]]
        self._hidden = [
            _rows_of_lines(weight, block, width)[:, :width] for width in widths
        ]

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles)."""
        with torch.no_grad():
            torch.div(red, self.network.muscle_scale, out=self._red)
            torch.div(torque, self.network.torque_scale, out=self._torque)
            for inputs, outputs in self._blocks:
                self._run(inputs, outputs)
            activation = self.network.activation(self._outputs)
            return activation[: len(self._red), : self.network.num_muscles]

    def reset(self, mask: torch.Tensor) -> None:
        """Do nothing: the network has no state."""

    def _run(self, inputs: torch.Tensor, outputs: torch.Tensor) -> None:
        """Compute `MuscleNetwork.forward` in preallocated memory."""
        x = inputs
        for (weight, bias), hidden in zip(self._layers, self._hidden, strict=False):
            torch.addmm(bias, x, weight, out=hidden)
            x = nn.functional.leaky_relu_(hidden, LEAK)
        weight, bias = self._layers[-1]
        torch.addmm(bias, x, weight, out=outputs)


def _rows_of_lines(like: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """Return zeros, padded so that each row begins on a cache line of 16 numbers.

    MKL's results for rows with few columns depend on the alignment of the row. With six
    columns, equal rows had different bits (torch 2.13 on an AMD EPYC).
    """
    return like.new_zeros(rows, columns + -columns % 16)


class CascadeCoordinator:
    """Coordinator that evaluates a cascade of networks.

    The caller writes the weight of each network to `weights`. Worlds are evaluated in
    blocks of equal size; see `in_blocks`.
    """

    def __init__(
        self, cascade: MuscleCascade, num_envs: int, *, block: int = 16
    ) -> None:
        """Allocate the weights and the blocks.

        Args:
            cascade: The networks.
            num_envs: Number of worlds.
            block: Batch size on a CPU, in worlds.
        """
        self.cascade = cascade
        first = cascade.first
        size = num_envs + -num_envs % block
        like = first.muscle_scale
        self._red = like.new_zeros(size, first.num_entries)
        self._torque = like.new_zeros(size, first.num_dofs)
        self._activation = like.new_zeros(size, first.num_muscles)
        self._previous = torch.zeros_like(self._activation)
        self._weights = like.new_ones(size, len(cascade.networks))
        self._blocks = in_blocks(size, size if like.is_cuda else block)
        self._num_envs = num_envs
        self.weights = self._weights[:num_envs]
        """Weight of each network in each world, shape (num_envs, networks)."""
        self.previous = self._previous[:num_envs]
        """Output of the earlier networks in the last call, shape (num_envs,
        num_muscles)."""

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles)."""
        with torch.no_grad():
            self._red[: self._num_envs].copy_(red)
            self._torque[: self._num_envs].copy_(torque)
            for rows in self._blocks:
                previous, own = self.cascade.last_terms(
                    self._red[rows], self._torque[rows], self._weights[rows]
                )
                self._previous[rows].copy_(previous)
                y = previous + own
                self._activation[rows].copy_(self.cascade.activation(y))
        return self._activation[: self._num_envs]

    def reset(self, mask: torch.Tensor) -> None:
        """Set the weights of all networks to 1 in the worlds in `mask`."""
        self.weights.masked_fill_(mask.unsqueeze(-1), 1.0)


class BoxQp:
    """Batched least-squares solver for muscle activations between 0 and 1.

    It minimises ½ ‖(A a − τ) / torque_scale‖² / num_dofs + ½ effort_weight ‖a‖² /
    num_muscles, where A is the torque map, a the activations and τ the target torques.
    The method is an accelerated projected gradient with one step size per muscle and an
    adaptive restart per world. The number of iterations is fixed, and no branch depends
    on data, so that a CUDA graph can capture the solver.
    """

    def __init__(
        self,
        torque_map: TorqueMap,
        *,
        effort_weight: float = 0.01,
        torque_scale: float = 100.0,
    ) -> None:
        """Store the weights.

        Args:
            torque_map: Torque map of the model.
            effort_weight: Weight of the mean squared activation.
            torque_scale: Torque errors are divided by this value, in N m.
        """
        self._map = torque_map
        self._torque_weight = 1.0 / (torque_scale**2 * torque_map.num_dofs)
        self._effort_weight = effort_weight / torque_map.num_muscles

    def objective(
        self, red: torch.Tensor, torque: torch.Tensor, activation: torch.Tensor
    ) -> torch.Tensor:
        """Return the objective, shape (rows,)."""
        residual = self._map.torque(red, activation) - torque
        squares = (residual * residual).sum(-1) * self._torque_weight
        effort = (activation * activation).sum(-1) * self._effort_weight
        return 0.5 * (squares + effort)

    def solve(
        self,
        red: torch.Tensor,
        torque: torch.Tensor,
        *,
        start: torch.Tensor | None = None,
        iterations: int = 100,
    ) -> torch.Tensor:
        """Return activations, shape (rows, num_muscles).

        Args:
            red: Reduced torque map, in N m, shape (rows, num_entries).
            torque: Target active torques, in N m, shape (rows, num_dofs).
            start: Initial activations, shape (rows, num_muscles). None starts at 0.
            iterations: Number of iterations.
        """
        step = self._step_sizes(red)
        if start is None:
            start = red.new_zeros(red.shape[0], self._map.num_muscles)
        best = ahead = start.clamp(0.0, 1.0)
        momentum = red.new_ones(red.shape[0], 1)
        for _ in range(iterations):
            gradient = self._gradient(red, torque, ahead)
            new = (ahead - step * gradient).clamp(0.0, 1.0)
            move = new - best
            # Restart the momentum where the step goes uphill.
            uphill = ((ahead - new) / step * move).sum(-1, keepdim=True) > 0.0
            momentum = torch.where(uphill, torch.ones_like(momentum), momentum)
            longer = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt())
            ahead = new + move * ((momentum - 1.0) / longer)
            best, momentum = new, longer
        return best

    def _gradient(
        self, red: torch.Tensor, torque: torch.Tensor, activation: torch.Tensor
    ) -> torch.Tensor:
        residual = (self._map.torque(red, activation) - torque) * self._torque_weight
        return self._map.pull(red, residual) + self._effort_weight * activation

    def _step_sizes(self, red: torch.Tensor) -> torch.Tensor:
        """Return step sizes: 1 / row sums of |A|ᵀ|A|, which bound the curvature."""
        size = red.abs()
        ones = red.new_ones(1, self._map.num_muscles).expand(red.shape[0], -1)
        bound = self._map.pull(size, self._map.torque(size, ones))
        return 1.0 / (bound * self._torque_weight + self._effort_weight)


class QpCoordinator:
    """Coordinator that optimises activations, warm-started from the last substep."""

    def __init__(self, qp: BoxQp, start: torch.Tensor, iterations: int = 50) -> None:
        """Store the optimisation and its settings.

        Args:
            qp: The optimisation.
            start: Initial activations, shape (num_envs, num_muscles). Every call of
                `act` overwrites this tensor with its result.
            iterations: Iterations per substep.
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
        """Set the initial activations to 0 in the worlds in `mask`."""
        self._activation.masked_fill_(mask.unsqueeze(-1), 0.0)


class RefinedCoordinator:
    """Coordinator that refines another coordinator's result by optimisation steps."""

    def __init__(self, proposer: Coordinator, qp: BoxQp, iterations: int = 10) -> None:
        """Store the first coordinator and the optimisation.

        Args:
            proposer: Coordinator of the initial activations, usually a network.
            qp: The optimisation.
            iterations: Iterations per substep.
        """
        self._proposer = proposer
        self._qp = qp
        self._iterations = iterations

    def act(self, red: torch.Tensor, torque: torch.Tensor) -> torch.Tensor:
        """Return activations, shape (num_envs, num_muscles)."""
        proposal = self._proposer.act(red, torque)
        return self._qp.solve(red, torque, start=proposal, iterations=self._iterations)

    def reset(self, mask: torch.Tensor) -> None:
        """Reset the coordinator that computes the initial activations."""
        self._proposer.reset(mask)
