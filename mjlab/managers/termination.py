"""Terminations: which episodes end, and whether they are over or cut short."""

from collections.abc import Mapping

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import BoundTerm, Manager, TermCfg, bind_terms, try_terms
from mjlab.tensors.masks import write_where


class TerminationTermCfg(TermCfg):
    """Declares a condition, a function that returns bool of shape (num_envs,)."""

    time_out: bool = False
    """True for an episode that is cut short rather than brought to its end. Learners go
    on to count on the value of the last state."""


class TerminationManager(Manager[BoundTerm]):
    """Says which episodes end in this step.

    `terminated` and `time_outs` are told apart, and both may hold for one world. All
    tensors keep their values until the next step, also where the world was reset.
    """

    kind = "termination"

    def __init__(self, cfg: Mapping[str, TerminationTermCfg | None], env: Env) -> None:
        """Bind the terms and try each once."""
        super().__init__(bind_terms(cfg, env, kind=self.kind), env)
        try_terms(self.terms.values(), env, torch.bool)
        is_time_out = {name: term.time_out for name, term in cfg.items() if term}
        # Ends first, so that each sort is one range of columns.
        self.columns.sort(key=lambda name: is_time_out[name])
        self._num_ends = len(self.columns) - sum(is_time_out.values())
        self._is_time_out = is_time_out
        bools = {"dtype": torch.bool, "device": env.device}
        self._flags = torch.zeros(3, env.num_envs, **bools)
        self.ends = self._flags[1:]
        """Where `terminated` and `time_outs` hold, shape (2, num_envs)."""
        self.dones = self._flags[0]
        """Episodes that ended in either way in this step, shape (num_envs,)."""
        self.terminated = self._flags[1]
        """Episodes that came to an end in this step, shape (num_envs,)."""
        self.time_outs = self._flags[2]
        """Episodes that were cut short in this step, shape (num_envs,)."""
        self.values = torch.zeros(env.num_envs, len(self.columns), **bools)
        """Values of the terms in the last step, shape (num_envs, terms), ends first."""
        self._last_episode = torch.zeros_like(self.values)
        self._log = env.episode_log
        self._columns = self._log.register(
            [f"Episode_Termination/{name}" for name in self.columns]
        )

    def compute(self) -> torch.Tensor:
        """Find out and return which episodes end, shape (num_envs,), bool."""
        if not self.terms:
            # What `end` wrote in the step before must not last.
            return self._flags.zero_()[0]
        torch.stack([self.terms[n]() for n in self.columns], dim=-1, out=self.values)
        torch.any(self.values[:, : self._num_ends], dim=1, out=self.terminated)
        torch.any(self.values[:, self._num_ends :], dim=1, out=self.time_outs)
        return torch.logical_or(self.terminated, self.time_outs, out=self.dones)

    def end(self, mask: torch.Tensor) -> None:
        """End the episodes of the worlds of `mask`, too, whatever the terms say."""
        self._flags[:2].logical_or_(mask)

    def spare(self, mask: torch.Tensor) -> None:
        """End no episode of the worlds of `mask` in this step."""
        self._flags.masked_fill_(mask, False)

    def keep_time_outs(self, besides: torch.Tensor) -> None:
        """End no episodes but those cut short and those of the worlds of `besides`."""
        self.terminated.copy_(besides)
        torch.logical_or(self.time_outs, besides, out=self.dones)

    def get_term(self, name: str) -> torch.Tensor:
        """Return where a term held in this step, shape (num_envs,), bool, live."""
        return self.values[:, self.column(name)]

    def last_episode(self, name: str) -> torch.Tensor:
        """Return where a term ended the last episode, shape (num_envs,), bool."""
        return self._last_episode[:, self.column(name)]

    def reset(self, mask: torch.Tensor) -> None:
        super().reset(mask)
        # A world that is reset twice has an episode of no steps, which no term ended.
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
        sorts = {True: "time-out", False: "end"}
        return [(name, sorts[self._is_time_out[name]]) for name in self.terms]
