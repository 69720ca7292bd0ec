"""MDP terms of muscle-driven walking."""

from __future__ import annotations

import torch

from mjlab.managers import Env, Selection
from mjlab.managers.quantity import Quantity, measured
from mjlab.mdp.lookup import ROBOT
from mjlab.tasks.muscle.commands import GaitCommand
from mjlab.tasks.muscle.commands import GaitCommandCfg as GaitCommandCfg
from mjlab.tensors.math import quat_rotate

GAIT = "gait"
"""Name of the gait command."""


def gait_of(env: Env) -> GaitCommand:
    """Return the gait command."""
    term = env.command_manager.term(GAIT)
    assert isinstance(term, GaitCommand)
    return term


LEAD_S = 0.09
"""Time by which joint targets lead the reference, in s: half a step plus the delay of
the torque law's damper (damping / stiffness)."""


def gait_reference(env: Env) -> torch.Tensor:
    """Return the gait's reference pose for this step, rad, shape (num_envs, joints)."""
    return gait_of(env).pose(LEAD_S)


# Observations.


@measured(Quantity("m"))
def pace_lag(env: Env) -> torch.Tensor:
    """Return the lag behind the reference position, m, shape (num_envs, 1)."""
    return gait_of(env).lag().unsqueeze(1)


@measured(Quantity("m", "world", ["z"]))
def root_height(env: Env, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the height of the root, m, shape (num_envs, 1)."""
    return asset_cfg.entity.data.root_pos_w[:, 2:3]


# Rewards.


def track_speed(env: Env, std: float) -> torch.Tensor:
    """Return exp(-(e / std)²), where e is the error of the walking speed, m/s.

    Args:
        env: The environment.
        std: Error at which the reward is 0.37, in m/s.
    """
    command = gait_of(env)
    error = command.root.speed() - command.speed
    return torch.exp(-(error / std).square())


def walk_like_people(
    env: Env, speed_std: float, pose_std: float, pose_share: float
) -> torch.Tensor:
    """Return the speed reward times the pose imitation reward, 0 to 1.

    Standing still in a good pose gives no reward.

    Args:
        env: The environment.
        speed_std: Parameter `std` of `track_speed`, m/s.
        pose_std: Parameter `std` of `imitate_pose`, rad.
        pose_share: Fraction of the reward that depends on the pose.
    """
    pose = imitate_pose(env, pose_std)
    return track_speed(env, speed_std) * (1.0 - pose_share + pose_share * pose)


def imitate_pose(env: Env, std: float) -> torch.Tensor:
    """Return exp(-(e / std)²), where e is the norm of the joint position errors.

    Args:
        env: The environment.
        std: Root of the sum of squared errors at which the reward is 0.37, in rad.
    """
    command = gait_of(env)
    pose = command.entity.data.joint_pos.index_select(1, command.joints)
    # The step is complete, but the command advances only after rewards.
    error = pose - command.pose(env.step_dt)
    return torch.exp(-error.square().sum(dim=1) / std**2)


def imitate_velocity(env: Env, std: float) -> torch.Tensor:
    """Return exp(-(e / std)²), where e is the norm of the joint velocity errors.

    Args:
        env: The environment.
        std: Root of the sum of squared errors at which the reward is 0.37, in rad/s.
    """
    command = gait_of(env)
    speed = command.entity.data.joint_vel.index_select(1, command.joints)
    error = speed - command.velocity(env.step_dt)
    return torch.exp(-error.square().sum(dim=1) / std**2)


def upright(env: Env, std: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the uprightness of the trunk, 0 to 1, from its pitch joint.

    Args:
        env: The environment.
        std: Angle at which the reward is 0.37, in rad.
        asset_cfg: The joint.
    """
    pitch = asset_cfg.entity.data.joint_pos[:, asset_cfg.joint_ids]
    return torch.exp(-(pitch / std).square()).squeeze(1)


def level(env: Env, std: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the uprightness of the root, 0 to 1.

    Args:
        env: The environment.
        std: Sine of the tilt at which the reward is 0.37.
        asset_cfg: The walker.
    """
    tilt = asset_cfg.entity.data.projected_gravity_b[:, :2]
    return torch.exp(-tilt.square().sum(dim=1) / std**2)


def straight(env: Env, std: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return a reward for motion and heading straight ahead, 0 to 1.

    Args:
        env: The environment.
        std: Deviation at which the reward is 0.37: root of the sum of squares of the
            sideways speed, in m/s, and of the sine of the heading.
        asset_cfg: The walker.
    """
    data = asset_cfg.entity.data
    sideways = data.root_lin_vel_w[:, 1]
    forward = torch.zeros_like(data.root_pos_w)
    forward[:, 0] = 1.0
    heading = quat_rotate(data.root_quat_w, forward)[:, 1]
    return torch.exp(-(sideways.square() + heading.square()) / std**2)


# Terminations.


def off_pace(env: Env, limit: float) -> torch.Tensor:
    """Return True where the reference position is more than `limit`, m, away."""
    return gait_of(env).lag().abs() > limit


def fell(env: Env, lowest: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return True where the root is below `lowest`, m."""
    return asset_cfg.entity.data.root_pos_w[:, 2] < lowest


def beyond(env: Env, limit: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return True where a selected joint is further than `limit` from 0, m or rad."""
    position = asset_cfg.entity.data.joint_pos[:, asset_cfg.joint_ids]
    return (position.abs() > limit).any(dim=1)


def below(env: Env, limit: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return True where a selected joint is below `limit`, m or rad."""
    return (asset_cfg.entity.data.joint_pos[:, asset_cfg.joint_ids] < limit).any(dim=1)
