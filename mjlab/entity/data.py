"""All that can be read of an entity."""

import torch

from mjlab.actuator import ActuatorTargets
from mjlab.entity.body_state import BodyState
from mjlab.entity.defaults import Defaults
from mjlab.entity.index import EntityIndex
from mjlab.entity.joint_state import JointState
from mjlab.entity.root import Root
from mjlab.entity.root_state import RootState
from mjlab.sim import Simulation


class EntityData(RootState, BodyState, JointState):
    """Everything that can be read of an entity, one row per world.

    Each quantity is computed at most once between two moments at which it can change,
    however many terms read it. Positions are those of the physics world: the origins
    that a scene spreads its worlds on for viewing are not in them.

    Names of other frameworks for the same quantities are at the end of the class.
    """

    def __init__(
        self, sim: Simulation, index: EntityIndex, root: Root, defaults: Defaults
    ) -> None:
        super().__init__(sim, index, root)
        self.default_root_state = defaults.root_state_w
        """Pose, and velocity in world axes, that a reset returns to, (num_envs, 13)."""
        self.default_joint_pos = defaults.joint_pos
        """Shape (num_envs, num_joints), metres or radians."""
        self.default_joint_vel = defaults.joint_vel
        """Shape (num_envs, num_joints), m/s or rad/s."""
        self.default_ball_quat = defaults.ball_quat
        """Orientations of the ball joints, wxyz, shape (num_envs, num_balls, 4)."""
        self.default_ball_vel = defaults.ball_vel
        """Angular velocities of the ball joints, shape (num_envs, num_balls, 3)."""
        self.joint_pos_limits = defaults.joint_pos_limits
        """Lower and upper limits, ±inf where there is none, (num_envs, num_joints, 2),
        metres or radians."""
        self.soft_joint_pos_limits = defaults.soft_joint_pos_limits
        """The same, drawn together about their centre by the soft limit factor."""
        self.encoder_bias = torch.zeros_like(defaults.joint_pos)
        """What the joint encoders add, shape (num_envs, num_joints)."""
        self.targets = ActuatorTargets.zeros(
            sim.num_envs,
            joints=len(index.joints),
            tendons=len(index.tendons),
            sites=len(index.sites),
            device=sim.device,
        )
        """What the actuators are asked to do."""

    # Names that other frameworks have for the root and the bodies.

    root_link_pos_w = RootState.root_pos_w
    root_link_quat_w = RootState.root_quat_w
    root_link_pose_w = RootState.root_pose_w
    root_link_lin_vel_w = RootState.root_lin_vel_w
    root_link_ang_vel_w = RootState.root_ang_vel_w
    root_link_vel_w = RootState.root_vel_w
    root_link_state_w = RootState.root_state_w
    root_link_lin_vel_b = RootState.root_lin_vel_b
    root_link_ang_vel_b = RootState.root_ang_vel_b
    root_com_ang_vel_w = RootState.root_ang_vel_w
    root_com_ang_vel_b = RootState.root_ang_vel_b
    projected_gravity_b = RootState.gravity_b
    body_link_pos_w = BodyState.body_pos_w
    body_link_quat_w = BodyState.body_quat_w
    body_link_pose_w = BodyState.body_pose_w
    body_link_lin_vel_w = BodyState.body_lin_vel_w
    body_link_ang_vel_w = BodyState.body_ang_vel_w
    body_link_vel_w = BodyState.body_vel_w
    body_com_ang_vel_w = BodyState.body_ang_vel_w
