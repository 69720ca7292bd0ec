"""MDP terms of walking, in addition to `mjlab.mdp`.

Rewards return shape (num_envs,), float32; the manager multiplies them by weight and
step duration. Penalties are returned as positive costs and get a negative weight.

Joint and root states are from the end of the step. Quantities that MuJoCo derives
(bodies, sites, contacts, momentum) are from the last physics step, so they are up to
one physics step old, and there are no contacts at the start of an episode. Current
values would need another `forward()`, which costs as much as a physics step. Rays are
cast when observations are computed, so rewards use the ground found by the previous
observation. The ground is static, and rewards use current heights and orientations
relative to it.
"""

from collections.abc import Mapping

import torch

from mjlab.managers import ManagerTermBase
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError
from mjlab.mdp import terrain_levels
from mjlab.mdp.lookup import ROBOT, contact_sensor, ray_caster, reading
from mjlab.names import resolve_values
from mjlab.scene import Selection
from mjlab.sensor import TerrainHeightData
from mjlab.tasks.velocity.commands import TwistCommand as TwistCommand
from mjlab.tasks.velocity.commands import TwistCommandCfg as TwistCommandCfg
from mjlab.tasks.velocity.commands import command_speed as command_speed
from mjlab.tasks.velocity.commands import moving as moving
from mjlab.tasks.velocity.foot_height import FootHeightSensorCfg as FootHeightSensorCfg
from mjlab.tasks.velocity.gait import Clock as Clock
from mjlab.tasks.velocity.gait import Gait as Gait
from mjlab.tasks.velocity.gait import GaitAction as GaitAction
from mjlab.tasks.velocity.gait import GaitActionCfg as GaitActionCfg
from mjlab.tasks.velocity.gait import LegGait as LegGait
from mjlab.tasks.velocity.gait import gait_clock as gait_clock
from mjlab.tasks.velocity.gait import gait_contact as gait_contact
from mjlab.tasks.velocity.gait import gait_posture as gait_posture
from mjlab.tasks.velocity.ported import commands_vel as commands_vel
from mjlab.tasks.velocity.ported import terrain_edge_reached as terrain_edge_reached
from mjlab.tasks.velocity.push import growing_push as growing_push
from mjlab.tasks.velocity.support import support_level as support_level
from mjlab.tasks.velocity.support import supporting_hand as supporting_hand
from mjlab.tensors.math import normalize

_SPEEDS = (0.05, 1.5)
"""Command speeds at which a robot starts to walk, and to run, m/s plus rad/s."""


# Observations.


def gravity_from_sensor(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Return the direction of gravity: the negated reading of an up-vector sensor."""
    return -reading(env, sensor_name)


def foot_height(
    env: ManagedEnv, sensor_name: str | None = None, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Return heights of the foot sites above the ground, m, shape (num_envs, feet).

    Args:
        env: The environment.
        sensor_name: Sensor of the foot heights. None means a plane at height 0.
        asset_cfg: Foot sites, on a plane.
    """
    if sensor_name is not None:
        data = env.scene.sensor(sensor_name).data
        if isinstance(data, TerrainHeightData):
            return data.heights
        return reading(env, sensor_name)
    return asset_cfg.entity.data.site_pos_w[:, asset_cfg.site_ids, 2]


def foot_air_time(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Return the time that each foot has been in the air, in seconds, 0 in contact."""
    return contact_sensor(env, sensor_name).data.current_air_time


def foot_contact(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Return 1 for feet in contact in the last physics step, otherwise 0."""
    return contact_sensor(env, sensor_name).data.current_contact_time.sign()


def foot_contact_forces(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Return foot contact forces of the last physics step on a logarithmic scale.

    A force f, in N, becomes sign(f) log(1 + |f|), so that steps and impacts have
    similar sizes. Shape (num_envs, 3 * feet).
    """
    force = contact_sensor(env, sensor_name).data.history("force")[:, :, 0]
    return torch.copysign(force.abs().log1p(), force).flatten(1)


# Command tracking rewards.


def track_linear_velocity(
    env: ManagedEnv, std: float, command_name: str, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Reward for tracking the linear velocity: a Gaussian of the error, 0 to 1.

    The commanded vertical velocity is zero.
    """
    command = env.command_manager.get_command(command_name)
    velocity = asset_cfg.entity.data.root_lin_vel_b
    error = (command[:, :2] - velocity[:, :2]).square().sum(dim=1)
    return _gaussian(error + velocity[:, 2].square(), std)


def track_angular_velocity(
    env: ManagedEnv, std: float, command_name: str, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Reward for tracking the yaw rate: a Gaussian of the error, 0 to 1.

    The commanded roll and pitch rates are zero.
    """
    command = env.command_manager.get_command(command_name)
    velocity = asset_cfg.entity.data.root_ang_vel_b
    error = (command[:, 2] - velocity[:, 2]).square()
    return _gaussian(velocity[:, :2].square().sum(dim=1) + error, std)


class track_mean_yaw_rate(ManagerTermBase):
    """Reward for tracking the yaw rate on average: a Gaussian of the error, 0 to 1.

    The error is averaged over `seconds` with exponential weights. This cancels the yaw
    oscillation of single footsteps, which exceeds commanded yaw rates.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._mean = torch.zeros(env.num_envs, device=env.device)

    def __call__(
        self,
        env: ManagedEnv,
        command_name: str,
        std: float,
        seconds: float = 0.5,
        asset_cfg: Selection = ROBOT,
    ) -> torch.Tensor:
        """Return the reward."""
        command = env.command_manager.get_command(command_name)
        error = asset_cfg.entity.data.root_ang_vel_b[:, 2] - command[:, 2]
        self._mean.lerp_(error, env.step_dt / seconds)
        return _gaussian(self._mean.square(), std)

    def reset(self, mask: torch.Tensor) -> None:
        """Clear the errors of the worlds in `mask`."""
        self._mean.masked_fill_(mask, 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        return {"mean": self._mean}


# Posture rewards.


class upright(ManagerTermBase):
    """Reward for an upright body, 0 to 1: a Gaussian of the sine of its tilt.

    Beyond 90 degrees the error keeps growing, so lying on the back has no advantage.
    With `terrain_sensor_names`, downward ray casters, the reference is the normal of
    the scanned ground instead of the vertical.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        bodies = cfg.params.get("asset_cfg", ROBOT).resolve(env.scene)
        if len(bodies.body_names) != 1:
            raise TermError(
                "upright needs exactly one body, but asset_cfg names "
                f"{bodies.body_names}."
            )
        self._body = int(bodies.global_ids("body")[0])
        self._one = torch.ones((), device=env.device)

    def __call__(
        self,
        env: ManagedEnv,
        std: float,
        terrain_sensor_names: tuple[str, ...] | None = None,
        asset_cfg: Selection = ROBOT,
    ) -> torch.Tensor:
        """Return the reward."""
        up_w = env.sim.data.xmat[:, self._body, :, 2]
        if not terrain_sensor_names:
            cosine = up_w[:, 2]
        else:
            cosine = (up_w * ground_normal(env, *terrain_sensor_names)).sum(dim=1)
        # Square of the sine up to 90 degrees, without an inverse trigonometric
        # function.
        squared_sine = torch.addcmul(self._one, cosine, cosine.abs(), value=-1.0)
        return _gaussian(squared_sine, std)


def ground_normal(env: ManagedEnv, *names: str) -> torch.Tensor:
    """Return the normal of the plane fitted to the hits of ray casters, by height.

    Shape (num_envs, 3), unit, world frame. Without hits it is vertical.

    The plane z = a x + b y that minimises the sum of squared residual heights solves
    [xx xy; xy yy] (a, b) = (xz, yz), with sums over the hits about their mean. Its
    normal (-a, -b, 1), times the determinant, is the cross product of the rows (xx, xy,
    xz) and (xy, yy, yz).
    """
    seen = [ray_caster(env, name).data for name in names]
    hit, places = seen[0].hit, seen[0].hit_pos_w
    if len(seen) > 1:
        hit = torch.cat([rays.hit for rays in seen], dim=1)
        places = torch.cat([rays.hit_pos_w for rays in seen], dim=1)
    counts = hit.unsqueeze(-1).float()
    number = counts.sum(dim=1, keepdim=True).clamp_(min=1.0)
    mean = (places * counts).sum(dim=1, keepdim=True) / number
    offsets = (places - mean).mul_(counts)
    x, y = offsets[..., 0:1], offsets[..., 1:2]
    normal = torch.linalg.cross((x * offsets).sum(dim=1), (y * offsets).sum(dim=1))
    # Keep the normal non-zero if all sums are zero.
    normal[:, 2].add_(1e-6)
    return normalize(normal)


class variable_posture(ManagerTermBase):
    """Reward for joint positions near the default pose, 0 to 1.

    The reward is exp(-mean((deviation / width)²)). The width depends on the commanded
    speed: below the first of `speeds` the robot stands, from the second on it
    runs (m/s plus rad/s), and between them it walks.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        selection = cfg.params.get("asset_cfg", ROBOT).resolve(env.scene)
        names = selection.joint_names
        widths = [
            resolve_values(cfg.params[key], names, what="joint", required=True)
            for key in ("std_standing", "std_walking", "std_running")
        ]
        std = torch.tensor(widths, dtype=torch.float32, device=env.device)
        # One row per gait; includes the sign, and the division by the joint number.
        self._factors = -1.0 / (std.square() * len(names))
        walking, running = cfg.params.get("speeds", _SPEEDS)
        if not walking <= running:
            raise TermError(
                f"speeds={(walking, running)}: the walking speed is above the running "
                "speed."
            )
        self._speeds = torch.tensor((walking, running), device=env.device)

    def __call__(
        self,
        env: ManagedEnv,
        command_name: str,
        std_standing: Mapping[str, float],
        std_walking: Mapping[str, float],
        std_running: Mapping[str, float],
        speeds: tuple[float, float] | torch.Tensor = _SPEEDS,
        asset_cfg: Selection = ROBOT,
    ) -> torch.Tensor:
        """Return the reward; the widths were read at construction."""
        bounds = speeds if isinstance(speeds, torch.Tensor) else self._speeds
        speed = command_speed(env, command_name)
        kind = torch.bucketize(speed, bounds, right=True)
        data = asset_cfg.entity.data
        error = (data.joint_pos - data.default_joint_pos)[:, asset_cfg.joint_ids]
        scaled = error.square() * self._factors.index_select(0, kind)
        return torch.exp(scaled.sum(dim=1))


def body_angular_velocity(
    env: ManagedEnv, asset_cfg: Selection = ROBOT
) -> torch.Tensor:
    """Sum of squares of the selected bodies' roll and pitch rates, (rad/s)².

    Yaw rates are excluded.
    """
    velocity = asset_cfg.entity.data.body_ang_vel_w[:, asset_cfg.body_ids, :2]
    return velocity.square().flatten(1).sum(dim=1)


def angular_momentum(env: ManagedEnv, sensor_name: str) -> torch.Tensor:
    """Return the squared angular momentum about the centre of mass, (kg m²/s)²."""
    return reading(env, sensor_name).square().sum(dim=1)


# Foot rewards. All of them are zero at zero command.


def feet_air_time(
    env: ManagedEnv,
    sensor_name: str,
    command_name: str,
    threshold_min: float = 0.05,
    threshold_max: float = 0.5,
    command_threshold: float | None = 0.5,
) -> torch.Tensor:
    """Return the number of feet whose air time is within two bounds, s."""
    time = contact_sensor(env, sensor_name).data.current_air_time
    is_swing = (time > threshold_min) & (time < threshold_max)
    number = is_swing.sum(dim=1, dtype=torch.float32)
    return number * moving(env, command_name, command_threshold)


def feet_clearance(
    env: ManagedEnv,
    target_height: float,
    command_name: str,
    height_sensor_name: str | None = None,
    command_threshold: float | None = None,
    asset_cfg: Selection = ROBOT,
) -> torch.Tensor:
    """Sum over feet of the height error times the horizontal speed, m²/s.

    The height error is the distance from `target_height`. Feet at rest have no cost, so
    this term shapes only the swing.
    """
    error = foot_height(env, height_sensor_name, asset_cfg) - target_height
    speed = torch.linalg.vector_norm(_foot_velocity_xy(asset_cfg), dim=-1)
    cost = (error.abs() * speed).sum(dim=1)
    return cost * moving(env, command_name, command_threshold)


class feet_swing_height(ManagerTermBase):
    """Squared error of the peak height of a landing foot, relative to a target.

    A peak at 0.5 or 1.5 times the target has a cost of 0.25.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        feet = contact_sensor(env, cfg.params["sensor_name"]).is_in_contact()
        # Peak height of the swing so far.
        self._peak = torch.zeros_like(feet, dtype=torch.float32)

    def __call__(
        self,
        env: ManagedEnv,
        sensor_name: str,
        target_height: float,
        command_name: str,
        height_sensor_name: str | None = None,
        command_threshold: float | None = None,
        asset_cfg: Selection = ROBOT,
    ) -> torch.Tensor:
        """Return the cost of the feet that land in this step, shape (num_envs,)."""
        sensor = contact_sensor(env, sensor_name)
        height = foot_height(env, height_sensor_name, asset_cfg)
        torch.maximum(self._peak, height, out=self._peak)
        error = (self._peak / target_height - 1.0).square()
        landed = sensor.compute_first_contact(env.step_dt)
        cost = (error * landed).sum(dim=1)
        self._peak.masked_fill_(sensor.is_in_contact(), 0.0)
        return cost * moving(env, command_name, command_threshold)

    def reset(self, mask: torch.Tensor) -> None:
        """Clear the peak heights of the worlds in `mask`."""
        self._peak.masked_fill_(mask.unsqueeze(1), 0.0)

    def state(self) -> dict[str, torch.Tensor]:
        return {"peak": self._peak}


def feet_slip(
    env: ManagedEnv,
    sensor_name: str,
    command_name: str,
    command_threshold: float | None = None,
    asset_cfg: Selection = ROBOT,
) -> torch.Tensor:
    """Sum of squared horizontal velocities of the feet in contact, (m/s)²."""
    is_down = contact_sensor(env, sensor_name).is_in_contact()
    sliding = _foot_velocity_xy(asset_cfg).square() * is_down.unsqueeze(-1)
    cost = sliding.flatten(1).sum(dim=1)
    return cost * moving(env, command_name, command_threshold)


def feet_too_close(
    env: ManagedEnv, min_distance: float, asset_cfg: Selection
) -> torch.Tensor:
    """Return the cost of feet that are close together or crossed, seen from the front.

    Args:
        env: The environment.
        min_distance: Sideways distance of the feet below which the cost increases, m.
        asset_cfg: Sites of the left and the right foot, in this order.

    Returns:
        0 from `min_distance` on, 1 where one foot is in front of the other, and more
        where the feet are crossed; shape (num_envs,).
    """
    data = asset_cfg.entity.data
    feet = data.site_pos_w[:, asset_cfg.site_ids, :2]
    apart = feet[:, 0] - feet[:, 1]
    yaw = data.heading_w
    distance = yaw.cos() * apart[:, 1] - yaw.sin() * apart[:, 0]
    return (1.0 - distance / min_distance).clamp(min=0.0)


def soft_landing(
    env: ManagedEnv,
    sensor_name: str,
    command_name: str,
    command_threshold: float | None = None,
) -> torch.Tensor:
    """Sum of the feet's contact forces at touchdown, N.

    If the sensor has a `history_length` above 0, each force is the maximum over the
    recorded physics steps, which includes impacts between environment steps.
    """
    sensor = contact_sensor(env, sensor_name)
    force = torch.linalg.vector_norm(sensor.data.history("force"), dim=-1)
    peak = force.amax(dim=-1)
    cost = (peak * sensor.compute_first_contact(env.step_dt)).sum(dim=1)
    return cost * moving(env, command_name, command_threshold)


# Penalties on unwanted contacts.


def contact_cost(
    env: ManagedEnv, sensor_name: str, force_threshold: float = 10.0
) -> torch.Tensor:
    """Count physics steps with a force above the threshold, summed over contacts.

    The sensor's history should cover an environment step. The threshold is in newtons.
    """
    force = contact_sensor(env, sensor_name).data.history("force")
    is_strong = torch.linalg.vector_norm(force, dim=-1) > force_threshold
    return is_strong.flatten(1).sum(dim=1, dtype=torch.float32)


# Terminations.


def base_near_feet(
    env: ManagedEnv, minimum_height: float, asset_cfg: Selection
) -> torch.Tensor:
    """Terminate when the base is too low above the lower foot.

    Args:
        env: The environment.
        minimum_height: Minimum height of the base above the lower foot, m.
        asset_cfg: Bodies of the feet.
    """
    data = asset_cfg.entity.data
    lower = data.body_pos_w[:, asset_cfg.body_ids, 2].amin(dim=1)
    return data.root_pos_w[:, 2] - lower < minimum_height


def _gaussian(squared_error: torch.Tensor, std: float) -> torch.Tensor:
    """Return exp(-squared_error / std²); `std` can be a tensor set by a curriculum."""
    return torch.exp(squared_error / -(std * std))


def _foot_velocity_xy(feet: Selection) -> torch.Tensor:
    return feet.entity.data.site_lin_vel_w[:, feet.site_ids, :2]


# Aliases of mjlab 1.6.
angular_momentum_penalty = angular_momentum
body_angular_velocity_penalty = body_angular_velocity
projected_gravity_from_sensor = gravity_from_sensor
self_collision_cost = contact_cost
terrain_levels_vel = terrain_levels
