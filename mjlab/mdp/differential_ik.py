"""Differential inverse kinematics: the action is the target pose of a frame.

Each physics step moves the joint targets by one damped least-squares step. With the
frame Jacobian J, the pose error e and a step d towards a reference posture, the step
dq minimises `|J dq - e|^2 + damping^2 |dq - d|^2`, so
`dq = d + J^T (J J^T + damping^2 I)^-1 (e - J d)`.

All operations are elementwise. They can be captured in a CUDA graph, and a world's
result does not depend on the number of worlds. J is computed from the joint axes, which
every engine provides.
"""

from abc import ABC
from typing import Literal

import mujoco
import torch

from mjlab.entity import Entity
from mjlab.managers.action import ActionTerm
from mjlab.managers.env import Env
from mjlab.mdp.actions import Range
from mjlab.mdp.driven import DrivenAction, DrivenActionCfg, Patterns
from mjlab.mdp.kinematics import (
    DampedInverse,
    Frame,
    FrameType,
    Jacobian,
    find_frame,
)
from mjlab.names import resolve_values, suggest
from mjlab.tensors.math import (
    quat_box_minus,
    quat_box_plus,
    quat_mul,
    quat_normalize,
    quat_rotate,
)

_COMMAND_TYPES = ("position", "pose")
_COMMAND_FRAMES = ("base", "world")


class FrameActionCfg(DrivenActionCfg, ABC):
    """Base configuration of actions that set the target pose of a frame.

    The action is a position (3 numbers), a relative pose (position and rotation vector,
    6) or an absolute pose (position and quaternion wxyz of any non-zero norm, 7).
    """

    joint_names: Patterns = None
    """Hinge and slide joints that move the frame. None selects all of them."""

    frame_type: FrameType = "body"
    """Kind of the frame: "body", "site" or "geom"."""

    frame_name: str
    """Name of the body, site or geom."""

    command_type: Literal["position", "pose"] = "pose"
    """Quantity that is controlled: "position", or "pose" (position and orientation)."""

    use_relative_mode: bool = True
    """Interpret the action as a displacement from the frame's pose at the beginning of
    the step. False interprets it as the target pose."""

    command_frame: Literal["base", "world"] = "base"
    """Frame of the action: "base" is the entity's root frame, "world" has the world's
    axes and spawn origin. The origin matters for absolute poses only."""

    position_scale: float = 1.0
    """Scale of position actions, in metres."""

    rotation_scale: float = 1.0
    """Scale of rotation actions, in radians, for relative poses."""

    clip: Range | None = None
    """Bounds after scaling. Absolute quaternions are not clipped."""

    posture: dict[str, float] | None = None
    """Joint positions of the reference posture by name pattern. Joints that match no
    pattern use their default position."""

    transmission = "joint"

    def find(self, entity: Entity, model: mujoco.MjModel) -> dict[str, int]:
        """Return the target columns of the joints that move the frame, by name."""
        found = super().find(entity, model)
        _, body = find_frame(model, entity, self.frame_type, self.frame_name)
        moving = _joints_that_move(body, model)
        idle = [
            name
            for name in found
            if int(model.joint(f"{entity.name}/{name}").id) not in moving
        ]
        if idle and (self.patterns is not None or len(idle) == len(found)):
            raise ValueError(
                f"joint {idle[0]!r} of {entity.name!r} does not move the "
                f"{self.frame_type} {self.frame_name!r}; name only joints between the "
                f"base and that {self.frame_type}."
            )
        return {name: column for name, column in found.items() if name not in idle}


class DifferentialIKActionCfg(FrameActionCfg):
    """Differential IK action: moves a frame with the joints between it and the base.

    The joints must be driven by position.
    """

    position_weight: float = 1.0
    """Weight of the position error in the least squares, per metre."""

    orientation_weight: float = 1.0
    """Weight of the orientation error in the least squares, per radian."""

    damping: float = 0.05
    """Damping of the least squares. Larger values reduce joint steps near singular
    poses, but slow down convergence."""

    max_joint_step: float = 0.5
    """Largest step of a joint, in rad or m. Larger steps are scaled down for all joints
    together, so that the frame keeps its direction."""

    use_soft_limits: bool = True
    """Clamp targets to the joints' soft limits instead of the joint limits."""

    limit_rounds: int = 1
    """Number of times that a step is solved again with joints beyond their limits held
    at these limits, so that the other joints compensate. 0 only clamps the targets."""

    posture_weight: float = 0.0
    """Fraction of the distance to the posture that a step covers, in the null space of
    the frame task. 0 disables the posture."""

    command = "position"

    def bind(self, name: str, env: Env) -> ActionTerm:
        return DifferentialIKAction(name, self, env)


class FrameAction(DrivenAction, ABC):
    """Base class of action terms that move a frame to a goal."""

    def __init__(self, name: str, cfg: FrameActionCfg, env: Env) -> None:
        _check_frame(cfg)
        super().__init__(name, cfg, env)
        self._frame_cfg = cfg
        self.frame = Frame(env.sim, self.entity, cfg.frame_type, cfg.frame_name)
        """The controlled frame."""
        self._has_rotation = cfg.command_type == "pose"
        num_envs, device = env.num_envs, env.device
        self.goal_pos_w = torch.zeros(num_envs, 3, device=device)
        """Goal of the frame's origin in the world, shape (num_envs, 3), metres."""
        self.goal_quat_w = torch.zeros(num_envs, 4, device=device)
        """Goal of the frame's orientation, wxyz, shape (num_envs, 4)."""
        self._joint_ids = [self._joint_id(n) for n in self.target_names]
        self._jacobian = Jacobian(env, self._joint_ids)
        self._scale, self._low, self._high = self._action_bounds()
        self._posture, self._keeps_default = self._resolve_posture()

    @property
    def action_dim(self) -> int:
        """Dimension: 3 for a position, 6 for a relative and 7 for an absolute pose."""
        if self._frame_cfg.command_type == "position":
            return 3
        return 6 if self._frame_cfg.use_relative_mode else 7

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the goal of this step."""
        command = actions * self._scale
        if self._frame_cfg.clip is not None:
            command = torch.clamp(command, self._low, self._high)
        self._set_goal(command)

    def state(self) -> dict[str, torch.Tensor]:
        goal = {"goal_pos_w": self.goal_pos_w, "goal_quat_w": self.goal_quat_w}
        return super().state() | goal

    def reset(self, mask: torch.Tensor) -> None:
        """Clear the goal in the worlds of `mask`."""
        super().reset(mask)
        self.goal_pos_w.masked_fill_(mask.unsqueeze(1), 0.0)
        self.goal_quat_w.masked_fill_(mask.unsqueeze(1), 0.0)

    # The goal.

    def _set_goal(self, command: torch.Tensor) -> None:
        position, rest = command[:, :3], command[:, 3:]
        if self._frame_cfg.use_relative_mode:
            torch.add(self.frame.pos_w, self._to_world(position), out=self.goal_pos_w)
            if self._has_rotation:
                turned = quat_box_plus(self.frame.quat_w, self._to_world(rest))
                self.goal_quat_w.copy_(turned)
            return
        torch.add(self._origin_w(), self._to_world(position), out=self.goal_pos_w)
        if self._has_rotation:
            quat = quat_normalize(rest)
            if self._frame_cfg.command_frame == "base":
                quat = quat_mul(self.entity.data.root_quat_w, quat)
            self.goal_quat_w.copy_(quat)

    def _to_world(self, vector: torch.Tensor) -> torch.Tensor:
        if self._frame_cfg.command_frame == "world":
            return vector
        return quat_rotate(self.entity.data.root_quat_w, vector)

    def _origin_w(self) -> torch.Tensor:
        if self._frame_cfg.command_frame == "world":
            return self._env.scene.spawn_origins
        return self.entity.data.root_pos_w

    def _error(self) -> torch.Tensor:
        """Return the pose error of the frame, shape (num_envs, 3 or 6)."""
        error = self.goal_pos_w - self.frame.pos_w
        if not self._has_rotation:
            return error
        turn = quat_box_minus(self.goal_quat_w, self.frame.quat_w)
        return torch.cat((error, turn), dim=-1)

    def _joint_pos(self) -> torch.Tensor:
        return self._columns.read(self.entity.data.joint_pos)

    def _posture_pos(self) -> torch.Tensor:
        default = self._columns.read(self.entity.data.default_joint_pos)
        return torch.where(self._keeps_default, default, self._posture)

    # Construction.

    def _joint_id(self, name: str) -> int:
        model = self._env.sim.mj_model
        return int(model.joint(f"{self.entity.name}/{name}").id)

    def _action_bounds(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return scale, lower and upper bound of each action dimension."""
        cfg = self._frame_cfg
        low, high = cfg.clip or (-torch.inf, torch.inf)
        rest = self.action_dim - 3
        scaled = cfg.use_relative_mode
        rows = (
            [cfg.position_scale] * 3 + [cfg.rotation_scale if scaled else 1.0] * rest,
            [low] * 3 + [low if scaled else -torch.inf] * rest,
            [high] * 3 + [high if scaled else torch.inf] * rest,
        )
        scale, lows, highs = (torch.tensor(row, device=self.device) for row in rows)
        return scale, lows, highs

    def _resolve_posture(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the posture, and a mask of joints that use the default position."""
        given = resolve_values(
            self._frame_cfg.posture or {},
            self.target_names,
            what="joint",
            owner=self.entity.name,
        )
        values = [0.0 if value is None else value for value in given]
        default = [value is None for value in given]
        device = self.device
        return torch.tensor(values, device=device), torch.tensor(default, device=device)


class DifferentialIKAction(FrameAction):
    """Action term that sets joint targets which bring a frame to its goal."""

    cfg: DifferentialIKActionCfg

    def __init__(self, name: str, cfg: DifferentialIKActionCfg, env: Env) -> None:
        _check(cfg)
        super().__init__(name, cfg, env)
        self.cfg = cfg
        # Joint positions for which the engine last computed the kinematics.
        shape = (env.num_envs, len(self.target_names))
        self._seen_pos = torch.zeros(shape, device=env.device)
        position, orientation = cfg.position_weight, cfg.orientation_weight
        weights = [position] * 3 + [orientation] * 3 * self._has_rotation
        self._weights = torch.tensor(weights, device=env.device)
        self._solve = DampedInverse(len(weights), cfg.damping, env.device)

    def process_actions(self, actions: torch.Tensor) -> None:
        """Set the goal of this step."""
        super().process_actions(actions)
        self._seen_pos.copy_(self._joint_pos())

    def apply_actions(self) -> None:
        """Move the joint targets one step towards the goal."""
        # After a physics step, frame and Jacobian still belong to the state at the
        # beginning of that physics step, so use the joint positions of that state.
        low, high = self._limits().unbind(dim=-1)
        target = self._seen_pos + self._joint_step(low, high)
        self._seen_pos.copy_(self._joint_pos())
        torch.clamp(target, low, high, out=self.processed_action)
        self._columns.write_all(self._field, self.processed_action)

    def _joint_step(self, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
        """Return the joint step within the limits, shape (num_envs, joints)."""
        jacobian = self._jacobian.at(self.frame.pos_w, with_rotation=self._has_rotation)
        jacobian = jacobian * self._weights.unsqueeze(-1)
        error = self._error() * self._weights
        pull = None
        if self.cfg.posture_weight > 0.0:
            away = self._posture_pos() - self._seen_pos
            pull = away * self.cfg.posture_weight
        step = self._solve(jacobian, error, pull)
        for _ in range(self.cfg.limit_rounds):
            target = self._seen_pos + step
            kept = torch.clamp(target, low, high)
            step = self._solve.with_held(
                jacobian, error, pull, kept != target, kept - self._seen_pos
            )
        longest = step.abs().amax(dim=-1, keepdim=True)
        largest = self.cfg.max_joint_step
        return step * (largest / longest.clamp(min=largest))

    def _limits(self) -> torch.Tensor:
        data = self.entity.data
        soft = self.cfg.use_soft_limits
        limits = data.soft_joint_pos_limits if soft else data.joint_pos_limits
        return self._columns.read(limits)


def _check_frame(cfg: FrameActionCfg) -> None:
    choices = (
        ("command_type", cfg.command_type, _COMMAND_TYPES),
        ("command_frame", cfg.command_frame, _COMMAND_FRAMES),
    )
    for field, value, valid in choices:
        if value not in valid:
            raise ValueError(f"{field} is {value!r}. {suggest(value, valid)}")
    if cfg.clip is not None and not cfg.clip[0] <= cfg.clip[1]:
        raise ValueError(
            f"clip is {cfg.clip}; it has to be (low, high) with low <= high."
        )


def _check(cfg: DifferentialIKActionCfg) -> None:
    if not cfg.damping > 0.0:
        raise ValueError(f"damping is {cfg.damping}; it has to be positive.")
    if cfg.limit_rounds < 0:
        raise ValueError(f"limit_rounds={cfg.limit_rounds} has to be 0 or more.")
    if not cfg.max_joint_step > 0.0:
        raise ValueError(
            f"max_joint_step is {cfg.max_joint_step}; it has to be positive."
        )
    for field in ("position_weight", "orientation_weight", "posture_weight"):
        if not getattr(cfg, field) >= 0.0:
            raise ValueError(f"{field}={getattr(cfg, field)} has to be 0 or more.")


def _joints_that_move(body: int, model: mujoco.MjModel) -> set[int]:
    """Return the ids of the joints of a body and of all its ancestors."""
    joints: set[int] = set()
    while body != 0:
        start = int(model.body_jntadr[body])
        joints |= set(range(start, start + int(model.body_jntnum[body])))
        body = int(model.body_parentid[body])
    return joints
