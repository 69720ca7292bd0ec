"""One world's part of a state, which can go on in any world of the same task.

A row has, by the names of `env.get_state()`, what belongs to that world alone, without
a leading dimension, and whole what worlds share: the step counter, sums of the log,
curricula. Put into another world, the future is the same bit for bit on the native
engine: the random numbers go with the row, and no world's depend on another's.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from mjlab.envs.snapshot import (
    StateError,
    is_per_world,
    live_tensors,
    restore_state,
)
from mjlab.masks import ids_to_mask

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv

Row = Mapping[str, torch.Tensor]
"""One world's part of a state."""


def world_row(state: Mapping[str, torch.Tensor], world: int) -> dict[str, torch.Tensor]:
    """One world's row of what `env.get_state()` returned, as views."""
    num_envs = state["episode_length"].shape[0]
    if not 0 <= world < num_envs:
        raise IndexError(f"There is no world {world}; they are 0 to {num_envs - 1}.")
    return {
        name: tensor[world] if is_per_world(name, tensor, num_envs) else tensor
        for name, tensor in state.items()
    }


def put_rows(
    env: "ManagerBasedRlEnv", rows: Mapping[int, Row], *, shared: bool = False
) -> None:
    """Have worlds go on from rows, the others from where they are.

    Args:
        env: An environment of the task that the rows come from.
        rows: A row for each world that is meant. They may come from different worlds,
            and from environments with other numbers of worlds.
        shared: Whether what worlds share is taken too, from the first row.
    """
    if not rows:
        return
    first = next(iter(rows.values()))
    live = live_tensors(env)
    _check_names(first, rows)
    state = {
        name: _spread(env, name, {world: row[name] for world, row in rows.items()})
        for name, tensor in first.items()
        if name.startswith("sim.") or _has_rows(env, name, live.get(name))
    }
    # What worlds share stays as it is, unless it is asked for.
    whole = {name: t for name, t in live.items() if name not in state and name in first}
    mask = ids_to_mask(list(rows), env.num_envs, env.device)
    restore_state(env, state | whole, mask)
    if shared:
        for name, tensor in whole.items():
            _check_shape(name, first[name], tuple(tensor.shape))
            tensor.copy_(first[name])
    env.program.unsettle()


def _has_rows(env: "ManagerBasedRlEnv", name: str, live: torch.Tensor | None) -> bool:
    # A name that the environment does not have is left to the check of the state.
    return live is None or is_per_world(name, live, env.num_envs)


def _spread(
    env: "ManagerBasedRlEnv", name: str, rows: Mapping[int, torch.Tensor]
) -> torch.Tensor:
    """A tensor for all worlds, of which only the rows that are given count."""
    first = next(iter(rows.values()))
    spread = torch.zeros(
        (env.num_envs, *first.shape), dtype=first.dtype, device=env.device
    )
    for world, row in rows.items():
        _check_shape(name, row, tuple(first.shape))
        spread[world].copy_(row)
    return spread


def _check_shape(name: str, value: torch.Tensor, expected: tuple[int, ...]) -> None:
    if tuple(value.shape) != expected:
        raise StateError(
            f"{name!r} has shape {tuple(value.shape)} in the row, and {expected} here."
        )


def _check_names(first: Row, rows: Mapping[int, Row]) -> None:
    for world, row in rows.items():
        if row.keys() != first.keys():
            odd = sorted(row.keys() ^ first.keys())
            raise StateError(
                f"The row for world {world} is of another environment than the first: "
                + ", ".join(odd[:5])
                + " are in one of the two only."
            )
