"""Library of MDP terms: actions, commands, observations, rewards, events and others."""

from mjlab.mdp import randomize as randomize
from mjlab.mdp.actions import AffineAction as AffineAction
from mjlab.mdp.actions import AffineActionCfg as AffineActionCfg
from mjlab.mdp.actions import BinaryAction as BinaryAction
from mjlab.mdp.actions import BinaryActionCfg as BinaryActionCfg
from mjlab.mdp.actions import BinaryJointEffortActionCfg as BinaryJointEffortActionCfg
from mjlab.mdp.actions import (
    BinaryJointPositionActionCfg as BinaryJointPositionActionCfg,
)
from mjlab.mdp.actions import (
    BinaryJointVelocityActionCfg as BinaryJointVelocityActionCfg,
)
from mjlab.mdp.actions import (
    EMAJointPositionToLimitsAction as EMAJointPositionToLimitsAction,
)
from mjlab.mdp.actions import (
    EMAJointPositionToLimitsActionCfg as EMAJointPositionToLimitsActionCfg,
)
from mjlab.mdp.actions import JointEffortActionCfg as JointEffortActionCfg
from mjlab.mdp.actions import JointPositionAction as JointPositionAction
from mjlab.mdp.actions import JointPositionActionCfg as JointPositionActionCfg
from mjlab.mdp.actions import (
    JointPositionToLimitsAction as JointPositionToLimitsAction,
)
from mjlab.mdp.actions import (
    JointPositionToLimitsActionCfg as JointPositionToLimitsActionCfg,
)
from mjlab.mdp.actions import JointVelocityActionCfg as JointVelocityActionCfg
from mjlab.mdp.actions import RelativeJointPositionAction as RelativeJointPositionAction
from mjlab.mdp.actions import (
    RelativeJointPositionActionCfg as RelativeJointPositionActionCfg,
)
from mjlab.mdp.actions import SiteEffortActionCfg as SiteEffortActionCfg
from mjlab.mdp.actions import TendonActionCfg as TendonActionCfg
from mjlab.mdp.actions import TendonEffortActionCfg as TendonEffortActionCfg
from mjlab.mdp.actions import TendonLengthActionCfg as TendonLengthActionCfg
from mjlab.mdp.actions import TendonVelocityActionCfg as TendonVelocityActionCfg
from mjlab.mdp.commands import DrawRanges as DrawRanges
from mjlab.mdp.commands import PoseCommand as PoseCommand
from mjlab.mdp.commands import PoseCommandCfg as PoseCommandCfg
from mjlab.mdp.commands import PoseRanges as PoseRanges
from mjlab.mdp.commands import UniformVectorCommand as UniformVectorCommand
from mjlab.mdp.commands import UniformVectorCommandCfg as UniformVectorCommandCfg
from mjlab.mdp.curriculums import adaptive as adaptive
from mjlab.mdp.curriculums import command_range_schedule as command_range_schedule
from mjlab.mdp.curriculums import modify_reward_weight as modify_reward_weight
from mjlab.mdp.curriculums import reward_curriculum as reward_curriculum
from mjlab.mdp.curriculums import reward_weight_schedule as reward_weight_schedule
from mjlab.mdp.curriculums import schedule as schedule
from mjlab.mdp.curriculums import termination_curriculum as termination_curriculum
from mjlab.mdp.curriculums import terrain_levels as terrain_levels
from mjlab.mdp.curriculums import (
    terrain_levels_by_survival as terrain_levels_by_survival,
)
from mjlab.mdp.differential_ik import DifferentialIKAction as DifferentialIKAction
from mjlab.mdp.differential_ik import DifferentialIKActionCfg as DifferentialIKActionCfg
from mjlab.mdp.events import apply_body_impulse as apply_body_impulse
from mjlab.mdp.events import apply_external_force_torque as apply_external_force_torque
from mjlab.mdp.events import push_by_setting_velocity as push_by_setting_velocity
from mjlab.mdp.events import randomize_terrain as randomize_terrain
from mjlab.mdp.events import reset_joints_by_offset as reset_joints_by_offset
from mjlab.mdp.events import reset_joints_by_scale as reset_joints_by_scale
from mjlab.mdp.events import (
    reset_root_state_from_flat_patches as reset_root_state_from_flat_patches,
)
from mjlab.mdp.events import reset_root_state_uniform as reset_root_state_uniform
from mjlab.mdp.events import reset_scene_to_default as reset_scene_to_default
from mjlab.mdp.metrics import base_speed as base_speed
from mjlab.mdp.metrics import mean_action_acc as mean_action_acc
from mjlab.mdp.metrics import mechanical_power as mechanical_power
from mjlab.mdp.observations import base_ang_vel as base_ang_vel
from mjlab.mdp.observations import base_height as base_height
from mjlab.mdp.observations import base_lin_vel as base_lin_vel
from mjlab.mdp.observations import body_pose_local as body_pose_local
from mjlab.mdp.observations import builtin_sensor as builtin_sensor
from mjlab.mdp.observations import camera_image as camera_image
from mjlab.mdp.observations import contact_found as contact_found
from mjlab.mdp.observations import episode_progress as episode_progress
from mjlab.mdp.observations import generated_commands as generated_commands
from mjlab.mdp.observations import height_scan as height_scan
from mjlab.mdp.observations import joint_effort as joint_effort
from mjlab.mdp.observations import joint_pos as joint_pos
from mjlab.mdp.observations import (
    joint_pos_limit_normalized as joint_pos_limit_normalized,
)
from mjlab.mdp.observations import joint_pos_rel as joint_pos_rel
from mjlab.mdp.observations import joint_vel as joint_vel
from mjlab.mdp.observations import joint_vel_rel as joint_vel_rel
from mjlab.mdp.observations import last_action as last_action
from mjlab.mdp.observations import projected_gravity as projected_gravity
from mjlab.mdp.observations import root_pos_local as root_pos_local
from mjlab.mdp.observations import root_quat_w as root_quat_w
from mjlab.mdp.observations import tendon_length as tendon_length
from mjlab.mdp.operational_space import OperationalSpaceAction as OperationalSpaceAction
from mjlab.mdp.operational_space import (
    OperationalSpaceActionCfg as OperationalSpaceActionCfg,
)
from mjlab.mdp.recorders import entity_states as entity_states
from mjlab.mdp.recorders import joint_states as joint_states
from mjlab.mdp.recorders import observation_group as observation_group
from mjlab.mdp.recorders import processed_actions as processed_actions
from mjlab.mdp.recorders import raw_actions as raw_actions
from mjlab.mdp.recorders import root_states as root_states
from mjlab.mdp.recorders import world_states as world_states
from mjlab.mdp.rewards import action_acc_l2 as action_acc_l2
from mjlab.mdp.rewards import action_l2 as action_l2
from mjlab.mdp.rewards import action_rate_l2 as action_rate_l2
from mjlab.mdp.rewards import ang_vel_xy_l2 as ang_vel_xy_l2
from mjlab.mdp.rewards import base_height_l2 as base_height_l2
from mjlab.mdp.rewards import contact_force_excess as contact_force_excess
from mjlab.mdp.rewards import electrical_power_cost as electrical_power_cost
from mjlab.mdp.rewards import flat_orientation_l2 as flat_orientation_l2
from mjlab.mdp.rewards import is_alive as is_alive
from mjlab.mdp.rewards import is_terminated as is_terminated
from mjlab.mdp.rewards import joint_acc_l2 as joint_acc_l2
from mjlab.mdp.rewards import joint_deviation_l1 as joint_deviation_l1
from mjlab.mdp.rewards import joint_pos_limits as joint_pos_limits
from mjlab.mdp.rewards import joint_torques_l2 as joint_torques_l2
from mjlab.mdp.rewards import joint_vel_l2 as joint_vel_l2
from mjlab.mdp.rewards import lin_vel_z_l2 as lin_vel_z_l2
from mjlab.mdp.rewards import posture as posture
from mjlab.mdp.rewards import track_ang_vel_z_exp as track_ang_vel_z_exp
from mjlab.mdp.rewards import track_lin_vel_xy_exp as track_lin_vel_xy_exp
from mjlab.mdp.rewards import undesired_contacts as undesired_contacts
from mjlab.mdp.terminations import bad_orientation as bad_orientation
from mjlab.mdp.terminations import failed as failed
from mjlab.mdp.terminations import fell_over as fell_over
from mjlab.mdp.terminations import illegal_contact as illegal_contact
from mjlab.mdp.terminations import joint_pos_out_of_limit as joint_pos_out_of_limit
from mjlab.mdp.terminations import joint_pos_out_of_range as joint_pos_out_of_range
from mjlab.mdp.terminations import joint_vel_out_of_limit as joint_vel_out_of_limit
from mjlab.mdp.terminations import lasted as lasted
from mjlab.mdp.terminations import nan_detection as nan_detection
from mjlab.mdp.terminations import out_of_terrain_bounds as out_of_terrain_bounds
from mjlab.mdp.terminations import (
    root_height_below_minimum as root_height_below_minimum,
)
from mjlab.mdp.terminations import time_out as time_out
from mjlab.mdp.velocity_command import UniformVelocityCommand as UniformVelocityCommand
from mjlab.mdp.velocity_command import (
    UniformVelocityCommandCfg as UniformVelocityCommandCfg,
)
from mjlab.mdp.velocity_command import VelocityRanges as VelocityRanges

dr = randomize
push_root = push_by_setting_velocity
