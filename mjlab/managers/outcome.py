"""Outcomes: whether a world has reached what its task asks for, or failed at it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from mjlab.managers.env import Env
from mjlab.managers.manager import Manager
from mjlab.managers.term import TermCfg, TermError
from mjlab.managers.trial import try_terms
from mjlab.names import UnknownNameError, suggest
from mjlab.tensors.masks import fill_where

OUTCOMES = ("success", "fail")
"""What a term can be called."""


@dataclass(kw_only=True)
class OutcomeTermCfg(TermCfg):
    """Declares an outcome, a function that returns bool of shape (num_envs,).

    It ends no episode. Where it should, declare a termination with the same function.
    """


class OutcomeManager(Manager):
    """Says which worlds succeed and which fail, in this step and in their episode."""

    kind = "outcome"

    def __init__(self, cfg: Mapping[str, OutcomeTermCfg | None], env: Env) -> None:
        """Bind the terms and try each once."""
        for name in cfg:
            if name not in OUTCOMES:
                raise TermError(
                    f"There is no outcome {name!r}. {suggest(name, OUTCOMES)}"
                )
        super().__init__(cfg, env)
        try_terms(self.terms.values(), env, torch.bool)
        size = (env.num_envs, len(self.terms))
        self._now = torch.zeros(size, dtype=torch.bool, device=env.device)
        self._once = torch.zeros_like(self._now)
        self._log = env.episode_log
        kinds = ("once", "at_end")
        self._columns = [
            self._log.register([f"Metrics/{name}_{kind}" for name in self.terms])
            for kind in kinds
        ]

    def compute(self) -> None:
        """Find out what holds in this step."""
        if not self.terms:
            return
        torch.stack([term() for term in self.terms.values()], dim=-1, out=self._now)
        self._once.logical_or_(self._now)

    def now(self, name: str) -> torch.Tensor:
        """Whether an outcome held in the last step, shape (num_envs,), bool, live."""
        return self._now[:, self._column(name)]

    def once(self, name: str) -> torch.Tensor:
        """Whether it held in any step since the reset, shape (num_envs,), live."""
        return self._once[:, self._column(name)]

    def figures(self) -> list[torch.Tensor]:
        """What a step adds to episodes, live."""
        return [self._now, self._once] if self.terms else []

    def reset(self, mask: torch.Tensor) -> None:
        """Log the episodes that end in the worlds of `mask`, and begin new ones."""
        super().reset(mask)
        if not self.terms:
            return
        for columns, flags in zip(self._columns, (self._once, self._now), strict=True):
            self._log.write(columns, flags)
        fill_where(self._once, mask, False)

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        own = {"now": self._now, "once": self._once} if self.terms else {}
        return super().state() | own

    def _column(self, name: str) -> int:
        names = list(self.terms)
        if name not in names:
            hint = suggest(name, names) if names else "The task declares no outcomes."
            raise UnknownNameError(f"There is no outcome term {name!r}. {hint}")
        return names.index(name)
