"""Goal command of manipulation tasks: a target position."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from mjlab import views
from mjlab.entity import Entity
from mjlab.managers import CommandTerm, CommandTermCfg, Dial, Env
from mjlab.mdp import DrawRanges
from mjlab.mdp.kinematics import Frame
from mjlab.tasks.robots.yam import GRASP_SITE
from mjlab.tensors.masks import write_where
from mjlab.tensors.math import quat_rotate_inverse, spread

Range = tuple[float, float]
_MARK_COLOR = (0.15, 0.75, 0.3, 0.45)


class GoalCommandCfg(CommandTermCfg):
    """Target position of the gripper, or of an object.

    The command is the position in the robot's base frame, in metres.
    """

    resampling_time_range = (float("inf"), float("inf"))

    object_name: str | None = None
    """Entity to be moved to the goal. None means the gripper itself."""

    robot_name: str = "robot"
    """Name of the robot."""

    site_name: str = GRASP_SITE
    """Site of the robot between the fingertips."""

    x: Range = (0.3, 0.5)
    """Range of goals along x, relative to the world's spawn origin, in m."""

    y: Range = (-0.2, 0.2)
    """Range of goals along y, relative to the world's spawn origin, in m."""

    z: Range = (0.2, 0.4)
    """Range of goal heights above the table, in m."""

    radius: float = 0.03
    """Distance that counts as reached, and radius of the debug marker, in m."""

    shown_by: str | None = None
    """Entity with a fixed base that is placed at the goal, visible to cameras."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        return GoalCommand(name, self, env)


class GoalCommand(CommandTerm):
    """Samples goals, and computes the distances to them."""

    metric_names: ClassVar[tuple[str, ...]] = ("distance", "reach_distance", "there")

    cfg: GoalCommandCfg

    def __init__(self, name: str, cfg: GoalCommandCfg, env: Env) -> None:
        if not cfg.radius > 0.0:
            raise ValueError(f"radius is {cfg.radius}; it has to be positive.")
        super().__init__(name, cfg, env, num_draws=3)
        self.cfg = cfg
        self.robot: Entity = env.scene.entity(cfg.robot_name)
        """Entity of the robot with the gripper."""
        self._site = Frame(env.sim, self.robot, "site", cfg.site_name)
        self._object = None
        if cfg.object_name is not None:
            self._object = views.of(env.scene).view(cfg.object_name)
        self._mark: Entity | None = None
        if cfg.shown_by is not None:
            self._mark = env.scene.entity(cfg.shown_by)
        self.writes_state = self._mark is not None
        ranges = {"x": cfg.x, "y": cfg.y, "z": cfg.z}
        self._ranges = DrawRanges(ranges, env.device)
        self.ranges = self._ranges.by_name
        """Sampling ranges by name, each of shape (2,). Curricula write to them."""
        self._drawn = torch.zeros(env.num_envs, 3, device=env.device)
        self._command = torch.zeros(env.num_envs, 3, device=env.device)

    @property
    def command(self) -> torch.Tensor:
        """Goal in the robot's base frame, shape (num_envs, 3), m."""
        return self._command

    @property
    def goal_pos_w(self) -> torch.Tensor:
        """Goal in the world frame, shape (num_envs, 3), m."""
        return self._drawn + self._env.scene.spawn_origins

    @property
    def grasp_pos_w(self) -> torch.Tensor:
        """Point between the fingertips in the world frame, shape (num_envs, 3), m."""
        return self._site.pos_w

    @property
    def brought_pos_w(self) -> torch.Tensor:
        """Position of object (or gripper), world frame, shape (num_envs, 3), m."""
        if self._object is None:
            return self._site.pos_w
        return self._object.root_pose.p

    def distance(self) -> torch.Tensor:
        """Return the distance from object (or gripper) to goal, (num_envs,), m."""
        return _length(self.goal_pos_w - self.brought_pos_w)

    def reach_distance(self) -> torch.Tensor:
        """Return the distance from gripper to object, shape (num_envs,), m."""
        return _length(self.brought_pos_w - self.grasp_pos_w)

    def in_base(self, point_w: torch.Tensor) -> torch.Tensor:
        """Rotate a vector from the world frame into the robot's base frame."""
        return quat_rotate_inverse(self.robot.data.root_quat_w, point_w)

    def state(self) -> dict[str, torch.Tensor]:
        own = {"ranges": self._ranges.bounds, "drawn": self._drawn}
        return super().state() | own | {"command": self._command}

    def dials(self) -> tuple[Dial, ...]:
        ranges = (self.cfg.x, self.cfg.y, self.cfg.z)
        return (Dial("drawn", ("Goal x", "Goal y", "Goal z"), "m", ranges, True),)

    def debug_vis(self, visualizer: Any) -> None:
        """Draw a marker at the goal."""
        goals = self.goal_pos_w
        for world in visualizer.worlds:
            visualizer.add_sphere(
                world,
                goals[world].cpu().numpy(),
                radius=self.cfg.radius,
                color=_MARK_COLOR,
            )

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        write_where(self._drawn, mask, spread(self._ranges.bounds, unit))
        if self._mark is not None:
            upright = self._mark.data.root_quat_w
            pose = torch.cat((self.goal_pos_w, upright), dim=1)
            self._mark.write_mocap_pose(mask, pose)

    def _update(self) -> None:
        from_base = self.goal_pos_w - self.robot.data.root_pos_w
        self._command.copy_(self.in_base(from_base))

    def _update_metrics(self) -> None:
        away = self.distance()
        there = (away <= self.cfg.radius).float()
        self._average(torch.stack((away, self.reach_distance(), there), dim=1))


def _length(vector: torch.Tensor) -> torch.Tensor:
    return vector.square().sum(dim=-1).sqrt()
