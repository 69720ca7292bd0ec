"""Velocity commands that lead to targets with a heading, as in the exams."""

import math

import torch

from mjlab.managers import CommandTerm
from mjlab.managers.env import Env
from mjlab.tasks.velocity.commands import TwistCommand, TwistCommandCfg
from mjlab.tensors.masks import fill_where, write_where
from mjlab.tensors.math import wrap_to_pi


class TargetCommandCfg(TwistCommandCfg):
    """Velocity command that also leads to targets.

    A target is a place and a heading. The velocity is proportional to the error and
    clamped to `ranges`. The linear velocity is zero once the place is reached, and the
    yaw rate once the heading is reached. This is the control law of `mjlab exam`.
    """

    rel_target_envs: float = 1.0
    """Fraction of commands that lead to a target. The other fractions
    (`rel_standing_envs`, ...) apply to the remaining commands."""

    radius: float = 0.75
    """Radius of the disc of targets, m. The distance from the robot to a target is the
    distance between two random points of the disc."""

    gain: float = 1.5
    """Gain from distance to velocity and from heading error to yaw rate, 1/s."""

    reach_m: tuple[float, float] = (0.10, 0.20)
    """Distance at which a place counts as reached, and at which it no longer does,
    m."""

    reach_rad: tuple[float, float] = (0.05, 0.12)
    """Heading error at which a heading counts as reached, and at which it no longer
    does, rad."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        return TargetCommand(name, self, env)


class TargetCommand(TwistCommand):
    """Draws targets, and updates the velocities that lead to them."""

    def __init__(self, name: str, cfg: TargetCommandCfg, env: Env) -> None:
        super().__init__(name, cfg, env)
        if not 0.0 <= cfg.rel_target_envs <= 1.0:
            raise ValueError(
                f"rel_target_envs is {cfg.rel_target_envs}; it has to be from 0 to 1."
            )
        self._share, self._radius = cfg.rel_target_envs, cfg.radius
        self._gain = cfg.gain
        self.target = torch.zeros(env.num_envs, 3, device=env.device)
        """Place, m, and heading, rad, in the world, shape (num_envs, 3), live."""
        self.is_target = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        """Worlds whose command leads to a target, shape (num_envs,), live."""
        self.is_reached = torch.zeros(
            env.num_envs, 2, dtype=torch.bool, device=env.device
        )
        """True if place and heading are reached, shape (num_envs, 2), live."""
        enter, leave = zip(cfg.reach_m, cfg.reach_rad, strict=True)
        self._enter = torch.tensor(enter, device=env.device)
        self._leave = torch.tensor(leave, device=env.device)

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {
            "target": self.target,
            "is_target": self.is_target,
            "is_reached": self.is_reached,
        }

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        super()._resample(mask, unit)
        drawn = self._env.rng.draw(f"{self.stream}/target", (6,))
        write_where(self.is_target, mask, drawn[:, 0] < self._share)
        data = self.entity.data
        step = self._on_disc(drawn[:, 1:3]) - self._on_disc(drawn[:, 3:5])
        heading = data.heading_w + (2.0 * drawn[:, 5] - 1.0) * math.pi
        place = data.root_pos_w[:, :2] + step
        target = torch.cat((place, wrap_to_pi(heading).unsqueeze(1)), dim=1)
        write_where(self.target, mask, target)
        fill_where(self.is_reached, mask, False)

    def _on_disc(self, unit: torch.Tensor) -> torch.Tensor:
        """Convert uniform numbers to points in the disc, m, shape (num_envs, 2)."""
        radius = self._radius * unit[:, 0].sqrt()
        bearing = 2.0 * math.pi * unit[:, 1]
        return torch.stack((radius * bearing.cos(), radius * bearing.sin()), dim=1)

    def _update(self) -> None:
        super()._update()
        data = self.entity.data
        x, y = (self.target[:, :2] - data.root_pos_w[:, :2]).unbind(dim=1)
        heading = data.heading_w
        cos, sin = heading.cos(), heading.sin()
        turn = wrap_to_pi(self.target[:, 2] - heading)
        error = torch.stack((cos * x + sin * y, cos * y - sin * x, turn), dim=1)
        size = torch.stack((torch.hypot(x, y), turn.abs()), dim=1)
        bound = torch.where(self.is_reached, self._leave, self._enter)
        torch.lt(size, bound, out=self.is_reached)
        place, angle = self.is_reached.unbind(dim=1)
        reached = torch.stack((place, place, angle), dim=1)
        command = (self._gain * error).masked_fill(reached, 0.0)
        low, high = self._ranges.bounds[:3].unbind(dim=1)
        command = torch.maximum(torch.minimum(command, high), low)
        chosen = self.is_target.unsqueeze(1)
        torch.where(chosen, command, self._command, out=self._command)
        self.derive()
