"""Stepping of displayed worlds at a given speed."""

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
"""Selectable speeds, as multiples of real time."""

_BUDGET_S = 1.0 / 30.0
_SMOOTHING = 0.9


class ViewerError(RuntimeError):
    """Raised when a viewer cannot be opened."""


@dataclass(frozen=True)
class PolicyMenu:
    """Selectable policies, such as the checkpoints of a run."""

    present: str
    """Name of the initial policy."""

    names: Callable[[], Sequence[str]]
    """Function that returns the names of the policies that exist now."""

    load: Callable[[str], Policy]
    """Function that loads a policy by name. It can raise any error."""


class Player:
    """Steps worlds with a policy.

    `tick` must be called from one thread. All other methods that change something can
    be called from any thread: the change is queued, and applied at the next `tick`.
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
            policy: The policy.
            seed: Seed of the worlds' random numbers. None continues the current
                sequence.
            speed: Playback speed, as a multiple of real time.
            scheduled: Use a schedule of velocity commands (forward, turn, sideways,
                stop) instead of random ones, until a drive is steered or released.
            clock: Function that returns a time, s.
        """
        self.env = env
        self.is_paused = False
        """True while paused."""
        self.speed = _checked_speed(speed)
        """Requested speed, as a multiple of real time."""
        self.real_time_factor = 0.0
        """Measured speed, as a multiple of real time."""
        self.steps = 0
        """Number of steps so far."""
        self.drives: dict[str, VelocityDrive] = find_drives(env)
        """Drives of the velocity commands, by name."""
        if scheduled:
            for drive in self.drives.values():
                drive.follow_schedule(lambda: env.episode_length_buf * env.step_dt)
        self._clock = clock
        self._requests: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._owed = 0.0
        self._singles = 0
        self._last = clock()
        self.rollout = Rollout(env, policy, seed=seed)
        """Rollout of the policy in the worlds."""

    @property
    def reward(self) -> torch.Tensor:
        """The last reward, shape (num_envs,)."""
        return self.rollout.reward

    # Requests, callable from any thread.

    def ask(self, request: Callable[[], None]) -> None:
        """Queue a function that runs between two steps.

        Args:
            request: Function to run, in the thread of `tick`.
        """
        self._requests.put(request)

    def pause(self) -> None:
        """Pause the simulation."""
        self.ask(lambda: self._set_paused(True))

    def resume(self) -> None:
        """Resume the simulation."""
        self.ask(lambda: self._set_paused(False))

    def toggle(self) -> None:
        """Pause the simulation, or resume it if it is paused."""
        self.ask(lambda: self._set_paused(not self.is_paused))

    def step_once(self) -> None:
        """Run one step, and pause."""
        self.ask(self._add_single)

    def set_speed(self, speed: float) -> None:
        """Set the playback speed, as a multiple of real time."""
        speed = _checked_speed(speed)
        self.ask(lambda: setattr(self, "speed", speed))

    def reset(self, world: int | None = None) -> None:
        """Start new episodes.

        Args:
            world: The world to reset. None resets all.
        """
        self.ask(lambda: self._reset(world))

    def begin(self, world: int, write: Callable[[torch.Tensor], None]) -> None:
        """Start a new episode from a state that `write` sets.

        Args:
            world: The world.
            write: Function that writes the state of the worlds in a mask. It runs after
                the reset events.
        """
        self.ask(lambda: self._begin(world, write))

    # Stepping, on one thread.

    def tick(self) -> int:
        """Apply queued requests and run the due steps; return their number.

        Steps for which the machine is too slow are dropped, not postponed.
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
        """Apply queued requests."""
        while True:
            try:
                request = self._requests.get_nowait()
            except Empty:
                return
            request()

    def step(self) -> None:
        """Run one step, whether due or not."""
        for drive in self.drives.values():
            drive.apply()
        # Physics uses all processors. Torch has little work here, so it uses one
        # thread.
        with torch_threads(1):
            self.rollout.step()
        self.steps += 1

    def place(self, entity: Entity, world: int, pose: Sequence[float]) -> None:
        """Place a floating entity of a world, at rest.

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
        """Time until the next step is due, s."""
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
