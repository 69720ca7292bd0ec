"""Inertia that a geared motor adds to a joint, and the gains that follow from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


def reflected_inertia(
    rotor_inertias: Sequence[float], stage_ratios: Sequence[float]
) -> float:
    """Return the inertia that a geared drive shows at its output shaft.

    Args:
        rotor_inertias: Inertia of each rotating stage about its own axis, in kg m²,
            motor side first.
        stage_ratios: The reduction in front of each stage; 1 for the motor itself.

    A stage turns faster than the output by the product of all reductions that follow
    it, and kinetic energy goes with the square of speed.
    """
    if len(rotor_inertias) != len(stage_ratios):
        raise ValueError(
            f"{len(rotor_inertias)} rotor inertias need as many stage ratios, "
            f"not {len(stage_ratios)}."
        )
    total = 0.0
    for stage, inertia in enumerate(rotor_inertias):
        speed_up = math.prod(stage_ratios[stage + 1 :])
        total += inertia * speed_up**2
    return total


@dataclass(frozen=True, kw_only=True)
class Motor:
    """A motor as its joint feels it, held by a position loop of chosen stiffness.

    The loop is made to behave the same on every joint: its stiffness and damping are
    those of a spring on the motor's own reflected inertia with a natural frequency of
    10 Hz, overdamped twofold. This is gentle enough for a policy to learn compliance,
    and it leaves one rule in place of a table of hand-tuned gains.
    """

    armature: float
    """Reflected inertia at the joint, in kg m²."""

    effort_limit: float
    """Largest torque at the joint, in N m."""

    velocity_limit: float | None = None
    """Largest speed of the joint, in rad/s; None where it is not published."""

    natural_frequency: float = 10.0
    """Natural frequency of the position loop, in Hz."""

    damping_ratio: float = 2.0
    """Damping ratio of the position loop."""

    @property
    def stiffness(self) -> float:
        """Position gain, in N m/rad."""
        return self.armature * (2.0 * math.pi * self.natural_frequency) ** 2

    @property
    def damping(self) -> float:
        """Velocity gain, in N m s/rad."""
        omega = 2.0 * math.pi * self.natural_frequency
        return 2.0 * self.damping_ratio * self.armature * omega

    @property
    def action_scale(self) -> float:
        """Change of the position target per unit of action, in rad.

        One unit asks for a quarter of the largest torque from a joint at rest, so that
        an untrained policy of unit variance seldom saturates the motor.
        """
        return 0.25 * self.effort_limit / self.stiffness

    def doubled(self) -> Motor:
        """Return two of these motors driving one joint through a parallel linkage."""
        return Motor(
            armature=2.0 * self.armature,
            effort_limit=2.0 * self.effort_limit,
            natural_frequency=self.natural_frequency,
            damping_ratio=self.damping_ratio,
        )
