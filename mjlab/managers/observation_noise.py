"""Noise of terms that lie side by side as columns, all of them at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from mjlab.managers.observation_config import ObservationTermCfg
from mjlab.managers.term import TermError
from mjlab.random import WorldRng
from mjlab.tensors.masks import write_where
from mjlab.tensors.noise import (
    ConstantNoiseCfg,
    GaussianNoiseCfg,
    NoiseCfg,
    NoiseModelCfg,
    NoiseModelWithAdditiveBiasCfg,
    Parameter,
    UniformNoiseCfg,
    build_noise,
)

Shape = tuple[int, ...]


@dataclass(frozen=True)
class TermSlot:
    """A term's place in a group."""

    name: str
    """Its name in the group."""

    source: str
    """The term that computes it, under which its value is found."""

    label: str
    """Its name in messages."""

    cfg: ObservationTermCfg
    """Its options in this group."""

    shape: Shape
    """Shape of one world's value."""

    dtype: torch.dtype
    """Type of its value."""

    history: int
    """Length of its history; 0 for none."""

    flattens: bool
    """A history in one dimension."""

    columns: slice = field(default_factory=lambda: slice(0))
    """Its columns among the terms of its type."""

    @property
    def width(self) -> int:
        """Numbers in one world's value."""
        return math.prod(self.shape)

    @property
    def output_shape(self) -> Shape:
        """Shape of what one world observes."""
        if not self.history:
            return self.shape
        if self.flattens:
            return (self.history * self.width,)
        return (self.history, *self.shape)


def hull_of(slots: Sequence[TermSlot]) -> slice:
    """Return the columns from the first to the last of some terms."""
    return slice(slots[0].columns.start, slots[-1].columns.stop)


def put(
    numbers: torch.Tensor, columns: slice, shape: Shape, value: Parameter | torch.Tensor
) -> None:
    """Write a term's numbers, which broadcast to its shape, into its columns."""
    own = torch.as_tensor(value, dtype=torch.float32, device=numbers.device)
    numbers[columns] = own.expand(shape).reshape(-1)


class _Draws:
    """Constant, uniform and normal numbers in columns: one draw of each kind."""

    def __init__(
        self,
        sources: Sequence[tuple[slice, Shape, NoiseCfg]],
        hull: slice,
        rng: WorldRng,
        stream: str,
    ) -> None:
        self._rng, self._stream = rng, stream
        first, last, std = torch.zeros(3, hull.stop, device=rng.device)
        for columns, shape, cfg in sources:
            if isinstance(cfg, UniformNoiseCfg):
                put(first, columns, shape, cfg.n_min)
                put(last, columns, shape, cfg.n_max)
            elif isinstance(cfg, GaussianNoiseCfg):
                put(first, columns, shape, cfg.mean)
                put(last, columns, shape, cfg.mean)
                put(std, columns, shape, cfg.std)
            elif isinstance(cfg, ConstantNoiseCfg):
                put(first, columns, shape, cfg.bias)
                put(last, columns, shape, cfg.bias)
        self._first, self._std = first[hull], std[hull]
        self._span = (last - first)[hull]
        cfgs = [cfg for _, _, cfg in sources]
        self._has_uniform = any(isinstance(cfg, UniformNoiseCfg) for cfg in cfgs)
        self._has_normal = any(isinstance(cfg, GaussianNoiseCfg) for cfg in cfgs)

    def draw(self, out: torch.Tensor) -> None:
        """Write the numbers of this tick, shape (num_envs, width)."""
        width = self._first.numel()
        if self._has_uniform:
            unit = self._rng.draw(f"{self._stream}/uniform", width)
            torch.addcmul(self._first, unit, self._span, out=out)
        else:
            out.copy_(self._first)
        if self._has_normal:
            stream = f"{self._stream}/normal"
            out.add_(self._rng.normal(0.0, self._std, width, stream))


class _Bias:
    """Biases that last for an episode, one a column; some columns may share one."""

    def __init__(
        self, slots: Sequence[TermSlot], hull: slice, rng: WorldRng, stream: str
    ) -> None:
        sources: list[tuple[slice, Shape, NoiseCfg]] = []
        # The number that each column takes. Number 0 is zero, for those without bias.
        takes = torch.zeros(hull.stop, dtype=torch.int64, device=rng.device)
        end = 1
        for slot in slots:
            cfg = slot.cfg.noise
            if not isinstance(cfg, NoiseModelWithAdditiveBiasCfg):
                continue
            shape = slot.shape
            if not cfg.sample_bias_per_component:
                shape = (*shape[:-1], 1)
            numbers = torch.arange(end, end + math.prod(shape), device=rng.device)
            takes[slot.columns] = numbers.view(shape).expand(slot.shape).reshape(-1)
            end += numbers.numel()
            columns = slice(end - numbers.numel(), end)
            sources.append((columns, shape, cfg.bias_noise_cfg))
        self._takes = takes[hull]
        self._draws = _Draws(sources, slice(0, end), rng, stream)
        self._drawn = torch.zeros(rng.num_envs, end, device=rng.device)
        width = self._takes.numel()
        self.values = torch.zeros(rng.num_envs, width, device=rng.device)
        """Shape (num_envs, width)."""
        all_worlds = torch.ones(rng.num_envs, dtype=torch.bool, device=rng.device)
        self.reset(all_worlds)

    def reset(self, mask: torch.Tensor) -> None:
        """Draw the biases of the worlds of `mask` anew."""
        self._draws.draw(self._drawn)
        write_where(self.values, mask, self._drawn.index_select(1, self._takes))


class ColumnNoise:
    """The noise of all columns between the first and the last that have any."""

    def __init__(self, slots: Sequence[TermSlot], rng: WorldRng, stream: str) -> None:
        """Check and collect the noise of terms, each of which has some."""
        sources = [(s.columns, s.shape, _checked(s, rng, stream)) for s in slots]
        self._hull = hull = hull_of(slots)
        self._draws = _Draws(sources, hull, rng, stream)
        width = hull.stop - hull.start
        self._noise = torch.zeros(rng.num_envs, width, device=rng.device)
        # A column of operation "scale" is multiplied by its noise, one of "abs" by 0.
        self._factor: torch.Tensor | None = None
        if any(cfg.operation != "add" for _, _, cfg in sources):
            self._factor = torch.ones_like(self._noise)
        is_scaled = torch.zeros(hull.stop, device=rng.device)
        is_kept = torch.ones(hull.stop, device=rng.device)
        for columns, _, cfg in sources:
            is_scaled[columns] = float(cfg.operation == "scale")
            is_kept[columns] = float(cfg.operation == "add")
        self._is_scaled, self._is_kept = is_scaled[hull], is_kept[hull]
        self._is_added = 1.0 - self._is_scaled
        self._bias: _Bias | None = None
        models = [slot.cfg.noise for slot in slots]
        if any(isinstance(cfg, NoiseModelWithAdditiveBiasCfg) for cfg in models):
            self._bias = _Bias(slots, hull, rng, f"{stream}/bias")

    def corrupt(self, values: torch.Tensor) -> None:
        """Change `values`, shape (num_envs, columns), in place, by noise drawn anew."""
        noisy = values[:, self._hull]
        self._draws.draw(self._noise)
        if self._factor is not None:
            torch.mul(self._noise, self._is_scaled, out=self._factor)
            self._factor.add_(self._is_kept)
            self._noise.mul_(self._is_added)
        if self._bias is not None:
            self._noise.add_(self._bias.values)
        if self._factor is not None:
            noisy.mul_(self._factor)
        noisy.add_(self._noise)

    def reset(self, mask: torch.Tensor) -> None:
        """Draw the biases of the worlds of `mask` anew."""
        if self._bias is not None:
            self._bias.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change; copy into them to restore a snapshot."""
        state = {"noise": self._noise}
        if self._factor is not None:
            state["factor"] = self._factor
        if self._bias is not None:
            state["bias"] = self._bias.values
        return state


def _checked(slot: TermSlot, rng: WorldRng, stream: str) -> NoiseCfg:
    """Return the noise of a term that is drawn at each call."""
    cfg = slot.cfg.noise
    assert cfg is not None, "Only noisy terms are asked."
    try:
        build_noise(cfg, slot.shape, rng, stream)
    except (ValueError, TypeError) as error:
        raise TermError(f"{slot.label}: {error}") from error
    return cfg.noise_cfg if isinstance(cfg, NoiseModelCfg) else cfg
