"""Terms of walking with muscles."""

from __future__ import annotations

import torch

from mjlab.managers import Env, Selection
from mjlab.managers.quantity import Quantity, measured
from mjlab.mdp.lookup import ROBOT
from mjlab.tasks.muscle.commands import GaitCommand
from mjlab.tasks.muscle.commands import GaitCommandCfg as GaitCommandCfg
from mjlab.tensors.math import quat_rotate

GAIT = "gait"
"""Name of the command."""


def gait_of(env: Env) -> GaitCommand:
    """Return the command to walk."""
    term = env.command_manager.term(GAIT)
    assert isinstance(term, GaitCommand)
    return term


LEAD_S = 0.09
"""By how much targets are ahead: half a step, and what the damper of the torque law
(damping over stiffness) would otherwise let the joints stay behind, in s."""


def gait_reference(env: Env) -> torch.Tensor:
    """Return pose of the gait to go for in this step, rad, shape (num_envs, joints)."""
    return gait_of(env).pose(LEAD_S)


# Observations.


@measured(Quantity("m"))
def pace_lag(env: Env) -> torch.Tensor:
    """Return the way that the walker is behind by, m, shape (num_envs, 1)."""
    return gait_of(env).lag().unsqueeze(1)


@measured(Quantity("m", "world", ["z"]))
def root_height(env: Env, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return how high the root is, m, shape (num_envs, 1)."""
    return asset_cfg.entity.data.root_pos_w[:, 2:3]


# Rewards.


def track_speed(env: Env, std: float) -> torch.Tensor:
    """Return how near the speed is to the one asked for, 0 to 1.

    Args:
        env: The environment.
        std: The error that makes it 0.37, in m/s.
    """
    command = gait_of(env)
    error = command.root.speed() - command.speed
    return torch.exp(-(error / std).square())


def walk_like_people(
    env: Env, speed_std: float, pose_std: float, pose_share: float
) -> torch.Tensor:
    """Return speed times pose, 0 to 1: to stand still in a good pose is worth nothing.

    Args:
        env: The environment.
        speed_std: As of `track_speed`.
        pose_std: As of `imitate_pose`.
        pose_share: How much a bad pose can take away.
    """
    pose = imitate_pose(env, pose_std)
    return track_speed(env, speed_std) * (1.0 - pose_share + pose_share * pose)


def imitate_pose(env: Env, std: float) -> torch.Tensor:
    """Return how near the joints are to the gait, 0 to 1.

    Args:
        env: The environment.
        std: The root of the summed squares of all errors that makes it 0.37, in rad.
    """
    command = gait_of(env)
    pose = command.entity.data.joint_pos.index_select(1, command.joints)
    # The step has ended, but the command goes on only after rewards.
    error = pose - command.pose(env.step_dt)
    return torch.exp(-error.square().sum(dim=1) / std**2)


def imitate_velocity(env: Env, std: float) -> torch.Tensor:
    """Return how near the joints' velocities are to the gait's, 0 to 1.

    Args:
        env: The environment.
        std: The root of the summed squares of all errors that makes it 0.37, in rad/s.
    """
    command = gait_of(env)
    speed = command.entity.data.joint_vel.index_select(1, command.joints)
    error = speed - command.velocity(env.step_dt)
    return torch.exp(-error.square().sum(dim=1) / std**2)


def upright(env: Env, std: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return how upright the trunk is, 0 to 1, by the joint that pitches it.

    Args:
        env: The environment.
        std: The angle that makes it 0.37, in rad.
        asset_cfg: The joint.
    """
    pitch = asset_cfg.entity.data.joint_pos[:, asset_cfg.joint_ids]
    return torch.exp(-(pitch / std).square()).squeeze(1)


def level(env: Env, std: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return how upright the root is, 0 to 1.

    Args:
        env: The environment.
        std: The sine of the tilt that makes it 0.37.
        asset_cfg: The walker.
    """
    tilt = asset_cfg.entity.data.projected_gravity_b[:, :2]
    return torch.exp(-tilt.square().sum(dim=1) / std**2)


def straight(env: Env, std: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return how straight ahead the walker goes and looks, 0 to 1.

    Args:
        env: The environment.
        std: The root of the summed squares of the speed sideways, in m/s, and the sine
            of the heading that makes it 0.37.
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
    """Return whether the walker is further than `limit` from where it should be, m."""
    return gait_of(env).lag().abs() > limit


def fell(env: Env, lowest: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return whether the root is lower than `lowest`, m."""
    return asset_cfg.entity.data.root_pos_w[:, 2] < lowest


def beyond(env: Env, limit: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return whether a chosen joint is further than `limit` from 0, m or rad."""
    position = asset_cfg.entity.data.joint_pos[:, asset_cfg.joint_ids]
    return (position.abs() > limit).any(dim=1)


def below(env: Env, limit: float, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return whether a chosen joint is below `limit`, m or rad."""
    return (asset_cfg.entity.data.joint_pos[:, asset_cfg.joint_ids] < limit).any(dim=1)
