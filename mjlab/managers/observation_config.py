"""Configurations of observations, as users write them."""

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
    """Declares an observation, a function that returns shape (num_envs, ...).

    A value goes through these stages, in this order: compute, noise, clip, scale, check
    for NaN, delay, history; then the group concatenates its terms.

    Values are float32. A term may also return uint8, such as an image, if it has
    neither noise nor clip nor scale.
    """

    noise: NoiseCfg | NoiseModelCfg | None = None
    """Noise, drawn independently in each group that has the term."""

    clip: tuple[float, float] | None = None
    """Bounds that the value is clamped to."""

    scale: float | tuple[float, ...] | torch.Tensor | None = None
    """Factor: one number, or what broadcasts to the shape of one world's value."""

    delay_min_lag: int = 0
    """Smallest lag, in steps of the environment."""

    delay_max_lag: int = 0
    """Largest lag, in steps of the environment. Each world draws its lag anew in every
    step; `delay` says it in full."""

    delay: DelayCfg | None = None
    """Lag with all its options, instead of `delay_min_lag` and `delay_max_lag`."""

    history_length: int = 0
    """Number of the latest values that are observed, the oldest first. With 0 there is
    no history, and the value keeps its shape."""

    flatten_history_dim: bool = True
    """True flattens a history of shape (length, ...) to one dimension."""


class ObservationGroupCfg(Config):
    """Observations that go together, such as all that the actor sees."""

    terms: dict[str, ObservationTermCfg | None] = field(
        default_factory=dict, kw_only=False
    )
    """Terms by name, in the order of concatenation."""

    concatenate_terms: bool = True
    """One tensor for the group, or a dictionary with one tensor a term."""

    concatenate_dim: int = -1
    """The dimension to concatenate along, without that of the worlds: 0 is the first
    after it, and -1 the last."""

    enable_corruption: bool = True
    """Use of the terms' noise. Delays apply in any case."""

    history_length: int | None = None
    """History of all terms, instead of their own, where it is not None."""

    flatten_history_dim: bool = True
    """True flattens that history; counts only with the group's own length."""

    nan_policy: NanPolicy = "disabled"
    """Treatment of NaN and infinite numbers. With "disabled", nothing looks for
    them. The others count them for each term: "sanitize" also replaces them by zero,
    "warn" and "error" speak up when the environment's log is taken."""


def resolve_delay(cfg: ObservationTermCfg, label: str) -> DelayCfg | None:
    """The delay of a term, None if it has none."""
    lags = (cfg.delay_min_lag, cfg.delay_max_lag)
    if cfg.delay is None:
        delay = DelayCfg(min_lag=lags[0], max_lag=lags[1])
    elif lags == (0, 0):
        delay = cfg.delay
    else:
        raise TermError(
            f"{label} has both delay and delay_min_lag or delay_max_lag; set one."
        )
    is_none = delay.min_lag == 0 and delay.max_lag == 0
    return None if is_none else delay


def check_group(name: str, cfg: ObservationGroupCfg) -> None:
    """Raise for a group that has no meaning."""
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
    """Raise for options of a term that have no meaning."""
    if cfg.history_length < 0:
        raise TermError(
            f"{label} has history_length={cfg.history_length}; it cannot be negative."
        )
    if cfg.clip is not None and not cfg.clip[0] <= cfg.clip[1]:
        raise TermError(
            f"{label} has clip={cfg.clip}; the lower bound is above the upper one."
        )
