"""MDP terms of the velocity tasks for any robot, one function per manager.

Each call returns new objects, which the caller can change.
"""

import math

from mjlab.envs import mdp
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    CurriculumTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.sensor import SensorCfg
from mjlab.tasks.robots.robot import Robot
from mjlab.tasks.velocity import mdp as walking
from mjlab.tasks.velocity.commands import TwistCommandCfg
from mjlab.tasks.velocity.scene import (
    FEET_CONTACT,
    FOOT_HEIGHT,
    SCAN_DISTANCE,
    TERRAIN_SCAN,
)
from mjlab.tensors import UniformNoiseCfg

COMMAND = "twist"
FASTER = {"lin_vel_x": (-1.5, 2.0), "ang_vel_z": (-0.7, 0.7)}
"""Command ranges in the second stage of training, m/s and rad/s."""

_STEPS_PER_ITERATION = 24


# Observations.


def observations(robot: Robot, *, rough: bool) -> dict[str, ObservationGroupCfg]:
    """Return noisy actor observations, and noise-free critic ones with foot states.

    Args:
        robot: The robot.
        rough: Include the terrain scan.
    """
    seen = _measured()
    true = dict(seen)
    true["joint_pos"] = ObservationTermCfg(func=mdp.joint_pos_rel)
    if rough:
        seen["height_scan"] = ObservationTermCfg(
            func=mdp.height_scan,
            params={"sensor_name": TERRAIN_SCAN},
            noise=_noise(0.1),
            scale=1.0 / SCAN_DISTANCE,
        )
        true["height_scan"] = seen["height_scan"]
    height = FOOT_HEIGHT if rough else None
    contact = {"sensor_name": FEET_CONTACT}
    true |= {
        "foot_height": ObservationTermCfg(
            func=walking.foot_height,
            params={"sensor_name": height, "asset_cfg": feet_of(robot)},
        ),
        "foot_air_time": ObservationTermCfg(func=walking.foot_air_time, params=contact),
        "foot_contact": ObservationTermCfg(func=walking.foot_contact, params=contact),
        "foot_contact_forces": ObservationTermCfg(
            func=walking.foot_contact_forces, params=contact
        ),
    }
    return {
        "actor": ObservationGroupCfg(terms={**seen}, enable_corruption=True),
        "critic": ObservationGroupCfg(terms={**true}, enable_corruption=False),
    }


def _measured() -> dict[str, ObservationTermCfg]:
    return {
        "base_lin_vel": ObservationTermCfg(
            func=mdp.builtin_sensor,
            params={"sensor_name": "robot/imu_lin_vel"},
            noise=_noise(0.5),
        ),
        "base_ang_vel": ObservationTermCfg(
            func=mdp.builtin_sensor,
            params={"sensor_name": "robot/imu_ang_vel"},
            noise=_noise(0.2),
        ),
        "projected_gravity": ObservationTermCfg(
            func=walking.gravity_from_sensor,
            params={"sensor_name": "robot/imu_upvector"},
            noise=_noise(0.05),
        ),
        "joint_pos": ObservationTermCfg(
            func=mdp.joint_pos_rel, params={"biased": True}, noise=_noise(0.01)
        ),
        "joint_vel": ObservationTermCfg(func=mdp.joint_vel, noise=_noise(1.5)),
        "actions": ObservationTermCfg(func=mdp.last_action),
        "command": ObservationTermCfg(
            func=mdp.generated_commands, params={"command_name": COMMAND}
        ),
    }


def _noise(size: float) -> UniformNoiseCfg:
    return UniformNoiseCfg(n_min=-size, n_max=size)


def feet_of(robot: Robot) -> SceneEntityCfg:
    """Return the sites under the feet."""
    return SceneEntityCfg("robot", site_names=robot.foot_sites)


def torso_of(robot: Robot) -> SceneEntityCfg:
    """Return the body that should be upright."""
    return SceneEntityCfg("robot", body_names=robot.torso_body)


# Actions and commands.


def actions(robot: Robot) -> dict[str, ActionTermCfg]:
    """Return position targets of all joints, relative to the default pose."""
    return {
        "joint_pos": mdp.JointPositionActionCfg(
            scale=dict(robot.action_scale), use_default_offset=True
        )
    }


def commands() -> dict[str, CommandTermCfg]:
    """Return a velocity command that changes every 3 to 8 s; 10 % of them are zero."""
    return {
        COMMAND: TwistCommandCfg(
            resampling_time_range=(3.0, 8.0),
            rel_standing_envs=0.1,
            rel_heading_envs=0.3,
            rel_forward_envs=0.2,
            heading_command=True,
            heading_control_stiffness=0.5,
            debug_vis=True,
            ranges=mdp.UniformVelocityCommandCfg.Ranges(
                lin_vel_x=(-1.0, 1.0),
                lin_vel_y=(-1.0, 1.0),
                ang_vel_z=(-0.5, 0.5),
                heading=(-math.pi, math.pi),
            ),
        )
    }


# Rewards.


def rewards(
    robot: Robot, *, rough: bool, scan_tilts: bool = False
) -> dict[str, RewardTermCfg]:
    """Return rewards for command tracking, upright posture and smooth foot motion.

    Args:
        robot: The robot.
        rough: Measure foot heights with rays.
        scan_tilts: Use the normal of the scanned ground as the upright direction.
    """
    torso = torso_of(robot)
    return {
        "track_linear_velocity": RewardTermCfg(
            func=walking.track_linear_velocity,
            weight=2.0,
            params={"std": math.sqrt(0.25), "command_name": COMMAND},
        ),
        "track_angular_velocity": RewardTermCfg(
            func=walking.track_angular_velocity,
            weight=2.0,
            params={"std": math.sqrt(0.5), "command_name": COMMAND},
        ),
        "upright": RewardTermCfg(
            func=walking.upright,
            weight=1.0,
            params={
                "std": math.sqrt(0.2),
                "terrain_sensor_names": (TERRAIN_SCAN,) if scan_tilts else None,
                "asset_cfg": torso,
            },
        ),
        "pose": RewardTermCfg(
            func=walking.variable_posture,
            weight=1.0,
            params={
                "command_name": COMMAND,
                "std_standing": dict(robot.posture_std_standing),
                "std_walking": dict(robot.posture_std_walking),
                "std_running": dict(robot.posture_std_running),
                "speeds": (0.05, 1.5),
            },
        ),
        "body_ang_vel": RewardTermCfg(
            func=walking.body_angular_velocity, weight=0.0, params={"asset_cfg": torso}
        ),
        "angular_momentum": RewardTermCfg(
            func=walking.angular_momentum,
            weight=0.0,
            params={"sensor_name": "robot/root_angmom"},
        ),
        "dof_pos_limits": RewardTermCfg(func=mdp.joint_pos_limits, weight=-1.0),
        "action_rate_l2": RewardTermCfg(func=mdp.action_rate_l2, weight=-0.1),
        **_feet_rewards(robot, rough=rough),
    }


def _feet_rewards(robot: Robot, *, rough: bool) -> dict[str, RewardTermCfg]:
    contact = {"sensor_name": FEET_CONTACT, "command_name": COMMAND}
    feet = {"command_name": COMMAND, "asset_cfg": feet_of(robot)}
    height = feet | {
        "target_height": 0.1,
        "height_sensor_name": FOOT_HEIGHT if rough else None,
    }
    return {
        "air_time": RewardTermCfg(
            func=walking.feet_air_time,
            weight=0.0,
            params=contact
            | {"threshold_min": 0.05, "threshold_max": 0.5, "command_threshold": 0.5},
        ),
        "foot_clearance": RewardTermCfg(
            func=walking.feet_clearance, weight=-2.0, params=dict(height)
        ),
        "foot_swing_height": RewardTermCfg(
            func=walking.feet_swing_height,
            weight=-0.25,
            params=height | {"sensor_name": FEET_CONTACT},
        ),
        "foot_slip": RewardTermCfg(
            func=walking.feet_slip,
            weight=-0.1,
            params=feet | {"sensor_name": FEET_CONTACT},
        ),
        "soft_landing": RewardTermCfg(
            func=walking.soft_landing,
            weight=-1e-5,
            params=dict(contact),
        ),
    }


def contact_cost(sensor: SensorCfg, weight: float) -> RewardTermCfg:
    """Return a penalty per physics step in which a contact force exceeds 10 N."""
    return RewardTermCfg(
        func=walking.contact_cost,
        weight=weight,
        params={"sensor_name": sensor.name, "force_threshold": 10.0},
    )


# Terminations.


def terminations(*, rough: bool) -> dict[str, TerminationTermCfg]:
    """Return terminations for the time limit, a fall, and leaving the terrain.

    Args:
        rough: Whether the terrain has an edge.
    """
    terms = {
        "time_out": TerminationTermCfg(func=mdp.time_out, time_out=True),
        "fell_over": TerminationTermCfg(
            func=mdp.fell_over, params={"limit_angle": math.radians(70.0)}
        ),
    }
    if rough:
        terms["out_of_terrain_bounds"] = TerminationTermCfg(
            func=mdp.out_of_terrain_bounds, time_out=True
        )
    return terms


# Events.


def events(robot: Robot) -> dict[str, EventTermCfg]:
    """Return events: resets near the origin, pushes, and domain randomisation."""
    return {
        "reset_base": EventTermCfg(
            func=mdp.reset_root_state_uniform,
            mode="reset",
            params={
                "pose_range": {
                    "x": (-0.5, 0.5),
                    "y": (-0.5, 0.5),
                    "z": (0.01, 0.05),
                    "yaw": (-math.pi, math.pi),
                },
                "velocity_range": {},
            },
        ),
        "reset_robot_joints": EventTermCfg(
            func=mdp.reset_joints_by_offset,
            mode="reset",
            params={"position_range": (0.0, 0.0), "velocity_range": (0.0, 0.0)},
        ),
        "push_robot": EventTermCfg(
            func=mdp.push_by_setting_velocity,
            mode="interval",
            interval_range_s=(1.0, 3.0),
            params={
                "velocity_range": {
                    "x": (-0.5, 0.5),
                    "y": (-0.5, 0.5),
                    "z": (-0.4, 0.4),
                    "roll": (-0.52, 0.52),
                    "pitch": (-0.52, 0.52),
                    "yaw": (-0.78, 0.78),
                }
            },
        ),
        "foot_friction": foot_friction(robot, "sliding", (0.3, 1.2)),
        "encoder_bias": EventTermCfg(
            func=mdp.randomize.encoder_bias,
            mode="startup",
            params={"bias_range": (-0.015, 0.015)},
        ),
        "base_com": EventTermCfg(
            func=mdp.randomize.body_com_offset,
            mode="startup",
            params={
                "asset_cfg": torso_of(robot),
                "operation": "add",
                "ranges": {0: (-0.025, 0.025), 1: (-0.025, 0.025), 2: (-0.03, 0.03)},
            },
        ),
    }


def foot_friction(
    robot: Robot, axis: str, bounds: tuple[float, float], *, log: bool = False
) -> EventTermCfg:
    """Return an event that randomises foot friction, equal for all feet of a world.

    Args:
        robot: The robot.
        axis: "sliding", "torsional" or "rolling".
        bounds: Smallest and largest coefficient.
        log: Sample log-uniformly.
    """
    return EventTermCfg(
        func=mdp.randomize.geom_friction,
        mode="startup",
        params={
            "asset_cfg": SceneEntityCfg("robot", geom_names=robot.foot_geoms),
            "operation": "abs",
            "distribution": "log_uniform" if log else "uniform",
            "axes": (axis,),
            "ranges": bounds,
            "shared_random": True,
        },
    )


# Curriculum.


def curriculum(*, rough: bool) -> dict[str, CurriculumTermCfg]:
    """Return curricula: wider command ranges in stages and, if rough, terrain levels.

    Args:
        rough: Whether the terrain has levels of difficulty.
    """
    second, third = 5000 * _STEPS_PER_ITERATION, 10000 * _STEPS_PER_ITERATION
    terms = {
        "forward_range": CurriculumTermCfg(
            func=mdp.command_range_schedule,
            params={
                "command_name": COMMAND,
                "range_name": "lin_vel_x",
                "stages": [(second, FASTER["lin_vel_x"]), (third, (-2.0, 3.0))],
            },
        ),
        "turning_range": CurriculumTermCfg(
            func=mdp.command_range_schedule,
            params={
                "command_name": COMMAND,
                "range_name": "ang_vel_z",
                "stages": [(second, FASTER["ang_vel_z"])],
            },
        ),
    }
    if rough:
        terms["terrain_levels"] = CurriculumTermCfg(
            func=mdp.terrain_levels, params={"command_name": COMMAND}
        )
    return terms
