"""From wanted activations to the controls of the muscles."""

from __future__ import annotations

import torch

from mjlab.muscle.force import act_time_constants


def inverse_excitation(
    wanted: torch.Tensor, act: torch.Tensor, dynprm: torch.Tensor, timestep: float
) -> torch.Tensor:
    """Return the excitation with which one physics step reaches `wanted`, if it can.

    MuJoCo's activation dynamics with a sharp switch (`tausmooth=0`) and Euler's rule
    are solved for the control. What cannot be reached in one step is gone for with full
    or no excitation.

    Args:
        wanted: Activations, shape (num_envs, num_muscles).
        act: The present ones, of the same shape.
        dynprm: Dynamics parameters, shape (..., num_muscles, 3 or more).
        timestep: Of the physics, in s.
    """
    rising, falling = act_time_constants(act, dynprm)
    change = wanted - act
    tau = torch.where(change > 0.0, rising, falling)
    return (act + tau * change / timestep).clamp(0.0, 1.0)


def direct_excitation(wanted: torch.Tensor) -> torch.Tensor:
    """Return `wanted` within 0 to 1.

    In a model without activation dynamics (`dyntype="none"`) this is the activation of
    the same step. With dynamics, activations follow it late, by 10 to 40 ms.
    """
    return wanted.clamp(0.0, 1.0)
