"""Stepping of worlds that are watched, at the speed that is asked for."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import torch

from mjlab.entity import Entity
from mjlab.envs import ManagerBasedRlEnv, Policy, Rollout
from mjlab.threads import torch_threads
from mjlab.viewer.drive import VelocityDrive, find_drives

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Speeds to choose from, as multiples of real time."""

_BUDGET_S = 1.0 / 30.0
_SMOOTHING = 0.9


class ViewerError(RuntimeError):
    """Nothing can be shown here."""


@dataclass(frozen=True)
class PolicyMenu:
    """Policies to choose from while playing, such as the checkpoints of a run."""

    present: str
    """The one that acts at first."""

    names: Callable[[], Sequence[str]]
    """Returns all that there are by now."""

    load: Callable[[str], Policy]
    """Returns one by its name, or raises."""


class Player:
    """Steps worlds with a policy.

    `tick` belongs to one thread. Everything else that changes something may be called
    from any thread: it is noted, and done at the next `tick`.
    """

    def __init__(
        self,
        env: ManagerBasedRlEnv,
        policy: Policy,
        *,
        seed: int | None = None,
        speed: float = 1.0,
        scheduled: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Start new episodes.

        Args:
            env: The worlds.
            policy: What acts in them.
            seed: Seed of the worlds' random numbers. None goes on with the present.
            speed: How fast time passes, as a multiple of real time.
            scheduled: Whether velocity commands follow a schedule (forward, turn,
                sideways, stop) instead of chance, until a drive is steered or released.
            clock: Seconds since some moment.
        """
        self.env = env
        self.is_paused = False
        """True while time stands still."""
        self.speed = _checked_speed(speed)
        """Speed that is asked for, as a multiple of real time."""
        self.real_time_factor = 0.0
        """Speed that is reached, as a multiple of real time."""
        self.steps = 0
        """Steps so far."""
        self.drives: dict[str, VelocityDrive] = find_drives(env)
        """Velocity commands by name, to be set by hand."""
        if scheduled:
            for drive in self.drives.values():
                drive.follow_schedule(lambda: env.episode_length_buf * env.step_dt)
        self._clock = clock
        self._requests: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._owed = 0.0
        self._singles = 0
        self._last = clock()
        self.rollout = Rollout(env, policy, seed=seed)
        """The policy in its worlds."""

    @property
    def reward(self) -> torch.Tensor:
        """The last reward, shape (num_envs,)."""
        return self.rollout.reward

    # What any thread may ask for.

    def ask(self, request: Callable[[], None]) -> None:
        """Have something done between two steps.

        Args:
            request: Is called by the thread that ticks.
        """
        self._requests.put(request)

    def pause(self) -> None:
        """Stop time."""
        self.ask(lambda: self._set_paused(True))

    def resume(self) -> None:
        """Let time pass."""
        self.ask(lambda: self._set_paused(False))

    def toggle(self) -> None:
        """Stop time, or let it pass."""
        self.ask(lambda: self._set_paused(not self.is_paused))

    def step_once(self) -> None:
        """Do one step, and pause."""
        self.ask(self._add_single)

    def set_speed(self, speed: float) -> None:
        """Have time pass at a multiple of real time."""
        speed = _checked_speed(speed)
        self.ask(lambda: setattr(self, "speed", speed))

    def reset(self, world: int | None = None) -> None:
        """Start new episodes.

        Args:
            world: The world to reset. None resets all.
        """
        self.ask(lambda: self._reset(world))

    def begin(self, world: int, write: Callable[[torch.Tensor], None]) -> None:
        """Start a new episode from a state that is written by hand.

        Args:
            world: The world.
            write: Writes the state where a mask holds, after the reset events.
        """
        self.ask(lambda: self._begin(world, write))

    # What one thread does.

    def tick(self) -> int:
        """Do what was asked for, and the steps that are due; return how many.

        Steps that the machine is too slow for are left out, not put off.
        """
        now = self._clock()
        elapsed, self._last = now - self._last, now
        self.answer()
        if self.is_paused:
            due, self._singles = self._singles, 0
            for _ in range(due):
                self.step()
            return due
        self._owed += elapsed * self.speed / self.env.step_dt
        done = 0
        while self._owed >= 1.0 and self._clock() - now < _BUDGET_S:
            self.step()
            self._owed -= 1.0
            done += 1
        self._owed = min(self._owed, 1.0)
        self._measure(done, elapsed)
        return done

    def answer(self) -> None:
        """Do what was asked for."""
        while True:
            try:
                request = self._requests.get_nowait()
            except Empty:
                return
            request()

    def step(self) -> None:
        """Do one step, due or not."""
        for drive in self.drives.values():
            drive.apply()
        # Physics uses all processors, so torch, whose work here is small, uses one.
        with torch_threads(1):
            self.rollout.step()
        self.steps += 1

    def place(self, entity: Entity, world: int, pose: Sequence[float]) -> None:
        """Put a free entity of a world somewhere, at rest.

        Args:
            entity: The entity.
            world: The world.
            pose: Position, m, and quaternion wxyz.
        """
        mask = self._mask(world)
        root = torch.tensor(pose, dtype=torch.float32, device=self.env.device)
        entity.write_root_pose_w(mask, root.expand(self.env.num_envs, 7))
        entity.write_root_velocity_w(
            mask, torch.zeros_like(root[:6]).expand(len(mask), 6)
        )
        self.env.sim.forward()
        self.env.scene.refresh()

    @property
    def seconds_to_next(self) -> float:
        """Time until a step is due, s."""
        if self.is_paused:
            return _BUDGET_S
        left = (1.0 - self._owed) * self.env.step_dt / self.speed
        return min(max(left, 0.0), _BUDGET_S)

    def _reset(self, world: int | None) -> None:
        self.rollout.reset(self._mask(world))

    def _begin(self, world: int, write: Callable[[torch.Tensor], None]) -> None:
        mask, phases = self._mask(world), self.env.lifecycle
        phases.initialise(mask)
        phases.apply()
        write(mask)
        phases.update_kinematics()
        self.rollout.observations = phases.observe()[0]
        self.rollout.policy.reset(mask)

    def _mask(self, world: int | None) -> torch.Tensor:
        mask = torch.ones(self.env.num_envs, dtype=torch.bool, device=self.env.device)
        if world is not None:
            mask.zero_()
            mask[world] = True
        return mask

    def _set_paused(self, paused: bool) -> None:
        self.is_paused = paused
        self._owed = 0.0

    def _add_single(self) -> None:
        self._set_paused(True)
        self._singles += 1

    def _measure(self, done: int, elapsed: float) -> None:
        if elapsed > 0.0:
            factor = done * self.env.step_dt / elapsed
            change = (1.0 - _SMOOTHING) * (factor - self.real_time_factor)
            self.real_time_factor += change


def _checked_speed(speed: float) -> float:
    if not (math.isfinite(speed) and speed > 0.0):
        raise ValueError(f"speed={speed} has to be above 0.")
    return speed
