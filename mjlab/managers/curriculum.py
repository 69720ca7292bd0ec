"""Curriculum terms, which change the task during training."""

from collections.abc import Mapping
from typing import Any

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import BoundTerm, Manager, TermCfg, TermError, bind_terms


class CurriculumTermCfg(TermCfg):
    """Configuration of a curriculum term: a function or class, run at every reset.

    The term writes device tensors that other terms read (reward weights, live
    parameters, command ranges, terrain levels). It must not write a configuration. A
    parameter `mask` receives the worlds whose episodes end; they are still in their
    terminal state. The return value is logged: a tensor of shape () or (num_envs,), a
    dictionary of scalars, or None.

    A term that makes worlds depend on each other, for example through their mean
    return, must have an attribute `couples_worlds = True`.
    """


class CurriculumManager(Manager[BoundTerm]):
    """Manager of the curriculum terms: runs them before resets, logs their values."""

    kind = "curriculum"

    def __init__(self, cfg: Mapping[str, CurriculumTermCfg | None], env: Env) -> None:
        """Bind the terms.

        Args:
            cfg: The terms by name.
            env: The environment, with all other managers except metrics.
        """
        super().__init__(bind_terms(cfg, env, kind=self.kind), env)
        self.couples_worlds = tuple(
            name
            for name, term in self.terms.items()
            if getattr(term.cfg.func, "couples_worlds", False)
        )
        """Names of the terms that make worlds depend on each other."""
        self._keys = [f"Curriculum/{name}" for name in self.terms]
        self._values = torch.zeros(len(self._keys), device=env.device)
        self._log = env.episode_log
        self._columns = self._log.register(self._keys)

    def compute(self, mask: torch.Tensor) -> None:
        """Run all terms.

        Args:
            mask: Worlds whose episodes end, shape (num_envs,), bool.
        """
        for index, term in enumerate(self.terms.values()):
            value = term(mask)
            if isinstance(value, Mapping):
                for key, figure in value.items():
                    name = f"{self._keys[index]}/{key}"
                    self._env.extras["log"][name] = torch.as_tensor(figure)
            elif value is not None:
                self._values[index].copy_(_figure(term, value, self._env.num_envs))

    def reset(self, mask: torch.Tensor) -> None:
        super().reset(mask)
        if self.terms:
            self._log.values[:, self._columns] = self._values

    def log_values(self) -> dict[str, torch.Tensor]:
        """Return the terms' last values by log key, as scalars on the device."""
        return dict(zip(self._keys, self._values.clone().unbind(), strict=True))

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {"values": self._values}

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (name, "couples worlds" if name in self.couples_worlds else "")
            for name in self.terms
        ]


def _figure(term: BoundTerm, value: Any, num_envs: int) -> torch.Tensor:
    """Return a term's value as a scalar tensor; values per world are averaged."""
    if not isinstance(value, torch.Tensor) or value.shape not in ((), (num_envs,)):
        shown = tuple(value.shape) if isinstance(value, torch.Tensor) else repr(value)
        raise TermError(
            f"{term.label} returned {shown}; it has to return None, a dictionary of "
            f"scalars, or a tensor of shape () or ({num_envs},)."
        )
    return value if value.ndim == 0 else value.float().mean()
