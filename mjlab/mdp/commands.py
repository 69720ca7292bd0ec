"""Pose and uniform vector commands. See also `velocity_command`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from mjlab.entity import Entity
from mjlab.managers.command import CommandTerm, CommandTermCfg
from mjlab.managers.env import Env
from mjlab.mdp.kinematics import Frame, FrameType
from mjlab.names import suggest
from mjlab.tensors.masks import write_where
from mjlab.tensors.math import (
    combine_frames,
    quat_angle,
    quat_from_euler_xyz,
    quat_positive,
    spread,
    subtract_frames,
)

Range = tuple[float, float]


class DrawRanges:
    """Sampling ranges, stored in one tensor that curricula can change."""

    def __init__(self, ranges: dict[str, Range], device: torch.device) -> None:
        for name, (low, high) in ranges.items():
            if not low <= high:
                raise ValueError(
                    f"the range of {name} is {(low, high)}; it has to be (low, high) "
                    "with low <= high."
                )
        self.bounds = torch.tensor(list(ranges.values()), device=device)
        """Lower and upper bound of each number, shape (numbers, 2)."""
        self.by_name = dict(zip(ranges, self.bounds.unbind(), strict=True))
        """Rows of `bounds` by name, each of shape (2,)."""


# Poses.


@dataclass(kw_only=True)
class PoseRanges:
    """Sampling ranges of pose commands."""

    pos_x: Range = (0.0, 0.0)
    """Position along x, in metres."""

    pos_y: Range = (0.0, 0.0)
    """Position along y, in metres."""

    pos_z: Range = (0.0, 0.0)
    """Position along z, in metres."""

    roll: Range = (0.0, 0.0)
    """Rotation about x, applied first, in radians. The axes are fixed (extrinsic)."""

    pitch: Range = (0.0, 0.0)
    """Rotation about y, in radians."""

    yaw: Range = (0.0, 0.0)
    """Rotation about z, in radians."""


class PoseCommandCfg(CommandTermCfg):
    """Pose command in the root frame: position (m), quaternion wxyz with w >= 0."""

    Ranges: ClassVar[type[PoseRanges]] = PoseRanges

    entity_name: str = "robot"
    """The commanded entity."""

    frame_type: FrameType = "body"
    """Kind of the frame that should reach the pose: "body", "site" or "geom"."""

    frame_name: str
    """Name of the body, site or geom."""

    ranges: PoseRanges
    """Sampling ranges of the poses."""

    command_frame: Literal["base", "world"] = "base"
    """Frame in which a pose is drawn and stays constant. "base": the root frame, so
    that the pose moves with the root. "world": the world frame, relative to each
    world's spawn origin. `command` is in the root frame in both cases."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        return PoseCommand(name, self, env)


class PoseCommand(CommandTerm):
    """Command term that draws poses and tracks them as the root moves."""

    metric_names: ClassVar[tuple[str, ...]] = ("position_error", "orientation_error")

    def __init__(self, name: str, cfg: PoseCommandCfg, env: Env) -> None:
        if cfg.command_frame not in ("base", "world"):
            hint = suggest(cfg.command_frame, ["base", "world"])
            raise ValueError(f"command_frame is {cfg.command_frame!r}. {hint}")
        self.entity: Entity = env.scene.entity(cfg.entity_name)
        """The commanded entity."""
        self.frame = Frame(env.sim, self.entity, cfg.frame_type, cfg.frame_name)
        """The frame that should reach the pose."""
        super().__init__(name, cfg, env, num_draws=6)
        self._moves_along = cfg.command_frame == "base"
        self._ranges = DrawRanges(vars(cfg.ranges), env.device)
        self.ranges = self._ranges.by_name
        """Sampling ranges by name, each of shape (2,). Curricula write to them."""
        self._drawn = _identity_poses(env)
        self._command = _identity_poses(env)
        self.goal_pose_w = _identity_poses(env)
        """The commanded pose in the world, shape (num_envs, 7), live."""

    @property
    def command(self) -> torch.Tensor:
        """Position and orientation in the root frame, shape (num_envs, 7)."""
        return self._command

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, including the ranges."""
        return super().state() | {
            "ranges": self._ranges.bounds,
            "drawn": self._drawn,
            "command": self._command,
            "goal_pose_w": self.goal_pose_w,
        }

    def _update_metrics(self) -> None:
        position, quat = _split(self.goal_pose_w)
        away = (position - self.frame.pos_w).square().sum(dim=1).sqrt()
        turned = quat_angle(self.frame.quat_w, quat)
        self._average(torch.stack((away, turned), dim=-1))

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        numbers = spread(self._ranges.bounds, unit)
        quat = quat_from_euler_xyz(*numbers[:, 3:].unbind(dim=1))
        pose = torch.cat((numbers[:, :3], quat_positive(quat)), dim=-1)
        write_where(self._drawn, mask, pose)

    def _update(self) -> None:
        data = self.entity.data
        root = (data.root_pos_w, data.root_quat_w)
        position, quat = _split(self._drawn)
        if self._moves_along:
            self._command.copy_(self._drawn)
            goal = combine_frames(*root, position, quat)
            torch.cat(goal, dim=-1, out=self.goal_pose_w)
            return
        goal_pos = position + self._env.scene.spawn_origins
        torch.cat((goal_pos, quat), dim=-1, out=self.goal_pose_w)
        seen_pos, seen_quat = subtract_frames(*root, goal_pos, quat)
        torch.cat((seen_pos, quat_positive(seen_quat)), dim=-1, out=self._command)


def _identity_poses(env: Env) -> torch.Tensor:
    poses = torch.zeros(env.num_envs, 7, device=env.device)
    poses[:, 3].fill_(1.0)
    return poses


def _split(pose: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return pose[:, :3], pose[:, 3:]


# Numbers.


class UniformVectorCommandCfg(CommandTermCfg):
    """Command of uniform random numbers. The task defines their meaning."""

    ranges: Sequence[Range] = []
    """Range of each number."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        return UniformVectorCommand(name, self, env)


class UniformVectorCommand(CommandTerm):
    """Command term that draws uniform random numbers."""

    def __init__(self, name: str, cfg: UniformVectorCommandCfg, env: Env) -> None:
        if not cfg.ranges:
            raise ValueError(
                "ranges is empty; give a range for each number of the command."
            )
        super().__init__(name, cfg, env, num_draws=len(cfg.ranges))
        by_name = {f"number {i}": each for i, each in enumerate(cfg.ranges)}
        self._ranges = DrawRanges(by_name, env.device)
        self.ranges = self._ranges.bounds
        """Sampling ranges, shape (numbers, 2). Curricula write to them."""
        self._command = torch.zeros(env.num_envs, len(cfg.ranges), device=env.device)

    @property
    def command(self) -> torch.Tensor:
        """The command: random numbers, shape (num_envs, numbers)."""
        return self._command

    def state(self) -> dict[str, torch.Tensor]:
        """Return the live state tensors, including the ranges."""
        return super().state() | {"ranges": self.ranges, "command": self._command}

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        write_where(self._command, mask, spread(self._ranges.bounds, unit))
