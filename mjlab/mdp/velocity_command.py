"""Velocity command with standing, heading, forward and world-frame commands."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from mjlab.entity import Entity
from mjlab.managers.command import CommandTerm, CommandTermCfg
from mjlab.managers.env import Env
from mjlab.mdp.commands import DrawRanges, Range
from mjlab.tensors.masks import write_where
from mjlab.tensors.math import spread, wrap_to_pi


@dataclass(kw_only=True)
class VelocityRanges:
    """Sampling ranges of velocity commands."""

    lin_vel_x: Range
    """Forward velocity, in m/s."""

    lin_vel_y: Range
    """Velocity to the left, in m/s."""

    ang_vel_z: Range
    """Yaw rate, in rad/s. Also clips the yaw rate of heading commands."""

    heading: Range | None = None
    """Target yaw of heading commands in the world frame, in radians. Heading commands
    need it."""


class UniformVelocityCommandCfg(CommandTermCfg):
    """Velocity command in the root frame: forward, left (m/s) and yaw rate (rad/s).

    Each command belongs to one class, drawn with the probabilities below. The remaining
    commands are a constant velocity in the root frame until the next resampling.
    """

    Ranges: ClassVar[type[VelocityRanges]] = VelocityRanges

    entity_name: str = "robot"
    """The commanded entity."""

    ranges: VelocityRanges
    """Sampling ranges of the commands."""

    rel_standing_envs: float = 0.0
    """Fraction of commands that are zero."""

    rel_heading_envs: float = 1.0
    """Fraction of commands whose yaw rate turns the root towards a drawn heading."""

    rel_forward_envs: float = 0.0
    """Fraction of commands with forward velocity only: no lateral or backward velocity
    and no yaw rate."""

    rel_world_envs: float = 0.0
    """Fraction of commands whose linear velocity is constant in the world frame while
    the root turns."""

    heading_command: bool = False
    """Enable heading commands. False ignores `rel_heading_envs`."""

    heading_control_stiffness: float = 1.0
    """Gain from heading error to yaw rate, in 1/s."""

    init_velocity_prob: float = 0.0
    """Probability that an episode starts with the root moving at the command."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        return UniformVelocityCommand(name, self, env)


class UniformVelocityCommand(CommandTerm):
    """Command term that draws velocities and updates heading and world commands."""

    metric_names: ClassVar[tuple[str, ...]] = ("error_vel_xy", "error_vel_yaw")
    labels = (("forward", "m/s"), ("left", "m/s"), ("turn", "rad/s"))

    cfg: UniformVelocityCommandCfg

    def __init__(self, name: str, cfg: UniformVelocityCommandCfg, env: Env) -> None:
        self.entity: Entity = env.scene.entity(cfg.entity_name)
        """The commanded entity."""
        shares = _class_fractions(cfg)
        _check_velocity(cfg, self.entity)
        self.writes_state = cfg.init_velocity_prob > 0.0
        super().__init__(name, cfg, env, num_draws=6)
        self.cfg = cfg
        device = env.device
        heading = cfg.ranges.heading or (0.0, 0.0)
        self._ranges = DrawRanges(vars(cfg.ranges) | {"heading": heading}, device)
        self.ranges = self._ranges.by_name
        """Sampling ranges by name, each of shape (2,). Curricula write to them."""
        self._has_forward = cfg.rel_forward_envs > 0.0
        self._has_heading = shares[1] > 0.0
        self._has_world = cfg.rel_world_envs > 0.0
        widths = torch.tensor([0.0, *shares], dtype=torch.float64)
        self._class_bounds = widths.cumsum(0).float().to(device)
        self._classes = torch.zeros(env.num_envs, 4, dtype=torch.bool, device=device)
        columns = self._classes.unbind(dim=1)
        self.is_standing, self.is_heading, self.is_forward, self.is_world = columns
        """Masks of the worlds with a command of each class, shape (num_envs,), live."""
        # Drawn velocity and heading.
        self._drawn = torch.zeros(env.num_envs, 4, device=device)
        self.heading_target = self._drawn[:, 3]
        """Target yaw of worlds in `is_heading`, shape (num_envs,), radians."""
        self._command = torch.zeros(env.num_envs, 3, device=device)

    @property
    def command(self) -> torch.Tensor:
        """Forward and left velocity, m/s, and yaw rate, rad/s, (num_envs, 3)."""
        return self._command

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, including the ranges."""
        return super().state() | {
            "ranges": self._ranges.bounds,
            "classes": self._classes,
            "drawn": self._drawn,
            "command": self._command,
        }

    def _update_metrics(self) -> None:
        data = self.entity.data
        linear = self._command[:, :2] - data.root_lin_vel_b[:, :2]
        turning = self._command[:, 2] - data.root_ang_vel_b[:, 2]
        distance = torch.linalg.vector_norm(linear, dim=1)
        self._average(torch.stack((distance, turning.abs()), dim=-1))

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        is_past = unit[:, :1] >= self._class_bounds
        classes = is_past[:, :-1] > is_past[:, 1:]
        drawn = spread(self._ranges.bounds, unit[:, 1:5])
        drawn[:, :3].masked_fill_(classes[:, 0:1], 0.0)
        if self._has_forward:
            self._point_forward(drawn, classes[:, 2:3], unit[:, 1:2])
        write_where(self._classes, mask, classes)
        write_where(self._drawn, mask, drawn)
        if self.writes_state:
            self._set_in_motion(mask, unit[:, 5])

    def _point_forward(
        self, drawn: torch.Tensor, forward: torch.Tensor, unit: torch.Tensor
    ) -> None:
        """Draw the forward velocity from the non-negative part of its range."""
        low, high = self.ranges["lin_vel_x"].clamp(min=0.0).unbind()
        speed = torch.addcmul(low, unit, high - low)
        torch.where(forward, speed, drawn[:, :1], out=drawn[:, :1])
        drawn[:, 1:3].masked_fill_(forward, 0.0)

    def _set_in_motion(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        """Set the root velocity to the command in some worlds that begin an episode."""
        chosen = mask & self.begins_episode & (unit < self.cfg.init_velocity_prob)
        self._update()
        data = self.entity.data
        velocity = torch.cat((data.root_lin_vel_b, data.root_ang_vel_b), dim=-1)
        velocity[:, :2].copy_(self._command[:, :2])
        velocity[:, 5].copy_(self._command[:, 2])
        self.entity.write_root_velocity_b(chosen, velocity)

    def _update(self) -> None:
        self._command.copy_(self._drawn[:, :3])
        if not (self._has_heading or self._has_world):
            return
        heading = self.entity.data.heading_w
        if self._has_world:
            self._turn_to_root(heading)
        if self._has_heading:
            error = wrap_to_pi(self.heading_target - heading)
            rate = error * self.cfg.heading_control_stiffness
            rate = torch.clamp(rate, *self.ranges["ang_vel_z"].unbind())
            yaw_rate = self._command[:, 2]
            torch.where(self.is_heading, rate, yaw_rate, out=yaw_rate)

    def _turn_to_root(self, heading: torch.Tensor) -> None:
        """Convert world-frame velocities to the root frame."""
        x, y = self._drawn[:, 0], self._drawn[:, 1]
        cos, sin = heading.cos(), heading.sin()
        turned = torch.stack((cos * x + sin * y, cos * y - sin * x), dim=-1)
        linear = self._command[:, :2]
        torch.where(self.is_world.unsqueeze(1), turned, linear, out=linear)


def _class_fractions(cfg: UniformVelocityCommandCfg) -> list[float]:
    """Return the fractions of standing, heading, forward and world commands."""
    shares = {
        "rel_standing_envs": cfg.rel_standing_envs,
        "rel_heading_envs": cfg.rel_heading_envs if cfg.heading_command else 0.0,
        "rel_forward_envs": cfg.rel_forward_envs,
        "rel_world_envs": cfg.rel_world_envs,
    }
    listed = ", ".join(f"{name}={share}" for name, share in shares.items())
    if any(not 0.0 <= share <= 1.0 for share in shares.values()):
        raise ValueError(f"Command fractions have to be from 0 to 1: {listed}.")
    if sum(shares.values()) > 1.0 + 1e-9:
        raise ValueError(f"Command fractions have to add up to at most 1: {listed}.")
    if shares["rel_heading_envs"] > 0.0 and cfg.ranges.heading is None:
        raise ValueError(
            f"ranges.heading is None, but rel_heading_envs is above 0: {listed}. Set "
            "ranges.heading, or heading_command=False."
        )
    return list(shares.values())


def _check_velocity(cfg: UniformVelocityCommandCfg, entity: Entity) -> None:
    fastest, moving = cfg.ranges.lin_vel_x[1], cfg.init_velocity_prob
    if cfg.rel_forward_envs > 0.0 and not fastest > 0.0:
        raise ValueError(
            f"rel_forward_envs is {cfg.rel_forward_envs}, but the upper bound of "
            f"lin_vel_x is {fastest}; it has to be positive."
        )
    if not 0.0 <= moving <= 1.0:
        raise ValueError(f"init_velocity_prob={moving} has to be from 0 to 1.")
    if moving > 0.0 and entity.is_fixed_base:
        raise ValueError(
            f"init_velocity_prob is {moving}, but {entity.name!r} has a fixed base. "
            "Set it to 0."
        )
