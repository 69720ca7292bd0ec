"""A record of the last steps of all worlds, for when something goes wrong in one."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.runner import StepObserver
from mjlab.faults.files import ENGINE, NONFINITE, DumpFolder, Fault, State, Window
from mjlab.sim.engine import EngineError

_log = logging.getLogger(__name__)

FIELDS = ("qpos", "qvel", "act", "ctrl", "episode_length", "action")
"""What is recorded of each step: the state in which it begins, the control that was
set last, and the action."""


@dataclass(frozen=True)
class Keyframe:
    """The whole state of all worlds, from which they can go on."""

    index: int
    """The recorded step that begins with it."""

    state: State
    """As of `ManagerBasedRlEnv.get_state`."""


@dataclass
class _Seen:
    """What is known already, so that a fault is told once."""

    steps: int = 0
    overflow: dict[str, torch.Tensor] = field(default_factory=dict)


class FlightRecorder(StepObserver):
    """Keeps the last steps of an environment.

    It watches from outside of what a CUDA graph holds, so that the step itself stays as
    it is. The record has its memory from the start, and
    nothing is read back to the host until something is known to be wrong.
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
            **{name: env.sim.engine.data(name) for name in FIELDS[:4]},
            "episode_length": env.episode_length_buf,
            "action": env.action_manager.incoming,
        }
        self._ring: State = {
            name: torch.zeros(
                (2 * steps, *live.shape), dtype=live.dtype, device=env.device
            )
            for name, live in self._live.items()
        }
        self._wrong = torch.zeros(
            (2 * steps, env.num_envs), dtype=torch.bool, device=env.device
        )
        self._count = 0
        self._keyframes: list[Keyframe] = []
        self._seen = _Seen(overflow=self._overflow())
        env.observers.append(self)

    def __enter__(self) -> "FlightRecorder":
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
        """Record what a step begins with."""
        if self._count % self._period == 0:
            # The older one goes first, so that there are never three of them.
            self._keyframes = self._keyframes[-1:]
            self._keyframes.append(Keyframe(self._count, self._env.get_state()))
        place = self._count % (2 * self._period)
        for name, live in self._live.items():
            self._ring[name][place].copy_(live)

    def step_failed(self, error: EngineError) -> None:
        """Dump the worlds in which the engine could not go on."""
        self._wrong[self._count % (2 * self._period)].zero_()
        self._count += 1
        faults = [Fault(ENGINE, w, self._count - 1) for w in error.worlds]
        if faults:
            self._folder.add(self._iteration(), faults, self.window(), self._env)

    def after_step(self) -> None:
        """Note which worlds are not finite."""
        wrong = self._wrong[self._count % (2 * self._period)]
        torch.logical_or(self._env.nonfinite.found, self._unseeable(), out=wrong)
        self._count += 1

    def interrupted(self) -> None:
        """Begin anew, because worlds are no longer where the last step left them."""
        self._count = 0
        self._keyframes = []
        self._seen = _Seen(overflow=self._overflow())

    def before_counts(self) -> None:
        """Look for what went wrong since the last time."""
        self.examine()

    # As a record.

    def examine(self) -> None:
        """Look for what went wrong since the last time, and dump it.

        This waits for the device.
        """
        faults = [*self._nonfinite(), *self._overflows()]
        self._seen = _Seen(self._count, self._overflow())
        if faults and self._keyframes:
            self._folder.add(self._iteration(), faults, self.window(), self._env)

    def window(self) -> Window:
        """All steps that can be gone through again."""
        keyframe = self._keyframes[0]
        places = [i % (2 * self._period) for i in range(keyframe.index, self._count)]
        steps = {name: ring[places] for name, ring in self._ring.items()}
        return Window(
            first=keyframe.index,
            steps=steps | {"wrong": self._wrong[places]},
            start=keyframe.state,
        )

    def _nonfinite(self) -> list[Fault]:
        """Worlds that were not finite, the first step of each, the earliest first."""
        if not self._keyframes:
            return []
        first = max(self._keyframes[0].index, self._seen.steps)
        places = [i % (2 * self._period) for i in range(first, self._count)]
        found: dict[int, Fault] = {}
        for step, world in self._wrong[places].nonzero().tolist():
            found.setdefault(world, Fault(NONFINITE, world, first + step))
        return list(found.values())

    def _overflows(self) -> list[Fault]:
        """Worlds in which something found no room; which step it was is not known."""
        before = self._seen.overflow
        return [
            Fault(kind, world, None)
            for kind, counts in self._overflow().items()
            for world in (counts > before[kind]).nonzero().flatten().tolist()
        ]

    def _overflow(self) -> State:
        return {k: v.clone() for k, v in self._env.sim.engine.overflow().items()}

    def _unseeable(self) -> torch.Tensor:
        """Worlds with an observation that is not finite, shape (num_envs,)."""
        outputs = _flat(self._env.observation_manager.output)
        sums = [out.flatten(1).sum(dim=1, dtype=torch.float32) for out in outputs]
        if not sums:
            return self._env.nonfinite.found
        return torch.stack(sums, dim=-1).isfinite().all(dim=-1).logical_not_()


def _flat(output: Mapping[str, Any]) -> list[torch.Tensor]:
    return [
        tensor
        for group in output.values()
        for tensor in (group.values() if isinstance(group, dict) else [group])
    ]
