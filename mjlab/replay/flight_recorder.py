"""Record the last steps of all worlds, and dump the worlds that have a fault."""

import logging
from collections.abc import Callable
from typing import Self

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.runner import StepObserver
from mjlab.replay.dumps import (
    ENGINE,
    NONFINITE,
    DumpFolder,
    Fault,
    State,
    StepWindow,
)
from mjlab.sim.engine import EngineError

_log = logging.getLogger(__name__)

STATE = ("qpos", "qvel", "act", "ctrl")
"""Recorded fields of MuJoCo's data: state before each step, and last controls."""


class FlightRecorder(StepObserver):
    """Stores the last steps of an environment in a ring buffer on the device.

    The state is copied outside the CUDA graph, so the step itself is unchanged. The
    buffer is allocated once, and copied to the host only if there is a fault.
    """

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        folder: DumpFolder,
        *,
        steps: int,
        iteration: Callable[[], int] = lambda: 0,
    ) -> None:
        """Record until `detach`.

        Args:
            env: The environment.
            folder: Folder to which dumps are written.
            steps: Minimum number of recorded steps before a fault. `env.take_log`,
                which examines the steps, must be called at least every `steps` steps.
            iteration: Function that returns the current training iteration.
        """
        self._env = env
        self._folder = folder
        self._iteration = iteration
        self._period = steps
        self._live: State = {
            **{name: env.sim.engine.data(name) for name in STATE},
            "episode_length": env.episode_length_buf,
            "actions": env.action_manager.incoming,
        }
        self._ring: State = {
            name: live.new_zeros((2 * steps, *live.shape))
            for name, live in self._live.items()
        }
        self._nonfinite = torch.zeros(
            (2 * steps, env.num_envs), dtype=torch.bool, device=env.device
        )
        self._clear()
        env.observers.append(self)

    def _clear(self) -> None:
        self._count = 0
        self._keyframes: list[tuple[int, State]] = []
        """States from which a replay can start: step index, and the complete state
        before the step."""
        self._mark_examined()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, *rest: object
    ) -> None:
        """Dump faults if the block raises: non-finite values can be the cause."""
        if isinstance(error, Exception):
            try:
                self.examine()
            except Exception:
                # The error that ends the run must be raised, not this one.
                _log.exception("The last steps were not dumped.")

    def detach(self) -> None:
        """Stop recording."""
        self._env.observers.remove(self)

    # Interface of an observer.

    def before_step(self) -> None:
        if self._count % self._period == 0:
            # Drop the older keyframe first, to have at most two in memory.
            self._keyframes = self._keyframes[-1:]
            self._keyframes.append((self._count, self._env.get_state()))
        for name, live in self._live.items():
            self._ring[name][self._place].copy_(live)

    def step_failed(self, error: EngineError) -> None:
        self._nonfinite[self._place].zero_()
        faults = [Fault(ENGINE, world, self._count) for world in error.worlds]
        self._count += 1
        self._dump(faults)

    def after_step(self) -> None:
        wrong = self._nonfinite[self._place]
        torch.logical_or(
            self._env.nonfinite.diverged, self._bad_observations(), out=wrong
        )
        self._count += 1

    def interrupted(self) -> None:
        # Worlds were reset or their state was replaced, so a replay cannot continue.
        self._clear()

    def before_counts(self) -> None:
        self.examine()

    # Faults.

    def examine(self) -> None:
        """Dump worlds with new faults since the last call.

        Synchronises with the device.
        """
        faults = [*self._nonfinite_faults(), *self._overflows()]
        self._mark_examined()
        if self._keyframes:
            self._dump(faults)

    def window(self) -> StepWindow:
        """Return all recorded steps since the oldest keyframe."""
        first, state = self._keyframes[0]
        places = self._places(first)
        steps = {name: ring[places] for name, ring in self._ring.items()}
        steps["nonfinite"] = self._nonfinite[places]
        return StepWindow(first=first, steps=steps, start=state)

    @property
    def _place(self) -> int:
        return self._count % (2 * self._period)

    def _places(self, first: int) -> list[int]:
        return [step % (2 * self._period) for step in range(first, self._count)]

    def _mark_examined(self) -> None:
        """Mark all present faults as known, so that each is dumped once."""
        self._examined = self._count
        overflow = self._env.sim.engine.overflow()
        self._overflow = {kind: counts.clone() for kind, counts in overflow.items()}

    def _dump(self, faults: list[Fault]) -> None:
        if faults:
            self._folder.add(self._iteration(), faults, self.window(), self._env)

    def _nonfinite_faults(self) -> list[Fault]:
        """Return the first non-finite step of each world that has one, as a fault."""
        if not self._keyframes:
            return []
        first = max(self._keyframes[0][0], self._examined)
        found: dict[int, Fault] = {}
        for step, world in self._nonfinite[self._places(first)].nonzero().tolist():
            found.setdefault(world, Fault(NONFINITE, world, first + step))
        return list(found.values())

    def _overflows(self) -> list[Fault]:
        """Return a fault, with unknown step, for each world with a full buffer."""
        return [
            Fault(kind, world, None)
            for kind, counts in self._env.sim.engine.overflow().items()
            for world in (counts > self._overflow[kind]).nonzero().flatten().tolist()
        ]

    def _bad_observations(self) -> torch.Tensor:
        """Return a mask of worlds with a non-finite observation, shape (num_envs,)."""
        outputs = [
            tensor
            for group in self._env.observation_manager.output.values()
            for tensor in (group.values() if isinstance(group, dict) else [group])
        ]
        sums = [out.flatten(1).sum(dim=1, dtype=torch.float32) for out in outputs]
        if not sums:
            return self._env.nonfinite.diverged
        return torch.stack(sums, dim=-1).isfinite().all(dim=-1).logical_not_()
