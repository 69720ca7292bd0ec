"""Writing where a mask of worlds holds.

A mask is a bool tensor of shape (num_envs,). Nothing here reads a value back to the
host or allocates by data, so all of it can run inside a captured CUDA graph.
"""

from collections.abc import Sequence

import torch

Scalar = bool | int | float


def write_where(
    dest: torch.Tensor, mask: torch.Tensor, value: torch.Tensor | Scalar
) -> None:
    """Write `value` into the rows of `dest` where `mask` holds, in place.

    Rows outside the mask keep their bits.

    Args:
        dest: Shape (num_envs, ...); may be a strided view.
        mask: Shape (num_envs,), bool.
        value: A scalar, or a tensor that broadcasts to the shape of `dest`. One row
            without its leading dimension is written to every chosen world.
    """
    rows = _rows(dest, mask)
    if not isinstance(value, torch.Tensor):
        dest.masked_fill_(rows, value)
        return
    fits = value.dtype == dest.dtype or torch.can_cast(value.dtype, dest.dtype)
    if not fits:
        raise TypeError(f"A {value.dtype} value does not fit a {dest.dtype} tensor.")
    # `where` with an output asks that the types agree, and expand that the shapes do.
    chosen = value.to(dest.dtype).expand(dest.shape)
    torch.where(rows, chosen, dest, out=dest)


def fill_where(dest: torch.Tensor, mask: torch.Tensor, value: Scalar) -> None:
    """Fill the rows of `dest` where `mask` holds with one number, in place."""
    dest.masked_fill_(_rows(dest, mask), value)


def ids_to_mask(
    ids: torch.Tensor | Sequence[int] | slice | None,
    n: int,
    device: torch.device | str,
) -> torch.Tensor:
    """Return the mask of shape (n,) that holds at `ids`.

    Args:
        ids: World indices as an integer tensor, a sequence or a slice; None for all
            worlds. Only a tensor that lies on `device` already is free of host copies.
        n: Number of worlds.
        device: Where the mask lies.
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
        raise TypeError("A bool tensor is a mask already; pass integer indices here.")
    return mask.index_fill_(0, ids.to(device=device, dtype=torch.int64), True)


def _rows(dest: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    if mask.dtype != torch.bool or mask.shape != dest.shape[:1]:
        raise ValueError(
            f"A mask for a tensor of shape {tuple(dest.shape)} is bool of shape "
            f"{tuple(dest.shape[:1])}, not {mask.dtype} of shape {tuple(mask.shape)}."
        )
    return mask.view(-1, *(1,) * (dest.ndim - 1))


def _checked_ids(ids: Sequence[int], n: int) -> list[int]:
    for index in ids:
        if not 0 <= index < n:
            raise IndexError(f"There is no world {index}; they are 0 to {n - 1}.")
    return list(ids)
