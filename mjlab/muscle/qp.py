"""The activations that make given torques with the least effort, by optimisation."""

from __future__ import annotations

import torch

from mjlab.muscle.torque_map import TorqueMap


class BoxQp:
    """Least squares for activations between 0 and 1, for many worlds at once.

    What is made small is ½ ‖(A a − τ) / torque_scale‖² / num_dofs + ½ effort_weight
    ‖a‖² / num_muscles. The method is the accelerated projected gradient with a step
    size of its own for each muscle, begun anew in a world where it runs uphill; it has
    a fixed number of iterations and no branch.
    """

    def __init__(
        self,
        torque_map: TorqueMap,
        *,
        effort_weight: float = 0.01,
        torque_scale: float = 100.0,
    ) -> None:
        """Remember the weights.

        Args:
            torque_map: The map of the model.
            effort_weight: Weight of the mean squared activation.
            torque_scale: Torques count in units of this, in N m.
        """
        self._map = torque_map
        self._torque_weight = 1.0 / (torque_scale**2 * torque_map.num_dofs)
        self._effort_weight = effort_weight / torque_map.num_muscles

    def objective(
        self, red: torch.Tensor, torque: torch.Tensor, activation: torch.Tensor
    ) -> torch.Tensor:
        """Return what is made small, shape (rows,)."""
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
            red: The reduced torque map, in N m, shape (rows, num_entries).
            torque: The wanted active torques, in N m, shape (rows, num_dofs).
            start: Activations to begin with, shape (rows, num_muscles). None is none.
            iterations: More come nearer to the optimum.
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
            # A move against the last direction means that the momentum is too much.
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
        """One over the row sums of |A|ᵀ|A|, which bound the curvature from above."""
        size = red.abs()
        ones = red.new_ones(1, self._map.num_muscles).expand(red.shape[0], -1)
        bound = self._map.pull(size, self._map.torque(size, ones))
        return 1.0 / (bound * self._torque_weight + self._effort_weight)
