"""Termination terms. Each returns shape (num_envs,), bool."""

import math
from collections.abc import Mapping

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.mdp.lookup import ROBOT, contact_sensor
from mjlab.scene import Selection

# Tolerance for the rounding of a float32 cosine, so that an episode exactly at the
# limit continues.
_ROUNDING = 1e-6


def time_out(env: ManagedEnv) -> torch.Tensor:
    """Terminate when the time limit is reached; declare it with `time_out=True`."""
    return env.episode_length_buf >= env.max_episode_length


def fell_over(
    env: ManagedEnv, limit_angle: float | torch.Tensor, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Terminate when the root's z axis is tilted by more than `limit_angle`, rad.

    The test uses the root quaternion (w, x, y, z): x² + y² = sin²(tilt / 2). This
    avoids inverse trigonometric functions, which return NaN outside their domain.
    """
    horizontal = asset_cfg.entity.data.root_quat_w[:, 1:3]
    half = 0.5 * limit_angle
    # With a curriculum, the limit is a tensor on the device.
    sine = half.sin() if isinstance(half, torch.Tensor) else math.sin(half)
    return horizontal.square().sum(dim=1) > sine**2


def bad_orientation(
    env: ManagedEnv, limit_angle: float, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Terminate when the root's tilt exceeds `limit_angle`, rad, from 0 to pi.

    Compares cosines: the arccosine of a value rounded above 1 in magnitude is NaN and
    would hide a robot that lies on its back.
    """
    cosine = -asset_cfg.entity.data.gravity_b[:, 2]
    return cosine < _cosine(limit_angle) - _ROUNDING


def root_height_below_minimum(
    env: ManagedEnv, minimum_height: float, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Terminate when the root height above the spawn origin is below the minimum, m."""
    height = asset_cfg.entity.data.root_pos_w[:, 2] - env.scene.spawn_origins[:, 2]
    return height < minimum_height


def joint_pos_out_of_limit(
    env: ManagedEnv, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Terminate when one of the chosen joints exceeds its soft position limits."""
    data = asset_cfg.entity.data
    position = data.joint_pos[:, asset_cfg.joint_ids]
    limits = data.soft_joint_pos_limits[:, asset_cfg.joint_ids]
    outside = (position < limits[..., 0]) | (position > limits[..., 1])
    return outside.any(dim=1)


def joint_pos_out_of_range(
    env: ManagedEnv, bounds: tuple[float, float], asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Terminate when one of the chosen joints is outside `bounds`, m or rad."""
    position = asset_cfg.entity.data.joint_pos[:, asset_cfg.joint_ids]
    return ((position < bounds[0]) | (position > bounds[1])).any(dim=1)


def joint_vel_out_of_limit(
    env: ManagedEnv, max_velocity: float, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Terminate when a chosen joint is faster than `max_velocity`, m/s or rad/s."""
    velocity = asset_cfg.entity.data.joint_vel[:, asset_cfg.joint_ids]
    return (velocity.abs() > max_velocity).any(dim=1)


def illegal_contact(
    env: ManagedEnv, sensor_name: str, force_threshold: float = 1.0
) -> torch.Tensor:
    """Terminate when a contact force of a sensor exceeds `force_threshold`, N."""
    force = contact_sensor(env, sensor_name).data.force
    return (force.square().sum(dim=-1) > force_threshold**2).flatten(1).any(dim=1)


def out_of_terrain_bounds(
    env: ManagedEnv, margin: float = 0.3, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Terminate when the root is closer than `margin`, m, to the terrain's edge."""
    ground = env.scene.ground
    if ground is None:
        return torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
    # The terrain is centred at the origin, so one bound applies to both sides.
    half_x, half_y = ground.terrain.tile_bounds[1].tolist()
    away = asset_cfg.entity.data.root_pos_w[:, :2].abs()
    return (away[:, 0] > half_x - margin) | (away[:, 1] > half_y - margin)


def nan_detection(env: ManagedEnv) -> torch.Tensor:
    """Terminate when the state of a world contains NaN or infinite values.

    The environment always ends such episodes. This term also counts them in the log,
    as "Episode_Termination/<name of the term>".
    """
    return env.sim.health.find_nonfinite()


# Outcomes. They are computed after all terminations and do not end the episode.


def failed(env: ManagedEnv) -> torch.Tensor:
    """Failure outcome: True if the episode terminated before its time limit."""
    return env.termination_manager.terminated


def lasted(
    env: ManagedEnv,
    command_name: str | None = None,
    limits: Mapping[str, float] | None = None,
) -> torch.Tensor:
    """Success outcome: True if the episode timed out and its command was tracked.

    Args:
        env: The environment.
        command_name: The command. None checks the time-out only.
        limits: Upper limits of the command's episode mean metrics, by name.
    """
    ends = env.termination_manager
    held = ends.time_outs & ~ends.terminated
    if command_name is not None:
        metrics = env.command_manager.term(command_name).metrics
        for name, limit in (limits or {}).items():
            held = held & (metrics[name] < limit)
    return held


def _cosine(angle: float | torch.Tensor) -> float | torch.Tensor:
    """Return the cosine of a parameter. A curriculum makes the parameter a tensor."""
    return angle.cos() if isinstance(angle, torch.Tensor) else math.cos(angle)
