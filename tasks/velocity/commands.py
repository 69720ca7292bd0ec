"""The velocity command, and how fast it asks to move."""

import torch

from mjlab.envs import mdp
from mjlab.managers import CommandTerm
from mjlab.managers.env import Env
from mjlab.mdp.velocity_command import UniformVelocityCommand


class TwistCommandCfg(mdp.UniformVelocityCommandCfg):
    """A velocity command that also knows its speed, which many rewards ask for.

    The speed is that of the linear velocity (m/s) plus that of turning (rad/s).
    """

    standing_speed: float = 0.05
    """Speed up to which a command means to stand."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        """Return the term of one environment."""
        return TwistCommand(name, self, env)


class TwistCommand(UniformVelocityCommand):
    """Draws velocities, and derives their speed once a step for all rewards."""

    def __init__(self, name: str, cfg: TwistCommandCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        if not cfg.standing_speed >= 0.0:
            raise ValueError(f"standing_speed is {cfg.standing_speed}; it is negative.")
        self._standing_speed = cfg.standing_speed
        self.speed = torch.zeros(env.num_envs, device=env.device)
        """m/s plus rad/s, shape (num_envs,), live."""
        self.moving = torch.zeros(env.num_envs, device=env.device)
        """1 where the command is faster than standing, else 0, (num_envs,), live."""

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live tensors that change; copy into them to restore a snapshot."""
        return super().state() | {"speed": self.speed, "moving": self.moving}

    def derive(self) -> None:
        """Set `speed` and `moving` from the command."""
        speed_of(self.command, out=self.speed)
        torch.gt(self.speed, self._standing_speed, out=self.moving)

    def _update(self) -> None:
        super()._update()
        self.derive()


def speed_of(command: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return linear plus turning speed of commands (num_envs, 3), shape (num_envs,)."""
    linear = torch.linalg.vector_norm(command[:, :2], dim=1, out=out)
    return linear.add_(command[:, 2].abs())


def command_speed(env: Env, command_name: str) -> torch.Tensor:
    """Return how fast a command asks to move, m/s plus rad/s, shape (num_envs,)."""
    term = env.command_manager.term(command_name)
    return term.speed if isinstance(term, TwistCommand) else speed_of(term.command)


def moving(env: Env, command_name: str, threshold: float | None = None) -> torch.Tensor:
    """Return 1 where a command asks to move faster than a threshold, else 0.

    Args:
        env: The environment.
        command_name: A velocity command.
        threshold: Speed, m/s plus rad/s. None takes the command's own idea of standing,
            which costs nothing.
    """
    if threshold is None:
        term = env.command_manager.term(command_name)
        if isinstance(term, TwistCommand):
            return term.moving
        threshold = TwistCommandCfg.standing_speed
    speed = command_speed(env, command_name)
    return torch.gt(speed, threshold, out=torch.empty_like(speed))
