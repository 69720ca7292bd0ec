"""Configuration of observation terms and groups."""

from dataclasses import field
from typing import Literal, get_args

import torch

from mjlab.managers.term import TermCfg, TermError
from mjlab.names import suggest
from mjlab.settings import Config
from mjlab.tensors.buffers import DelayCfg
from mjlab.tensors.noise import NoiseCfg, NoiseModelCfg

NanPolicy = Literal["disabled", "warn", "sanitize", "error"]


class ObservationTermCfg(TermCfg):
    """Configuration of an observation term: a function returning (num_envs, ...).

    Order of processing: compute, noise, clip, scale, NaN check, delay, history; then
    the group concatenates its terms.

    Values are float32. A term without noise, clip and scale can also return uint8, such
    as an image.
    """

    noise: NoiseCfg | NoiseModelCfg | None = None
    """Noise. Groups that share a term draw it independently."""

    clip: tuple[float, float] | None = None
    """Lower and upper bound for clipping."""

    scale: float | tuple[float, ...] | torch.Tensor | None = None
    """Factor: a number or values that broadcast to the shape of one world's value."""

    delay_min_lag: int = 0
    """Smallest lag, in environment steps."""

    delay_max_lag: int = 0
    """Largest lag, in environment steps. Each world draws a new lag in every step; see
    `delay` for all options."""

    delay: DelayCfg | None = None
    """Delay with all options, instead of `delay_min_lag` and `delay_max_lag`."""

    history_length: int = 0
    """Number of values to observe, oldest first, including the current value. 0
    disables the history, and the value keeps its shape."""

    history_stride: int = 1
    """Environment steps between two values of the history. Length 12 and stride 5 give
    the current value and the values 5, 10, ... and 55 steps earlier."""

    flatten_history_dim: bool = True
    """Flatten a history of shape (length, ...) to one dimension."""


class ObservationGroupCfg(Config):
    """Configuration of an observation group, such as the actor's observations."""

    terms: dict[str, ObservationTermCfg | None] = field(
        default_factory=dict, kw_only=False
    )
    """Terms by name, in the order of concatenation."""

    concatenate_terms: bool = True
    """True returns one tensor for the group, False a dictionary of tensors by term."""

    concatenate_dim: int = -1
    """Dimension to concatenate along, not counting the world dimension: 0 is the first
    dimension of one world's value, -1 the last."""

    enable_corruption: bool = False
    """Apply the terms' noise. Delays always apply."""

    history_length: int | None = None
    """History length of all terms. None uses the `history_length` of each term."""

    flatten_history_dim: bool = True
    """Flatten the group's history. Used only if the group's `history_length` is set."""

    nan_policy: NanPolicy = "disabled"
    """Handling of NaN and infinite values. "disabled" does not check. The other values
    count them per term: "sanitize" also replaces them by zero, "warn" warns and "error"
    raises when the environment's log is read."""


def resolve_delay(cfg: ObservationTermCfg, label: str) -> DelayCfg | None:
    """Return the delay of a term, or None if its lag is always 0."""
    lags = (cfg.delay_min_lag, cfg.delay_max_lag)
    if cfg.delay is None:
        delay = DelayCfg(min_lag=lags[0], max_lag=lags[1])
    elif lags == (0, 0):
        delay = cfg.delay
    else:
        raise TermError(
            f"{label} has both delay and delay_min_lag or delay_max_lag; set only one."
        )
    is_none = delay.min_lag == 0 and delay.max_lag == 0
    return None if is_none else delay


def check_group(name: str, cfg: ObservationGroupCfg) -> None:
    """Raise for invalid options of a group."""
    if not any(term is not None for term in cfg.terms.values()):
        raise TermError(
            f"Observation group {name!r} has no terms. Set the group to None to leave "
            "it out."
        )
    policies: tuple[str, ...] = get_args(NanPolicy)
    if cfg.nan_policy not in policies:
        raise TermError(
            f"Observation group {name!r} has nan_policy={cfg.nan_policy!r}. "
            + suggest(cfg.nan_policy, policies)
        )
    if cfg.history_length is not None and cfg.history_length < 0:
        raise TermError(
            f"Observation group {name!r} has history_length={cfg.history_length}; it "
            "cannot be negative."
        )


def check_term(label: str, cfg: ObservationTermCfg) -> None:
    """Raise for invalid options of a term."""
    if cfg.history_length < 0:
        raise TermError(
            f"{label} has history_length={cfg.history_length}; it cannot be negative."
        )
    if cfg.history_stride < 1:
        raise TermError(
            f"{label} has history_stride={cfg.history_stride}; it has to be 1 or more."
        )
    if cfg.clip is not None and not cfg.clip[0] <= cfg.clip[1]:
        raise TermError(
            f"{label} has clip={cfg.clip}; it has to be (low, high) with low <= high."
        )
