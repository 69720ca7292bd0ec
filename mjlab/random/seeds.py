"""Validation of user-supplied seeds."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

_MAX = 2**63 - 1


def check_seed(value: Any, name: str) -> int:
    """Convert a seed to int; raise unless it is an integer from 0 to 2**63 - 1.

    Args:
        value: The seed. NumPy integers are accepted.
        name: Name of the seed in the error message.
    """
    if not _is_integer(value):
        raise TypeError(
            f"{name} is {value!r}, a {type(value).__name__}; it has to be an integer."
        )
    if not 0 <= int(value) <= _MAX:
        raise ValueError(f"{name} is {value}; it has to be from 0 to 2**63 - 1.")
    return int(value)


def to_seeds(seed: Any, num_envs: int) -> list[int | None] | None:
    """Return the seed of each world, None for worlds that continue their sequence.

    Args:
        seed: An integer s for the seeds s, s + 1, ..., a list with one seed per world,
            or None.
        num_envs: Number of worlds.
    """
    if seed is None:
        return None
    if _is_integer(seed):
        first = check_seed(seed, "seed")
        check_seed(first + num_envs - 1, "seed of the last world")
        return list(range(first, first + num_envs))
    if isinstance(seed, str) or not isinstance(seed, Sequence | np.ndarray):
        raise TypeError(
            f"seed is a {type(seed).__name__}; it has to be an integer, or a list "
            f"with one seed for each of the {num_envs} worlds."
        )
    if len(seed) != num_envs:
        raise ValueError(
            f"seed has {len(seed)} entries for {num_envs} worlds. Give one per world."
        )
    return [
        None if entry is None else check_seed(entry, f"seed[{row}]")
        for row, entry in enumerate(seed)
    ]


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
