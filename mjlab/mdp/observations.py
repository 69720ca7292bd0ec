"""Observation terms. Each returns shape (num_envs, d), float32."""

from typing import get_args

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermError
from mjlab.mdp.lookup import ROBOT, contact_sensor, pictures, ray_caster, reading
from mjlab.names import suggest
from mjlab.scene import Selection
from mjlab.sensor.camera import DataType

# Replaces infinite joint limits; far beyond any finite limit.
_NO_LIMIT = 1e18


# The base.


def base_lin_vel(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the root's linear velocity in the root frame, m/s, (num_envs, 3)."""
    return asset_cfg.entity.data.root_lin_vel_b


def base_ang_vel(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the root's angular velocity in the root frame, rad/s, (num_envs, 3)."""
    return asset_cfg.entity.data.root_ang_vel_b


def projected_gravity(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the direction of gravity in the root frame, shape (num_envs, 3)."""
    return asset_cfg.entity.data.gravity_b


def base_height(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the height of the root's origin above the world's spawn origin, m."""
    height = asset_cfg.entity.data.root_pos_w[:, 2] - env.scene.spawn_origins[:, 2]
    return height.unsqueeze(1)


def root_pos_local(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the root's position relative to the spawn origin, m, (num_envs, 3)."""
    return env.scene.to_local(asset_cfg.entity.data.root_pos_w)


def root_quat_w(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the orientation of the root, wxyz, shape (num_envs, 4)."""
    return asset_cfg.entity.data.root_quat_w


# Joints.


def joint_pos(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the positions of the chosen joints, m or rad."""
    return asset_cfg.entity.data.joint_pos[:, asset_cfg.joint_ids]


def joint_pos_rel(
    env: ManagedEnv, biased: bool = False, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Return the chosen joints' positions relative to the default pose, m or rad.

    Args:
        env: The environment.
        biased: Whether to add the bias of the joints' encoders.
        asset_cfg: The joints.
    """
    data = asset_cfg.entity.data
    position = data.joint_pos_biased if biased else data.joint_pos
    return (position - data.default_joint_pos)[:, asset_cfg.joint_ids]


def joint_vel(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the velocities of the chosen joints, m/s or rad/s."""
    return asset_cfg.entity.data.joint_vel[:, asset_cfg.joint_ids]


def joint_vel_rel(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the chosen joints' velocities relative to the default, m/s or rad/s."""
    data = asset_cfg.entity.data
    return (data.joint_vel - data.default_joint_vel)[:, asset_cfg.joint_ids]


def joint_pos_limit_normalized(
    env: ManagedEnv, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Return joint positions scaled to -1 at the lower and 1 at the upper soft limit.

    The value of a joint without limits is 0.
    """
    data = asset_cfg.entity.data
    limits = data.soft_joint_pos_limits[:, asset_cfg.joint_ids]
    # Infinite limits would give NaN. A NaN position stays NaN.
    limits = limits.clamp(-_NO_LIMIT, _NO_LIMIT)
    low, high = limits[..., 0], limits[..., 1]
    position = data.joint_pos[:, asset_cfg.joint_ids]
    return (2.0 * position - low - high) / (high - low)


def joint_effort(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the forces of actuators at the chosen joints, N or N m."""
    return asset_cfg.entity.data.qfrc_actuator[:, asset_cfg.joint_ids]


def tendon_length(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the lengths of the chosen tendons, m, shape (num_envs, tendons)."""
    return asset_cfg.entity.data.tendon_len[:, asset_cfg.tendon_ids]


# Bodies.


def body_pose_local(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return body poses relative to the spawn origin, shape (num_envs, 7 * bodies)."""
    data = asset_cfg.entity.data
    position = env.scene.to_local(data.body_pos_w[:, asset_cfg.body_ids])
    orientation = data.body_quat_w[:, asset_cfg.body_ids]
    return torch.cat([position, orientation], dim=-1).flatten(1)


# Actions, commands and time.


def last_action(env: ManagedEnv, action_name: str | None = None) -> torch.Tensor:
    """Return the last raw action, or one term's part of it."""
    if action_name is None:
        return env.action_manager.action
    return env.action_manager.get_term(action_name).raw_action


def generated_commands(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the current command of a command term, shape (num_envs, d)."""
    return env.command_manager.get_command(command_name)


def episode_progress(env: ManagedEnv) -> torch.Tensor:
    """Return elapsed time over the episode's time limit, 0 to 1, (num_envs, 1)."""
    return (env.episode_length_buf / env.max_episode_length).unsqueeze(1)


# Sensors.


def builtin_sensor(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Return the readings of a MuJoCo sensor, in its unit, shape (num_envs, dim)."""
    return reading(env, sensor_name)


def height_scan(env: ManagedEnv, sensor_name: str, offset: float = 0.0) -> torch.Tensor:
    """Return the height of a ray caster's frame above each hit, m, (num_envs, rays).

    A ray without a hit counts as a hit at the ray's maximum distance.

    Args:
        env: The environment.
        sensor_name: The ray caster.
        offset: Height to subtract, such as the frame's height when standing, m.
    """
    sensor = ray_caster(env, sensor_name)
    frame = sensor.data.frame_pos_w[..., 2]
    hits = sensor.data.hit_pos_w[..., 2].unflatten(1, (frame.shape[1], -1))
    height = frame.unsqueeze(-1) - hits
    is_zero = isinstance(offset, float) and offset == 0.0
    return (height if is_zero else height - offset).flatten(1)


def contact_found(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Return 1 for each primary of a contact sensor that has a contact, 0 otherwise.

    Shape (num_envs, primaries), for any number of contact slots per primary.
    """
    sensor = contact_sensor(env, sensor_name)
    found = sensor.data.found
    # The first slot of a primary is filled if it has any contact.
    slots = found.shape[1] // len(sensor.primary_names)
    return (found[:, ::slots] > 0).float()


def camera_image(
    env: ManagedEnv, sensor_name: str, data_type: str = "rgb", normalize: bool = True
) -> torch.Tensor:
    """Return a camera's image, shape (num_envs, channels, height, width).

    Args:
        env: The environment.
        sensor_name: The camera.
        data_type: "rgb", "depth" or "segmentation".
        normalize: Whether to scale colours from 0..255 to 0..1.
    """
    if data_type not in get_args(DataType):
        raise TermError(
            f"Camera {sensor_name!r} has no data type {data_type!r}. "
            + suggest(data_type, get_args(DataType))
        )
    image = getattr(pictures(env, sensor_name), data_type)
    image = image.permute(0, 3, 1, 2).float()
    return image / 255.0 if normalize and data_type == "rgb" else image
