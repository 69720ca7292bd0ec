"""Writes restricted to a mask of worlds.

A mask is a bool tensor of shape (num_envs,). All functions run inside a captured CUDA
graph: none reads from the device or allocates memory that depends on data.
"""

from collections.abc import Sequence

import torch

Scalar = bool | int | float


def write_where(
    dest: torch.Tensor, mask: torch.Tensor, value: torch.Tensor | Scalar
) -> None:
    """Write `value` to `dest` in the worlds of `mask`, in place.

    Other worlds are unchanged, bit for bit.

    Args:
        dest: Shape (num_envs, ...); can be a strided view.
        mask: Worlds to write, shape (num_envs,), bool.
        value: A scalar, or a tensor that broadcasts to the shape of `dest`. Without a
            world dimension, it is written to every world in the mask.
    """
    rows = _rows(dest, mask)
    if not isinstance(value, torch.Tensor):
        dest.masked_fill_(rows, value)
        return
    fits = value.dtype == dest.dtype or torch.can_cast(value.dtype, dest.dtype)
    if not fits:
        raise TypeError(
            f"A {value.dtype} value cannot be written to a {dest.dtype} tensor. "
            f"Convert it with value.to({dest.dtype})."
        )
    # `expand` raises if the shape does not fit.
    chosen = value.to(dest.dtype).expand(dest.shape)
    torch.where(rows, chosen, dest, out=dest)


def fill_where(dest: torch.Tensor, mask: torch.Tensor, value: Scalar) -> None:
    """Fill `dest` with a number in the worlds of `mask`, in place."""
    dest.masked_fill_(_rows(dest, mask), value)


def ids_to_mask(
    ids: torch.Tensor | Sequence[int] | slice | None,
    n: int,
    device: torch.device | str,
) -> torch.Tensor:
    """Return the mask of shape (n,) that is true at `ids`.

    Args:
        ids: World indices as an integer tensor, a sequence or a slice; None for all
            worlds. Only a tensor on `device` needs no copy from the host.
        n: Number of worlds.
        device: Device of the mask.
    """
    if ids is None:
        return torch.ones(n, dtype=torch.bool, device=device)
    mask = torch.zeros(n, dtype=torch.bool, device=device)
    if isinstance(ids, slice):
        mask[ids].fill_(True)
        return mask
    if not isinstance(ids, torch.Tensor):
        ids = torch.as_tensor(_checked_ids(ids, n), dtype=torch.int64, device=device)
    if ids.dtype == torch.bool:
        raise TypeError("A bool tensor is already a mask; pass integer indices here.")
    return mask.index_fill_(0, ids.to(device=device, dtype=torch.int64), True)


def _rows(dest: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    if mask.dtype != torch.bool or mask.shape != dest.shape[:1]:
        raise ValueError(
            f"A mask for a tensor of shape {tuple(dest.shape)} has to be bool of "
            f"shape {tuple(dest.shape[:1])}, not {mask.dtype} of shape "
            f"{tuple(mask.shape)}."
        )
    return mask.view(-1, *(1,) * (dest.ndim - 1))


def _checked_ids(ids: Sequence[int], n: int) -> list[int]:
    for index in ids:
        if not 0 <= index < n:
            raise IndexError(f"World {index} does not exist; indices are 0 to {n - 1}.")
    return list(ids)
