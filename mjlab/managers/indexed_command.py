"""Command terms whose methods take world indices, as in mjlab 1.6 and Isaac Lab."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from mjlab.managers.command import CommandTerm, CommandTermCfg
from mjlab.managers.env import Env


class IndexedCommandTermCfg(CommandTermCfg):
    """Configuration of a command term that takes world indices."""

    @abstractmethod
    def build(self, env: Any) -> "IndexedCommandTerm":
        """Create the term for one environment."""

    def bind(self, name: str, env: Env) -> "IndexedCommandTerm":
        term = self.build(env)
        term.join(name)
        return term


class IndexedCommandTerm(CommandTerm):
    """Command term whose methods take `env_ids`, as in mjlab.

    `_resample_command` draws commands before `forward()`, at a reset and in steps in
    which a command is due. In mjlab's step order, commands that are due are drawn after
    `forward()`; a term that writes the state then has to call `sim.forward()`, as in
    mjlab.

    After `forward()`, a step calls `_update_command(None)`, and a reset outside a step
    calls `_update_command(env_ids)`. A term that writes the state in `_update_command`
    has to call `sim.forward()`.

    The indices are copied to the host in each step, so the step cannot be one CUDA
    graph; use a `CommandTerm` to avoid this. PyTorch's random generator is seeded from
    the environment's seed, and all worlds share it.
    """

    needs_ids = True
    writes_state = True
    couples_worlds = True

    def __init__(self, cfg: Any, env: Any) -> None:
        super().__init__("", cfg, env)
        self.metrics: dict[str, torch.Tensor] = {}
        """Metrics of the current episode by name, shape (num_envs,). The constructor of
        a subclass must add all of them."""
        self.command_counter = torch.zeros_like(env.episode_length_buf)
        """Number of commands in the current episode, shape (num_envs,), int64."""
        self._time_left = torch.zeros(env.num_envs, device=env.device)
        # Worlds that were reset since the last call of `advance`.
        self._fresh = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        self._scope: torch.Tensor | None = None
        self._dt = 0.0

    def join(self, name: str) -> None:
        """Name the term, and register its metrics."""
        self.name, self.stream = name, f"command/{name}"
        self.metric_names = tuple(self.metrics)
        size = (self.num_envs, len(self.metrics))
        self.metric_values = torch.zeros(size, device=self.device)

    @property
    def time_left(self) -> torch.Tensor:
        """Time until the next command of each world, s, shape (num_envs,), live."""
        return self._time_left

    def begin_episodes(self) -> None:
        return  # `reset` draws the first commands.

    def advance(self, dt: float) -> None:
        lasts = ~self._fresh  # Commands of new episodes were drawn after this step.
        self._fresh.zero_()
        self._update_metrics()
        if dt > 0.0:
            self._scope = None
            self._time_left.sub_(dt * lasts)
            # Compare with half a step, so that rounding errors do not add a step.
            due = ((self._time_left < 0.5 * dt) & lasts).nonzero().squeeze(-1)
            if len(due) > 0:
                self._draw(due)
        else:
            self._scope = (~lasts).nonzero().squeeze(-1)
        for column, name in enumerate(self.metric_names):
            self.metric_values[:, column] = self.metrics[name]
        self._dt = dt

    def update(self) -> None:
        if self._scope is None or len(self._scope) > 0:
            with self._seeded("update"):
                self.compute(self._dt, self._scope)
            self._env.scene.invalidate()

    def compute(self, dt: float, env_ids: torch.Tensor | None = None) -> None:
        """Update all commands after `forward()`.

        Args:
            dt: Duration of the step that ended, s; 0 after a reset outside a step.
            env_ids: Worlds that were reset outside a step. None means all worlds, in a
                step.
        """
        self._update_command(env_ids)

    def reset(self, mask: torch.Tensor) -> None:
        ids = mask.nonzero().squeeze(-1)
        self._fresh |= mask
        if len(ids) > 0:
            self.reset_ids(ids)

    def reset_ids(self, env_ids: torch.Tensor) -> dict[str, float]:
        """Clear the metrics of some worlds, and draw their commands.

        Returns an empty dictionary. As in mjlab, subclasses can add values to it.
        """
        for name in self.metrics:
            self.metrics[name] = self.metrics[name].index_fill(0, env_ids, 0.0)
        self.command_counter[env_ids] = 0
        self._draw(env_ids)
        return {}

    def state(self) -> dict[str, torch.Tensor]:
        return {
            "time_left": self._time_left,
            "fresh": self._fresh,
            "command_counter": self.command_counter,
            "metrics": self.metric_values,
        }

    @abstractmethod
    def _resample_command(self, env_ids: torch.Tensor) -> None:
        """Draw new commands in some worlds."""

    def _update_command(self, env_ids: torch.Tensor | None) -> None:
        """Update quantities that change from step to step. Does nothing by default.

        Args:
            env_ids: Worlds of a reset outside a step. None means all, in a step.
        """
        return

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        self._draw(mask.nonzero().squeeze(-1))

    def _draw(self, env_ids: torch.Tensor) -> None:
        low, high = self.cfg.resampling_time_range
        unit = self._env.rng.draw(f"{self.stream}/time", ())[env_ids]
        self._time_left[env_ids] = low + unit * (high - low) if high > low else low
        with self._seeded("resample"):
            self._resample_command(env_ids)
        self.command_counter[env_ids] += 1

    @contextmanager
    def _seeded(self, purpose: str) -> Iterator[None]:
        """Seed PyTorch's generator within the block, from world 0's random stream."""
        unit = self._env.rng.draw(f"{self.stream}/{purpose}", ())[0]
        gpus = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(gpus):
            torch.manual_seed(int(unit * 2**24))
            yield
