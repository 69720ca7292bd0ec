"""Termination terms: terminations and time-outs (truncations) of episodes."""

from collections.abc import Mapping

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import BoundTerm, Manager, TermCfg, bind_terms, try_terms
from mjlab.tensors.masks import write_where


class TerminationTermCfg(TermCfg):
    """Configuration of a termination term: a function returning a bool per world."""

    time_out: bool = False
    """True for a time-out (truncation) instead of a termination. Learners bootstrap
    from the value of the last state."""


class TerminationManager(Manager[BoundTerm]):
    """Manager of the termination terms: computes which episodes end in this step.

    A world can be both in `terminated` and in `time_outs`. All tensors keep their
    values until the next step, also for worlds that were reset.
    """

    kind = "termination"

    def __init__(self, cfg: Mapping[str, TerminationTermCfg | None], env: Env) -> None:
        """Bind the terms and call each once."""
        super().__init__(bind_terms(cfg, env, kind=self.kind), env)
        try_terms(self.terms.values(), env, torch.bool)
        is_time_out = {name: term.time_out for name, term in cfg.items() if term}
        # Terminations first, then time-outs, so that each kind is a range of columns.
        self.columns.sort(key=lambda name: is_time_out[name])
        self._num_ends = len(self.columns) - sum(is_time_out.values())
        self._is_time_out = is_time_out
        bools = {"dtype": torch.bool, "device": env.device}
        self._flags = torch.zeros(3, env.num_envs, **bools)
        self.ends = self._flags[1:]
        """`terminated` and `time_outs` in one tensor, shape (2, num_envs), bool."""
        self.dones = self._flags[0]
        """Episodes that ended in this step, for either reason, shape (num_envs,)."""
        self.terminated = self._flags[1]
        """Episodes that terminated in this step, shape (num_envs,)."""
        self.time_outs = self._flags[2]
        """Episodes that timed out in this step, shape (num_envs,)."""
        self.values = torch.zeros(env.num_envs, len(self.columns), **bools)
        """Values of the last step, (num_envs, terms), terminations first."""
        self._last_episode = torch.zeros_like(self.values)
        self._log = env.episode_log
        self._columns = self._log.register(
            [f"Episode_Termination/{name}" for name in self.columns]
        )

    def compute(self) -> torch.Tensor:
        """Evaluate the terms and return `dones`, shape (num_envs,), bool."""
        if not self.terms:
            # Clear the flags that `end` wrote in the previous step.
            return self._flags.zero_()[0]
        torch.stack([self.terms[n]() for n in self.columns], dim=-1, out=self.values)
        torch.any(self.values[:, : self._num_ends], dim=1, out=self.terminated)
        torch.any(self.values[:, self._num_ends :], dim=1, out=self.time_outs)
        return torch.logical_or(self.terminated, self.time_outs, out=self.dones)

    def end(self, mask: torch.Tensor) -> None:
        """Terminate the episodes of the worlds in `mask`, in addition to the terms."""
        self._flags[:2].logical_or_(mask)

    def spare(self, mask: torch.Tensor) -> None:
        """Clear the termination and time-out flags of the worlds in `mask`."""
        self._flags.masked_fill_(mask, False)

    def keep_time_outs(self, besides: torch.Tensor) -> None:
        """Keep time-outs, and terminations in the worlds of `besides`; clear others."""
        self.terminated.copy_(besides)
        torch.logical_or(self.time_outs, besides, out=self.dones)

    def get_term(self, name: str) -> torch.Tensor:
        """Return a term's value in this step, shape (num_envs,), bool, live."""
        return self.values[:, self.column(name)]

    def last_episode(self, name: str) -> torch.Tensor:
        """True where this term ended the last episode, shape (num_envs,), bool."""
        return self._last_episode[:, self.column(name)]

    def reset(self, mask: torch.Tensor) -> None:
        super().reset(mask)
        # An episode without steps, between two successive resets, was not ended by a
        # term.
        steps = self._env.episode_length_buf.unsqueeze(1)
        write_where(self._last_episode, mask, self.values.logical_and(steps))
        self._log.values[:, self._columns] = self._last_episode

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {
            "terminated": self.terminated,
            "time_outs": self.time_outs,
            "dones": self.dones,
            "values": self.values,
            "last_episode": self._last_episode,
        }

    def rows(self) -> list[tuple[str, ...]]:
        sorts = {True: "time-out", False: "termination"}
        return [(name, sorts[self._is_time_out[name]]) for name in self.terms]
