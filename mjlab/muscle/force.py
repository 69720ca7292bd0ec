"""The force of a muscle, in closed form: MuJoCo's functions for many muscles at once.

A muscle of activation a pulls with `gain * a + bias`, both at most 0 (a pull shortens).
The parameters are the rows of MuJoCo's `actuator_gainprm`, `actuator_biasprm` and
`actuator_dynprm`; only the columns that a muscle has are read. All shapes broadcast.
"""

from __future__ import annotations

import torch

TINY = 1e-15  # MuJoCo's mjMINVAL.


def muscle_gain(
    length: torch.Tensor,
    velocity: torch.Tensor,
    length_range: torch.Tensor,
    acc0: torch.Tensor,
    prm: torch.Tensor,
) -> torch.Tensor:
    """Return the active force at full activation, in N, at most 0.

    Args:
        length: Length of muscle and tendon, in m, shape (..., muscles).
        velocity: Its rate, in m/s, shape (..., muscles).
        length_range: Shortest and longest length, in m, shape (..., muscles, 2).
        acc0: Acceleration of the joints by a unit force, shape (..., muscles).
        prm: Gain parameters, shape (..., muscles, 9 or more).
    """
    fibre = optimal_length(length_range, prm)
    relative = _relative_length(length, fibre, length_range, prm)
    speed = velocity / (fibre * prm[..., 6]).clamp_min(TINY)
    shape = force_length(relative, prm[..., 4], prm[..., 5])
    return -peak_force(acc0, prm) * shape * force_velocity(speed, prm[..., 8])


def muscle_bias(
    length: torch.Tensor,
    length_range: torch.Tensor,
    acc0: torch.Tensor,
    prm: torch.Tensor,
) -> torch.Tensor:
    """Return the passive force, in N, at most 0.

    Args:
        length: Length of muscle and tendon, in m, shape (..., muscles).
        length_range: Shortest and longest length, in m, shape (..., muscles, 2).
        acc0: Acceleration of the joints by a unit force, shape (..., muscles).
        prm: Bias parameters, shape (..., muscles, 9 or more).
    """
    fibre = optimal_length(length_range, prm)
    relative = _relative_length(length, fibre, length_range, prm)
    knee = 0.5 * (1.0 + prm[..., 5])
    width = (knee - 1.0).clamp_min(TINY)
    rise = (relative - 1.0) / width
    # Nothing up to the optimal length, then a parabola, then a line.
    curve = torch.where(
        relative <= knee, 0.5 * rise * rise, 0.5 + (relative - knee) / width
    )
    curve = torch.where(relative <= 1.0, torch.zeros_like(curve), curve)
    return -peak_force(acc0, prm) * prm[..., 7] * curve


def muscle_act_rate(
    ctrl: torch.Tensor, act: torch.Tensor, prm: torch.Tensor
) -> torch.Tensor:
    """Return the rate of activation, in 1/s.

    Args:
        ctrl: Excitation; what lies outside 0 to 1 counts as the nearer end.
        act: Activation.
        prm: Dynamics parameters, shape (..., muscles, 3 or more).
    """
    change = ctrl.clamp(0.0, 1.0) - act
    rising, falling = act_time_constants(act, prm)
    width = prm[..., 2]
    x = (change / width.clamp_min(TINY) + 0.5).clamp(0.0, 1.0)
    share = x * x * x * (3.0 * x * (2.0 * x - 5.0) + 10.0)
    smooth = falling + (rising - falling) * share
    sharp = torch.where(change > 0.0, rising, falling)
    tau = torch.where(width < TINY, sharp, smooth)
    return change / tau.clamp_min(TINY)


def act_time_constants(
    act: torch.Tensor, prm: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the time constants of rising and of falling activation, in s."""
    stretch = 0.5 + 1.5 * act.clamp(0.0, 1.0)
    return prm[..., 0] * stretch, prm[..., 1] / stretch


def peak_force(acc0: torch.Tensor, prm: torch.Tensor) -> torch.Tensor:
    """Return the peak active force, in N: given, or the scale over `acc0`."""
    force = prm[..., 2]
    return torch.where(force < 0.0, prm[..., 3] / acc0.clamp_min(TINY), force)


def force_length(
    relative: torch.Tensor, lmin: torch.Tensor, lmax: torch.Tensor
) -> torch.Tensor:
    """Return the share of the peak force at a length in optimal lengths."""
    left, right = 0.5 * (lmin + 1.0), 0.5 * (1.0 + lmax)
    x = (relative - lmin) / (left - lmin).clamp_min(TINY)
    curve = 0.5 * x * x
    x = (1.0 - relative) / (1.0 - left).clamp_min(TINY)
    curve = torch.where(relative <= left, curve, 1.0 - 0.5 * x * x)
    x = (relative - 1.0) / (right - 1.0).clamp_min(TINY)
    curve = torch.where(relative <= 1.0, curve, 1.0 - 0.5 * x * x)
    x = (lmax - relative) / (lmax - right).clamp_min(TINY)
    curve = torch.where(relative <= right, curve, 0.5 * x * x)
    outside = (relative < lmin) | (relative > lmax)
    return curve.masked_fill(outside, 0.0)


def force_velocity(speed: torch.Tensor, fvmax: torch.Tensor) -> torch.Tensor:
    """Return the factor of the active force at a speed in greatest speeds."""
    bend = fvmax - 1.0
    left = bend - speed
    lengthening = fvmax - left * left / bend.clamp_min(TINY)
    curve = torch.where(speed <= bend, lengthening, fvmax)
    curve = torch.where(speed <= 0.0, (speed + 1.0) * (speed + 1.0), curve)
    return curve.masked_fill(speed <= -1.0, 0.0)


def optimal_length(length_range: torch.Tensor, prm: torch.Tensor) -> torch.Tensor:
    """Return the optimal length of the fibre, in m."""
    span = (prm[..., 1] - prm[..., 0]).clamp_min(TINY)
    return ((length_range[..., 1] - length_range[..., 0]) / span).clamp_min(TINY)


def _relative_length(
    length: torch.Tensor,
    fibre: torch.Tensor,
    length_range: torch.Tensor,
    prm: torch.Tensor,
) -> torch.Tensor:
    return prm[..., 0] + (length - length_range[..., 0]) / fibre
