"""One group of observations: from what its terms return to what it gives out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from mjlab.managers.observation_columns import Column, ColumnStages
from mjlab.managers.observation_config import (
    ObservationGroupCfg,
    ObservationTermCfg,
    resolve_delay,
)
from mjlab.managers.term import TermError
from mjlab.random.rng import WorldRng
from mjlab.tensors.buffers import DelayBuffer, HistoryBuffer
from mjlab.tensors.masks import write_where

Shape = tuple[int, ...]
Values = Mapping[str, torch.Tensor]
Output = torch.Tensor | dict[str, torch.Tensor]


@dataclass(frozen=True)
class Slot:
    """A term's place in a group."""

    name: str
    """Its name in the group."""

    source: str
    """The term that computes it, under which its value is found."""

    label: str
    """How messages call it."""

    cfg: ObservationTermCfg
    """Its options in this group."""

    shape: Shape
    """Shape of one world's value."""

    dtype: torch.dtype
    """Type of its value."""

    history: int
    """Length of its history; 0 for none."""

    flattens: bool
    """Whether the history is flattened."""

    @property
    def width(self) -> int:
        """Numbers in one world's value."""
        return torch.Size(self.shape).numel()

    @property
    def output_shape(self) -> Shape:
        """Shape of what one world observes."""
        if not self.history:
            return self.shape
        if self.flattens:
            return (self.history * self.width,)
        return (self.history, *self.shape)


class _Lane:
    """Neighbouring columns that are remembered equally long."""

    def __init__(
        self, slots: Sequence[Slot], start: int, device: torch.device, num_envs: int
    ) -> None:
        self.slots = slots
        self.width = sum(slot.width for slot in slots)
        self.columns = slice(start, start + self.width)
        self.length = max(1, slots[0].history)
        self.history: HistoryBuffer | None = None
        if slots[0].history:
            self.history = HistoryBuffer(
                num_envs,
                (self.width,),
                self.length,
                device,
                slots[0].dtype,
                newest_first=False,
            )

    def update(self, flat: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Remember the lane's columns; return (num_envs, length * width)."""
        value = flat[:, self.columns]
        if self.history is None:
            return value
        self.history.append(value, mask)
        return self.history.values.flatten(1)

    def places(self) -> dict[str, torch.Tensor]:
        """Where each slot's output finds its numbers in what `update` returns."""
        grid = torch.arange(self.length * self.width).view(self.length, self.width)
        places, start = {}, 0
        for slot in self.slots:
            found = grid[:, start : start + slot.width]
            places[slot.name] = found.reshape(slot.output_shape)
            start += slot.width
        return places


class _Delay:
    """Delays one term's columns."""

    def __init__(self, slot: Slot, columns: slice, buffer: DelayBuffer) -> None:
        self.name = slot.name
        self.buffer = buffer
        self._columns = columns

    def update(self, flat: torch.Tensor, mask: torch.Tensor | None) -> None:
        """Replace the newest values by delayed ones, in place."""
        value = flat[:, self._columns]
        value.copy_(self.buffer.append_and_read(value, mask))


class _Block:
    """The slots of a group that have one type, processed side by side."""

    def __init__(
        self, slots: Sequence[Slot], group: str, cfg: ObservationGroupCfg, rng: WorldRng
    ) -> None:
        self.slots = slots
        stream = f"observation/{group}"
        num_envs, device = rng.num_envs, rng.device
        self._lanes: list[_Lane] = []
        start = 0
        for length in dict.fromkeys(slot.history for slot in slots):
            members = [slot for slot in slots if slot.history == length]
            lane = _Lane(members, start, device, num_envs)
            self._lanes.append(lane)
            start += lane.width
        self._in_lanes = [slot for lane in self._lanes for slot in lane.slots]
        columns = _columns(self._in_lanes)
        is_float = slots[0].dtype == torch.float32
        self.stages = ColumnStages(
            columns,
            rng,
            stream,
            is_corrupted=cfg.enable_corruption,
            looks_for_nan=is_float and cfg.nan_policy != "disabled",
            zeroes_nan=cfg.nan_policy == "sanitize",
        )
        self._delays = _delays(self._in_lanes, columns, rng, stream)
        self._flat = torch.zeros(num_envs, start, dtype=slots[0].dtype, device=device)
        self._plan_output(cfg, group)

    def update(self, values: Values, mask: torch.Tensor | None) -> None:
        """Process new values into `out`, in the worlds of `mask` or in all."""
        flat = self._flat if mask is None else torch.empty_like(self._flat)
        self._gather(values, flat)
        self.stages.update(flat)
        for delay in self._delays:
            delay.update(flat, mask)
        parts = [lane.update(flat, mask) for lane in self._lanes]
        if mask is None:
            self._assemble(parts, self.out)
        else:
            fresh = self._assemble(parts, torch.empty_like(self.out))
            write_where(self.out, mask, fresh)

    def reset(self, mask: torch.Tensor) -> None:
        """Begin an episode in the worlds of `mask`."""
        self.stages.reset(mask)
        for delay in self._delays:
            delay.buffer.reset(mask)
        for lane in self._lanes:
            if lane.history is not None:
                lane.history.reset(mask)

    def take_nonfinite(self) -> dict[str, int]:
        """Numbers of each slot that were not finite since the last call."""
        counts = self.stages.take_nonfinite()
        names = [slot.name for slot in self._in_lanes]
        return dict(zip(names, counts, strict=True))

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        state = {"out": self.out} | self.stages.state()
        for delay in self._delays:
            memory = delay.buffer.state()
            state |= {f"{delay.name}.delay.{k}": v for k, v in memory.items()}
        for lane in self._lanes:
            memory = {} if lane.history is None else lane.history.state()
            state |= {f"history_{lane.length}.{k}": v for k, v in memory.items()}
        return state

    def _gather(self, values: Values, flat: torch.Tensor) -> None:
        for slot in self._in_lanes:
            if values[slot.source].shape[1:] != slot.shape:
                shape = tuple(values[slot.source].shape)
                raise TermError(
                    f"{slot.label} returned shape {shape}; when the environment was "
                    f"built, it was {(flat.shape[0], *slot.shape)}."
                )
        parts = [values[slot.source].flatten(1) for slot in self._in_lanes]
        torch.cat(parts, dim=1, out=flat)

    def _plan_output(self, cfg: ObservationGroupCfg, group: str) -> None:
        """Find where each number of the output comes from."""
        places: dict[str, torch.Tensor] = {}
        offset = 0
        for lane in self._lanes:
            places |= {name: at + offset for name, at in lane.places().items()}
            offset += lane.length * lane.width
        ordered = [places[slot.name] for slot in self.slots]
        self.shape: Shape = (offset,)
        """Shape of one world's output: concatenated, or as columns."""
        if cfg.concatenate_terms:
            joined = _concatenate(ordered, cfg.concatenate_dim, self.slots, group)
            self.shape, ordered = tuple(joined.shape), [joined]
        order = torch.cat([place.flatten() for place in ordered])
        is_ordered = torch.equal(order, torch.arange(offset))
        self._order = None if is_ordered else order.to(self._flat.device)
        # Without history the columns are the output. A history is not, because a reset
        # clears it, and the output stays until the next step.
        has_memory = any(lane.history is not None for lane in self._lanes)
        self._is_direct = is_ordered and not has_memory and len(self._lanes) == 1
        self.out = self._flat
        """The output as columns, shape (num_envs, ...)."""
        if not self._is_direct:
            self.out = self._flat.new_zeros(self._flat.shape[0], offset)

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
    """A group: its buffers and its persistent output."""

    def __init__(
        self, name: str, cfg: ObservationGroupCfg, slots: Sequence[Slot], rng: WorldRng
    ) -> None:
        """Allocate everything.

        Args:
            name: The name of the group.
            cfg: Its options.
            slots: Its terms, in their order.
            rng: The random numbers of the worlds.
        """
        self.name = name
        self.slots = slots
        self.nan_policy = cfg.nan_policy
        self._concatenates = cfg.concatenate_terms
        dtypes = list(dict.fromkeys(slot.dtype for slot in slots))
        if self._concatenates and len(dtypes) > 1:
            raise TermError(
                f"Observation group {name!r} concatenates terms of different types: "
                + ", ".join(f"{slot.name} is {slot.dtype}" for slot in slots)
                + ". Set concatenate_terms=False."
            )
        self._blocks = [
            _Block([s for s in slots if s.dtype == dtype], name, cfg, rng)
            for dtype in dtypes
        ]
        self.term_dims: list[Shape] = [slot.output_shape for slot in slots]
        """Shape of what one world observes of each term."""
        self.dim: Shape | list[Shape] = self.term_dims
        """Shape of what one world observes, a list if terms are not concatenated."""
        if self._concatenates:
            self.dim = self._blocks[0].shape
        self.output: Output = self._show([block.out for block in self._blocks])
        """What `update` writes: shape (num_envs, ...), or that by term."""

    def update(self, values: Values, mask: torch.Tensor | None) -> None:
        """Process what the terms returned, in the worlds of `mask` or in all."""
        for block in self._blocks:
            block.update(values, mask)

    def reset(self, mask: torch.Tensor) -> None:
        """Begin an episode in the worlds of `mask`."""
        for block in self._blocks:
            block.reset(mask)

    def take_nonfinite(self) -> dict[str, int]:
        """Numbers of each term that were not finite since the last call."""
        if self.nan_policy == "disabled":
            return {}
        counts: dict[str, int] = {}
        for block in self._blocks:
            counts |= block.take_nonfinite()
        return {slot.name: counts[slot.name] for slot in self.slots}

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        return {
            f"{block.slots[0].dtype}.{key}": tensor
            for block in self._blocks
            for key, tensor in block.state().items()
        }

    def _show(self, outs: Sequence[torch.Tensor]) -> Output:
        """Shape the blocks' columns as the group gives them out; these are views."""
        if self._concatenates:
            return outs[0].unflatten(1, self._blocks[0].shape)
        shown: dict[str, torch.Tensor] = {}
        for block, out in zip(self._blocks, outs, strict=True):
            start = 0
            for slot in block.slots:
                size = torch.Size(slot.output_shape).numel()
                part = out[:, start : start + size]
                shown[slot.name] = part.unflatten(1, slot.output_shape)
                start += size
        return {slot.name: shown[slot.name] for slot in self.slots}


def _columns(slots: Sequence[Slot]) -> list[Column]:
    columns, start = [], 0
    for slot in slots:
        place = slice(start, start + slot.width)
        columns.append(
            Column(label=slot.label, cfg=slot.cfg, shape=slot.shape, place=place)
        )
        start += slot.width
    return columns


def _delays(
    slots: Sequence[Slot], columns: Sequence[Column], rng: WorldRng, stream: str
) -> list[_Delay]:
    delays = []
    for slot, column in zip(slots, columns, strict=True):
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
        delays.append(_Delay(slot, column.place, buffer))
    return delays


def _concatenate(
    places: Sequence[torch.Tensor], dim: int, slots: Sequence[Slot], group: str
) -> torch.Tensor:
    try:
        return torch.cat(list(places), dim=dim)
    except (RuntimeError, IndexError):
        shapes = ", ".join(f"{slot.name} {slot.output_shape}" for slot in slots)
        raise TermError(
            f"Observation group {group!r} cannot concatenate its terms along dimension "
            f"{dim} of one world's values; their shapes are: {shapes}. Set "
            "concatenate_dim, or concatenate_terms=False."
        ) from None
