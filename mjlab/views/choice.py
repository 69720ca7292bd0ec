"""Selection of members per world, for reads and writes."""

from collections.abc import Sequence

import torch


class MergeError(ValueError):
    """Raised for views that cannot be merged, and for invalid `which` or `present`."""


class ViewError(ValueError):
    """Raised for an access or write that a view does not support."""


class MemberChoice:
    """Members of a view (elements of the scene) that are selected in each world.

    `which` and `present` are stored without a copy: an event that redraws the objects
    at a reset writes into them, and the view follows. Their values are checked once, at
    construction.
    """

    def __init__(
        self,
        names: Sequence[str],
        num_envs: int,
        device: torch.device,
        which: torch.Tensor | None = None,
        present: torch.Tensor | None = None,
    ) -> None:
        """Check a selection.

        Args:
            names: Names of the members.
            num_envs: Number of worlds.
            device: Required device of `which` and `present`.
            which: Index of the member of each world, int64 of shape (num_envs,), or k
                distinct members, (num_envs, k). None for a single member.
            present: Whether the member is present, bool, of shape (num_envs,) or the
                shape of `which`. None means always.
        """
        _check_which(names, num_envs, device, which)
        self.which = which
        """Member of each row, int64, (num_envs,) or (num_envs, k); None for a single
        member."""
        self.shape = torch.Size((num_envs,)) if which is None else which.shape
        """Shape of the rows: (num_envs,) or (num_envs, k)."""
        self.present = _check_present(self.shape, device, present)
        """Presence of each row, bool; None if all are present."""
        only = torch.zeros(num_envs, 1, dtype=torch.int64, device=device)
        self.picks = only if which is None else which.view(num_envs, -1)
        """`which` with shape (num_envs, k)."""
        self._identity = torch.eye(7, device=device)[3]

    def select(self, values: Sequence[torch.Tensor]) -> torch.Tensor:
        """Select from the members' values; rows that are not present are zero.

        Args:
            values: One tensor of shape (num_envs, ...) per member, all of the same
                shape.

        Returns:
            A tensor of shape (num_envs, ...) or (num_envs, k, ...).
        """
        if self.which is None:
            return self.blank(values[0])
        return self._rows(torch.stack(list(values), dim=1), self.picks)

    def column(self, field: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        """Select from the columns of a field, one column per member.

        Args:
            field: Shape (num_envs, columns, ...).
            ids: The column of each member, int64, shape (members,).

        Returns:
            A tensor of shape (num_envs, ...) or (num_envs, k, ...).
        """
        if self.which is None:
            return self.blank(field.index_select(1, ids).squeeze(1))
        columns = ids.index_select(0, self.picks.flatten()).view_as(self.picks)
        return self._rows(field, columns)

    def constant(self, values: torch.Tensor) -> torch.Tensor:
        """Select from constants of the members, shape (members, ...)."""
        everywhere = values.expand(self.shape[0], *values.shape)
        return self.select(everywhere.unbind(1))

    def blank(self, values: torch.Tensor) -> torch.Tensor:
        """Set rows that are not present to zero."""
        if self.present is None:
            return values
        extra = values.ndim - self.present.ndim
        missing = (~self.present).view(*self.shape, *(1,) * extra)
        return values.masked_fill(missing, 0.0)

    def blank_pose(self, raw: torch.Tensor) -> torch.Tensor:
        """Set poses of rows that are not present to the identity."""
        if self.present is None:
            return raw
        return torch.where(self.present.unsqueeze(-1), raw, self._identity)

    def part(
        self,
        member: int,
        mask: torch.Tensor,
        value: torch.Tensor | float,
        features: tuple[int, ...],
    ) -> tuple[torch.Tensor, torch.Tensor | float]:
        """Return the part of a write that concerns one member.

        Args:
            member: Index of the member.
            mask: The worlds to write, shape (num_envs,), bool.
            value: A number, or a tensor that broadcasts to the shape of the rows plus
                `features`.
            features: Shape of the value of one row.

        Returns:
            The worlds in which to write the member, and its value: a number, or a
            tensor of shape (num_envs, *features).
        """
        if isinstance(value, torch.Tensor):
            value = self._full(value, features)
        if self.which is None:
            return (mask if self.present is None else mask & self.present), value
        hit = self.which == member
        if self.present is not None:
            hit = hit & self.present
        if hit.ndim == 1:
            return mask & hit, value
        where = mask & hit.any(dim=1)
        if not isinstance(value, torch.Tensor):
            return where, value
        # Members are distinct within a world, so at most one row selects this member.
        row = hit.to(torch.uint8).argmax(dim=1, keepdim=True)
        return where, take_columns(value, row).squeeze(1)

    def _full(self, value: torch.Tensor, features: tuple[int, ...]) -> torch.Tensor:
        whole = (*self.shape, *features)
        sizes = zip(reversed(value.shape), reversed(whole), strict=False)
        fits = all(size in (1, goal) for size, goal in sizes)
        if value.ndim > len(whole) or not fits:
            raise ViewError(
                f"A value of shape {tuple(value.shape)} does not fit the rows of this "
                f"view, which have shape {whole}."
            )
        return value.expand(whole)

    def _rows(self, values: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Gather columns, (num_envs, k), in the shape of the view's rows."""
        chosen = take_columns(values, columns)
        return self.blank(chosen.view(*self.shape, *chosen.shape[2:]))


def take_columns(values: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Return columns, (num_envs, k), of `values`, (num_envs, any, ...)."""
    extra = values.shape[2:]
    index = columns.view(*columns.shape, *(1,) * len(extra))
    return values.gather(1, index.expand(*columns.shape, *extra))


def _check_which(
    names: Sequence[str],
    num_envs: int,
    device: torch.device,
    which: torch.Tensor | None,
) -> None:
    if not names:
        raise MergeError("The list of members is empty, so there is nothing to merge.")
    listed = ", ".join(map(repr, names))
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise MergeError(f"The member {repeated[0]!r} occurs twice in {listed}.")
    if which is None:
        if len(names) > 1:
            raise MergeError(
                f"{len(names)} members, {listed}, need `which`: an int64 tensor of "
                f"shape ({num_envs},) that selects one per world, or ({num_envs}, k) "
                "that selects k."
            )
        return
    _check_tensor("which", which, torch.int64, device)
    if which.ndim not in (1, 2) or which.shape[0] != num_envs:
        raise MergeError(
            f"`which` has shape {tuple(which.shape)}; it has to be ({num_envs},) or "
            f"({num_envs}, k)."
        )
    _check_values(names, which.view(num_envs, -1))


def _check_values(names: Sequence[str], picks: torch.Tensor) -> None:
    for world, row in enumerate(picks.tolist()):
        for pick in row:
            if not 0 <= pick < len(names):
                raise MergeError(
                    f"`which` is {pick} in world {world}, but the view has "
                    f"{len(names)} members, 0 to {len(names) - 1}: "
                    f"{', '.join(map(repr, names))}."
                )
        if len(set(row)) < len(row):
            raise MergeError(
                f"`which` is {row} in world {world}; the members of a world have to "
                "be distinct."
            )


def _check_present(
    shape: torch.Size, device: torch.device, present: torch.Tensor | None
) -> torch.Tensor | None:
    if present is None:
        return None
    _check_tensor("present", present, torch.bool, device)
    if present.shape == shape:
        return present
    if present.shape == shape[:1]:
        return present.unsqueeze(-1).expand(shape)
    raise MergeError(
        f"`present` has shape {tuple(present.shape)}; it has to be {tuple(shape[:1])} "
        f"or {tuple(shape)}."
    )


def _check_tensor(
    name: str, value: torch.Tensor, dtype: torch.dtype, device: torch.device
) -> None:
    # "cuda" and "cuda:0" are the same device; only a tensor has the resolved name.
    device = torch.empty(0, device=device).device
    if value.dtype != dtype or value.device != device:
        raise MergeError(
            f"`{name}` is {value.dtype} on {value.device}; it has to be {dtype} on "
            f"{device}, the simulation's device."
        )
    if not value.is_contiguous():
        raise MergeError(f"`{name}` is a strided view; pass it as `.contiguous()`.")
