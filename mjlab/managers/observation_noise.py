"""Observation noise, vectorised over the columns of all terms."""

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
    """Options and columns of a term in one observation group."""

    name: str
    """Name of the term in the group."""

    source: str
    """Key of the term that computes the value, "<group>/<term>"."""

    label: str
    """Name of the term, for error messages."""

    cfg: ObservationTermCfg
    """Options of the term in this group."""

    shape: Shape
    """Shape of one world's value."""

    dtype: torch.dtype
    """Type of the value."""

    history: int
    """History length; 0 for none."""

    stride: int
    """Steps between the values of the history."""

    flattens: bool
    """Whether the history is flattened to one dimension."""

    columns: slice = field(default_factory=lambda: slice(0))
    """Columns of the term in the group's `DtypeBlock`."""

    @property
    def width(self) -> int:
        """Size of one world's value."""
        return math.prod(self.shape)

    @property
    def output_shape(self) -> Shape:
        """Observation shape of one world, with the history."""
        if not self.history:
            return self.shape
        if self.flattens:
            return (self.history * self.width,)
        return (self.history, *self.shape)


def hull_of(slots: Sequence[TermSlot]) -> slice:
    """Return the range from the first to the last column of `slots`."""
    return slice(slots[0].columns.start, slots[-1].columns.stop)


def put(
    numbers: torch.Tensor, columns: slice, shape: Shape, value: Parameter | torch.Tensor
) -> None:
    """Write `value`, broadcast to a term's shape, into the term's columns."""
    own = torch.as_tensor(value, dtype=torch.float32, device=numbers.device)
    numbers[columns] = own.expand(shape).reshape(-1)


class _Draws:
    """Noise of all columns: one random draw for uniform and one for normal noise."""

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
        """Draw noise into `out`, shape (num_envs, width)."""
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
    """Noise biases, constant during an episode. Several columns can share a bias."""

    def __init__(
        self, slots: Sequence[TermSlot], hull: slice, rng: WorldRng, stream: str
    ) -> None:
        sources: list[tuple[slice, Shape, NoiseCfg]] = []
        # Index of the bias of each column. Index 0 is a zero bias.
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
        """Bias of each column, shape (num_envs, width)."""
        all_worlds = torch.ones(rng.num_envs, dtype=torch.bool, device=rng.device)
        self.reset(all_worlds)

    def reset(self, mask: torch.Tensor) -> None:
        """Draw new biases for the worlds in `mask`."""
        self._draws.draw(self._drawn)
        write_where(self.values, mask, self._drawn.index_select(1, self._takes))


class ColumnNoise:
    """Noise of the columns from the first to the last noisy column."""

    def __init__(self, slots: Sequence[TermSlot], rng: WorldRng, stream: str) -> None:
        """Check and collect the noise of the noisy terms `slots`."""
        sources = [(s.columns, s.shape, _checked(s, rng, stream)) for s in slots]
        self._hull = hull = hull_of(slots)
        self._draws = _Draws(sources, hull, rng, stream)
        width = hull.stop - hull.start
        self._noise = torch.zeros(rng.num_envs, width, device=rng.device)
        # The factor is the noise for operation "scale", 0 for "abs" and 1 for "add".
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
        """Apply newly drawn noise to `values`, shape (num_envs, columns), in place."""
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
        """Draw new biases for the worlds in `mask`."""
        if self._bias is not None:
            self._bias.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        state = {"noise": self._noise}
        if self._factor is not None:
            state["factor"] = self._factor
        if self._bias is not None:
            state["bias"] = self._bias.values
        return state


def _checked(slot: TermSlot, rng: WorldRng, stream: str) -> NoiseCfg:
    """Check a term's noise and return its per-step part, without the bias."""
    cfg = slot.cfg.noise
    assert cfg is not None, "The term has no noise."
    try:
        build_noise(cfg, slot.shape, rng, stream)
    except (ValueError, TypeError) as error:
        raise TermError(f"{slot.label}: {error}") from error
    return cfg.noise_cfg if isinstance(cfg, NoiseModelCfg) else cfg
