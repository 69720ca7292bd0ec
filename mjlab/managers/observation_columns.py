"""Noise, clip, scale and the check for NaN, for all terms of a group at once.

The terms of a group lie side by side as columns of one tensor. Each stage is one or a
few operations on the columns from the first to the last that have it, with a vector of
one number a column; a column in between that does not have it gets a number that
changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from mjlab.managers.observation_config import ObservationTermCfg
from mjlab.managers.term import TermError
from mjlab.random.rng import WorldRng
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
class Column:
    """Where a term lies."""

    label: str
    """How messages call the term."""

    cfg: ObservationTermCfg
    """Its options."""

    shape: Shape
    """Shape of one world's value."""

    place: slice
    """Its columns."""


class _Numbers:
    """Constant, uniform and normal numbers in columns: one draw of each kind."""

    def __init__(
        self,
        sources: Sequence[tuple[slice, Shape, NoiseCfg]],
        width: int,
        rng: WorldRng,
        stream: str,
    ) -> None:
        self._width, self._rng, self._stream = width, rng, stream
        self._first = torch.zeros(width, device=rng.device)
        self._span = torch.zeros(width, device=rng.device)
        self._std = torch.zeros(width, device=rng.device)
        for place, shape, cfg in sources:
            self._add(place, shape, cfg)
        cfgs = [cfg for _, _, cfg in sources]
        self._has_uniform = any(isinstance(cfg, UniformNoiseCfg) for cfg in cfgs)
        self._has_normal = any(isinstance(cfg, GaussianNoiseCfg) for cfg in cfgs)

    def draw(self, out: torch.Tensor) -> None:
        """Write the numbers of this tick, shape (num_envs, width)."""
        if self._has_uniform:
            unit = self._rng.draw(f"{self._stream}/uniform", self._width)
            torch.addcmul(self._first, unit, self._span, out=out)
        else:
            out.copy_(self._first)
        if self._has_normal:
            stream = f"{self._stream}/normal"
            out.add_(self._rng.normal(0.0, self._std, self._width, stream))

    def _add(self, place: slice, shape: Shape, cfg: NoiseCfg) -> None:
        if isinstance(cfg, UniformNoiseCfg):
            low, high = self._vector(cfg.n_min, shape), self._vector(cfg.n_max, shape)
            self._first[place] = low
            self._span[place] = high - low
        elif isinstance(cfg, GaussianNoiseCfg):
            self._first[place] = self._vector(cfg.mean, shape)
            self._std[place] = self._vector(cfg.std, shape)
        elif isinstance(cfg, ConstantNoiseCfg):
            self._first[place] = self._vector(cfg.bias, shape)

    def _vector(self, parameter: Parameter, shape: Shape) -> torch.Tensor:
        value = torch.as_tensor(parameter, dtype=torch.float32, device=self._rng.device)
        return value.expand(shape).reshape(-1)


class _Bias:
    """Biases that last for an episode, one a column; some columns may share one."""

    def __init__(
        self, noisy: Sequence[Column], width: int, rng: WorldRng, stream: str
    ) -> None:
        sources: list[tuple[slice, Shape, NoiseCfg]] = []
        # The number that each column takes. Number 0 is zero, for those without bias.
        takes = torch.zeros(width, dtype=torch.int64, device=rng.device)
        end = 1
        for column in noisy:
            cfg = column.cfg.noise
            if not isinstance(cfg, NoiseModelWithAdditiveBiasCfg):
                continue
            shape = column.shape
            if not cfg.sample_bias_per_component:
                shape = (*shape[:-1], 1)
            numbers = torch.arange(end, end + _size(shape), device=rng.device)
            takes[column.place] = numbers.view(shape).expand(column.shape).reshape(-1)
            place = slice(end, end + numbers.numel())
            sources.append((place, shape, cfg.bias_noise_cfg))
            end = place.stop
        self._takes = takes
        self._numbers = _Numbers(sources, end, rng, stream)
        self._drawn = torch.zeros(rng.num_envs, end, device=rng.device)
        self.values = torch.zeros(rng.num_envs, width, device=rng.device)
        """Shape (num_envs, width)."""
        everyone = torch.ones(rng.num_envs, dtype=torch.bool, device=rng.device)
        self.reset(everyone)

    def reset(self, mask: torch.Tensor) -> None:
        self._numbers.draw(self._drawn)
        write_where(self.values, mask, self._drawn.index_select(1, self._takes))


class ColumnNoise:
    """The noise of all columns.

    What was drawn last is kept, so that it can be applied to a second value.
    """

    def __init__(self, columns: Sequence[Column], rng: WorldRng, stream: str) -> None:
        """Check and collect the noise of the columns that have any."""
        noisy = [column for column in columns if column.cfg.noise is not None]
        for column in noisy:
            _check_noise(column, rng, stream)
        self._place = _hull(noisy)
        noisy = _shifted(noisy, -self._place.start)
        width = self._place.stop - self._place.start
        fresh = [(column, _fresh(column)) for column in noisy]
        sources = [(column.place, column.shape, cfg) for column, cfg in fresh]
        self._numbers = _Numbers(sources, width, rng, stream)
        self._noise = torch.zeros(rng.num_envs, width, device=rng.device)
        # A column of operation "scale" is multiplied by its noise, one of "abs" by 0.
        self._factor: torch.Tensor | None = None
        self._is_scaled = torch.zeros(width, device=rng.device)
        self._is_added = torch.ones(width, device=rng.device)
        self._is_kept = torch.ones(width, device=rng.device)
        for column, cfg in fresh:
            if cfg.operation != "add":
                self._factor = torch.ones_like(self._noise)
                self._is_kept[column.place] = 0.0
            if cfg.operation == "scale":
                self._is_scaled[column.place] = 1.0
                self._is_added[column.place] = 0.0
        self._bias: _Bias | None = None
        models = [column.cfg.noise for column in noisy]
        if any(isinstance(cfg, NoiseModelWithAdditiveBiasCfg) for cfg in models):
            self._bias = _Bias(noisy, width, rng, f"{stream}/bias")

    def draw(self) -> None:
        """Draw the noise of this tick."""
        self._numbers.draw(self._noise)
        if self._factor is not None:
            torch.mul(self._noise, self._is_scaled, out=self._factor)
            self._factor.add_(self._is_kept)
            self._noise.mul_(self._is_added)
        if self._bias is not None:
            self._noise.add_(self._bias.values)

    def apply(self, values: torch.Tensor) -> None:
        """Corrupt `values`, shape (num_envs, columns), in place, by the noise drawn."""
        noisy = values[:, self._place]
        if self._factor is not None:
            noisy.mul_(self._factor)
        noisy.add_(self._noise)

    def reset(self, mask: torch.Tensor) -> None:
        """Draw the biases of the worlds of `mask` anew."""
        if self._bias is not None:
            self._bias.reset(mask)

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        state = {"noise": self._noise}
        if self._factor is not None:
            state["factor"] = self._factor
        if self._bias is not None:
            state["bias"] = self._bias.values
        return state


class ColumnStages:
    """All that happens to columns between their computation and their delay."""

    def __init__(
        self,
        columns: Sequence[Column],
        rng: WorldRng,
        stream: str,
        *,
        is_corrupted: bool,
        looks_for_nan: bool,
        zeroes_nan: bool,
    ) -> None:
        """Allocate what the stages need; those that no column has cost nothing."""
        self._columns = columns
        self._noise: ColumnNoise | None = None
        if is_corrupted and any(column.cfg.noise is not None for column in columns):
            self._noise = ColumnNoise(columns, rng, stream)
        self._clip = _clip_bounds(columns, rng.device)
        self._scale = _scale_factors(columns, rng.device)
        self._looks_for_nan, self._zeroes_nan = looks_for_nan, zeroes_nan
        width = columns[-1].place.stop
        self._counts = torch.zeros(width, dtype=torch.int64, device=rng.device)

    def update(self, values: torch.Tensor) -> None:
        """Transform `values`, shape (num_envs, columns), in place, with new noise."""
        if self._noise is not None:
            self._noise.draw()
        is_bad = self._transform(values)
        if is_bad is not None:
            self._counts.add_(is_bad.sum(dim=0))

    def reset(self, mask: torch.Tensor) -> None:
        """Begin an episode in the worlds of `mask`."""
        if self._noise is not None:
            self._noise.reset(mask)

    def take_nonfinite(self) -> list[int]:
        """Numbers of each term that were not finite since the last call."""
        counts = self._counts.tolist()
        self._counts.zero_()
        return [sum(counts[column.place]) for column in self._columns]

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        noise = {} if self._noise is None else self._noise.state()
        return noise | ({"nonfinite": self._counts} if self._looks_for_nan else {})

    def _transform(self, values: torch.Tensor) -> torch.Tensor | None:
        if self._noise is not None:
            self._noise.apply(values)
        if self._clip is not None:
            place, low, high = self._clip
            values[:, place].clamp_(low, high)
        if self._scale is not None:
            place, factors = self._scale
            values[:, place].mul_(factors)
        if not self._looks_for_nan:
            return None
        # What is finite, and only that, is zero less itself.
        is_bad = (values - values) != 0
        if self._zeroes_nan:
            values.masked_fill_(is_bad, 0.0)
        return is_bad


def _fresh(column: Column) -> NoiseCfg:
    """The noise of a column that is drawn at each call."""
    cfg = column.cfg.noise
    assert cfg is not None, "Only noisy columns are asked."
    return cfg.noise_cfg if isinstance(cfg, NoiseModelCfg) else cfg


def _check_noise(column: Column, rng: WorldRng, stream: str) -> None:
    cfg = column.cfg.noise
    assert cfg is not None, "Only noisy columns are checked."
    try:
        build_noise(cfg, column.shape, rng, stream)
    except (ValueError, TypeError) as error:
        raise TermError(f"{column.label}: {error}") from error


def _clip_bounds(
    columns: Sequence[Column], device: torch.device
) -> tuple[slice, torch.Tensor, torch.Tensor] | None:
    clipped = [column for column in columns if column.cfg.clip is not None]
    if not clipped:
        return None
    place = _hull(clipped)
    low = torch.full((place.stop - place.start,), -torch.inf, device=device)
    high = torch.full_like(low, torch.inf)
    for column in _shifted(clipped, -place.start):
        assert column.cfg.clip is not None, "Only clipped columns were chosen."
        low[column.place], high[column.place] = column.cfg.clip
    return place, low, high


def _scale_factors(
    columns: Sequence[Column], device: torch.device
) -> tuple[slice, torch.Tensor] | None:
    scaled = [column for column in columns if column.cfg.scale is not None]
    if not scaled:
        return None
    place = _hull(scaled)
    factors = torch.ones(place.stop - place.start, device=device)
    for column in _shifted(scaled, -place.start):
        given = torch.as_tensor(column.cfg.scale, dtype=torch.float32, device=device)
        try:
            factors[column.place] = given.expand(column.shape).reshape(-1)
        except RuntimeError:
            raise TermError(
                f"{column.label} has a scale of shape {tuple(given.shape)}, which does "
                f"not broadcast to one world's value, of shape {column.shape}."
            ) from None
    return place, factors


def _hull(columns: Sequence[Column]) -> slice:
    """From the first to the last of some columns."""
    return slice(columns[0].place.start, columns[-1].place.stop)


def _shifted(columns: Sequence[Column], offset: int) -> list[Column]:
    return [
        Column(
            label=column.label,
            cfg=column.cfg,
            shape=column.shape,
            place=slice(column.place.start + offset, column.place.stop + offset),
        )
        for column in columns
    ]


def _size(shape: Shape) -> int:
    return torch.Size(shape).numel()
