"""MDP terms of motion tracking for any robot, one function per manager.

Each call returns new objects, which the caller can change.
"""

from pathlib import Path

from mjlab import motion
from mjlab.envs import mdp
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    EventTermCfg,
    MetricsTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    OutcomeTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.tasks.robots.robot import Robot
from mjlab.tensors import UniformNoiseCfg

COMMAND = "motion"
SELF_CONTACT = "self_contact"

_COMMANDED = {"command_name": COMMAND}

_KICK = {
    "x": (-0.5, 0.5),
    "y": (-0.5, 0.5),
    "z": (-0.2, 0.2),
    "roll": (-0.52, 0.52),
    "pitch": (-0.52, 0.52),
    "yaw": (-0.78, 0.78),
}
"""Ranges of pushes, and of initial velocity errors, m/s and rad/s."""


def kicks(share: float = 1.0) -> dict[str, tuple[float, float]]:
    """Return ranges of velocity changes, as a fraction of BeyondMimic's."""
    return {axis: (share * low, share * high) for axis, (low, high) in _KICK.items()}


def commands(
    robot: Robot, clips: tuple[Path, ...], *, disturbance: float = 1.0
) -> dict[str, CommandTermCfg]:
    """Return the motion command, with adaptive sampling of start frames.

    Frames before failures are sampled more often.

    Args:
        robot: The robot.
        clips: Motion files, and folders of motion files.
        disturbance: Initial velocity errors, as a fraction of BeyondMimic's.
    """
    return {
        COMMAND: motion.MotionCommandCfg(
            clips=clips,
            anchor_body=robot.torso_body,
            body_names=robot.tracking_bodies,
            sampling="adaptive",
            pose_range={
                "x": (-0.05, 0.05),
                "y": (-0.05, 0.05),
                "z": (-0.01, 0.01),
                "roll": (-0.1, 0.1),
                "pitch": (-0.1, 0.1),
                "yaw": (-0.2, 0.2),
            },
            velocity_range=kicks(disturbance),
            joint_range=(-0.1, 0.1),
            debug_vis=True,
        )
    }


def observations(
    *, state_estimation: bool = True, preview: tuple[int, ...] = ()
) -> dict[str, ObservationGroupCfg]:
    """Return noisy actor observations, and noise-free critic ones with body poses.

    Args:
        state_estimation: Include position and linear velocity, which most robots cannot
            measure.
        preview: Offsets of future reference frames to observe, in control steps.
    """
    seen = {
        "command": ObservationTermCfg(
            func=motion.mdp.motion_reference, params=_COMMANDED
        ),
    }
    if preview:
        seen["preview"] = ObservationTermCfg(
            func=motion.mdp.motion_preview, params=_COMMANDED | {"frames": preview}
        )
    seen |= {
        "motion_anchor_pos_b": ObservationTermCfg(
            func=motion.mdp.motion_anchor_pos_b, params=_COMMANDED, noise=_noise(0.25)
        ),
        "motion_anchor_ori_b": ObservationTermCfg(
            func=motion.mdp.motion_anchor_ori_b, params=_COMMANDED, noise=_noise(0.05)
        ),
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
        "joint_pos": ObservationTermCfg(
            func=mdp.joint_pos_rel, params={"biased": True}, noise=_noise(0.01)
        ),
        "joint_vel": ObservationTermCfg(func=mdp.joint_vel, noise=_noise(0.5)),
        "actions": ObservationTermCfg(func=mdp.last_action),
    }
    true = dict(seen)
    true["joint_pos"] = ObservationTermCfg(func=mdp.joint_pos_rel)
    true |= {
        "body_pos": ObservationTermCfg(
            func=motion.mdp.robot_body_pos_b, params=_COMMANDED
        ),
        "body_ori": ObservationTermCfg(
            func=motion.mdp.robot_body_ori_b, params=_COMMANDED
        ),
    }
    if not state_estimation:
        del seen["motion_anchor_pos_b"], seen["base_lin_vel"]
    return {
        "actor": ObservationGroupCfg(terms={**seen}, enable_corruption=True),
        "critic": ObservationGroupCfg(terms={**true}, enable_corruption=False),
    }


def _noise(size: float) -> UniformNoiseCfg:
    return UniformNoiseCfg(n_min=-size, n_max=size)


def actions(robot: Robot) -> dict[str, ActionTermCfg]:
    """Return position targets of all joints, relative to the clip."""
    return {
        "joint_pos": motion.MotionActionCfg(
            scale=dict(robot.action_scale), command_name=COMMAND
        )
    }


def rewards() -> dict[str, RewardTermCfg]:
    """Return six tracking rewards, and penalties."""
    kernels = {
        "motion_global_root_pos": (
            motion.mdp.motion_global_anchor_position_error_exp,
            0.5,
            0.3,
        ),
        "motion_global_root_ori": (
            motion.mdp.motion_global_anchor_orientation_error_exp,
            0.5,
            0.4,
        ),
        "motion_body_pos": (
            motion.mdp.motion_relative_body_position_error_exp,
            1.0,
            0.3,
        ),
        "motion_body_ori": (
            motion.mdp.motion_relative_body_orientation_error_exp,
            1.0,
            0.4,
        ),
        "motion_body_lin_vel": (
            motion.mdp.motion_global_body_linear_velocity_error_exp,
            1.0,
            1.0,
        ),
        "motion_body_ang_vel": (
            motion.mdp.motion_global_body_angular_velocity_error_exp,
            1.0,
            3.14,
        ),
    }
    terms = {
        name: RewardTermCfg(func=func, weight=weight, params=_COMMANDED | {"std": std})
        for name, (func, weight, std) in kernels.items()
    }
    return terms | {
        "action_rate_l2": RewardTermCfg(func=mdp.action_rate_l2, weight=-0.1),
        "joint_limit": RewardTermCfg(func=mdp.joint_pos_limits, weight=-10.0),
        "self_collisions": RewardTermCfg(
            func=motion.mdp.self_collisions,
            weight=-10.0,
            params={"sensor_name": SELF_CONTACT, "force_threshold": 10.0},
        ),
    }


def terminations(limbs: tuple[str, ...]) -> dict[str, TerminationTermCfg]:
    """Return terminations: time limit, end of the clip, and large tracking errors.

    Args:
        limbs: The bodies whose height must be close to the reference.
    """
    return {
        "time_out": TerminationTermCfg(func=mdp.time_out, time_out=True),
        "motion_ends": TerminationTermCfg(
            func=motion.mdp.motion_ends, params=_COMMANDED, time_out=True
        ),
        "anchor_pos": TerminationTermCfg(
            func=motion.mdp.bad_anchor_pos_z_only,
            params=_COMMANDED | {"threshold": 0.25},
        ),
        "anchor_ori": TerminationTermCfg(
            func=motion.mdp.bad_anchor_ori, params=_COMMANDED | {"threshold": 0.8}
        ),
        "limb_pos": TerminationTermCfg(
            func=motion.mdp.bad_motion_body_pos_z_only,
            params=_COMMANDED | {"threshold": 0.25, "body_names": limbs},
        ),
    }


def events(robot: Robot, *, disturbance: float = 1.0) -> dict[str, EventTermCfg]:
    """Return events: pushes, and domain randomisation of the robot.

    Args:
        robot: The robot.
        disturbance: Pushes, as a fraction of BeyondMimic's.
    """
    return {
        "push_robot": EventTermCfg(
            func=mdp.push_by_setting_velocity,
            mode="interval",
            interval_range_s=(1.0, 3.0),
            params={"velocity_range": kicks(disturbance)},
        ),
        "base_com": EventTermCfg(
            func=mdp.randomize.body_com_offset,
            mode="startup",
            params={
                "asset_cfg": SceneEntityCfg("robot", body_names=robot.torso_body),
                "operation": "add",
                "ranges": {0: (-0.025, 0.025), 1: (-0.05, 0.05), 2: (-0.05, 0.05)},
            },
        ),
        "encoder_bias": EventTermCfg(
            func=mdp.randomize.encoder_bias,
            mode="startup",
            params={"bias_range": (-0.01, 0.01)},
        ),
        "foot_friction": EventTermCfg(
            func=mdp.randomize.geom_friction,
            mode="startup",
            params={
                "asset_cfg": SceneEntityCfg("robot", geom_names=robot.foot_geoms),
                "operation": "abs",
                "axes": ("sliding",),
                "ranges": (0.3, 1.2),
                "shared_random": True,
            },
        ),
    }


def metrics() -> dict[str, MetricsTermCfg]:
    """Return metrics: tracking errors in SI units, and sampling statistics."""
    errors = {
        "error_anchor_pos": motion.mdp.error_anchor_pos,
        "error_anchor_ori": motion.mdp.error_anchor_ori,
        "error_body_pos": motion.mdp.error_body_pos,
        "error_body_pos_global": motion.mdp.error_body_pos_global,
        "error_body_ori": motion.mdp.error_body_ori,
        "error_body_lin_vel": motion.mdp.error_body_lin_vel,
        "error_body_ang_vel": motion.mdp.error_body_ang_vel,
        "error_joint_pos": motion.mdp.error_joint_pos,
        "error_joint_vel": motion.mdp.error_joint_vel,
    }
    terms = {
        name: MetricsTermCfg(func=func, params=_COMMANDED)
        for name, func in errors.items()
    }
    for figure in ("entropy", "top_probability", "top_place"):
        terms[f"sampling_{figure}"] = MetricsTermCfg(
            func=motion.mdp.sampling, params=_COMMANDED | {"figure": figure}
        )
    return terms


def outcomes() -> dict[str, OutcomeTermCfg]:
    """Return the outcomes: success if the clip ends without a failure, else failure."""
    return {
        "success": OutcomeTermCfg(func=motion.mdp.motion_completed, params=_COMMANDED),
        "fail": OutcomeTermCfg(func=mdp.failed),
    }
