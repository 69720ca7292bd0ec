"""Commands: goals that are drawn anew from time to time."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import torch

from mjlab.managers.env import Env
from mjlab.managers.term import Manager, TermObject, bind_each
from mjlab.settings import Config
from mjlab.tensors.masks import fill_where

_MOST_STEPS = 2**53


class CommandTermCfg(Config, ABC):
    """Declares a command."""

    resampling_time_range: tuple[float, float]
    """Shortest and longest time that a command lasts, in seconds. Infinity keeps it for
    the whole episode."""

    debug_vis: bool = False
    """Drawing of the command in viewers."""

    @abstractmethod
    def bind(self, name: str, env: Env) -> "CommandTerm":
        """Return the term of one environment.

        Args:
            name: The key that the user gave the term.
            env: The environment.
        """


class CommandTerm(TermObject, ABC):
    """A command, bound to an environment.

    Times are counted in steps: a command that is to last k of them is what the policy
    sees k times. A subclass draws in `_resample`, and in `_update` it derives what
    changes from step to step. All its tensors are written in place.
    """

    metric_names: ClassVar[tuple[str, ...]] = ()
    """Names of the figures in `metrics`."""

    labels: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Name and unit of the first numbers of the command, for captions of videos. Empty
    shows all numbers by the term's name."""

    writes_state: bool = False
    """True for a command whose `_resample` writes the state of physics. It then runs
    before `forward()`, where derived quantities of the step that just ended are not
    current."""

    couples_worlds: bool = False
    """True for a command that one world draws by what happened in others."""

    def __init__(
        self, name: str, cfg: CommandTermCfg, env: Env, *, num_draws: int = 0
    ) -> None:
        """Allocate timers and metrics.

        Args:
            name: The key that the user gave the term.
            cfg: Its declaration, which is never written to.
            env: The environment.
            num_draws: How many random numbers `_resample` takes in each world.
        """
        super().__init__(env)
        self.name = name
        self.cfg = cfg
        self.stream = f"command/{name}"
        """The term's name for its random numbers."""
        self._num_draws = num_draws
        self._shortest, longest = _in_steps(cfg.resampling_time_range, env.step_dt)
        # A little below the number of choices, so that rounding never gives one more.
        self._choices = (longest - self._shortest + 1) * (1.0 - 2.0**-20)
        self._lasts_equally = longest == self._shortest
        ints = {"dtype": torch.int64, "device": env.device}
        # The step of the episode at which the command ends; 0 before its first one.
        self._ends = torch.zeros(env.num_envs, **ints)
        size = (env.num_envs, len(self.metric_names))
        self.metric_values = torch.zeros(size, device=env.device)
        """Figures of the episode so far, shape (num_envs, metrics), live."""
        columns = self.metric_values.unbind(dim=1)
        self.metrics = dict(zip(self.metric_names, columns, strict=True))
        """The same by name, each of shape (num_envs,)."""

    @property
    @abstractmethod
    def command(self) -> torch.Tensor:
        """The command, shape (num_envs, d), live."""

    @property
    def time_left(self) -> torch.Tensor:
        """Seconds until each world's next command, shape (num_envs,)."""
        left = self._ends - self._env.episode_length_buf
        return left.clamp(min=0) * self._env.step_dt

    @property
    def begins_episode(self) -> torch.Tensor:
        """Worlds that have no command yet in their episode, shape (num_envs,), bool.

        In `_resample`, it tells a reset from a command that ran out of time.
        """
        return self._ends == 0

    def advance(self, dt: float) -> None:
        """Take the figures of a step, and draw the commands that are due.

        Args:
            dt: Duration of the step that ended, s; 0 after a reset outside a step.
        """
        if dt > 0.0:
            self._update_metrics()
        due = self._is_due()
        unit = self._env.rng.draw(self.stream, (1 + self._num_draws,))
        self._resample(due, unit[:, 1:])
        self._set_timers(due, unit[:, 0])

    def update(self) -> None:
        """Derive the command of this step."""
        self._update()

    def reset(self, mask: torch.Tensor) -> None:
        """Have the worlds of `mask` get new commands in this step, and new figures.

        They are drawn by `advance`, which the environment calls after every reset, so
        that one step draws only once.
        """
        fill_where(self._ends, mask, 0)
        if self.metric_names:
            fill_where(self.metric_values, mask, 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        return {"ends": self._ends, "metrics": self.metric_values}

    @abstractmethod
    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        """Write new commands where `mask`, shape (num_envs,), holds.

        Args:
            mask: The worlds whose command is due.
            unit: Uniform random numbers in [0, 1), shape (num_envs, num_draws).
        """

    def _update(self) -> None:
        """Derive what changes from step to step. By default nothing does."""
        return

    def _update_metrics(self) -> None:
        """Write `metrics`, from the command that was in force in the step."""
        return

    def _is_due(self) -> torch.Tensor:
        """Find the worlds that get a new command, shape (num_envs,)."""
        return self._env.episode_length_buf >= self._ends

    def _average(self, values: torch.Tensor) -> None:
        """Take values of this step, (num_envs, metrics), into the episode's means."""
        # The step of a reset has weight 1, as the first has, which then replaces it.
        share = self._env.episode_length_buf.clamp(min=1).reciprocal()
        self.metric_values.lerp_(values, share.unsqueeze(1))

    def _set_timers(self, due: torch.Tensor, unit: torch.Tensor) -> None:
        length = self._env.episode_length_buf
        if self._lasts_equally:
            ends = length + self._shortest
        else:
            ends = (unit * self._choices).long().add_(self._shortest).add_(length)
        torch.where(due, ends, self._ends, out=self._ends)


class CommandManager(Manager[CommandTerm]):
    """Draws commands and keeps them current."""

    kind = "command"

    def __init__(self, cfg: Mapping[str, CommandTermCfg | None], env: Env) -> None:
        terms = bind_each(cfg, self.kind, lambda name, term: term.bind(name, env))
        super().__init__(terms, env)
        self._writers = [term for term in self.terms.values() if term.writes_state]
        self._others = [term for term in self.terms.values() if not term.writes_state]
        self._columns = {
            name: env.episode_log.register(
                [f"Metrics/{name}/{metric}" for metric in term.metric_names]
            )
            for name, term in self.terms.items()
            if term.metric_names
        }

    get_term = Manager[CommandTerm].term

    def get_command(self, name: str) -> torch.Tensor:
        """Return the command of a term, shape (num_envs, d), live."""
        return self.term(name).command

    def write_state(self, dt: float) -> None:
        """Draw the commands whose drawing writes state; called before `forward()`.

        Args:
            dt: Duration of the step that ended, s; 0 after a reset outside a step.
        """
        for term in self._writers:
            term.advance(dt)

    def compute(self, dt: float) -> None:
        """Take figures, draw the commands that are due, and derive those of this step.

        Args:
            dt: Duration of the step that ended, s; 0 after a reset outside a step.
        """
        for term in self._others:
            term.advance(dt)
        for term in self.terms.values():
            term.update()

    def reset(self, mask: torch.Tensor) -> None:
        # They get new commands in this step.
        for name, columns in self._columns.items():
            self._env.episode_log.values[:, columns] = self.terms[name].metric_values
        super().reset(mask)

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (name, type(term).__name__, str(term.command.shape[1]))
            for name, term in self.terms.items()
        ]

    def debug_vis(self, visualizer: Any) -> None:
        """Draw the terms that ask for it."""
        for term in self.terms.values():
            if term.cfg.debug_vis:
                term.debug_vis(visualizer)


def _in_steps(times: tuple[float, float], step_dt: float) -> tuple[int, int]:
    """Return the shortest and longest time in steps, at least one."""
    low, high = times
    if not 0.0 < low <= high:
        raise ValueError(
            f"resampling_time_range is {times}; it has to be positive and ascending."
        )
    steps = (_MOST_STEPS if math.isinf(t) else round(t / step_dt) for t in times)
    shortest, longest = (min(max(step, 1), _MOST_STEPS) for step in steps)
    return shortest, longest
