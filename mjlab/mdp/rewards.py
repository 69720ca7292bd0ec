"""Reward terms. Each returns a rate, shape (num_envs,), float32.

Penalties return positive costs and need a negative weight.
"""

import math
from collections.abc import Mapping

import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg, TermError
from mjlab.mdp.lookup import ROBOT, contact_sensor
from mjlab.names import resolve_values
from mjlab.scene import Selection


def is_alive(env: ManagedEnv) -> torch.Tensor:
    """Return 1 unless the episode terminates in this step; time-outs count as alive."""
    return (~env.termination_manager.terminated).float()


def is_terminated(env: ManagedEnv) -> torch.Tensor:
    """Return 1 if the episode terminates in this step. Time-outs do not count."""
    return env.termination_manager.terminated.float()


# Joints.


def joint_torques_l2(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the sum of squared actuator forces at the chosen joints."""
    effort = asset_cfg.entity.data.qfrc_actuator[:, asset_cfg.joint_ids]
    return effort.square().sum(dim=1)


def joint_vel_l2(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the sum of squared velocities of the chosen joints."""
    return asset_cfg.entity.data.joint_vel[:, asset_cfg.joint_ids].square().sum(dim=1)


def joint_acc_l2(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the sum of squared accelerations of the chosen joints."""
    return asset_cfg.entity.data.joint_acc[:, asset_cfg.joint_ids].square().sum(dim=1)


def joint_pos_limits(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return how far the chosen joints exceed their soft limits, summed, rad or m."""
    data = asset_cfg.entity.data
    position = data.joint_pos[:, asset_cfg.joint_ids]
    limits = data.soft_joint_pos_limits[:, asset_cfg.joint_ids]
    within = position.clamp(limits[..., 0], limits[..., 1])
    return (position - within).abs().sum(dim=1)


def joint_deviation_l1(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the sum of absolute deviations of the chosen joints from the default."""
    data = asset_cfg.entity.data
    return (
        (data.joint_pos - data.default_joint_pos)[:, asset_cfg.joint_ids].abs().sum(1)
    )


class posture(ManagerTermBase):
    """Posture reward: exp(-mean((q - q_default)^2 / std^2)) over the chosen joints."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        selection = cfg.params.get("asset_cfg", ROBOT).resolve(env.scene)
        given = cfg.params["std"]
        # A curriculum can change a number, but this term reads `std` only here.
        if not (isinstance(given, Mapping) and all(s > 0.0 for s in given.values())):
            raise TermError(
                f"posture: std is {given!r}; it has to map patterns of joint names to "
                "positive numbers, such as {'.*': 0.3}."
            )
        std = resolve_values(given, selection.joint_names, what="joint", required=True)
        self._inverse_variance = 1.0 / torch.tensor(std, device=env.device).square()

    def __call__(
        self, env: ManagedEnv, std: dict[str, float], asset_cfg: Selection = ROBOT
    ) -> torch.Tensor:
        """Return the reward. `std` is unused: it was resolved at construction."""
        data = asset_cfg.entity.data
        error = (data.joint_pos - data.default_joint_pos)[:, asset_cfg.joint_ids]
        return torch.exp(-(error.square() * self._inverse_variance).mean(dim=1))


def electrical_power_cost(
    env: ManagedEnv, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Return the positive mechanical power of actuators at the chosen joints, W.

    There is no regeneration: negative power is dissipated as heat and counts as zero.
    """
    data = asset_cfg.entity.data
    power = data.qfrc_actuator * data.joint_vel
    return power[:, asset_cfg.joint_ids].clamp(min=0.0).sum(dim=1)


# Actions.


def action_rate_l2(env: ManagedEnv) -> torch.Tensor:
    """Return the sum of squared changes of the action since the last step."""
    manager = env.action_manager
    return (manager.action - manager.prev_action).square().sum(dim=1)


def action_acc_l2(env: ManagedEnv) -> torch.Tensor:
    """Return the sum of squared second differences of the action."""
    manager = env.action_manager
    change = manager.action - 2.0 * manager.prev_action + manager.prev_prev_action
    return change.square().sum(dim=1)


def action_l2(env: ManagedEnv) -> torch.Tensor:
    """Return the sum of squares of the action."""
    return env.action_manager.action.square().sum(dim=1)


# The base.


def flat_orientation_l2(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the squared sine of the angle between the root's z axis and vertical."""
    return asset_cfg.entity.data.gravity_b[:, :2].square().sum(dim=1)


def lin_vel_z_l2(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the squared vertical (z) velocity of the root in the root frame."""
    return asset_cfg.entity.data.root_lin_vel_b[:, 2].square()


def ang_vel_xy_l2(env: ManagedEnv, asset_cfg: Selection = ROBOT) -> torch.Tensor:
    """Return the sum of squared roll and pitch rates in the root frame."""
    return asset_cfg.entity.data.root_ang_vel_b[:, :2].square().sum(dim=1)


def base_height_l2(
    env: ManagedEnv, target_height: float, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Return the squared error of the root height above the spawn origin."""
    height = asset_cfg.entity.data.root_pos_w[:, 2] - env.scene.spawn_origins[:, 2]
    return (height - target_height).square()


# Tracking a velocity command (forward, left, yaw rate) in the root frame.


def track_lin_vel_xy_exp(
    env: ManagedEnv, std: float, command_name: str, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Return exp(-e^2 / std^2), where e is the error of the xy velocity, m/s."""
    command = env.command_manager.get_command(command_name)
    error = command[:, :2] - asset_cfg.entity.data.root_lin_vel_b[:, :2]
    return torch.exp(-error.square().sum(dim=1) / _square(std))


def track_ang_vel_z_exp(
    env: ManagedEnv, std: float, command_name: str, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Return exp(-e^2 / std^2), where e is the error of the yaw rate, rad/s."""
    command = env.command_manager.get_command(command_name)
    error = command[:, 2] - asset_cfg.entity.data.root_ang_vel_b[:, 2]
    return torch.exp(-error.square() / _square(std))


# Contacts.


def undesired_contacts(
    env: ManagedEnv, sensor_name: str, force_threshold: float = 1.0
) -> torch.Tensor:
    """Return the number of contacts with a force above `force_threshold`, N."""
    force = contact_sensor(env, sensor_name).data.force
    is_strong = force.square().sum(dim=-1) > force_threshold**2
    return is_strong.flatten(1).sum(dim=1, dtype=torch.float32)


def contact_force_excess(
    env: ManagedEnv, sensor_name: str, force_threshold: float
) -> torch.Tensor:
    """Return the force above `force_threshold`, N, summed over a sensor's contacts."""
    force = contact_sensor(env, sensor_name).data.force
    size = force.square().sum(dim=-1).sqrt()
    return (size - force_threshold).clamp(min=0.0).flatten(1).sum(dim=1)


def _square(std: float | torch.Tensor) -> float | torch.Tensor:
    """Return the square of a parameter. A curriculum makes the parameter a tensor."""
    return std.square() if isinstance(std, torch.Tensor) else math.pow(std, 2)
