"""Synthetic foot motions with known gait measures.

A foot lands, stays, lifts off and swings once per period. Its forward position follows
from the speed; its height in a swing is a squared sine.
"""

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, kw_only=True)
class Foot:
    """A foot and its parameters."""

    name: str
    phase: float
    """Phase of landing, as a fraction of the period."""

    beside: float
    """Distance to the left of the base, m."""

    front: float = 0.0
    """Landing position ahead of the point below the base, m."""

    lift: float = 0.08
    """Height of its swing, m."""

    slip: float = 0.0
    """Forward slip in each stance, m."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A gait."""

    feet: tuple[Foot, ...]
    period: float = 0.8
    """Duration of a stride, s."""

    stance: float = 0.6
    """Fraction of the period on the ground."""

    speed: float = 0.9
    """Speed ahead, m/s."""

    yaw: float = 0.7
    """Heading in the world, rad."""

    def along(self, foot: Foot, time: Array) -> tuple[Array, Array, Array]:
        """Return place ahead and height, m, and whether the foot is on the ground."""
        turns = np.asarray(time) / self.period - foot.phase
        stride, share = np.floor(turns + 1e-9), np.maximum((turns + 1e-9) % 1.0, 0.0)
        on_ground = share < self.stance - 1e-6
        length = self.speed * self.period
        landed = length * (stride + foot.phase) + foot.front
        slid = np.minimum(share / self.stance, 1.0) * foot.slip
        swing = np.clip((share - self.stance) / max(1.0 - self.stance, 1e-9), 0.0, 1.0)
        ahead = landed + slid + swing * (length - foot.slip)
        height = foot.lift * np.sin(np.pi * swing) ** 2
        return ahead, np.where(on_ground, 0.0, height), on_ground


def biped(**changes: float) -> tuple[Foot, Foot]:
    """Return a left and a right foot; changes apply to the left one."""
    left = {"phase": 0.25, "beside": 0.1} | changes
    return (
        Foot(name="left", **left),
        Foot(name="right", phase=0.75, beside=-0.1),
    )


def quadruped(*phases: float) -> tuple[Foot, ...]:
    """Return the feet of a Go1, in its order, with their landing phases."""
    places = {
        "FR": (0.2, -0.1),
        "FL": (0.2, 0.1),
        "RR": (-0.2, -0.1),
        "RL": (-0.2, 0.1),
    }
    return tuple(
        Foot(name=name, phase=phase, front=front, beside=beside)
        for phase, (name, (front, beside)) in zip(phases, places.items(), strict=True)
    )


def hexapod(*phases: float) -> tuple[Foot, ...]:
    """Return six feet: left front, middle and rear, then the right ones."""
    places = [(front, side) for side in (0.2, -0.2) for front in (0.15, 0.0, -0.15)]
    return tuple(
        Foot(name=f"foot{i}", phase=phase, front=front, beside=beside)
        for i, (phase, (front, beside)) in enumerate(zip(phases, places, strict=True))
    )
