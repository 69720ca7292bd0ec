"""Processing of one observation group, from term values to the group's output."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import torch

from mjlab.managers.observation_config import (
    ObservationGroupCfg,
    resolve_delay,
)
from mjlab.managers.observation_noise import ColumnNoise, Shape, TermSlot, hull_of, put
from mjlab.managers.term import TermError
from mjlab.random import WorldRng
from mjlab.tensors.buffers import DelayBuffer, HistoryBuffer
from mjlab.tensors.masks import write_where

Values = Mapping[str, torch.Tensor]
Output = torch.Tensor | dict[str, torch.Tensor]

_JOINED = ""
"""Key of the output tensor of a group whose terms are concatenated."""


class DtypeBlock:
    """The terms of a group with the same dtype, as columns of one tensor.

    Terms with equal histories occupy adjacent columns. Noise, clip and scale
    are applied to the range from the first to the last column that needs them, with one
    parameter per column. Other columns in this range have a neutral parameter, such as
    a scale of 1.
    """

    def __init__(
        self,
        slots: Sequence[TermSlot],
        group: str,
        cfg: ObservationGroupCfg,
        rng: WorldRng,
    ) -> None:
        stream = f"observation/{group}"
        num_envs, device, dtype = rng.num_envs, rng.device, slots[0].dtype
        self.dtype = dtype
        self._slots = _placed(slots)
        noisy = [s for s in self._slots if s.cfg.noise is not None]
        self._noise: ColumnNoise | None = None
        if cfg.enable_corruption and noisy:
            self._noise = ColumnNoise(noisy, rng, stream)
        self._clip = _clip_bounds(self._slots, device)
        self._scale = _scale_factors(self._slots, device)
        self._looks_for_nan = dtype == torch.float32 and cfg.nan_policy != "disabled"
        self._zeroes_nan = cfg.nan_policy == "sanitize"
        width = self._slots[-1].columns.stop
        self._counts = torch.zeros(width, dtype=torch.int64, device=device)
        self._delays = _delays(self._slots, rng, stream)
        self._histories = _histories(self._slots, rng)
        self._flat = torch.zeros(num_envs, width, dtype=dtype, device=device)
        self._plan_output([slot.name for slot in slots], cfg, group)

    def update(self, values: Values, mask: torch.Tensor | None) -> None:
        """Process new values and write them to `out`. A `mask` of None means all."""
        flat = self._flat if mask is None else torch.empty_like(self._flat)
        _check_shapes(self._slots, values)
        parts = [values[slot.source].flatten(1) for slot in self._slots]
        torch.cat(parts, dim=1, out=flat)
        if self._noise is not None:
            self._noise.corrupt(flat)
        self._transform(flat)
        for slot, delay in self._delays:
            value = flat[:, slot.columns]
            value.copy_(delay.append_and_read(value, mask))
        remembered = []
        for columns, history in self._histories:
            value = flat[:, columns]
            if history is not None:
                history.append(value, mask)
                value = history.values.flatten(1)
            remembered.append(value)
        if mask is None:
            self._assemble(remembered, self.out)
        else:
            fresh = self._assemble(remembered, torch.empty_like(self.out))
            write_where(self.out, mask, fresh)

    def reset(self, mask: torch.Tensor) -> None:
        """Reset noise biases, delays and histories of the worlds in `mask`."""
        if self._noise is not None:
            self._noise.reset(mask)
        for _, delay in self._delays:
            delay.reset(mask)
        for _, history in self._histories:
            if history is not None:
                history.reset(mask)

    def take_nonfinite(self) -> dict[str, int]:
        """Count the non-finite values of each term since the last call."""
        counts = self._counts.tolist()
        self._counts.zero_()
        return {slot.name: sum(counts[slot.columns]) for slot in self._slots}

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        state = {"out": self.out} | (self._noise.state() if self._noise else {})
        if self._looks_for_nan:
            state["nonfinite"] = self._counts
        for slot, delay in self._delays:
            state |= {f"{slot.name}.delay.{k}": v for k, v in delay.state().items()}
        for _, history in self._histories:
            if history is not None:
                name = f"history_{history.length}"
                if history.stride > 1:
                    name += f"_{history.stride}"
                state |= {f"{name}.{k}": v for k, v in history.state().items()}
        return state

    def _transform(self, values: torch.Tensor) -> None:
        """Apply clip and scale and check for NaN, in place."""
        if self._clip is not None:
            columns, low, high = self._clip
            values[:, columns].clamp_(low, high)
        if self._scale is not None:
            columns, factors = self._scale
            values[:, columns].mul_(factors)
        if not self._looks_for_nan:
            return
        # x - x is 0 if and only if x is finite.
        is_bad = (values - values) != 0
        if self._zeroes_nan:
            values.masked_fill_(is_bad, 0.0)
        self._counts.add_(is_bad.sum(dim=0))

    def _plan_output(
        self, names: Sequence[str], cfg: ObservationGroupCfg, group: str
    ) -> None:
        """Compute the output position of each column, and create the output views."""
        places: dict[str, torch.Tensor] = {}
        size = 0
        for columns, history in self._histories:
            length = 1 if history is None else history.length
            width = columns.stop - columns.start
            grid = torch.arange(size, size + length * width).view(length, width)
            size += grid.numel()
            for slot in self._slots:
                if columns.start <= slot.columns.start < columns.stop:
                    start = slot.columns.start - columns.start
                    own = grid[:, start : start + slot.width]
                    places[slot.name] = own.reshape(slot.output_shape)
        ordered = {name: places[name] for name in names}
        if cfg.concatenate_terms:
            joined = _concatenate(ordered, cfg.concatenate_dim, group)
            ordered = {_JOINED: joined}
        order = torch.cat([place.flatten() for place in ordered.values()])
        is_ordered = torch.equal(order, torch.arange(size))
        self._order = None if is_ordered else order.to(self._flat.device)
        # Without history, the columns are the output. With history, the output is a
        # separate tensor, because a reset clears the history but not the output.
        has_memory = any(history is not None for _, history in self._histories)
        self._is_direct = is_ordered and not has_memory and len(self._histories) == 1
        self.out = self._flat
        """Output of the block as columns, shape (num_envs, width)."""
        if not self._is_direct:
            self.out = self._flat.new_zeros(self._flat.shape[0], size)
        parts = self.out.split([place.numel() for place in ordered.values()], dim=1)
        shapes = [tuple(place.shape) for place in ordered.values()]
        self.views = {
            name: part.unflatten(1, shape)
            for name, part, shape in zip(ordered, parts, shapes, strict=True)
        }
        """Views of `out` in their output shapes, by term or concatenated."""

    def _assemble(
        self, parts: Sequence[torch.Tensor], out: torch.Tensor
    ) -> torch.Tensor:
        if self._is_direct:
            return parts[0]
        if self._order is None:
            return torch.cat(list(parts), dim=1, out=out)
        source = parts[0] if len(parts) == 1 else torch.cat(list(parts), dim=1)
        return torch.index_select(source, 1, self._order, out=out)


class ObservationGroup:
    """Observation group: its buffers, and an output tensor that is updated in place."""

    def __init__(
        self,
        name: str,
        cfg: ObservationGroupCfg,
        slots: Sequence[TermSlot],
        rng: WorldRng,
    ) -> None:
        """Allocate all buffers.

        Args:
            name: Name of the group.
            cfg: Options of the group.
            slots: Terms of the group, in order.
            rng: Random number generator of the worlds.
        """
        self.name = name
        self.slots = slots
        self.nan_policy = cfg.nan_policy
        dtypes = list(dict.fromkeys(slot.dtype for slot in slots))
        if cfg.concatenate_terms and len(dtypes) > 1:
            raise TermError(
                f"Observation group {name!r} concatenates terms of different types: "
                + ", ".join(f"{slot.name} is {slot.dtype}" for slot in slots)
                + ". Set concatenate_terms=False."
            )
        self.blocks = [
            DtypeBlock([s for s in slots if s.dtype == dtype], name, cfg, rng)
            for dtype in dtypes
        ]
        """Blocks of terms by dtype, which compute the output."""
        self.term_dims: list[Shape] = [slot.output_shape for slot in slots]
        """Observation shape of each term in one world."""
        self.dim: Shape | list[Shape] = self.term_dims
        """Observation shape of one world; a list if terms are not concatenated."""
        views = {k: v for block in self.blocks for k, v in block.views.items()}
        self.output: Output
        """Output of the group: shape (num_envs, ...), or a dictionary by term."""
        if cfg.concatenate_terms:
            self.output = views[_JOINED]
            self.dim = tuple(self.output.shape[1:])
        else:
            self.output = {slot.name: views[slot.name] for slot in slots}

    def take_nonfinite(self) -> dict[str, int]:
        """Count the non-finite values of each term since the last call."""
        if self.nan_policy == "disabled":
            return {}
        counts: dict[str, int] = {}
        for block in self.blocks:
            counts |= block.take_nonfinite()
        return {slot.name: counts[slot.name] for slot in self.slots}

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {
            f"{block.dtype}.{key}": tensor
            for block in self.blocks
            for key, tensor in block.state().items()
        }


def _placed(slots: Sequence[TermSlot]) -> list[TermSlot]:
    """Assign columns to each term, adjacent for terms with equal histories."""
    kinds = list(dict.fromkeys(_history_of(slot) for slot in slots))
    placed, start = [], 0
    for slot in sorted(slots, key=lambda slot: kinds.index(_history_of(slot))):
        placed.append(replace(slot, columns=slice(start, start + slot.width)))
        start += slot.width
    return placed


def _history_of(slot: TermSlot) -> tuple[int, int]:
    """Return the length and the stride of a term's history."""
    return slot.history, slot.stride if slot.history else 1


def _histories(
    slots: Sequence[TermSlot], rng: WorldRng
) -> list[tuple[slice, HistoryBuffer | None]]:
    """Return the columns of each kind of history, and their buffer (None for none)."""
    histories: list[tuple[slice, HistoryBuffer | None]] = []
    for (length, stride), members in groupby(slots, key=_history_of):
        columns = hull_of(list(members))
        buffer = None
        if length:
            buffer = HistoryBuffer(
                rng.num_envs,
                (columns.stop - columns.start,),
                length,
                rng.device,
                slots[0].dtype,
                newest_first=False,
                stride=stride,
            )
        histories.append((columns, buffer))
    return histories


def _check_shapes(slots: Sequence[TermSlot], values: Values) -> None:
    """Raise if a term's shape differs from its first value."""
    for slot in slots:
        shape = tuple(values[slot.source].shape)
        if shape[1:] != slot.shape:
            raise TermError(
                f"{slot.label} returned shape {shape}; it has to return the same shape "
                f"as when the environment was built: {(shape[0], *slot.shape)}."
            )


def _clip_bounds(
    slots: Sequence[TermSlot], device: torch.device
) -> tuple[slice, torch.Tensor, torch.Tensor] | None:
    clipped = [(slot, slot.cfg.clip) for slot in slots if slot.cfg.clip is not None]
    if not clipped:
        return None
    hull = hull_of([slot for slot, _ in clipped])
    low = torch.full((hull.stop,), -torch.inf, device=device)
    high = -low
    for slot, bounds in clipped:
        low[slot.columns], high[slot.columns] = bounds
    return hull, low[hull], high[hull]


def _scale_factors(
    slots: Sequence[TermSlot], device: torch.device
) -> tuple[slice, torch.Tensor] | None:
    scaled = [(slot, slot.cfg.scale) for slot in slots if slot.cfg.scale is not None]
    if not scaled:
        return None
    hull = hull_of([slot for slot, _ in scaled])
    factors = torch.ones(hull.stop, device=device)
    for slot, scale in scaled:
        given = torch.as_tensor(scale, dtype=torch.float32, device=device)
        try:
            put(factors, slot.columns, slot.shape, given)
        except RuntimeError:
            raise TermError(
                f"{slot.label} has a scale of shape {tuple(given.shape)}, which does "
                f"not broadcast to the observation of one world, shape {slot.shape}."
            ) from None
    return hull, factors[hull]


def _delays(
    slots: Sequence[TermSlot], rng: WorldRng, stream: str
) -> list[tuple[TermSlot, DelayBuffer]]:
    delays = []
    for slot in slots:
        try:
            cfg = resolve_delay(slot.cfg, slot.label)
            if cfg is None:
                continue
            name = f"{stream}/{slot.name}/delay"
            buffer = DelayBuffer(cfg, (slot.width,), rng, name, slot.dtype)
        except TermError:
            raise
        except ValueError as error:
            raise TermError(f"{slot.label}: {error}") from error
        delays.append((slot, buffer))
    return delays


def _concatenate(
    places: Mapping[str, torch.Tensor], dim: int, group: str
) -> torch.Tensor:
    try:
        return torch.cat(list(places.values()), dim=dim)
    except (RuntimeError, IndexError):
        shapes = ", ".join(f"{name} {tuple(at.shape)}" for name, at in places.items())
        raise TermError(
            f"Observation group {group!r} cannot concatenate its terms along dimension "
            f"{dim}. Their shapes, without the world dimension: {shapes}. Set "
            "concatenate_dim, or concatenate_terms=False."
        ) from None
