"""Recommendations from rates at several numbers of worlds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Limit = Literal["physics", "managers", "memory", "time"]

ENOUGH = 0.9
"""Minimum fraction of the best rate for a recommended number of worlds."""

STILL_GROWING = 1.1
"""Gain of a doubling above which the rate has not saturated."""


@dataclass(frozen=True)
class Advice:
    """Best and recommended number of worlds, with their rates."""

    best: int
    """Number of worlds with the best rate."""

    best_rate: float
    """Best rate, in samples per second."""

    worlds: int
    """Smallest number of worlds with at least the required fraction of the best
    rate."""

    rate: float
    """Rate with `worlds` worlds, in samples per second."""

    saturated: bool
    """Whether the rate had saturated at the largest number."""


def advise(rates: Mapping[int, float]) -> Advice:
    """Return the recommended number of worlds and the best rate.

    Args:
        rates: Samples per second, for at least one number of worlds.
    """
    counts = sorted(rates)
    best = max(counts, key=lambda count: rates[count])
    enough = next(c for c in counts if rates[c] >= ENOUGH * rates[best])
    return Advice(best, rates[best], enough, rates[enough], _saturated(rates, counts))


def _saturated(rates: Mapping[int, float], counts: list[int]) -> bool:
    """True if the largest number of worlds gained little over smaller ones."""
    if len(counts) < 2:
        return False
    last, before = counts[-1], counts[-2]
    gain = rates[last] / max(rates[count] for count in counts[:-1])
    # The required gain grows with the ratio of the last two numbers of worlds.
    doublings = max(1.0, (last / before - 1.0))
    return gain < 1.0 + (STILL_GROWING - 1.0) * doublings


def limit_of(share_of_physics: float, advice: Advice, stopped_by: str | None) -> Limit:
    """Return the limiting factor of the rate.

    Args:
        share_of_physics: Fraction of physics in a step, at the best number of worlds.
        advice: Analysis of the rates.
        stopped_by: "memory" or "time" if a larger number of worlds was omitted for this
            reason.
    """
    if not advice.saturated and stopped_by in ("memory", "time"):
        return "memory" if stopped_by == "memory" else "time"
    return "physics" if share_of_physics >= 0.5 else "managers"
