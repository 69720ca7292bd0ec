"""Buffers of past values: a history, and a delay line.

The buffers store one row per world, write in place, and keep all state in device
tensors, so that a captured CUDA graph replays their updates correctly.
"""

from collections.abc import Sequence

import torch

from mjlab.random import WorldRng
from mjlab.settings import Config
from mjlab.tensors.masks import fill_where, write_where


class HistoryBuffer:
    """Stores `length` past values of every world, `stride` calls apart.

    The first value after a reset fills all entries of its world, so a history never
    contains zeros or values of the previous episode. Between a reset and that first
    value the entries are zero.
    """

    def __init__(
        self,
        num_envs: int,
        shape: Sequence[int],
        length: int,
        device: torch.device | str,
        dtype: torch.dtype = torch.float32,
        *,
        newest_first: bool = True,
        stride: int = 1,
    ) -> None:
        """Allocate the history.

        Args:
            num_envs: Number of worlds.
            shape: Shape of one world's value.
            length: Number of values.
            device: Device of the history.
            dtype: Type of the values.
            newest_first: Whether entry 0 is the newest value or the oldest.
            stride: Number of calls between two values.
        """
        if length < 1:
            raise ValueError(f"length is {length}; a history stores at least 1 value.")
        self.length, self.stride = length, stride
        self._newest_first = newest_first
        stored = (length - 1) * stride + 1
        self._values = torch.zeros(
            (num_envs, stored, *shape), dtype=dtype, device=device
        )
        self._empty = torch.ones(num_envs, dtype=torch.bool, device=device)
        self._empty_rows = self._empty.view(-1, *(1,) * (self._values.ndim - 1))

    @property
    def values(self) -> torch.Tensor:
        """The past values, shape (num_envs, length, ...).

        Entry 0 of dimension 1 is the newest value, or the oldest without
        `newest_first`. A live buffer: the next `append` changes it.
        """
        return self._values if self.stride == 1 else self._values[:, :: self.stride]

    def append(self, value: torch.Tensor, mask: torch.Tensor | None = None) -> None:
        """Store `value` as the newest, and drop the oldest.

        Args:
            value: Shape (num_envs, ...).
            mask: Worlds to update, shape (num_envs,), bool; None for all. Other worlds
                are unchanged.
        """
        self._check(value)
        entry = value.unsqueeze(1)
        old = self._values
        parts = (entry, old[:, :-1]) if self._newest_first else (old[:, 1:], entry)
        shifted = torch.cat(parts, dim=1)
        if mask is None:
            torch.where(self._empty_rows, entry, shifted, out=self._values)
            self._empty.fill_(False)
            return
        write_where(self._values, mask, torch.where(self._empty_rows, entry, shifted))
        fill_where(self._empty, mask, False)

    def reset(self, mask: torch.Tensor) -> None:
        """Clear the values of the worlds in `mask`, shape (num_envs,)."""
        fill_where(self._values, mask, 0)
        fill_where(self._empty, mask, True)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        return {"values": self._values, "empty": self._empty}

    def _check(self, value: torch.Tensor) -> None:
        expected = (self._values.shape[0], *self._values.shape[2:])
        if value.shape != expected or value.dtype != self._values.dtype:
            raise ValueError(
                f"This buffer needs {self._values.dtype} values of shape {expected}, "
                f"not {value.dtype} of shape {tuple(value.shape)}."
            )


class DelayCfg(Config):
    """Delay of a value.

    Lags are in environment steps for observations, and in physics steps for actuators.
    """

    min_lag: int = 0
    """Minimum lag, in steps. 0 means no delay."""

    max_lag: int = 0
    """Maximum lag, in steps, inclusive."""

    hold_prob: float = 0.0
    """Probability that a world keeps its lag at an update. With 1 the lag drawn at a
    reset lasts for the complete episode."""

    update_period: int = 0
    """Number of steps between updates of the lag. 0 and 1 both mean every step."""

    per_world_phase: bool = True
    """Distribute the worlds' updates over the period, instead of updating all worlds
    the same number of steps after their reset."""

    per_world: bool = True
    """Draw a lag for each world. Otherwise all worlds of a process have the lag of the
    first world, so that resetting the first world changes the lag of all worlds."""


class DelayBuffer:
    """Delay line: returns values a number of steps after they were appended.

    With lag 0, `append_and_read(x)` returns x. With lag k, it returns the value that
    was appended k calls before, or the oldest value since the world's reset.

    A world draws a lag at each reset, uniformly in [min_lag, max_lag], and again after
    every `update_period` calls, unless it keeps its lag (`hold_prob`). The draws are
    keyed by the world's seed, the world's counter, the stream and the number of the
    call since the reset, so that several calls within one environment step differ.
    """

    def __init__(
        self,
        cfg: DelayCfg,
        shape: Sequence[int],
        rng: WorldRng,
        stream: str,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Allocate the buffer and draw the first lags.

        Args:
            cfg: The delay.
            shape: Shape of one world's value.
            rng: Random number generator of the worlds.
            stream: Name of the random stream, unique within the environment.
            dtype: Type of the values.
        """
        _check_delay(cfg)
        self._min_lag, self._max_lag = cfg.min_lag, cfg.max_lag
        self._hold_prob = cfg.hold_prob
        self._period = max(1, cfg.update_period)
        self._has_phase = cfg.per_world_phase and self._period > 1
        self._per_world = cfg.per_world
        self._rng, self._stream = rng, stream
        num_envs, device = rng.num_envs, rng.device
        self._history = HistoryBuffer(num_envs, shape, cfg.max_lag + 1, device, dtype)
        # Per world: current lag, calls since the reset, and phase of the lag updates,
        # in calls.
        self._lags = torch.full((num_envs,), cfg.min_lag, device=device)
        self._ticks = torch.zeros(num_envs, dtype=torch.int64, device=device)
        self._phases = torch.zeros(num_envs, dtype=torch.int64, device=device)
        self._worlds = torch.arange(num_envs, device=device)
        self.reset(torch.ones(num_envs, dtype=torch.bool, device=device))

    @property
    def lags(self) -> torch.Tensor:
        """Current lag of each world, in steps, shape (num_envs,), int64."""
        return self._lags if self._per_world else self._lags[:1].expand_as(self._lags)

    def append_and_read(
        self, value: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Append `value` and return the delayed value, both of shape (num_envs, ...).

        Args:
            value: The newest value.
            mask: Worlds to update, shape (num_envs,), bool; None for all. Other worlds
                are unchanged and return their previous result.
        """
        self._update_lags(mask)
        self._history.append(value, mask)
        self._ticks.add_(1 if mask is None else mask)
        return self.read()

    def read(self) -> torch.Tensor:
        """Return the delayed value, shape (num_envs, ...), without appending."""
        return self._history.values[self._worlds, self.lags]

    def set_lags(self, mask: torch.Tensor, lags: torch.Tensor | int) -> None:
        """Set the lags of the worlds in `mask` until their next update.

        Args:
            mask: Worlds, shape (num_envs,), bool.
            lags: One lag, or lags of shape (num_envs,), int64. The entries of a tensor
                are clamped to [0, max_lag], because a CUDA graph cannot raise an error.
        """
        if isinstance(lags, int):
            if not 0 <= lags <= self._max_lag:
                raise ValueError(
                    f"The lag {lags} is out of range; it has to be 0 to "
                    f"{self._max_lag}."
                )
            fill_where(self._lags, mask, lags)
            return
        write_where(self._lags, mask, lags.clamp(0, self._max_lag))

    def reset(self, mask: torch.Tensor) -> None:
        """Clear the values of the worlds in `mask` (num_envs,), and draw new lags."""
        self._history.reset(mask)
        fill_where(self._ticks, mask, 0)
        if self._min_lag == self._max_lag:
            fill_where(self._lags, mask, self._min_lag)
        else:
            write_where(self._lags, mask, self._draw_lags())
        if self._has_phase:
            phases = self._rng.integers(0, self._period, (), f"{self._stream}/phase")
            write_where(self._phases, mask, phases)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors; copy into them to restore a snapshot."""
        own = {"lags": self._lags, "ticks": self._ticks, "phases": self._phases}
        return {**self._history.state(), **own}

    def _update_lags(self, mask: torch.Tensor | None) -> None:
        if self._min_lag == self._max_lag or self._hold_prob == 1.0:
            return
        # The first call uses the lag drawn at the reset.
        due = self._ticks > 0
        if self._period > 1:
            due &= (self._ticks + self._phases) % self._period == 0
        if self._hold_prob > 0.0:
            stream = f"{self._stream}/hold"
            due &= ~self._rng.bernoulli(self._hold_prob, (), stream, tick=self._ticks)
        if mask is not None:
            due &= mask
        write_where(self._lags, due, self._draw_lags())

    def _draw_lags(self) -> torch.Tensor:
        stream = f"{self._stream}/lag"
        high = self._max_lag + 1
        return self._rng.integers(self._min_lag, high, (), stream, tick=self._ticks)


def _check_delay(cfg: DelayCfg) -> None:
    if cfg.min_lag < 0:
        raise ValueError(f"min_lag is {cfg.min_lag}; a lag cannot be negative.")
    if cfg.max_lag < cfg.min_lag:
        raise ValueError(
            f"max_lag is {cfg.max_lag}; it has to be at least min_lag, {cfg.min_lag}."
        )
    if not 0.0 <= cfg.hold_prob <= 1.0:
        raise ValueError(
            f"hold_prob is {cfg.hold_prob}; it has to be a probability, 0 to 1."
        )
    if cfg.update_period < 0:
        raise ValueError(
            f"update_period is {cfg.update_period}; it has to be 0 or more."
        )
