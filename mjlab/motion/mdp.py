"""MDP terms of motion tracking. Each term takes the name of a `MotionCommand`.

Rewards are kernels exp(-e / std²) of a squared error e, shape (num_envs,). In rewards
and terminations, quantities that MuJoCo derives from the robot's state come from the
last physics step, and are at most 5 ms old. The reference is the step's target frame.
"""

from collections.abc import Sequence

import torch

from mjlab.managers import ManagedEnv, ManagerTermBase
from mjlab.managers.term import TermCfg
from mjlab.mdp.lookup import contact_sensor
from mjlab.motion import tracking_errors
from mjlab.motion.command import MotionCommandCfg as MotionCommandCfg
from mjlab.motion.command import motion_command
from mjlab.names import match_names
from mjlab.tensors.math import (
    quat_rotate_inverse,
)

# Observations.


def motion_reference(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Reference joint positions, rad, and velocities, rad/s, (num_envs, 2 * joints)."""
    return motion_command(env, command_name).command


def motion_preview(
    env: ManagedEnv, command_name: str, frames: Sequence[int]
) -> torch.Tensor:
    """Future reference frames: joint positions, and pose of the anchor.

    Shape (num_envs, (joints + 9) * frames); see `MotionCommand.preview`.
    """
    return motion_command(env, command_name).preview(frames)


def motion_time_step(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the target frame's row in the table of all clips, shape (num_envs, 1)."""
    return motion_command(env, command_name).row.float().unsqueeze(1)


def robot_anchor_pose_w(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Pose of the robot's anchor relative to the spawn origin, (num_envs, 7)."""
    command = motion_command(env, command_name)
    place = env.scene.to_local(command.robot_anchor_pos_w)
    return torch.cat((place, command.robot_anchor_quat_w), dim=1)


def robot_anchor_quat_w(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the orientation of the robot's anchor in the world, (num_envs, 4)."""
    return motion_command(env, command_name).robot_anchor_quat_w


def motion_anchor_pos_b(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Reference anchor's position in the robot's anchor frame, m, (num_envs, 3)."""
    return motion_command(env, command_name).seen_anchor[0]


def motion_anchor_ori_b(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Reference anchor's orientation in the robot's anchor frame, (num_envs, 6).

    The six numbers are the first two columns of the rotation matrix, row by row.
    """
    return motion_command(env, command_name).seen_anchor[1]


def robot_body_pos_b(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Tracked bodies' positions in the robot's anchor frame, m, (num_envs, 3 * n)."""
    return motion_command(env, command_name).seen[0][:, :-1].flatten(1)


def robot_body_ori_b(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Tracked bodies' orientations in the robot's anchor frame, (num_envs, 6 * n).

    Each has six numbers: the first two columns of the rotation matrix, row by row.
    """
    return motion_command(env, command_name).seen[1][:, :-1].flatten(1)


# Events.


def follow_exactly(env: ManagedEnv, mask: torch.Tensor, command_name: str) -> None:
    """Interval event: set the robot to the state of the clip's current frame."""
    command = motion_command(env, command_name)
    command.write_row(mask, command.row)


# Rewards.


def motion_global_anchor_position_error_exp(
    env: ManagedEnv, command_name: str, std: float
) -> torch.Tensor:
    """Reward for the anchor's position in the world, 0 to 1."""
    return _kernel(tracking_errors.anchor_pos(motion_command(env, command_name)), std)


def motion_global_anchor_orientation_error_exp(
    env: ManagedEnv, command_name: str, std: float
) -> torch.Tensor:
    """Reward for the anchor's orientation in the world, 0 to 1."""
    return _kernel(
        tracking_errors.angle_squares(motion_command(env, command_name))[:, -1], std
    )


def motion_relative_body_position_error_exp(
    env: ManagedEnv, command_name: str, std: float
) -> torch.Tensor:
    """Reward for body positions relative to the re-anchored reference, 0 to 1."""
    return _kernel(
        tracking_errors.mean_square(motion_command(env, command_name), "body_pos"), std
    )


def motion_relative_body_orientation_error_exp(
    env: ManagedEnv, command_name: str, std: float
) -> torch.Tensor:
    """Reward for body orientations relative to the re-anchored reference, 0 to 1."""
    return _kernel(
        tracking_errors.angle_squares(motion_command(env, command_name))[:, :-1].mean(
            dim=1
        ),
        std,
    )


def motion_global_body_linear_velocity_error_exp(
    env: ManagedEnv, command_name: str, std: float
) -> torch.Tensor:
    """Reward for body linear velocities in the world, 0 to 1."""
    return _kernel(
        tracking_errors.mean_square(motion_command(env, command_name), "body_lin_vel"),
        std,
    )


def motion_global_body_angular_velocity_error_exp(
    env: ManagedEnv, command_name: str, std: float
) -> torch.Tensor:
    """Reward for body angular velocities in the world, 0 to 1."""
    return _kernel(
        tracking_errors.mean_square(motion_command(env, command_name), "body_ang_vel"),
        std,
    )


def self_collisions(
    env: ManagedEnv, sensor_name: str, force_threshold: float = 10.0
) -> torch.Tensor:
    """Count the physics steps with a self-contact force above the threshold, in N.

    The contact sensor must detect self-collisions, and its history must contain all
    physics steps of an environment step.
    """
    force = contact_sensor(env, sensor_name).data.history("force")
    is_strong = force.square().sum(dim=-1) > force_threshold**2
    return is_strong.flatten(1).sum(dim=1, dtype=torch.float32)


def _kernel(error: torch.Tensor, std: float | torch.Tensor) -> torch.Tensor:
    return torch.exp(error / -(std * std))


# Terminations.


def motion_ends(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Terminate when the clip ends. Declare this term with `time_out=True`."""
    return motion_command(env, command_name).has_ended


def motion_completed(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Success outcome: True if the clip ended without a failure of the robot."""
    ended = motion_command(env, command_name).has_ended
    return ended & ~env.termination_manager.terminated


def bad_anchor_pos(
    env: ManagedEnv, command_name: str, threshold: float
) -> torch.Tensor:
    """Terminate when the anchor is farther from the reference than `threshold`, m."""
    return tracking_errors.anchor_pos(motion_command(env, command_name)) > threshold**2


def bad_anchor_pos_z_only(
    env: ManagedEnv, command_name: str, threshold: float
) -> torch.Tensor:
    """Terminate when the anchor's height error exceeds `threshold`, m."""
    command = motion_command(env, command_name)
    away = command.anchor_pos_w[:, 2] - command.robot_anchor_pos_w[:, 2]
    return away.abs() > threshold


def bad_anchor_ori(
    env: ManagedEnv, command_name: str, threshold: float
) -> torch.Tensor:
    """Terminate when the z of projected gravity differs by more than `threshold`.

    Gravity is projected into the anchors of robot and reference. Its z is -1 upright, 0
    on the side and 1 upside down; it does not depend on the heading.
    """
    command = motion_command(env, command_name)
    down = command.entity.data.down_w
    quats = torch.stack((command.anchor_quat_w, command.robot_anchor_quat_w), dim=1)
    seen = quat_rotate_inverse(quats, down.unsqueeze(1).expand(-1, 2, -1))[..., 2]
    return (seen[:, 0] - seen[:, 1]).abs() > threshold


class _SomeBodies(ManagerTermBase):
    """Base class of terms on tracked bodies that match `body_names` (all if empty)."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        command = motion_command(env, cfg.params["command_name"])
        patterns = cfg.params.get("body_names") or (".*",)
        found = match_names(
            patterns, command.cfg.body_names, what="compared body", owner=command.name
        )
        self._columns = torch.tensor(found, device=env.device)


class bad_motion_body_pos(_SomeBodies):
    """Terminate when a body is too far from the re-anchored reference."""

    def __call__(
        self,
        env: ManagedEnv,
        command_name: str,
        threshold: float,
        body_names: Sequence[str] = (),
    ) -> torch.Tensor:
        """Return True where the position error of a body exceeds `threshold`, m."""
        command = motion_command(env, command_name)
        error = tracking_errors.body_square(command, "body_pos")
        return (error.index_select(1, self._columns) > threshold**2).any(dim=1)


class bad_motion_body_pos_z_only(_SomeBodies):
    """Terminate when the height error of a body is too large."""

    def __call__(
        self,
        env: ManagedEnv,
        command_name: str,
        threshold: float,
        body_names: Sequence[str] = (),
    ) -> torch.Tensor:
        """Return True where the height error of a body exceeds `threshold`, m.

        Heights are compared with the reference in the world. Re-anchoring rotates about
        the vertical axis only, so it does not change heights.
        """
        command = motion_command(env, command_name)
        theirs = command.reanchored[0][..., 2]
        away = theirs - command.robot_bodies("body_pos_w")[..., 2]
        return (away.index_select(1, self._columns).abs() > threshold).any(dim=1)


# Metrics.


def error_anchor_pos(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the anchor's position error in the world, m."""
    return tracking_errors.anchor_pos(motion_command(env, command_name)).sqrt()


def error_anchor_ori(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the anchor's orientation error in the world, rad."""
    return tracking_errors.angles(motion_command(env, command_name))[:, -1]


def error_body_pos(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the mean body position error to the re-anchored reference, m."""
    return tracking_errors.mean_size(motion_command(env, command_name), "body_pos")


def error_body_pos_global(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the mean body position error in the world, m."""
    return tracking_errors.mean_size(
        motion_command(env, command_name), "body_pos_global"
    )


def error_body_ori(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the mean body orientation error to the re-anchored reference, rad."""
    return tracking_errors.angles(motion_command(env, command_name))[:, :-1].mean(dim=1)


def error_body_lin_vel(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the mean body linear velocity error in the world, m/s."""
    return tracking_errors.mean_size(motion_command(env, command_name), "body_lin_vel")


def error_body_ang_vel(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the mean body angular velocity error in the world, rad/s."""
    return tracking_errors.mean_size(motion_command(env, command_name), "body_ang_vel")


def error_joint_pos(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the norm of the joint position error, rad."""
    return tracking_errors.joint_sizes(motion_command(env, command_name))[:, 0]


def error_joint_vel(env: ManagedEnv, command_name: str) -> torch.Tensor:
    """Return the norm of the joint velocity error, rad/s."""
    return tracking_errors.joint_sizes(motion_command(env, command_name))[:, 1]


class sampling(ManagerTermBase):
    """Metric of adaptive sampling, with the same value in all worlds."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        figure = cfg.params["figure"]
        names = ("entropy", "top_probability", "top_place")
        self._column = match_names(figure, names, what="figure of sampling")[0]

    def __call__(self, env: ManagedEnv, command_name: str, figure: str) -> torch.Tensor:
        """Return the metric.

        Args:
            env: The environment.
            command_name: Name of the motion command.
            figure: "entropy", divided by the entropy of uniform sampling;
                "top_probability", the largest probability of a bin; or "top_place", the
                position of that bin among all bins, 0 to 1.
        """
        command = motion_command(env, command_name)
        value = command.once("sampling", command.bins.summary)[self._column]
        return value.expand(env.num_envs)
