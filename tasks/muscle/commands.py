"""Command term with a walking speed and a gait phase."""

from __future__ import annotations

import math
from typing import ClassVar

import torch

from mjlab.entity import Entity
from mjlab.managers import CommandTerm, CommandTermCfg, Dial, Env
from mjlab.tasks.muscle import gait
from mjlab.tasks.muscle.root import FloatingRoot, JointRoot
from mjlab.tensors.masks import write_where


class GaitCommandCfg(CommandTermCfg):
    """Command of a walking speed and a gait phase, whose rate depends on the speed.

    An episode starts in mid-stride, at a random phase, in the pose of the gait and with
    the commanded speed.
    """

    resampling_time_range = (math.inf, math.inf)

    entity_name: str = "robot"
    """Name of the walker."""

    speed: tuple[float, float] = (1.0, 1.5)
    """Sampling range of the speed, in m/s."""

    start_spread: float = 0.05
    """Maximum random deviation of joint positions and velocities at the start, in rad
    and rad/s."""

    standing_share: float = 0.0
    """Fraction of the episodes that start standing still instead of in mid-stride."""

    joint_names: tuple[str, ...] = (
        "hip_r",
        "knee_r",
        "ankle_r",
        "hip_l",
        "knee_l",
        "ankle_l",
    )
    """Joints with a reference curve, in the order of the model."""

    forward_joint: str | None = "root_x"
    """Joint that moves the root forward. None for a floating root."""

    height_joint: str | None = "root_z"
    """Joint that moves the root vertically. None for a floating root."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        return GaitCommand(name, self, env)


class GaitCommand(CommandTerm):
    """Samples speeds, advances the phase, and computes the reference pose."""

    metric_names: ClassVar[tuple[str, ...]] = ("speed", "error_speed", "error_pose")
    labels = (("speed", "m/s"),)
    writes_state = True

    cfg: GaitCommandCfg

    def __init__(self, name: str, cfg: GaitCommandCfg, env: Env) -> None:
        super().__init__(name, cfg, env, num_draws=3 + 2 * len(cfg.joint_names))
        self.cfg = cfg
        self.entity: Entity = env.scene.entity(cfg.entity_name)
        """The walker."""
        model = env.sim.mj_model
        joints = tuple(f"{cfg.entity_name}/{joint}" for joint in cfg.joint_names)
        poses = gait.pose_table(model, joints)
        heights = gait.ground_heights(model, joints, poses)
        self._poses = poses.to(env.device)
        self._heights = heights.to(env.device)
        ids = self.entity.find_joints(cfg.joint_names, preserve_order=True)[0]
        self._joints = torch.tensor(ids, device=env.device)
        self.root: FloatingRoot | JointRoot = FloatingRoot(self.entity)
        """Root of the walker: distance covered and speed."""
        if cfg.forward_joint is not None and cfg.height_joint is not None:
            self.root = JointRoot(self.entity, cfg.forward_joint, cfg.height_joint)
        low, high = cfg.speed
        self.speed = torch.full((env.num_envs,), 0.5 * (low + high), device=env.device)
        """Commanded speed, in m/s, shape (num_envs,)."""
        self.phase = torch.zeros(env.num_envs, device=env.device)
        """Phase of the gait cycle, 0 to 1, shape (num_envs,)."""
        self.place = torch.zeros(env.num_envs, device=env.device)
        """Reference position along the path: distance that the walker should have
        covered, in m, shape (num_envs,)."""
        self._command = torch.zeros(env.num_envs, 3, device=env.device)
        self._update()

    @property
    def command(self) -> torch.Tensor:
        """Speed in m/s, cosine and sine of the phase, shape (num_envs, 3)."""
        return self._command

    @property
    def joints(self) -> torch.Tensor:
        """Local indices of the joints with a reference, int64."""
        return self._joints

    def pose(self, ahead: float = 0.0) -> torch.Tensor:
        """Return reference joint positions, in rad, shape (num_envs, joints).

        Args:
            ahead: Time from now, in s.
        """
        return _between(self._poses, self._phase(ahead))

    def velocity(self, ahead: float = 0.0) -> torch.Tensor:
        """Return reference joint velocities, in rad/s, shape (num_envs, joints).

        Args:
            ahead: Time from now, in s.
        """
        step = 0.5 * self._env.step_dt
        return (self.pose(ahead + step) - self.pose(ahead - step)) / (2.0 * step)

    def lag(self) -> torch.Tensor:
        """Return the lag behind the reference position, in m, shape (num_envs,)."""
        return self.place - self.root.place()

    def advance(self, dt: float) -> None:
        """Advance the phase, update metrics, and resample due commands."""
        # A world that starts an episode has not walked yet.
        walked = (self._env.episode_length_buf > 0) * dt
        moved = self.phase + walked * gait.stride_frequency(self.speed)
        self.phase.copy_(moved - moved.floor())
        self.place.add_(walked * self.speed)
        super().advance(dt)

    def state(self) -> dict[str, torch.Tensor]:
        own = {"speed": self.speed, "phase": self.phase, "place": self.place}
        own["command"] = self._command
        return super().state() | own

    def dials(self) -> tuple[Dial, ...]:
        return (Dial("speed", ("Forward",), "m/s", (self.cfg.speed,)),)

    def derive(self) -> None:
        """Set `speed` and `phase` from the command."""
        self.speed.copy_(self._command[:, 0])
        turn = torch.atan2(self._command[:, 2], self._command[:, 1]) / (2.0 * math.pi)
        self.phase.copy_(turn - turn.floor())

    def _phase(self, ahead: float) -> torch.Tensor:
        moved = self.phase + ahead * gait.stride_frequency(self.speed)
        return moved - moved.floor()

    def _update(self) -> None:
        turn = 2.0 * math.pi * self.phase
        new = torch.stack((self.speed, torch.cos(turn), torch.sin(turn)), dim=1)
        self._command.copy_(new)

    def _update_metrics(self) -> None:
        speed = self.root.speed()
        pose = self.entity.data.joint_pos.index_select(1, self._joints)
        miss = pose - self.pose()
        error = miss.square().mean(1).sqrt()
        self._average(torch.stack((speed, (speed - self.speed).abs(), error), dim=1))

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        low, high = self.cfg.speed
        write_where(self.speed, mask, low + (high - low) * unit[:, 0])
        begins = mask & self.begins_episode
        write_where(self.phase, begins, unit[:, 1])
        write_where(self.place, begins, 0.0)
        walks = unit[:, 2] >= self.cfg.standing_share
        count = self._joints.shape[0]
        spread = self.cfg.start_spread * (2.0 * unit[:, 3:] - 1.0)
        self._write_start(begins, walks.float(), spread[:, :count], spread[:, count:])

    def _write_start(
        self,
        mask: torch.Tensor,
        walks: torch.Tensor,
        pos_spread: torch.Tensor,
        vel_spread: torch.Tensor,
    ) -> None:
        """Write the gait's state where `walks` is 1, and a standing pose elsewhere."""
        data, share = self.entity.data, walks.unsqueeze(1)
        stand = data.default_joint_pos.index_select(1, self._joints)
        pose = stand + share * (self.pose() - stand) + pos_spread
        velocity = share * self.velocity() + vel_spread
        self.entity.write_joint_state(mask, pose, velocity, self._joints)
        step = 0.5 * self._env.step_dt
        lift, later, before = (
            _between(self._heights.unsqueeze(1), self._phase(ahead))[:, 0]
            for ahead in (0.0, step, -step)
        )
        rise = (later - before) / (2.0 * step)
        self.root.write(mask, walks * lift, walks * rise, walks * self.speed)


def _between(table: torch.Tensor, phase: torch.Tensor) -> torch.Tensor:
    """Interpolate a periodic table at phases, shape (n, columns)."""
    place = phase * table.shape[0]
    start = place.floor()
    share = (place - start).unsqueeze(1)
    first = start.long() % table.shape[0]
    second = (first + 1) % table.shape[0]
    return torch.lerp(
        table.index_select(0, first), table.index_select(0, second), share
    )
