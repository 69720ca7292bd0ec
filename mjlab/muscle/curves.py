"""MuJoCo's muscle curves with everything that is fixed worked out beforehand.

`force.py` has the same functions as they are published. Here the pieces of each curve
are written as clamped parabolas, which takes a third of the operations.
"""

from __future__ import annotations

import torch

from mjlab.muscle.force import TINY, optimal_length, peak_force


class MuscleCurves:
    """Active and passive force of muscles whose parameters stay for a while."""

    def __init__(
        self,
        length_range: torch.Tensor,
        acc0: torch.Tensor,
        gain_prm: torch.Tensor,
        bias_prm: torch.Tensor,
    ) -> None:
        """Work out what does not change.

        Args:
            length_range: Shortest and longest length, in m, shape (..., muscles, 2).
            acc0: Acceleration of the joints by a unit force, shape (..., muscles).
            gain_prm: Gain parameters, shape (..., muscles, 9 or more).
            bias_prm: Bias parameters, shape (..., muscles, 9 or more).
        """
        fibre = optimal_length(length_range, gain_prm)
        self._per_length = 1.0 / fibre
        # What is added to get the distance from the optimal length, in such lengths.
        self._offset = gain_prm[..., 0] - 1.0 - length_range[..., 0] / fibre
        self._shorter = -2.0 / (1.0 - gain_prm[..., 4]).clamp_min(TINY)
        self._longer = 2.0 / (gain_prm[..., 5] - 1.0).clamp_min(TINY)
        self._per_speed = 1.0 / (fibre * gain_prm[..., 6]).clamp_min(TINY)
        self._bend = (gain_prm[..., 8] - 1.0).clamp_min(TINY)
        self._per_bend = -1.0 / self._bend
        self._active = -peak_force(acc0, gain_prm)
        passive_fibre = optimal_length(length_range, bias_prm)
        steep = 2.0 / (bias_prm[..., 5] - 1.0).clamp_min(TINY)
        self._passive_rate = steep / passive_fibre
        start = length_range[..., 0] / passive_fibre
        self._passive_offset = steep * (bias_prm[..., 0] - 1.0 - start)
        self._passive = -0.5 * peak_force(acc0, bias_prm) * bias_prm[..., 7]

    def gain(self, length: torch.Tensor, velocity: torch.Tensor) -> torch.Tensor:
        """Return the active force at full activation, in N, at most 0."""
        away = torch.addcmul(self._offset, length, self._per_length)
        x = torch.maximum(away * self._shorter, away * self._longer).clamp_max_(2.0)
        # 1 - x²/2 near the optimum, (2 - x)²/2 away from it: one subtraction apart.
        shape = (x - 1.0).clamp_min_(0.0).square_()
        shape.addcmul_(x, x, value=-0.5).add_(1.0)
        speed = velocity * self._per_speed
        falling = speed.clamp(-1.0, 0.0).add_(1.0).square_()
        rising = torch.minimum(speed.clamp_min_(0.0), self._bend)
        factor = (rising * self._per_bend).add_(2.0).mul_(rising).add_(falling)
        return shape.mul_(factor).mul_(self._active)

    def bias(self, length: torch.Tensor) -> torch.Tensor:
        """Return the passive force, in N, at most 0."""
        x = torch.addcmul(self._passive_offset, length, self._passive_rate)
        x.clamp_min_(0.0)
        # A parabola, then a line: what is beyond 1 takes its own square off again.
        beyond = (x - 1.0).clamp_min_(0.0)
        return x.square_().addcmul_(beyond, beyond, value=-1.0).mul_(self._passive)
