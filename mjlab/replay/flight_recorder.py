"""A ring of the last steps of all worlds, for when something goes wrong in one."""

import logging
from collections.abc import Callable
from typing import Self

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.runner import StepObserver
from mjlab.replay.dump_files import (
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
"""Fields that are recorded of each step: the state in which it begins, and the control
that was set last."""


class FlightRecorder(StepObserver):
    """Keeps the last steps of an environment.

    It watches from outside of what a CUDA graph holds, so that the step itself stays as
    it is. The ring has its memory from the start, and nothing is read back to the host
    until something is known to be wrong.
    """

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        folder: DumpFolder,
        *,
        steps: int,
        iteration: Callable[[], int] = lambda: 0,
    ) -> None:
        """Begin to record, until `detach`.

        Args:
            env: The environment.
            folder: Where dumps go.
            steps: Steps that are kept before a fault. Faults have to be looked for
                (`env.take_log`) at least as often.
            iteration: Says which iteration it is.
        """
        self._env = env
        self._folder = folder
        self._iteration = iteration
        self._period = steps
        self._live: State = {
            **{name: env.sim.engine.data(name) for name in STATE},
            "episode_length": env.episode_length_buf,
            "action": env.action_manager.incoming,
        }
        self._ring: State = {
            name: live.new_zeros((2 * steps, *live.shape))
            for name, live in self._live.items()
        }
        self._wrong = torch.zeros(
            (2 * steps, env.num_envs), dtype=torch.bool, device=env.device
        )
        self._clear()
        env.observers.append(self)

    def _clear(self) -> None:
        self._count = 0
        self._keyframes: list[tuple[int, State]] = []
        """Steps with the whole state in which each began, from which to go on."""
        self._mark_examined()

    def __enter__(self) -> Self:
        """Begin what may fail because of a fault."""
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, *rest: object
    ) -> None:
        """Look for faults if it failed: what is not finite fails sooner or later."""
        if isinstance(error, Exception):
            try:
                self.examine()
            except Exception:
                # The error that ends the run is the one to tell.
                _log.exception("The last steps were not dumped.")

    def detach(self) -> None:
        """Stop recording, and leave the environment as it was."""
        self._env.observers.remove(self)

    # As an observer.

    def before_step(self) -> None:
        if self._count % self._period == 0:
            # The older one goes first, so that there are never three of them.
            self._keyframes = self._keyframes[-1:]
            self._keyframes.append((self._count, self._env.get_state()))
        for name, live in self._live.items():
            self._ring[name][self._place].copy_(live)

    def step_failed(self, error: EngineError) -> None:
        self._wrong[self._place].zero_()
        faults = [Fault(ENGINE, world, self._count) for world in error.worlds]
        self._count += 1
        self._dump(faults)

    def after_step(self) -> None:
        wrong = self._wrong[self._place]
        torch.logical_or(self._env.nonfinite.diverged, self._unseeable(), out=wrong)
        self._count += 1

    def interrupted(self) -> None:
        # Worlds are no longer where the last step left them.
        self._clear()

    def before_counts(self) -> None:
        self.examine()

    # As a record.

    def examine(self) -> None:
        """Look for what went wrong since the last time, and dump it.

        This waits for the device.
        """
        faults = [*self._nonfinite(), *self._overflows()]
        self._mark_examined()
        if self._keyframes:
            self._dump(faults)

    def window(self) -> StepWindow:
        """Return all steps that can be gone through again."""
        first, state = self._keyframes[0]
        places = self._places(first)
        steps = {name: ring[places] for name, ring in self._ring.items()}
        steps["wrong"] = self._wrong[places]
        return StepWindow(first=first, steps=steps, start=state)

    @property
    def _place(self) -> int:
        return self._count % (2 * self._period)

    def _places(self, first: int) -> list[int]:
        return [step % (2 * self._period) for step in range(first, self._count)]

    def _mark_examined(self) -> None:
        """Remember what is known by now, so that a fault is told once."""
        self._examined = self._count
        overflow = self._env.sim.engine.overflow()
        self._overflow = {kind: counts.clone() for kind, counts in overflow.items()}

    def _dump(self, faults: list[Fault]) -> None:
        if faults:
            self._folder.add(self._iteration(), faults, self.window(), self._env)

    def _nonfinite(self) -> list[Fault]:
        """Return worlds that were not finite, by the first step of each."""
        if not self._keyframes:
            return []
        first = max(self._keyframes[0][0], self._examined)
        found: dict[int, Fault] = {}
        for step, world in self._wrong[self._places(first)].nonzero().tolist():
            found.setdefault(world, Fault(NONFINITE, world, first + step))
        return list(found.values())

    def _overflows(self) -> list[Fault]:
        """Return worlds in which something found no room, in a step not known."""
        return [
            Fault(kind, world, None)
            for kind, counts in self._env.sim.engine.overflow().items()
            for world in (counts > self._overflow[kind]).nonzero().flatten().tolist()
        ]

    def _unseeable(self) -> torch.Tensor:
        """Return worlds with an observation that is not finite, shape (num_envs,)."""
        outputs = [
            tensor
            for group in self._env.observation_manager.output.values()
            for tensor in (group.values() if isinstance(group, dict) else [group])
        ]
        sums = [out.flatten(1).sum(dim=1, dtype=torch.float32) for out in outputs]
        if not sums:
            return self._env.nonfinite.diverged
        return torch.stack(sums, dim=-1).isfinite().all(dim=-1).logical_not_()
