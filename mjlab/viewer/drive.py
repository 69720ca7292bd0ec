"""Velocity commands set by a user or a schedule instead of random sampling."""

from collections.abc import Callable

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.mdp.velocity_command import UniformVelocityCommand

NEVER = 2**53
"""Episode step of the next resampling of a held command; it is never reached."""

AXES = ("lin_vel_x", "lin_vel_y", "ang_vel_z")
"""Axes of the command: forward and left velocity, m/s, yaw rate, rad/s."""


SCHEDULE = (
    (0.0, (0.8, 0.0, 0.0)),
    (3.5, (0.5, 0.0, 0.5)),
    (6.0, (0.0, 0.4, 0.0)),
    (8.5, (0.0, 0.0, 0.0)),
)
"""Commands of a demonstration: forward, turn, sideways, stop. Each entry has its start
time in the episode, s, and a value for each of `AXES`."""

ROUND_S = 10.0
"""Period of the schedule, s."""


class VelocityDrive:
    """Holds a velocity command at a target, in one world or in all."""

    def __init__(self, term: UniformVelocityCommand) -> None:
        """Prepare to drive a command term. It samples until `steer` is called."""
        self._term = term
        self._everyone = torch.ones(term.num_envs, dtype=torch.bool, device=term.device)
        self.limits = tuple(tuple(term.ranges[axis].tolist()) for axis in AXES)
        """Lower and upper limit of each axis in training."""
        self.is_active = False
        """True while the command is held."""
        self.target = (0.0, 0.0, 0.0)
        """Forward and left velocity, m/s, and yaw rate, rad/s."""
        self.world: int | None = None
        """The driven world. None drives all."""
        self._seconds: Callable[[], torch.Tensor] | None = None
        device = term.device
        self._starts = torch.tensor([start for start, _ in SCHEDULE], device=device)
        low, high = torch.tensor(self.limits, device=device).unbind(dim=1)
        commands = torch.tensor([command for _, command in SCHEDULE], device=device)
        self._scheduled = torch.clamp(commands, low, high)

    def present(self, world: int) -> list[float]:
        """Return the current command of a world, in the order of `AXES`."""
        return self._term.state()["command"][world, :3].tolist()

    def release(self) -> None:
        """Sample commands again, from the next step on."""
        if self.is_active:
            self.is_active = False
            self._hold(torch.zeros_like(self._everyone))

    def steer(self, target: tuple[float, float, float], world: int | None) -> None:
        """Hold the command at a target from the next step on.

        Args:
            target: Forward and left velocity, m/s, and yaw rate, rad/s.
            world: The world to drive; others sample as before. None drives all.
        """
        self.target = target
        self.world = world
        self.is_active = True
        self._seconds = None

    def follow_schedule(self, seconds: Callable[[], torch.Tensor]) -> None:
        """Follow `SCHEDULE` in all worlds, within the command's ranges.

        Args:
            seconds: Function that returns the episode time of each world, s, shape
                (num_envs,).
        """
        self.world = None
        self.is_active = True
        self._seconds = seconds

    def apply(self) -> None:
        """Write the held command for a step, if active.

        A world that is reset in the step samples a command for its first observation.
        """
        if not self.is_active:
            return
        driven = self._everyone
        if self.world is not None:
            driven = torch.zeros_like(self._everyone)
            driven[self.world] = True
        self._hold(driven)
        state = self._term.state()
        target = self._present_target()[driven]
        state["drawn"][driven, :3] = target
        state["command"][driven] = target
        state["classes"][driven] = False

    def _present_target(self) -> torch.Tensor:
        """Return the target of each world, shape (num_envs, 3)."""
        if self._seconds is None:
            target = torch.tensor(self.target, device=self._term.device)
            return target.expand(self._term.num_envs, 3)
        seconds = self._seconds() % ROUND_S
        number = torch.searchsorted(self._starts, seconds, right=True)
        return self._scheduled[number - 1]

    def _hold(self, driven: torch.Tensor) -> None:
        """Stop resampling in the worlds of `driven`; restore it in released worlds."""
        ends = self._term.state()["ends"]
        ends[~driven & (ends == NEVER)] = 1
        ends[driven] = NEVER


def find_drives(env: ManagerBasedRlEnv) -> dict[str, VelocityDrive]:
    """Return a drive for each velocity command, by the term's name."""
    return {
        name: VelocityDrive(term)
        for name, term in env.command_manager.terms.items()
        if isinstance(term, UniformVelocityCommand)
    }
