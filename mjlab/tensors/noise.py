"""Observation noise: distributions and noise models."""

import abc
from collections.abc import Sequence
from typing import Literal

import torch

from mjlab.random import WorldRng
from mjlab.settings import Config
from mjlab.tensors.masks import write_where

Parameter = float | tuple[float, ...]
"""One number, or one per entry of the value's last dimension."""


class NoiseCfg(Config):
    """Base class of noise that is drawn at every call."""

    operation: Literal["add", "scale", "abs"] = "add"
    """How the noise is applied: "add" adds it to the value, "scale" multiplies the
    value by it, "abs" replaces the value by it."""


class ConstantNoiseCfg(NoiseCfg):
    """Constant noise: the same offset or factor (see `operation`) at every call."""

    bias: Parameter = 0.0
    """Value of the offset or factor."""


class UniformNoiseCfg(NoiseCfg):
    """Uniform noise between `n_min` and `n_max`."""

    n_min: Parameter = -1.0
    """Lower bound."""

    n_max: Parameter = 1.0
    """Upper bound."""


class GaussianNoiseCfg(NoiseCfg):
    """Gaussian noise."""

    mean: Parameter = 0.0
    """Mean of the noise."""

    std: Parameter = 1.0
    """Standard deviation of the noise."""


class NoiseModelCfg(Config):
    """Noise model without internal state. Subclasses add state, such as a bias."""

    noise_cfg: NoiseCfg
    """The noise drawn at each call."""


class NoiseModelWithAdditiveBiasCfg(NoiseModelCfg):
    """Noise plus an additive bias that is constant during an episode."""

    bias_noise_cfg: NoiseCfg
    """Distribution of the bias, drawn at each reset. Its operation must not be
    "scale"."""

    sample_bias_per_component: bool = True
    """Draw a separate bias for each entry of the value's last dimension."""


class Noise(abc.ABC):
    """Applies noise to values of shape (num_envs, ...)."""

    @abc.abstractmethod
    def __call__(self, value: torch.Tensor) -> torch.Tensor:
        """Return the noisy value; `value` itself is unchanged."""

    @abc.abstractmethod
    def reset(self, mask: torch.Tensor) -> None:
        """Start an episode in the worlds of `mask`, shape (num_envs,)."""

    @abc.abstractmethod
    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""


def build_noise(
    cfg: NoiseCfg | NoiseModelCfg, shape: Sequence[int], rng: WorldRng, stream: str
) -> Noise:
    """Return the noise of a configuration.

    Args:
        cfg: The noise.
        shape: Shape of one world's value.
        rng: Random number generator of the worlds.
        stream: Name of the random stream, unique within the environment.
    """
    if isinstance(cfg, NoiseModelWithAdditiveBiasCfg):
        return _BiasedNoise(cfg, tuple(shape), rng, stream)
    noise_cfg = cfg.noise_cfg if isinstance(cfg, NoiseModelCfg) else cfg
    return _FreshNoise(noise_cfg, tuple(shape), rng, stream)


class _Source:
    """Draws noise of shape (num_envs, *shape)."""

    def __init__(
        self, cfg: NoiseCfg, shape: tuple[int, ...], rng: WorldRng, stream: str
    ) -> None:
        self._cfg, self._shape, self._rng, self._stream = cfg, shape, rng, stream
        if isinstance(cfg, ConstantNoiseCfg):
            names = ("bias", "bias")
        elif isinstance(cfg, UniformNoiseCfg):
            names = ("n_min", "n_max")
        elif isinstance(cfg, GaussianNoiseCfg):
            names = ("mean", "std")
        else:
            raise TypeError(
                f"The noise of {stream!r} is a {type(cfg).__name__}; it has to be a "
                "ConstantNoiseCfg, UniformNoiseCfg or GaussianNoiseCfg."
            )
        self._first, self._second = (self._parameter(name) for name in names)
        _check_order(cfg, self._first, self._second, stream)

    def draw(self) -> torch.Tensor:
        """Return noise for the worlds' current random counters, (num_envs, *shape)."""
        parameters = self._first, self._second
        if isinstance(self._cfg, UniformNoiseCfg):
            return self._rng.uniform(*parameters, self._shape, self._stream)
        if isinstance(self._cfg, GaussianNoiseCfg):
            return self._rng.normal(*parameters, self._shape, self._stream)
        return self._first.expand(self._rng.num_envs, *self._shape)

    def _parameter(self, name: str) -> torch.Tensor:
        value = getattr(self._cfg, name)
        tensor = torch.as_tensor(value, dtype=torch.float32, device=self._rng.device)
        if tensor.ndim > 0 and tensor.shape != self._shape[-1:]:
            raise ValueError(
                f"{name} of the noise of {self._stream!r} has {tensor.numel()} "
                f"entries, which do not match the shape {self._shape} of one world's "
                "value."
            )
        return tensor


class _FreshNoise(Noise):
    """Stateless noise, with a new sample at each call."""

    def __init__(
        self, cfg: NoiseCfg, shape: tuple[int, ...], rng: WorldRng, stream: str
    ) -> None:
        if cfg.operation not in ("add", "scale", "abs"):
            raise ValueError(
                f"The operation of the noise of {stream!r} has to be 'add', 'scale' "
                f"or 'abs', not {cfg.operation!r}."
            )
        self._operation = cfg.operation
        self._source = _Source(cfg, shape, rng, stream)

    def __call__(self, value: torch.Tensor) -> torch.Tensor:
        noise = self._source.draw()
        if self._operation == "add":
            return value + noise
        if self._operation == "scale":
            return value * noise
        return noise.clone()

    def reset(self, mask: torch.Tensor) -> None:
        """Do nothing: there is no state."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return nothing: there is no state."""
        return {}


class _BiasedNoise(Noise):
    """Noise plus a bias that is drawn at each reset."""

    def __init__(
        self,
        cfg: NoiseModelWithAdditiveBiasCfg,
        shape: tuple[int, ...],
        rng: WorldRng,
        stream: str,
    ) -> None:
        if cfg.bias_noise_cfg.operation == "scale":
            raise ValueError(
                f"The bias of the noise of {stream!r} has the operation 'scale', but "
                "a bias is additive; use 'add'."
            )
        self._noise = _FreshNoise(cfg.noise_cfg, shape, rng, stream)
        bias_shape = shape if cfg.sample_bias_per_component else (*shape[:-1], 1)
        bias_stream = f"{stream}/bias"
        self._bias_source = _Source(cfg.bias_noise_cfg, bias_shape, rng, bias_stream)
        # Shape (num_envs, ...), in the value's unit.
        self._bias = self._bias_source.draw().clone()

    def __call__(self, value: torch.Tensor) -> torch.Tensor:
        return self._noise(value) + self._bias

    def reset(self, mask: torch.Tensor) -> None:
        """Draw the bias of the worlds in `mask`."""
        write_where(self._bias, mask, self._bias_source.draw())

    def state(self) -> dict[str, torch.Tensor]:
        """Return the bias, shape (num_envs, ...)."""
        return {"bias": self._bias}


def _check_order(
    cfg: NoiseCfg, first: torch.Tensor, second: torch.Tensor, stream: str
) -> None:
    if isinstance(cfg, UniformNoiseCfg) and bool((first > second).any()):
        raise ValueError(
            f"n_min of the noise of {stream!r} is {cfg.n_min}; it has to be at most "
            f"n_max, {cfg.n_max}."
        )
    if isinstance(cfg, GaussianNoiseCfg) and bool((second < 0.0).any()):
        raise ValueError(
            f"std of the noise of {stream!r} is {cfg.std}; it has to be 0 or more."
        )
