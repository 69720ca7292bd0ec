"""Differences between stored and computed results, by name."""

import math
from collections.abc import Callable, Mapping
from typing import Any

TOLERANCES = {"native": 5e-6, "warp": 1e-4, "policies": 1e-4, "picture": 2e-3}
"""Tolerance of a number on another processor, and relative to the largest number of its
entry. Without vector instructions the difference is 1.2e-6 after ten steps, in muscles,
and 1.4e-5 on Warp, where physics is float32. A policy network is float32 and in closed
loop: 6e-6 after three steps. In images, an edge moves by a pixel.
"""

Same = Callable[[Any, Any], bool]


def entries(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    same: Same = lambda a, b: a == b,
) -> list[str]:
    """Return missing, new and changed entries; for new ones, a possible old name."""
    gone = {name: value for name, value in before.items() if name not in after}
    found = [f"gone: {name}" for name in gone]
    for name, value in after.items():
        if name not in before:
            olds = [old for old in gone if same(gone[old], value)]
            hint = f" (equals {olds[0]})" if len(olds) == 1 else ""
            found.append(f"new: {name}{hint}")
        elif not same(before[name], value):
            found.append(f"{name}: was {before[name]}, is {value}")
    return found


def close(before: Any, after: Any, tolerance: float = TOLERANCES["native"]) -> bool:
    """Return whether hashes are equal, or numbers close."""
    if isinstance(before, dict) and isinstance(after, dict):
        pictures = before["picture"], after["picture"]
        return close(*pictures, tolerance=TOLERANCES["picture"])
    if isinstance(before, str) or isinstance(after, str):
        return before == after
    if len(before) != len(after):
        return False
    scale = max((abs(x) for x in before if math.isfinite(x)), default=0.0)
    allowed = tolerance * (1.0 + scale)
    pairs = zip(before, after, strict=True)
    return all(a == b or (a != a and b != b) or abs(a - b) <= allowed for a, b in pairs)
