"""MDP terms of manipulation, in addition to `mjlab.mdp`.

Rewards return shape (num_envs,), float32; the manager multiplies them by weight and
step duration. Penalties are returned as positive costs and get a negative weight.
Quantities derived by MuJoCo (sites, contacts) come from the last physics step.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch

from mjlab import views
from mjlab.managers import ManagerTermBase
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.quantity import Quantity, measured
from mjlab.managers.term import TermCfg, TermError
from mjlab.mdp.lookup import ROBOT
from mjlab.mdp.randomize.distributions import Range
from mjlab.scene import Selection
from mjlab.tasks.manipulation.commands import GoalCommand as GoalCommand
from mjlab.tasks.manipulation.commands import GoalCommandCfg as GoalCommandCfg
from mjlab.tensors.masks import fill_where
from mjlab.tensors.math import quat_conjugate, quat_from_axis_angle, quat_mul

FINGERS = ("robot/lf_down", "robot/rf_down")
"""Names of the finger bodies."""

_TOUCH = 0.05
"""Minimum force of a touching finger, in N: a tenth of an object's weight."""


def goal_command(env: ManagedEnv, name: str) -> GoalCommand:
    """Return a goal command by name."""
    term = env.command_manager.term(name)
    if not isinstance(term, GoalCommand):
        raise TermError(
            f"The command {name!r} is a {type(term).__name__}, not a GoalCommand."
        )
    return term


# Observations. A robot measures objects with a camera, and the gripper with encoders.


def _in_base(env: ManagedEnv, params: Mapping[str, Any]) -> Quantity:
    robot = goal_command(env, params["command_name"]).robot
    body = env.sim.mj_model.body(robot.index.root_body_id).name
    return Quantity("m", body, ["x", "y", "z"])


@measured(_in_base)
def gripper_to_object(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the vector from gripper to object, robot base frame, m, (num_envs, 3)."""
    command = goal_command(env, command_name)
    return command.in_base(command.brought_pos_w - command.grasp_pos_w)


@measured(_in_base)
def object_to_goal(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the vector from object (or gripper) to goal, robot base frame, m."""
    command = goal_command(env, command_name)
    return command.in_base(command.goal_pos_w - command.brought_pos_w)


@measured(_in_base)
def gripper_to_goal(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the vector from gripper to goal, robot base frame, m, (num_envs, 3)."""
    command = goal_command(env, command_name)
    return command.in_base(command.goal_pos_w - command.grasp_pos_w)


@measured(Quantity("1", None, ["cos", "sin"]))
def object_heading(env: ManagedEnv, object_name: str) -> torch.Tensor:
    """Return the yaw of an object with four equal sides, shape (num_envs, 2).

    The result is cosine and sine of 4 * yaw, relative to the base's forward axis.
    """
    thing = views.of(env.scene).view(object_name).root_pose.q
    base = env.scene.entity("robot").data.root_quat_w
    w, _, _, z = quat_mul(quat_conjugate(base), thing).unbind(dim=1)
    turn = 8.0 * torch.atan2(z, w)
    return torch.stack((turn.cos(), turn.sin()), dim=1)


# Rewards.


def reach(env: ManagedEnv, command_name: str, std: float) -> torch.Tensor:
    """Return 1 - tanh(d / std), where d is the distance from gripper to object.

    Args:
        env: The environment.
        command_name: The goal command.
        std: Distance at which the reward is 0.24, in m.
    """
    return _near(goal_command(env, command_name).reach_distance(), std)


def bring(env: ManagedEnv, command_name: str, std: float) -> torch.Tensor:
    """Return 1 - tanh(d / std), where d is the distance from object to goal.

    If the command has no object, d is the distance from gripper to goal.
    """
    return _near(goal_command(env, command_name).distance(), std)


class grip(ManagerTermBase):
    """Reward for holding an object between both fingers, 0 to 1.

    Only a held object counts: pushing or throwing it to the goal gives no reward, nor
    does pressing it onto the table with both fingers.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._command = goal_command(env, cfg.params["command_name"])
        self._held = _Held(env, cfg.params["object_name"])

    def __call__(
        self,
        env: ManagedEnv,
        command_name: str,
        object_name: str,
        std: float | None = None,
    ) -> torch.Tensor:
        """Return 1 if the object is held, else 0, shape (num_envs,).

        With `std`, the result is multiplied by 1 - tanh(d / std), where d is the
        distance from object to goal, m.
        """
        held = self._held().float()
        return held if std is None else held * _near(self._command.distance(), std)


def joint_vel_excess(
    env: ManagedEnv, limit: float, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Sum of squares of the selected joints' speeds above `limit`, rad/s or m/s."""
    speed = asset_cfg.entity.data.joint_vel[:, asset_cfg.joint_ids].abs()
    return (speed - limit).clamp(min=0.0).square().sum(dim=1)


# Terminations and outcomes.


def dropped(env: ManagedEnv, object_name: str, depth: float = 0.1) -> torch.Tensor:
    """Return True where an object is more than `depth`, m, below the table top."""
    pose = views.of(env.scene).view(object_name).root_pose
    return pose.p[:, 2] - env.scene.spawn_origins[:, 2] < -depth


class held_at_goal(ManagerTermBase):
    """True once the object (or gripper) has stayed at its goal for `duration` s."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._command = goal_command(env, cfg.params["command_name"])
        duration = cfg.params["duration"]
        # Round up to whole steps, with a tolerance for float errors.
        self._needed = math.ceil(duration / env.step_dt - 1e-6)
        if self._needed < 1:
            raise TermError(
                f"held_at_goal: duration is {duration}; it has to be above 0."
            )
        size = (env.num_envs,)
        self._steps = torch.zeros(size, dtype=torch.int64, device=env.device)

    def __call__(
        self, env: ManagedEnv, command_name: str, duration: float
    ) -> torch.Tensor:
        """Return the flag, (num_envs,), bool; `duration` in s. Call once per step."""
        near = self._command.distance() <= self._command.cfg.radius
        self._steps.add_(1).mul_(near)
        return self._steps >= self._needed

    def reset(self, mask: torch.Tensor) -> None:
        fill_where(self._steps, mask, 0)

    def state(self) -> dict[str, torch.Tensor]:
        return {"steps": self._steps}


# Events.


def put_at_rest(
    thing: views.EntityView, mask: torch.Tensor, pose: torch.Tensor
) -> None:
    """Place an object at rest, with the object's joints at their default positions."""
    thing.reset_to_default(mask)
    thing.write_root_pose(mask, pose)
    thing.write_root_velocity(mask, torch.zeros_like(pose[:, :6]))


class place_object(ManagerTermBase):
    """Places an object on the table, at rest."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._object = views.of(env.scene).view(cfg.params["object_name"])
        ranges = cfg.params["pose_range"]
        axes = ("x", "y", "z", "yaw")
        if set(ranges) != set(axes):
            raise TermError(
                f"place_object: pose_range has {sorted(ranges)}; it needs a range for "
                "each of x, y, z and yaw."
            )
        bounds = [ranges[axis] for axis in axes]
        self._low = torch.tensor([low for low, _ in bounds], device=env.device)
        self._high = torch.tensor([high for _, high in bounds], device=env.device)
        self._up = torch.tensor([0.0, 0.0, 1.0], device=env.device)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        object_name: str,
        pose_range: Mapping[str, Range],
        stream: str = "event",
    ) -> None:
        """Sample a pose and write it in the worlds in `mask`.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            object_name: The entity.
            pose_range: Ranges of x, y, z relative to the world's spawn origin, in m,
                and of the yaw, in rad.
            stream: Name of the random stream; the event manager sets one.
        """
        unit = env.rng.draw(stream, (4,))
        drawn = self._low + unit * (self._high - self._low)
        position = drawn[:, :3] + env.scene.spawn_origins
        turn = quat_from_axis_angle(self._up, drawn[:, 3])
        put_at_rest(self._object, mask, torch.cat((position, turn), dim=1))


class _Held:
    """Detects the worlds in which both fingers press an object against each other."""

    def __init__(self, env: ManagedEnv, object_name: str) -> None:
        seen = views.of(env.scene)
        self._views = seen
        self._object = seen.view(object_name)
        self._fingers = [seen.body(name) for name in FINGERS]

    def __call__(self) -> torch.Tensor:
        """Return the flag, shape (num_envs,), bool."""
        left, right = (
            self._views.pairwise_contact_force(finger, self._object)
            for finger in self._fingers
        )
        opposed = (left * right).sum(dim=-1) < 0.0
        return _touches(left) & _touches(right) & opposed


def _touches(force: torch.Tensor) -> torch.Tensor:
    return force.square().sum(dim=-1) > _TOUCH**2


def _near(distance: torch.Tensor, std: float) -> torch.Tensor:
    return 1.0 - torch.tanh(distance / std)
