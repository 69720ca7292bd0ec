"""MuJoCo's muscle model in closed form: force, activation dynamics and their inverse.

A muscle of activation a pulls with `gain * a + bias`, both at most 0 (a pull shortens).
The parameters are the rows of MuJoCo's `actuator_gainprm`, `actuator_biasprm` and
`actuator_dynprm`; only the columns used by muscles are read. All shapes broadcast.
"""

from __future__ import annotations

import torch

TINY = 1e-15  # MuJoCo's mjMINVAL.


class MuscleCurves:
    """Active and passive force of muscles with fixed parameters.

    MuJoCo's piecewise curves are evaluated as sums of clamped parabolas, with
    precomputed constants. This needs a third of the operations of MuJoCo's formulas.
    """

    def __init__(
        self,
        length_range: torch.Tensor,
        acc0: torch.Tensor,
        gain_prm: torch.Tensor,
        bias_prm: torch.Tensor,
    ) -> None:
        """Precompute the constants.

        Args:
            length_range: Shortest and longest length, in m, shape (..., muscles, 2).
            acc0: Joint acceleration per unit force, shape (..., muscles).
            gain_prm: Gain parameters, shape (..., muscles, 9 or more).
            bias_prm: Bias parameters, shape (..., muscles, 9 or more).
        """
        fibre = _optimal_length(length_range, gain_prm)
        self._per_length = 1.0 / fibre
        # Offset to the distance from the optimal length, relative to that length.
        self._offset = gain_prm[..., 0] - 1.0 - length_range[..., 0] / fibre
        self._shorter = -2.0 / (1.0 - gain_prm[..., 4]).clamp_min(TINY)
        self._longer = 2.0 / (gain_prm[..., 5] - 1.0).clamp_min(TINY)
        self._per_speed = 1.0 / (fibre * gain_prm[..., 6]).clamp_min(TINY)
        self._bend = (gain_prm[..., 8] - 1.0).clamp_min(TINY)
        self._per_bend = -1.0 / self._bend
        self._active = -_peak_force(acc0, gain_prm)
        passive_fibre = _optimal_length(length_range, bias_prm)
        steep = 2.0 / (bias_prm[..., 5] - 1.0).clamp_min(TINY)
        self._passive_rate = steep / passive_fibre
        start = length_range[..., 0] / passive_fibre
        self._passive_offset = steep * (bias_prm[..., 0] - 1.0 - start)
        self._passive = -0.5 * _peak_force(acc0, bias_prm) * bias_prm[..., 7]

    def gain(
        self,
        length: torch.Tensor,
        velocity: torch.Tensor,
        out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the active force at full activation, in N, at most 0.

        All tensors have the shape (num_envs, muscles).
        """
        away = torch.addcmul(self._offset, length, self._per_length)
        x = torch.maximum(away * self._shorter, away * self._longer).clamp_max_(2.0)
        # 1 - x²/2 for x below 1, (2 - x)²/2 above. The difference between the two
        # formulas is (x - 1)².
        shape = (x - 1.0).clamp_min_(0.0)
        shape.mul_(shape)
        shape.addcmul_(x, x, value=-0.5).add_(1.0)
        speed = velocity * self._per_speed
        falling = speed.clamp(-1.0, 0.0).add_(1.0)
        falling.mul_(falling)
        rising = torch.minimum(speed.clamp_min_(0.0), self._bend)
        factor = (rising * self._per_bend).add_(2.0).mul_(rising).add_(falling)
        return torch.mul(shape.mul_(factor), self._active, out=out)

    def bias(
        self, length: torch.Tensor, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the passive force, in N, at most 0, shape (num_envs, muscles)."""
        x = torch.addcmul(self._passive_offset, length, self._passive_rate)
        x.clamp_min_(0.0)
        # A parabola, then a line: beyond 1, the square of the excess is subtracted.
        beyond = (x - 1.0).clamp_min_(0.0)
        x.mul_(x).addcmul_(beyond, beyond, value=-1.0)
        return torch.mul(x, self._passive, out=out)


def muscle_act_rate(
    ctrl: torch.Tensor, act: torch.Tensor, prm: torch.Tensor
) -> torch.Tensor:
    """Return the rate of activation, in 1/s.

    Args:
        ctrl: Excitation, clipped to [0, 1].
        act: Activation.
        prm: Dynamics parameters, shape (..., muscles, 3 or more).
    """
    change = ctrl.clamp(0.0, 1.0) - act
    rising, falling = _time_constants(act, prm)
    width = prm[..., 2]
    x = (change / width.clamp_min(TINY) + 0.5).clamp(0.0, 1.0)
    share = x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)
    smooth = falling + (rising - falling) * share
    sharp = torch.where(change > 0.0, rising, falling)
    tau = torch.where(width < TINY, sharp, smooth)
    return change / tau.clamp_min(TINY)


def inverse_excitation(
    wanted: torch.Tensor, act: torch.Tensor, dynprm: torch.Tensor, timestep: float
) -> torch.Tensor:
    """Return the excitation that reaches the activation `wanted` in one physics step.

    Solves MuJoCo's activation dynamics with a sharp switch (`tausmooth=0`) and Euler
    integration for the control. If one step is too short, the excitation is clipped to
    0 or 1.

    Args:
        wanted: Target activations, shape (num_envs, num_muscles).
        act: Current activations, same shape.
        dynprm: Dynamics parameters, shape (..., num_muscles, 3 or more).
        timestep: Physics timestep, in s.
    """
    rising, falling = _time_constants(act, dynprm)
    change = wanted - act
    tau = torch.where(change > 0.0, rising, falling)
    return (act + tau * change / timestep).clamp(0.0, 1.0)


def direct_excitation(wanted: torch.Tensor) -> torch.Tensor:
    """Return `wanted`, clipped to [0, 1].

    In a model without activation dynamics (`dyntype="none"`) this is the activation of
    the same step. With dynamics, activations lag by 10 to 40 ms.
    """
    return wanted.clamp(0.0, 1.0)


def _time_constants(
    act: torch.Tensor, prm: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the time constants of activation and deactivation, in s."""
    stretch = 0.5 + 1.5 * act.clamp(0.0, 1.0)
    return prm[..., 0] * stretch, prm[..., 1] / stretch


def _peak_force(acc0: torch.Tensor, prm: torch.Tensor) -> torch.Tensor:
    """Return the peak force, in N: the parameter, or scale / `acc0` if below 0."""
    force = prm[..., 2]
    return torch.where(force < 0.0, prm[..., 3] / acc0.clamp_min(TINY), force)


def _optimal_length(length_range: torch.Tensor, prm: torch.Tensor) -> torch.Tensor:
    """Return the optimal length of the fibre, in m."""
    span = (prm[..., 1] - prm[..., 0]).clamp_min(TINY)
    return ((length_range[..., 1] - length_range[..., 0]) / span).clamp_min(TINY)
