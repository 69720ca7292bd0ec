"""Advice that follows from rates at several numbers of worlds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Limit = Literal["physics", "managers", "memory", "time"]

ENOUGH = 0.9
"""Share of the best rate that a recommended number of worlds has to reach."""

STILL_GROWING = 1.1
"""A doubling that gains more than this has not saturated."""


@dataclass(frozen=True)
class Advice:
    """A number of worlds to run, and why not more."""

    best: int
    """Number of worlds with the best rate."""

    best_rate: float
    """That rate, in samples a second."""

    worlds: int
    """The smallest number whose rate is at most a tenth below the best."""

    rate: float
    """Its rate."""

    saturated: bool
    """Whether the rate had stopped growing at the largest number."""


def advise(rates: Mapping[int, float]) -> Advice:
    """Read rates, by number of worlds.

    Args:
        rates: Samples a second, of one number of worlds at least.
    """
    counts = sorted(rates)
    best = max(counts, key=lambda count: rates[count])
    enough = next(c for c in counts if rates[c] >= ENOUGH * rates[best])
    return Advice(best, rates[best], enough, rates[enough], _saturated(rates, counts))


def _saturated(rates: Mapping[int, float], counts: list[int]) -> bool:
    """Return whether the last number of worlds brought little more than others."""
    if len(counts) < 2:
        return False
    last, before = counts[-1], counts[-2]
    gain = rates[last] / max(rates[count] for count in counts[:-1])
    # A larger step between counts may gain as much more as it is larger.
    doublings = max(1.0, (last / before - 1.0))
    return gain < 1.0 + (STILL_GROWING - 1.0) * doublings


def limit_of(share_of_physics: float, advice: Advice, stopped_by: str | None) -> Limit:
    """Return what keeps the rate from growing.

    Args:
        share_of_physics: Physics' share of a step, at the best number of worlds.
        advice: What the rates say.
        stopped_by: "memory" or "time" if a larger number of worlds was left out for it.
    """
    if not advice.saturated and stopped_by in ("memory", "time"):
        return "memory" if stopped_by == "memory" else "time"
    return "physics" if share_of_physics >= 0.5 else "managers"
