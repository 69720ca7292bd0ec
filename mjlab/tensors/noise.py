"""Noise on observations: what is drawn, and how it corrupts a value."""

import abc
from collections.abc import Sequence
from typing import Literal

import torch

from mjlab.random import WorldRng
from mjlab.settings import Config
from mjlab.tensors.masks import write_where

Parameter = float | tuple[float, ...]
"""One number, or one for each entry of the value's last dimension."""


class NoiseCfg(Config):
    """Noise that is drawn anew at each call."""

    operation: Literal["add", "scale", "abs"] = "add"
    """Adds the noise to the value, multiplies the value by it, or replaces it."""


class ConstantNoiseCfg(NoiseCfg):
    """A constant offset or factor."""

    bias: Parameter = 0.0
    """The constant."""


class UniformNoiseCfg(NoiseCfg):
    """Noise distributed uniformly."""

    n_min: Parameter = -1.0
    """Smallest noise."""

    n_max: Parameter = 1.0
    """Largest noise."""


class GaussianNoiseCfg(NoiseCfg):
    """Noise distributed normally."""

    mean: Parameter = 0.0
    """Mean of the noise."""

    std: Parameter = 1.0
    """Standard deviation of the noise."""


class NoiseModelCfg(Config):
    """Noise, as a model that others extend."""

    noise_cfg: NoiseCfg
    """The noise drawn at each call."""


class NoiseModelWithAdditiveBiasCfg(NoiseModelCfg):
    """Noise, and a bias that lasts for an episode."""

    bias_noise_cfg: NoiseCfg
    """Noise that the bias is drawn from at each reset. It is the bias itself, so its
    operation must not be "scale"."""

    sample_bias_per_component: bool = True
    """Gives each entry of the value's last dimension a bias of its own."""


class Noise(abc.ABC):
    """Corrupts values of shape (num_envs, ...)."""

    @abc.abstractmethod
    def __call__(self, value: torch.Tensor) -> torch.Tensor:
        """Return the corrupted value; the value itself is not changed."""

    @abc.abstractmethod
    def reset(self, mask: torch.Tensor) -> None:
        """Begin an episode in the worlds where `mask`, shape (num_envs,), holds."""

    @abc.abstractmethod
    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change; copy into them to restore a snapshot."""


def build_noise(
    cfg: NoiseCfg | NoiseModelCfg, shape: Sequence[int], rng: WorldRng, stream: str
) -> Noise:
    """Return the noise that a configuration describes.

    Args:
        cfg: The noise.
        shape: Shape of one world's value.
        rng: The worlds' random numbers.
        stream: The name of this noise's draws, unique within the environment.
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
                f"The noise of {stream!r} is a {type(cfg).__name__}; known are "
                f"ConstantNoiseCfg, UniformNoiseCfg and GaussianNoiseCfg."
            )
        self._first, self._second = (self._parameter(name) for name in names)
        _check_order(cfg, self._first, self._second, stream)

    def draw(self) -> torch.Tensor:
        """Return the noise of this tick, shape (num_envs, *shape)."""
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
                f"entries, and one world's value has the shape {self._shape}."
            )
        return tensor


class _FreshNoise(Noise):
    """Noise without memory."""

    def __init__(
        self, cfg: NoiseCfg, shape: tuple[int, ...], rng: WorldRng, stream: str
    ) -> None:
        if cfg.operation not in ("add", "scale", "abs"):
            raise ValueError(
                f"The operation of the noise of {stream!r} is 'add', 'scale' or 'abs', "
                f"not {cfg.operation!r}."
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
        """Do nothing: there is nothing to forget."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return nothing: nothing is remembered."""
        return {}


class _BiasedNoise(Noise):
    """Noise, and a bias that is drawn anew, not accumulated, at each reset."""

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
                f"there is nothing it could scale; use 'add'."
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
        """Draw the bias of the worlds where `mask` holds anew."""
        write_where(self._bias, mask, self._bias_source.draw())

    def state(self) -> dict[str, torch.Tensor]:
        """Return the bias, shape (num_envs, ...)."""
        return {"bias": self._bias}


def _check_order(
    cfg: NoiseCfg, first: torch.Tensor, second: torch.Tensor, stream: str
) -> None:
    if isinstance(cfg, UniformNoiseCfg) and bool((first > second).any()):
        raise ValueError(
            f"n_min of the noise of {stream!r} is above n_max: {cfg.n_min} and "
            f"{cfg.n_max}."
        )
    if isinstance(cfg, GaussianNoiseCfg) and bool((second < 0.0).any()):
        raise ValueError(f"std of the noise of {stream!r} is negative: {cfg.std}.")
