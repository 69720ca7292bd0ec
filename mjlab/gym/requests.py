"""What callers ask of a reset: seeds and rows, checked before anything is done."""

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from mjlab.envs.autoreset import When
from mjlab.names import suggest
from mjlab.tensors.masks import ids_to_mask

SELECTORS = ("reset_mask", "env_idx")
"""Options that say which rows are meant."""

RECONFIGURE = "reconfigure"
"""The option that asks for a new scene."""

WHEN: dict[AutoresetMode, When] = {
    AutoresetMode.SAME_STEP: "same_step",
    AutoresetMode.NEXT_STEP: "next_step",
    AutoresetMode.DISABLED: "never",
}
"""When worlds that end begin anew, by Gymnasium's name for it."""


def to_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Gymnasium's mode: itself, its value "SameStep", or its name "same_step"."""
    if isinstance(mode, AutoresetMode):
        return mode
    for known in AutoresetMode:
        if mode in (known.value, known.name, known.name.lower()):
            return known
    names = [known.name.lower() for known in AutoresetMode]
    raise ValueError(f"autoreset_mode={mode!r} is unknown. {suggest(str(mode), names)}")


def to_seeds(seed: Any, num_envs: int) -> list[int | None] | None:
    """The seed of each row, None where it goes on with its present numbers.

    Args:
        seed: None, an integer s for s, s + 1, ..., or a list with one for each row.
        num_envs: Number of rows.
    """
    if seed is None:
        return None
    if _is_integer(seed):
        return [_checked(int(seed) + row, "seed") for row in range(num_envs)]
    if isinstance(seed, str) or not isinstance(seed, Sequence | np.ndarray):
        raise TypeError(
            f"seed is a {type(seed).__name__}; it has to be an integer, or a list with "
            f"one for each of the {num_envs} rows."
        )
    if len(seed) != num_envs:
        raise ValueError(f"seed has {len(seed)} entries for {num_envs} rows.")
    return [
        None if entry is None else _checked(entry, f"seed[{row}]")
        for row, entry in enumerate(seed)
    ]


def _is_integer(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _checked(value: Any, name: str) -> int:
    if not _is_integer(value):
        raise TypeError(
            f"{name} is {value!r}, a {type(value).__name__}; it has to be an integer."
        )
    if not 0 <= int(value) < 2**63:
        raise ValueError(f"{name} is {value}; it has to be from 0 to 2**63 - 1.")
    return int(value)


def to_mask(
    options: Mapping[str, Any] | None, num_envs: int, device: torch.device
) -> torch.Tensor | None:
    """The rows that the options of a reset choose, None for all. Nothing is changed.

    Args:
        options: "reset_mask" with a bool for each row, or "env_idx" with indices;
            "reconfigure" chooses no rows, and goes with neither.
        num_envs: Number of rows.
        device: Where the mask is wanted.
    """
    if not options:
        return None
    for key in options:
        if key not in (*SELECTORS, RECONFIGURE):
            raise ValueError(f"There is no reset option {key!r}. " + _hint(key))
    given = [key for key in SELECTORS if key in options]
    if len(given) > 1:
        raise ValueError(
            "options have 'reset_mask' and 'env_idx', which both say which rows to "
            "reset. Give one of them."
        )
    if given and wants_reconfigure(options):
        raise ValueError(
            f"options have 'reconfigure' and {given[0]!r}. All rows share the scene, "
            f"so only a full reset builds it anew: leave {given[0]!r} out."
        )
    if not given:
        return None
    if "reset_mask" in options:
        return _from_mask(options["reset_mask"], num_envs, device)
    return _from_indices(options["env_idx"], num_envs, device)


def wants_reconfigure(options: Mapping[str, Any] | None) -> bool | None:
    """Whether a new scene is asked for; None where nothing is said about it."""
    if not options or RECONFIGURE not in options:
        return None
    value = options[RECONFIGURE]
    if not isinstance(value, bool | np.bool_):
        raise TypeError(
            f"options['reconfigure'] is {value!r}, a {type(value).__name__}; it has to "
            "be True or False."
        )
    return bool(value)


def _hint(key: Any) -> str:
    return suggest(str(key), (*SELECTORS, RECONFIGURE))


def _from_mask(mask: Any, num_envs: int, device: torch.device) -> torch.Tensor:
    if not isinstance(mask, np.ndarray | torch.Tensor):
        raise TypeError(
            f"options['reset_mask'] is a {type(mask).__name__}; it has to be an array "
            "or a tensor of bools."
        )
    if tuple(mask.shape) != (num_envs,) or str(mask.dtype) not in ("bool", _BOOL):
        raise ValueError(
            f"options['reset_mask'] has shape {tuple(mask.shape)} and type "
            f"{mask.dtype}; it has to be bools of shape ({num_envs},)."
        )
    # On a CUDA device nobody waits to learn that no row is meant, which does no harm.
    on_host = isinstance(mask, np.ndarray) or mask.device.type == "cpu"
    if on_host and not bool(mask.any()):
        raise ValueError(
            "options['reset_mask'] holds for no row. Leave the reset out, or give "
            "'env_idx': [] if nobody is meant."
        )
    return torch.as_tensor(mask).to(device, copy=True)


_BOOL = str(torch.bool)


def _from_indices(rows: Any, num_envs: int, device: torch.device) -> torch.Tensor:
    if isinstance(rows, slice):
        return ids_to_mask(rows, num_envs, device)
    if isinstance(rows, torch.Tensor) and rows.device.type != "cpu":
        return ids_to_mask(rows, num_envs, device)
    try:
        indices = np.atleast_1d(np.asarray(rows))
    except ValueError as error:
        raise ValueError(f"options['env_idx'] is {rows!r}: {error}") from error
    if indices.size and not np.issubdtype(indices.dtype, np.integer):
        extra = " Bools go into 'reset_mask'." if indices.dtype == bool else ""
        raise TypeError(
            f"options['env_idx'] has type {indices.dtype}; it has to be integers."
            + extra
        )
    outside = [int(i) for i in indices.ravel() if not 0 <= i < num_envs]
    if outside:
        raise ValueError(
            f"options['env_idx'] has {outside[0]}; rows are numbered 0 to "
            f"{num_envs - 1}."
        )
    return ids_to_mask([int(i) for i in indices.ravel()], num_envs, device)
