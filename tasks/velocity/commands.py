"""Velocity command that also provides the commanded speed."""

import torch

from mjlab.envs import mdp
from mjlab.managers import CommandTerm
from mjlab.managers.env import Env
from mjlab.mdp.velocity_command import UniformVelocityCommand


class TwistCommandCfg(mdp.UniformVelocityCommandCfg):
    """Velocity command that also provides its speed, which many rewards need.

    The speed is the linear speed (m/s) plus the absolute yaw rate (rad/s).
    """

    standing_speed: float = 0.05
    """Maximum speed of a standing command. With a negative value no command counts as
    standing, so a clocked gait steps in place at zero command."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        return TwistCommand(name, self, env)


class TwistCommand(UniformVelocityCommand):
    """Samples velocities, and computes their speed once per step for all rewards."""

    def __init__(self, name: str, cfg: TwistCommandCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        self._standing_speed = cfg.standing_speed
        self.speed = torch.zeros(env.num_envs, device=env.device)
        """Speed |(vx, vy)| + |yaw rate|, m/s plus rad/s, shape (num_envs,), live."""
        self.moving = torch.zeros(env.num_envs, device=env.device)
        """1 where the command is faster than standing, otherwise 0, (num_envs,),
        live."""

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {"speed": self.speed, "moving": self.moving}

    def derive(self) -> None:
        """Set `speed` and `moving` from the command."""
        speed_of(self.command, out=self.speed)
        torch.gt(self.speed, self._standing_speed, out=self.moving)

    def _update(self) -> None:
        super()._update()
        self.derive()


def speed_of(command: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return |(vx, vy)| + |yaw rate| of commands (num_envs, 3), shape (num_envs,)."""
    linear = torch.linalg.vector_norm(command[:, :2], dim=1, out=out)
    return linear.add_(command[:, 2].abs())


def command_speed(env: Env, command_name: str) -> torch.Tensor:
    """Return |(vx, vy)| + |yaw rate| of the command, m/s plus rad/s, (num_envs,)."""
    term = env.command_manager.term(command_name)
    return term.speed if isinstance(term, TwistCommand) else speed_of(term.command)


def moving(env: Env, command_name: str, threshold: float | None = None) -> torch.Tensor:
    """Return 1 where the commanded speed exceeds a threshold, otherwise 0.

    Args:
        env: The environment.
        command_name: A velocity command.
        threshold: Speed, m/s plus rad/s. None uses the command's `standing_speed`, for
            which the result is already computed.
    """
    if threshold is None:
        term = env.command_manager.term(command_name)
        if isinstance(term, TwistCommand):
            return term.moving
        threshold = TwistCommandCfg.standing_speed
    speed = command_speed(env, command_name)
    return (speed > threshold).float()
