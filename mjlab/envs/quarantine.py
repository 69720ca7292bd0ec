"""Worlds whose numbers are not finite: ended, counted, and kept out of learning."""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from mjlab.envs.env import ManagerBasedRlEnv


class TooManyNonfiniteError(RuntimeError):
    """More worlds were not finite than the configuration puts up with."""


class Quarantine:
    """Ends the episode of a world whose state, control or reward is not finite.

    The run goes on: such a world is reset like any other that ended, its reward of
    that step is zero, and it is counted, by the term where that is known.
    """

    def __init__(self, env: "ManagerBasedRlEnv") -> None:
        self._env = env
        self._bad = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        counter = {"dtype": torch.int64, "device": env.device}
        self._worlds = torch.zeros((), **counter)
        # The step counter when counts were taken last.
        self._since = torch.zeros((), **counter)

        self._overflowed: dict[str, int] = {}
        self.before_account: Callable[[], None] | None = None
        """Is called before counts are taken, and before a run is stopped for them."""

    @property
    def found(self) -> torch.Tensor:
        """Worlds that were not finite in the last step, shape (num_envs,), bool."""
        return self._bad

    def find(self) -> torch.Tensor:
        """Find worlds whose state is not finite, shape (num_envs,), bool."""
        return self._bad.copy_(self._env.sim.health.check())

    def silence(self) -> None:
        """End the episodes of worlds whose state or reward is not finite.

        The reward manager has kept them out of reward and sums already.
        """
        self._bad.logical_or_(self._env.reward_manager.nonfinite)
        self._env.termination_manager.end(self._bad)
        self._worlds += self._bad.sum()

    def take(self) -> dict[str, float]:
        """Counts since the last call; raises if they are too many.

        This waits for the device.
        """
        if self.before_account is not None:
            self.before_account()
        env = self._env
        worlds = int(self._worlds)
        steps = int(env.common_step_counter - self._since)
        self._worlds.zero_()
        self._since.copy_(env.common_step_counter)
        share = worlds / max(1, steps * env.num_envs)
        by_term = {
            name: count
            for manager in (
                env.action_manager,
                env.reward_manager,
                env.observation_manager,
                env.metrics_manager,
            )
            for name, count in manager.take_nonfinite().items()
            if count
        }
        if share > env.cfg.max_nonfinite_share:
            said = ", ".join(f"{name} {count}" for name, count in by_term.items())
            raise TooManyNonfiniteError(
                f"{worlds} of {steps * env.num_envs} world steps ended in numbers that "
                f"are not finite, a share of {share:.3f}; max_nonfinite_share is "
                f"{env.cfg.max_nonfinite_share}. By term: {said or 'none but physics'}."
            )
        counts = {f"Health/nonfinite/{name}": float(n) for name, n in by_term.items()}
        return {"Health/nonfinite": float(worlds)} | counts | self._overflows()

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        return {"worlds": self._worlds, "since": self._since}

    def _overflows(self) -> dict[str, float]:
        """Events of missing room since the last call; a new one is said aloud."""
        report = self._env.sim.health.read()
        new = {k: n - self._overflowed.get(k, 0) for k, n in report.overflow.items()}
        self._overflowed = dict(report.overflow)
        if any(n > 0 for n in new.values()):
            warnings.warn("; ".join(report.advice), RuntimeWarning, stacklevel=4)
        return {f"Health/overflow/{kind}": float(n) for kind, n in new.items()}
