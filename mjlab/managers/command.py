"""Command terms: goals that are resampled during an episode."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from mjlab.managers.env import Env, StepOrder
from mjlab.managers.term import Manager, TermObject, bind_each
from mjlab.settings import Config
from mjlab.tensors.masks import fill_where

_MOST_STEPS = 2**53


class CommandTermCfg(Config, ABC):
    """Configuration of a command term."""

    resampling_time_range: tuple[float, float]
    """Shortest and longest time between resamplings, in seconds. Infinity keeps a
    command for the whole episode."""

    debug_vis: bool = False
    """Draw the command in viewers."""

    @abstractmethod
    def bind(self, name: str, env: Env) -> "CommandTerm":
        """Create the term for one environment.

        Args:
            name: Key of the term in the configuration.
            env: The environment.
        """


@dataclass(frozen=True)
class Dial:
    """Part of a command's state that a user can set in a web page, such as a goal."""

    state: str
    """Key of the tensor in `CommandTerm.state`."""

    labels: tuple[str, ...]
    """Name of each element."""

    unit: str
    """Unit of the elements."""

    ranges: tuple[tuple[float, float], ...]
    """Range of each element."""

    is_point: bool = False
    """True if the elements are a point in the world frame; web pages then draw it."""


class CommandTerm(TermObject, ABC):
    """Command term, bound to an environment.

    Durations are whole numbers of steps: the policy observes a command that lasts k
    steps k times. A subclass draws commands in `_resample`, and updates quantities that
    change from step to step in `_update`. All its tensors are updated in place.
    """

    metric_names: ClassVar[tuple[str, ...]] = ()
    """Names of the metrics in `metrics`."""

    labels: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Name and unit of the first components of the command, for video captions. Empty
    shows all components under the term's name."""

    writes_state: bool = False
    """True if `_resample` writes the physics state. It then runs before `forward()`,
    when derived quantities do not match the state yet."""

    needs_ids: bool = False
    """True for a term that takes world indices, which must be copied to the host."""

    couples_worlds: bool = False
    """True if a world's commands depend on the history of other worlds."""

    def __init__(
        self, name: str, cfg: CommandTermCfg, env: Env, *, num_draws: int = 0
    ) -> None:
        """Allocate timers and metrics.

        Args:
            name: Key of the term in the configuration.
            cfg: Configuration of the term, never modified.
            env: The environment.
            num_draws: Number of random numbers per world that `_resample` uses.
        """
        super().__init__(env)
        self.name = name
        self.cfg = cfg
        self.stream = f"command/{name}"
        """Name of the term's random stream."""
        self._num_draws = num_draws
        self._shortest, longest = _in_steps(cfg.resampling_time_range, env.step_dt)
        # Slightly below the number of choices, so that a rounded product with a number
        # below 1 stays below it.
        self._choices = (longest - self._shortest + 1) * (1.0 - 2.0**-20)
        self._lasts_equally = longest == self._shortest
        ints = {"dtype": torch.int64, "device": env.device}
        # Episode step at which the command ends; 0 before the first command.
        self._ends = torch.zeros(env.num_envs, **ints)
        size = (env.num_envs, len(self.metric_names))
        self.metric_values = torch.zeros(size, device=env.device)
        """Metrics of the current episode, shape (num_envs, metrics), live."""
        columns = self.metric_values.unbind(dim=1)
        self.metrics = dict(zip(self.metric_names, columns, strict=True))
        """Columns of `metric_values` by name, each of shape (num_envs,)."""

    @property
    @abstractmethod
    def command(self) -> torch.Tensor:
        """The command, shape (num_envs, d), live."""

    @property
    def time_left(self) -> torch.Tensor:
        """Time until the next resampling of each world, s, shape (num_envs,)."""
        left = self._ends - self._env.episode_length_buf
        return left.clamp(min=0) * self._env.step_dt

    @property
    def begins_episode(self) -> torch.Tensor:
        """Worlds without a command in their current episode, shape (num_envs,), bool.

        In `_resample`, this distinguishes new episodes from expired commands.
        """
        return self._ends == 0

    def begin_episodes(self) -> None:
        """Draw the first commands of new episodes. Only used in mjlab's step order."""
        self._draw_where(self.begins_episode)

    def advance(self, dt: float) -> None:
        """Update the metrics of a step, then resample the commands that are due.

        Args:
            dt: Duration of the step that ended, s; 0 after a reset outside a step.
        """
        if dt > 0.0:
            self._update_metrics()
        self._draw_where(self._is_due())

    def update(self) -> None:
        """Update quantities of the command that change from step to step."""
        self._update()

    def reset(self, mask: torch.Tensor) -> None:
        """Mark the commands of worlds in `mask` as due, and clear their metrics.

        `advance`, which the environment calls after every reset, draws the commands, so
        each step draws only once.
        """
        fill_where(self._ends, mask, 0)
        if self.metric_names:
            fill_where(self.metric_values, mask, 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        return {"ends": self._ends, "metrics": self.metric_values}

    @abstractmethod
    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        """Write new commands where `mask`, shape (num_envs,), is True.

        Args:
            mask: Worlds whose command is due.
            unit: Uniform random numbers in [0, 1), shape (num_envs, num_draws).
        """

    def _update(self) -> None:
        """Update quantities that change from step to step. Does nothing by default."""
        return

    def derive(self) -> None:
        """Compute the tensors of the term that depend only on `command`.

        An exported policy receives only the command as an input, but its observation
        terms can also read these tensors. Does nothing by default.
        """
        return

    def dials(self) -> tuple[Dial, ...]:
        """Return the parts of the state that a user can set in a web page.

        A page with an exported policy shows them as sliders. Empty by default.
        """
        return ()

    def _update_metrics(self) -> None:
        """Write `metrics`, from the command that was active during the step."""
        return

    def _is_due(self) -> torch.Tensor:
        """Worlds that get a new command, shape (num_envs,)."""
        return self._env.episode_length_buf >= self._ends

    def _draw_where(self, due: torch.Tensor) -> None:
        """Draw commands and their durations in the worlds of `due`."""
        unit = self._env.rng.draw(self.stream, (1 + self._num_draws,))
        self._resample(due, unit[:, 1:])
        self._set_timers(due, unit[:, 0])

    def _average(self, values: torch.Tensor) -> None:
        """Add values of this step, (num_envs, metrics), to the episode means."""
        # The values of the reset and of the first step both have weight 1, so the first
        # step replaces the values of the reset.
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
    """Manager of the command terms: resamples and updates commands."""

    kind = "command"

    def __init__(
        self,
        cfg: Mapping[str, CommandTermCfg | None],
        env: Env,
        *,
        step_order: StepOrder = "default",
    ) -> None:
        """Bind the terms.

        Args:
            cfg: The commands by name. None disables a command.
            env: The environment.
            step_order: When commands are drawn; see `ManagerBasedRlEnvCfg`.
        """
        terms = bind_each(cfg, self.kind, lambda name, term: term.bind(name, env))
        super().__init__(terms, env)
        each = list(self.terms.values())
        self._writers = [term for term in each if term.writes_state]
        self._begin_early: list[CommandTerm] = []
        if step_order == "mjlab":
            # Terms with world indices call `forward()` themselves, as in mjlab.
            self._writers = [term for term in self._writers if not term.needs_ids]
            self._begin_early = [term for term in each if term not in self._writers]
        self._others = [term for term in each if term not in self._writers]
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
        """Resample the commands that write the physics state, before `forward()`.

        In mjlab's step order, also draw the first commands of all new episodes.

        Args:
            dt: Duration of the step that ended, s; 0 after a reset outside a step.
        """
        for term in self._writers:
            term.advance(dt)
        for term in self._begin_early:
            term.begin_episodes()

    def compute(self, dt: float) -> None:
        """Update metrics, resample the commands that are due, and update all commands.

        Args:
            dt: Duration of the step that ended, s; 0 after a reset outside a step.
        """
        for term in self._others:
            term.advance(dt)
        for term in self.terms.values():
            term.update()

    def reset(self, mask: torch.Tensor) -> None:
        # Log the metrics of finished episodes before `super().reset` clears them.
        for name, columns in self._columns.items():
            self._env.episode_log.values[:, columns] = self.terms[name].metric_values
        super().reset(mask)

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (name, type(term).__name__, str(term.command.shape[1]))
            for name, term in self.terms.items()
        ]

    def debug_vis(self, visualizer: Any) -> None:
        """Draw the terms with `debug_vis` enabled."""
        for term in self.terms.values():
            if term.cfg.debug_vis:
                term.debug_vis(visualizer)


def _in_steps(times: tuple[float, float], step_dt: float) -> tuple[int, int]:
    """Convert the shortest and longest time, s, to steps, at least one step each."""
    low, high = times
    if not 0.0 < low <= high:
        raise ValueError(
            f"resampling_time_range is {times}; it has to be (low, high) with "
            "0 < low <= high."
        )
    steps = (_MOST_STEPS if math.isinf(t) else round(t / step_dt) for t in times)
    shortest, longest = (min(max(step, 1), _MOST_STEPS) for step in steps)
    return shortest, longest
