"""Velocity task of the Unitree G1 with external arm motion and punches.

The policy controls and observes legs and waist only. Trials: bench/results/loco.
"""

import copy
from dataclasses import replace
from typing import Self

from mjlab.envs import mdp
from mjlab.managers import (
    CommandTermCfg,
    EventTermCfg,
    MetricsTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.rl import PpoAgentCfg
from mjlab.scene import SceneCfg
from mjlab.settings import Config
from mjlab.sim import SimulationCfg
from mjlab.tasks.robots.g1 import G1, MIRROR, g1_cfg, knees_bent
from mjlab.tasks.robots.symmetry import G1EquivariantModelCfg
from mjlab.tasks.velocity import mdp as walking_mdp
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.arms import move_arms
from mjlab.tasks.velocity.biped import SUPPORT, assistance
from mjlab.tasks.velocity.capture import capture_point_near_foot, gait_while_balanced
from mjlab.tasks.velocity.env import VelocityCfg, outcomes
from mjlab.tasks.velocity.g1 import (
    g1_actions,
    g1_observations,
    g1_rewards,
    g1_scene,
    g1_simulation,
    g1_terminations,
)
from mjlab.tasks.velocity.gait import Gait
from mjlab.tasks.velocity.punch import (
    punch_bodies,
    punch_level,
    punch_state,
    supporting_hand_with_punches,
)
from mjlab.tasks.velocity.rl import mirrored_rl_on_cpu
from mjlab.tasks.velocity.targets import TargetCommandCfg
from mjlab.tensors import UniformNoiseCfg

LOCO_GAIT = Gait(period=0.8, knee=0.45, hip=0.225, sway=0.06)
"""Gait of 2.5 steps per second. Feet lift by 8 cm; higher and faster steps need more
energy."""

FOOT_HEIGHT_TARGET = 0.08
"""Height of a foot in the middle of a swing, m."""

PELVIS_HEIGHT = 0.72
"""Height of the pelvis in the default pose, m. The two best policies of the public exam
walk at 0.66 m, and with bent knees the legs can reach further to recover."""

OWN_JOINTS = (".*_hip_.*_joint", ".*_knee_joint", ".*_ankle_.*_joint", "waist_.*_joint")
"""Joints that the policy controls and observes."""

ARM_JOINTS = (".*_shoulder_.*_joint", ".*_elbow_joint", ".*_wrist_.*_joint")
"""Joints that move independently of the policy."""

ARMS, PUNCHES = "arms", "punches"
"""Names of the events."""

HISTORY = 5
"""Number of past values that the policy observes."""

ARM_RANGES = {
    ".*_shoulder_pitch_joint": (-1.9, 0.25),
    ".*_shoulder_roll_joint": (-1.3, 1.4),
    ".*_shoulder_yaw_joint": (-2.5, 2.5),
    ".*_elbow_joint": (-0.6, 2.0),
    ".*_wrist_roll_joint": (-1.9, 1.9),
    ".*_wrist_(pitch|yaw)_joint": (-1.5, 1.5),
}
"""Ranges of the left arm's targets, rad: 96 % of the targets of 24 runs of the exam
(ids from 100,000), which keeps both hands in front of the robot and below the chin."""

POSTURE_STD = {
    ".*_hip_pitch_joint": 0.5,
    ".*_hip_roll_joint": 0.25,
    ".*_hip_yaw_joint": 0.25,
    ".*_knee_joint": 0.5,
    ".*_ankle_pitch_joint": 0.35,
    ".*_ankle_roll_joint": 0.2,
    "waist_.*_joint": 0.3,
}
"""Widths of the pose reward, rad: wide enough for recovery steps."""


class PunchCfg(Config):
    """Settings of the punches in training, which are short pushes of random bodies."""

    force: float = 600.0
    """Force at level 1, N, 1.2 times the exam's after 60 s."""

    cooldown_s: tuple[float, float] = (1.0, 2.5)
    """Time from the end of a punch to the next one, s."""

    rise: float = 0.005
    """Increase of the level after a punch, if the robot does not fall before the next
    punch."""

    fall: float = 0.05
    """Decrease of the level per fall."""

    start: float = 0.1
    """Level at the start of training."""

    calm: float = 0.25
    """Fraction of episodes without punches."""


def _own() -> SceneEntityCfg:
    return SceneEntityCfg("robot", joint_names=OWN_JOINTS)


def _noise(size: float) -> UniformNoiseCfg:
    return UniformNoiseCfg(n_min=-size, n_max=size)


def g1_loco_scene() -> SceneCfg:
    """Return the G1 in a lower pose, whose feet are under the centre of mass."""
    scene = g1_scene(rough=False)
    pose = knees_bent()
    pose.pos = (0.0, 0.0, PELVIS_HEIGHT)
    assert isinstance(pose.joint_pos, dict)
    pose.joint_pos |= {
        ".*_hip_pitch_joint": -0.5,
        ".*_knee_joint": 1.0,
        ".*_ankle_pitch_joint": -0.5,
    }
    robot = replace(g1_cfg(), init_state=pose)
    return replace(scene, entities={"robot": robot})


def g1_loco_simulation() -> SimulationCfg:
    """Return the physics of the flat task, with a limit on joint velocities.

    With punches at full force, the coarse training physics diverges in about one of
    150,000 world steps, and one such step can dominate the value loss. In all others,
    joint velocities stay below 150 rad/s.
    """
    sim = g1_simulation(rough=False)
    sim.max_velocity = 200.0
    return sim


def g1_loco_observations() -> dict[str, ObservationGroupCfg]:
    """Return observations from the sensors of legs and pelvis, with a history.

    The actor does not observe the arms and the linear velocity. The critic observes
    both, and also the punches.
    """
    groups = g1_observations(LOCO_GAIT, rough=False)
    actor, critic = groups["actor"], groups["critic"]
    # Copies, because the critic shares the terms.
    terms = {name: copy.copy(term) for name, term in actor.terms.items() if term}
    del terms["base_lin_vel"]
    for name, noise in (
        ("base_ang_vel", 0.2),
        ("projected_gravity", 0.05),
        ("joint_pos", 0.01),
        ("joint_vel", 0.5),
    ):
        terms[name].noise = _noise(noise)
        terms[name].history_length = HISTORY
    for name in ("joint_pos", "joint_vel"):
        terms[name].params = {**terms[name].params, "asset_cfg": _own()}
    terms["actions"].history_length = HISTORY
    actor.terms = {**terms}
    critic.terms["punch"] = ObservationTermCfg(
        func=punch_state, params={"event": PUNCHES}
    )
    return groups


def g1_loco_commands() -> dict[str, CommandTermCfg]:
    """Return the velocity command."""
    terms = walking.commands()
    command = terms[walking.COMMAND]
    assert isinstance(command, walking_mdp.TwistCommandCfg)
    command.ranges.lin_vel_x = (-0.5, 0.8)
    command.ranges.lin_vel_y = (-0.5, 0.5)
    command.ranges.ang_vel_z = (-1.0, 1.0)
    return terms


def g1_loco_rewards() -> dict[str, RewardTermCfg]:
    """Return rewards of the clocked gait, close tracking and recovery steps.

    Pose and joint limit terms exclude the arms.
    """
    terms = g1_rewards(LOCO_GAIT, rough=False)
    for name, weight in (
        ("action_rate_l2", -0.03),
        ("foot_slip", -0.2),
        ("foot_swing_height", -0.25),
        ("self_collisions", -0.1),
        ("track_linear_closely", 2.0),
    ):
        terms[name].weight = weight
    for name in ("foot_clearance", "foot_swing_height"):
        terms[name].params["target_height"] = FOOT_HEIGHT_TARGET
    tracking = terms["track_linear_velocity"]
    tracking.params["std"], tracking.weight = 0.6, 1.5
    feet, near = walking.feet_of(G1), {"std": 0.15, "tolerance": 0.1}
    terms["capture_point"] = RewardTermCfg(
        func=capture_point_near_foot, weight=1.0, params={"asset_cfg": feet, **near}
    )
    posture, contact = terms.pop("gait_posture"), terms.pop("gait_contact")
    own = {"asset_cfg": _own(), "std_walking": dict(POSTURE_STD), "feet": feet}
    terms["gait"] = RewardTermCfg(
        func=gait_while_balanced,
        weight=2.5,
        params=contact.params | posture.params | own | near,
    )
    terms["power"] = RewardTermCfg(
        func=mdp.electrical_power_cost,
        weight=-0.0012,
        params={"asset_cfg": _own()},
    )
    terms["dof_pos_limits"].params |= {"asset_cfg": _own()}
    return terms


def g1_loco_terminations() -> dict[str, TerminationTermCfg]:
    """Return the terminations of the flat task, but allow a pelvis height of 0.4 m."""
    terms = g1_terminations(rough=False)
    terms["too_low"].params["minimum_height"] = 0.4
    return terms


def g1_loco_events() -> dict[str, EventTermCfg]:
    """Return the shared events without pushes, plus arm motion and random payloads.

    The torso carries up to 3 kg, which covers the robot of the public exam, and each
    hand up to 1.5 kg.
    """
    terms = walking.events(G1)
    del terms["push_robot"]
    terms["foot_friction"] = walking.foot_friction(G1, "sliding", (0.5, 1.2))
    joints = terms["reset_robot_joints"].params
    joints |= {"position_range": (-0.1, 0.1), "velocity_range": (-0.5, 0.5)}
    terms["torso_load"] = _load(G1.torso_body, 3.0)
    terms["hand_load"] = _load(("left_wrist_yaw_link", "right_wrist_yaw_link"), 1.5)
    terms[ARMS] = EventTermCfg(
        func=move_arms,
        mode="step",
        params={
            "ranges": dict(ARM_RANGES),
            # The standard deviation of 25 uniform steps of at most 0.06 rad.
            "step": 0.06 * (25.0 / 3.0) ** 0.5,
            "goal_s": 0.5,
            "start_s": 2.0,
            "mirrored": 0.5,
            "flipped_joints": MIRROR.flipped_joints,
            "asset_cfg": SceneEntityCfg("robot", joint_names=ARM_JOINTS),
        },
    )
    return terms


def _load(bodies: str | tuple[str, ...], most: float) -> EventTermCfg:
    return EventTermCfg(
        func=mdp.randomize.body_mass,
        mode="startup",
        params={
            "asset_cfg": SceneEntityCfg("robot", body_names=bodies),
            "operation": "add",
            "ranges": (0.0, most),
        },
    )


class VelocityG1LocoCfg(VelocityCfg):
    """Flat ground, punches, and arms that move independently of the policy.

    Training uses longer physics steps, punches with growing force, an assistive wrench
    that is annealed to zero, and commands that mostly lead to targets, as in
    `mjlab exam`.
    """

    punches: PunchCfg = PunchCfg()
    """Punches in training."""

    rel_target_envs: float = 0.6
    """Fraction of commands in training that lead to targets."""

    scene = g1_loco_scene()
    sim = g1_loco_simulation()
    commands = {**g1_loco_commands()}
    observations = {**g1_loco_observations()}
    actions = {**g1_actions(LOCO_GAIT)}
    rewards = {**g1_loco_rewards()}
    terminations = {**g1_loco_terminations()}
    events = {**g1_loco_events()}
    outcomes = {**outcomes({"error_vel_xy": 0.4})}
    viewer = grounds.viewer(G1)

    def for_training(self) -> Self:
        """Return the training configuration: targets, punches and assistance."""
        cfg = super().for_training()
        events: dict[str, EventTermCfg | None] = {**cfg.events}
        events[PUNCHES] = self._punching()
        support = assistance(G1)
        support.params["hand"]["height"] = PELVIS_HEIGHT - 0.04
        # Its wrench is added to the wrench of the punches, whose event comes first.
        events[SUPPORT] = replace(support, func=supporting_hand_with_punches)
        command = copy.deepcopy(cfg.commands[walking.COMMAND])
        assert isinstance(command, walking_mdp.TwistCommandCfg)
        leading = TargetCommandCfg(
            **vars(command) | {"rel_target_envs": self.rel_target_envs}
        )
        leading.resampling_time_range = (3.0, 6.0)
        level = MetricsTermCfg(func=punch_level, params={"event": PUNCHES})
        return replace(
            cfg,
            events=events,
            commands={**cfg.commands, walking.COMMAND: leading},
            metrics={**cfg.metrics, "punch_level": level},
        )

    def _punching(self) -> EventTermCfg:
        own = self.punches
        return EventTermCfg(
            func=punch_bodies,
            mode="step",
            params={
                "force": own.force,
                "share": (0.5, 1.0),
                "lever_m": 0.1,
                "duration_s": 0.08,
                "cooldown_s": own.cooldown_s,
                "calm": own.calm,
                "often": {".*_ankle_.*": 3, ".*_wrist_(pitch|yaw)_.*": 2},
                "levels": {
                    "start": own.start,
                    "rise": own.rise,
                    "fall": own.fall,
                    "least": 0.1,
                    "most": 1.0,
                },
                "asset_cfg": SceneEntityCfg("robot"),
            },
        )


def g1_loco_rl() -> PpoAgentCfg:
    """Return settings of the learner, with a privileged critic."""
    agent = mirrored_rl_on_cpu(
        G1EquivariantModelCfg, max_iterations=20_000, entropy_coef=0.002
    )
    agent.algorithm.num_learning_epochs = 4
    agent.algorithm.gamma = 0.99
    return agent
