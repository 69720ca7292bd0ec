"""Metrics, which do not affect the reward, and outcomes (success, failure)."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Literal, get_args

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import (
    BoundTerm,
    Manager,
    TermCfg,
    TermError,
    bind_terms,
    try_terms,
)
from mjlab.names import UnknownNameError, suggest
from mjlab.tensors.masks import fill_where

OUTCOMES = ("success", "fail")
"""Valid names of outcomes."""

Reduction = Literal["mean", "sum", "max", "last"]
_REDUCTIONS: tuple[Reduction, ...] = get_args(Reduction)


class MetricsTermCfg(TermCfg):
    """Configuration of a metric: a function returning float32, shape (num_envs,)."""

    reduce: Reduction = "mean"
    """Reduction of the values over an episode."""

    per_substep: bool = False
    """Evaluate after each physics step instead of each environment step."""


class OutcomeTermCfg(TermCfg):
    """Configuration of an outcome: a function returning bool, shape (num_envs,).

    An outcome does not end the episode. To end it, add a termination term with the same
    function.
    """


class MetricsManager(Manager[BoundTerm]):
    """Manager of the metrics: reduces each metric to one value per episode.

    NaN and infinite values are counted and replaced by zero.
    """

    kind = "metrics"

    def __init__(self, cfg: Mapping[str, MetricsTermCfg | None], env: Env) -> None:
        """Bind the terms and call each once."""
        super().__init__(bind_terms(cfg, env, kind=self.kind), env)
        try_terms(self.terms.values(), env, torch.float32)
        self._cfgs = {name: term for name, term in cfg.items() if term}
        for name, term in self._cfgs.items():
            _check_reduction(name, term)
        self._step = self._episodes(per_substep=False)
        self._substep = self._episodes(per_substep=True)
        self._parts = {"step": self._step, "substep": self._substep}
        self.sees_substeps = any(term.per_substep for term in self._cfgs.values())
        """True if a metric is evaluated after each physics step."""

    def compute(self) -> None:
        """Evaluate the metrics of this environment step."""
        if self.terms:
            self._step.compute()

    def compute_substep(self) -> None:
        """Evaluate the metrics of this physics step."""
        if self.sees_substeps:
            self._substep.compute()

    def now(self, name: str) -> torch.Tensor:
        """Return a metric's value in the last step, shape (num_envs,), live."""
        self.column(name)
        return (self._step.now | self._substep.now)[name]

    def figures(self) -> list[torch.Tensor]:
        """Return the tensors that accumulate over an episode, live."""
        return [*self._step.running, *self._substep.running]

    def reset(self, mask: torch.Tensor) -> None:
        super().reset(mask)
        for episodes in self._parts.values():
            episodes.reset(mask)

    def take_nonfinite(self) -> dict[str, int]:
        """Return the number of non-finite values of each term since the last call.

        Synchronises with the device.
        """
        return self._step.take_nonfinite() | self._substep.take_nonfinite()

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {
            f"{part}.{key}": tensor
            for part, episodes in self._parts.items()
            for key, tensor in episodes.state().items()
        }

    def rows(self) -> list[tuple[str, ...]]:
        when = {True: "physics step", False: "step"}
        return [(n, c.reduce, when[c.per_substep]) for n, c in self._cfgs.items()]

    def _episodes(self, *, per_substep: bool) -> "_Episodes":
        chosen: dict[str, Reduction] = {
            name: cfg.reduce
            for name, cfg in self._cfgs.items()
            if cfg.per_substep == per_substep
        }
        return _Episodes(self.terms, chosen, self._env)


class OutcomeManager(Manager[BoundTerm]):
    """Manager of the outcomes: stores the value of each per step and per episode."""

    kind = "outcome"

    def __init__(self, cfg: Mapping[str, OutcomeTermCfg | None], env: Env) -> None:
        """Bind the terms and call each once."""
        for name in cfg:
            if name not in OUTCOMES:
                raise TermError(
                    f"There is no outcome {name!r}. {suggest(name, OUTCOMES)}"
                )
        super().__init__(bind_terms(cfg, env, kind=self.kind), env)
        try_terms(self.terms.values(), env, torch.bool)
        size = (env.num_envs, 2, len(self.terms))
        self._flags = torch.zeros(size, dtype=torch.bool, device=env.device)
        self._once, self._now = self._flags.unbind(dim=1)
        self._log = env.episode_log
        kinds = ("once", "at_end")
        self._columns = self._log.register(
            [f"Metrics/{name}_{kind}" for kind in kinds for name in self.terms]
        )

    def compute(self) -> None:
        """Evaluate the outcomes of this step."""
        if not self.terms:
            return
        torch.stack([term() for term in self.terms.values()], dim=-1, out=self._now)
        self._once.logical_or_(self._now)

    def now(self, name: str) -> torch.Tensor:
        """Return an outcome's value in the last step, shape (num_envs,), bool, live."""
        return self._now[:, self.column(name)]

    def once(self, name: str) -> torch.Tensor:
        """True where the outcome occurred since the reset, (num_envs,), bool, live."""
        return self._once[:, self.column(name)]

    def figures(self) -> list[torch.Tensor]:
        """Return the tensors that accumulate over an episode, live."""
        return [self._now, self._once] if self.terms else []

    def reset(self, mask: torch.Tensor) -> None:
        super().reset(mask)
        if not self.terms:
            return
        self._log.values[:, self._columns] = self._flags.flatten(1)
        fill_where(self._once, mask, False)

    def state(self) -> dict[str, torch.Tensor]:
        own = {"now": self._now, "once": self._once} if self.terms else {}
        return super().state() | own

    def column(self, name: str) -> int:
        if not self.terms:
            raise UnknownNameError(
                f"There is no outcome term {name!r}. The task declares no outcomes: "
                "add terms to cfg.outcomes."
            )
        return super().column(name)


class _Episodes:
    """Episode reductions of the metrics with the same value of `per_substep`.

    Metrics with the same reduction occupy adjacent columns, so that each reduction is
    one operation.
    """

    def __init__(
        self,
        terms: Mapping[str, BoundTerm],
        reductions: Mapping[str, Reduction],
        env: Env,
    ) -> None:
        names = sorted(reductions, key=lambda name: _REDUCTIONS.index(reductions[name]))
        self._terms = [terms[name] for name in names]
        kinds = [reductions[name] for name in names]
        size, device = len(names), env.device
        self._values = torch.zeros(env.num_envs, size, device=device)
        self.now = dict(zip(names, self._values.unbind(dim=1), strict=True))
        self._figures = torch.zeros(env.num_envs, size, device=device)
        self._samples = torch.zeros(env.num_envs, 1, device=device)
        self.running = (self._figures, self._samples)
        self._counts = torch.zeros(size, dtype=torch.int64, device=device)
        means, adds, maxima, _ = accumulate(kinds.count(kind) for kind in _REDUCTIONS)
        self._means, self._adds = slice(0, means), slice(0, adds)
        self._maxima, self._lasts = slice(adds, maxima), slice(maxima, size)
        self._log = env.episode_log
        self._columns = self._log.register([f"Metrics/{name}" for name in names])
        self._mean_columns = slice(self._columns.start, self._columns.start + means)

    def compute(self) -> None:
        """Evaluate each term once."""
        if not self._terms:
            return
        values, figures = self._values, self._figures
        torch.stack([term() for term in self._terms], dim=-1, out=values)
        # x - x is 0 if and only if x is finite.
        is_bad = (values - values) != 0
        self._counts.add_(is_bad.sum(dim=0))
        values.masked_fill_(is_bad, 0.0)
        if _size(self._adds):
            figures[:, self._adds].add_(values[:, self._adds])
        if _size(self._maxima):
            largest = figures[:, self._maxima]
            # Start at -inf, so that a negative maximum is kept.
            largest.masked_fill_(self._samples == 0, -torch.inf)
            torch.maximum(largest, values[:, self._maxima], out=largest)
        if _size(self._lasts):
            figures[:, self._lasts].copy_(values[:, self._lasts])
        self._samples.add_(1.0)

    def reset(self, mask: torch.Tensor) -> None:
        """Log and clear the values of the worlds in `mask`."""
        if not self._terms:
            return
        self._log.values[:, self._columns] = self._figures
        if _size(self._means):
            means = self._figures[:, self._means] / self._samples.clamp(min=1.0)
            self._log.values[:, self._mean_columns] = means
        fill_where(self._figures, mask, 0.0)
        fill_where(self._samples, mask, 0.0)

    def take_nonfinite(self) -> dict[str, int]:
        """Return the number of non-finite values of each metric since the last call."""
        found = zip(self.now, self._counts.tolist(), strict=True)
        self._counts.zero_()
        return {f"metrics/{name}": count for name, count in found}

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, for snapshots."""
        return {
            "figures": self._figures,
            "samples": self._samples,
            "nonfinite_counts": self._counts,
        }


def _size(columns: slice) -> int:
    return columns.stop - columns.start


def _check_reduction(name: str, cfg: MetricsTermCfg) -> None:
    if cfg.reduce not in _REDUCTIONS:
        raise TermError(
            f"Metrics term {name!r} has reduce={cfg.reduce!r}. "
            + suggest(cfg.reduce, _REDUCTIONS)
        )
