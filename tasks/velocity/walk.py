"""Walking on flat ground with a clocked gait, for robots with two or more legs.

`WalkCfg` is for robots with four or more legs, `BipedWalkCfg` for bipeds. A robot's
configuration is a subclass that sets every manager with the functions of this file;
`mjlab adopt` writes such a subclass. Lengths, times and forces are scaled by the size
of the robot: from the Unitree G1 for bipeds, from the Unitree Go1 for other robots.
"""

import copy
import math
import re
from dataclasses import replace
from typing import Self

from mjlab.envs import mdp
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.registry import OnCpu, Task
from mjlab.rl import PpoAgentCfg
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch
from mjlab.sim import SimulationCfg, TrainingPhysicsCfg
from mjlab.tasks.robots.legged import LeggedRobot, step_height
from mjlab.tasks.robots.robot import Robot
from mjlab.tasks.robots.symmetry import EquivariantModelCfg
from mjlab.tasks.velocity import biped, rl
from mjlab.tasks.velocity import mdp as walking_mdp
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.biped import SUPPORT, WarmUpCfg, eased
from mjlab.tasks.velocity.env import VelocityCfg
from mjlab.tasks.velocity.gait import Clock, GaitActionCfg, JointGait, LegGait
from mjlab.tasks.velocity.scene import FEET_CONTACT
from mjlab.tensors import UniformNoiseCfg

_GAP = 0.25
"""Largest gap between the feet of a walking biped, in leg lengths; the Unitree G1 has
this gap. Feet that are further apart are hard to lift, because the base has to move
over the other one."""

_GO1_LEG, _GO1_MASS = 0.28, 12.7
"""The Unitree Go1: leg length in the stance, m, and mass, kg."""


def is_biped(robot: LeggedRobot) -> bool:
    """Return True for two legs."""
    return len(robot.clock) == 2


def _size(robot: LeggedRobot) -> float:
    """Return the leg length relative to the reference robot."""
    return robot.leg_length / (biped.LEG_LENGTH if is_biped(robot) else _GO1_LEG)


def _fastest(robot: LeggedRobot) -> float:
    """Return the maximum commanded speed, m/s: 1, or less for short legs."""
    return round(min(1.0, math.sqrt(_size(robot))), 2)


def gait(robot: LeggedRobot) -> LegGait:
    """Return the gait of a robot: a walk of two legs, or a trot of two groups of legs.

    The period is proportional to the square root of the leg length, like a pendulum's.
    Joint targets precede the clock by the lag of the motors. Step width and step length
    of bipeds are explained in docs/decisions/0033.
    """
    stepping = {joint for foot in robot.feet for joint in foot.moves}
    lags = [
        motor.damping / motor.stiffness
        for (pattern,), motor in robot.motors.items()
        if any(re.fullmatch(pattern, joint) for joint in stepping)
    ]
    two_legs = is_biped(robot)
    period = biped.GAIT.period if two_legs else 0.35
    widest = _GAP * robot.leg_length
    narrower = round(max(robot.feet_gap - widest, 0.0), 2) if two_legs else 0.0
    return LegGait(
        period=round(period * math.sqrt(_size(robot)), 2),
        duty=biped.GAIT.duty if two_legs else 0.55,
        push_speed=0.25,
        lead=round(sum(lags) / max(len(lags), 1), 3),
        feet=robot.feet,
        aside=0.5 if two_legs else 1.0,
        measured=0.5 if two_legs else 0.0,
        room=narrower if two_legs else math.inf,
        narrower=narrower,
    )


# Scene and physics.


def scene(robot: LeggedRobot) -> SceneCfg:
    """Return the robot on a plane, with contact sensors of the feet."""
    feet = ContactMatch(mode="geom", pattern=robot.foot_geoms, entity="robot")
    one_each = len(robot.foot_geoms) == len(robot.foot_bodies)
    if not one_each or any("|" in geom for geom in robot.foot_geoms):
        feet = ContactMatch(mode="subtree", pattern=robot.foot_bodies, entity="robot")
    sensors = (grounds.feet_contact(feet), grounds.self_contact(robot))
    return grounds.scene(robot, rough=False, sensors=sensors)


def simulation(robot: LeggedRobot) -> SimulationCfg:
    """Return physics with steps of 5 ms, and of 10 ms for training.

    Robots with four or more legs use elliptic friction cones, so that feet do not
    creep, and are trained with foot contacts only.
    """
    sim = grounds.simulation(rough=False, nconmax=64, njmax=300)
    training = TrainingPhysicsCfg(decimation=2)
    if not is_biped(robot):
        sim.mujoco.cone, sim.mujoco.impratio = "elliptic", 10.0
        sim.native_jacobian = "sparse"
        others = f"(?!({'|'.join(robot.foot_geoms)})$).*"
        training.without_contacts = {"robot": (others,)}
    sim.training = training
    return sim


# Commands, actions and observations.


def commands(robot: LeggedRobot) -> dict[str, CommandTermCfg | None]:
    """Return a velocity command up to 1 m/s, or less for short legs."""
    terms = walking.commands()
    command = terms[walking.COMMAND]
    assert isinstance(command, mdp.UniformVelocityCommandCfg)
    fastest = _fastest(robot)
    aside = round((0.8 if is_biped(robot) else 1.0) * fastest, 2)
    command.ranges.lin_vel_x = (-fastest, fastest)
    command.ranges.lin_vel_y = (-aside, aside)
    return {**terms}


def actions(robot: LeggedRobot) -> dict[str, ActionTermCfg | None]:
    """Return the action term: offsets of joint targets from the reference gait."""
    scale = {name: by for name, by in robot.action_scale.items() if name in robot.acted}
    term = GaitActionCfg(
        joint_names=robot.acted,
        scale=scale,
        gait=gait(robot),
        command_name=walking.COMMAND,
    )
    return {"joint_pos": term}


def acted_joints(robot: LeggedRobot) -> SceneEntityCfg:
    """Return the joints that the policy moves."""
    return SceneEntityCfg("robot", joint_names=robot.acted)


def clocked_observations(
    robot: Robot, gait: Clock, *, rough: bool = False
) -> dict[str, ObservationGroupCfg]:
    """Return the shared observations, with a gait clock.

    Args:
        robot: The robot.
        gait: The clock.
        rough: Include the height scan.
    """
    groups = walking.observations(robot, rough=rough)
    if rough:
        # A copy, because the critic shares the term. With more noise, the scan of easy
        # terrain is mostly noise.
        scan = copy.copy(groups["actor"].terms["height_scan"])
        assert scan is not None
        scan.noise = UniformNoiseCfg(n_min=-0.03, n_max=0.03)
        groups["actor"].terms["height_scan"] = scan
    for group in groups.values():
        group.terms["gait_clock"] = ObservationTermCfg(
            func=walking_mdp.gait_clock,
            params={"command_name": walking.COMMAND, "gait": gait},
        )
    return groups


def observations(robot: LeggedRobot) -> dict[str, ObservationGroupCfg | None]:
    """Return observations of the acted joints, with the gait clock.

    The critic of a biped also observes the assistance.
    """
    groups = clocked_observations(robot, gait(robot))
    for group in groups.values():
        group.terms = {
            name: replace(term) for name, term in group.terms.items() if term
        }
        for name in ("joint_pos", "joint_vel"):
            term = group.terms[name]
            assert term is not None
            term.params = {**term.params, "asset_cfg": acted_joints(robot)}
    if is_biped(robot):
        groups["critic"].terms[SUPPORT] = ObservationTermCfg(
            func=walking_mdp.support_level, params={"event": SUPPORT}
        )
    return {**groups}


# Rewards.


def clocked_rewards(
    robot: Robot, gait: Clock, legs: tuple[int, ...], *, rough: bool = False
) -> dict[str, RewardTermCfg]:
    """Return the shared rewards, with a clocked contact reward instead of air time.

    The linear velocity has a wide kernel for large errors and a narrow one for small
    errors. The yaw rate has a separate kernel, because roll and pitch rates of a trot
    exceed commanded yaw rates. Slip, low swings, hard landings and falls have larger
    penalties.

    Args:
        robot: A robot with four or more legs.
        gait: The clock.
        legs: For each foot, the half of the stride in which it steps.
        rough: Whether the ground is rough; then the upright direction is its normal.
    """
    terms = walking.rewards(robot, rough=rough, scan_tilts=rough)
    command = {"command_name": walking.COMMAND}
    del terms["air_time"]
    terms["action_rate_l2"].weight = -0.02
    terms["gait_contact"] = RewardTermCfg(
        func=walking_mdp.gait_contact,
        weight=1.0,
        params=command | {"gait": gait, "sensor_name": FEET_CONTACT, "legs": legs},
    )
    terms["track_linear_velocity"].params["std"] = 0.7
    terms["track_linear_closely"] = RewardTermCfg(
        func=mdp.track_lin_vel_xy_exp, weight=1.0, params=command | {"std": 0.25}
    )
    terms["track_angular_velocity"] = RewardTermCfg(
        func=mdp.track_ang_vel_z_exp, weight=2.0, params=command | {"std": 0.5}
    )
    terms["body_ang_vel"].weight = -0.05
    terms["foot_slip"].weight = -0.2
    terms["foot_swing_height"].weight = -1.0
    terms["soft_landing"].weight = -5e-4
    terms["fall"] = RewardTermCfg(func=mdp.is_terminated, weight=-200.0)
    return terms


def biped_rewards(
    robot: Robot, gait: JointGait, *, rough: bool = False
) -> dict[str, RewardTermCfg]:
    """Return rewards with pose and contacts of a gait as reference.

    Low swings have a larger penalty, because feet that lift too little drag on the
    ground.
    """
    terms = walking.rewards(robot, rough=rough)
    terms["body_ang_vel"].weight = -0.05
    terms["angular_momentum"].weight = -0.02
    own = grounds.self_contact(robot)
    terms["self_collisions"] = walking.contact_cost(own, -0.5)
    for replaced in ("pose", "air_time"):
        del terms[replaced]
    command = {"command_name": walking.COMMAND}
    kept = command | {"gait": gait}
    widths = {
        "std_standing": {".*": 0.1},
        "std_walking": dict(robot.posture_std_walking),
    }
    terms["gait_posture"] = RewardTermCfg(
        func=walking_mdp.gait_posture, weight=1.5, params=kept | widths
    )
    terms["gait_contact"] = RewardTermCfg(
        func=walking_mdp.gait_contact,
        weight=1.0,
        params=kept | {"sensor_name": FEET_CONTACT},
    )
    terms |= biped_tracking(terms["track_angular_velocity"], linear_weight=2.0)
    terms["foot_swing_height"].weight = -1.0
    terms["foot_slip"].weight = -0.3
    terms["action_rate_l2"].weight = -0.07
    return terms


def biped_tracking(
    angular: RewardTermCfg, linear_weight: float
) -> dict[str, RewardTermCfg]:
    """Return velocity tracking rewards of a biped, and a reward for each step.

    The linear velocity has a wide kernel for large errors and a narrow one for small
    errors. The yaw rate is averaged over 0.5 s, because the pelvis of a stepping robot
    turns faster than commanded. Kernels with roll and pitch rates are wide, so that
    their gradient does not vanish.

    Args:
        angular: Term `track_angular_velocity` of the task, which is widened in place.
        linear_weight: Weight of the narrow kernel of the linear velocity.
    """
    angular.params["std"] = 1.5
    angular.weight = 1.0
    command = {"command_name": walking.COMMAND}
    return {
        "track_linear_closely": RewardTermCfg(
            func=mdp.track_lin_vel_xy_exp,
            weight=linear_weight,
            params=command | {"std": 0.25},
        ),
        "track_mean_yaw_rate": RewardTermCfg(
            func=walking_mdp.track_mean_yaw_rate,
            weight=1.5,
            params=command | {"std": 0.35, "seconds": 0.5},
        ),
        "alive": RewardTermCfg(func=mdp.is_alive, weight=1.0),
    }


def rewards(robot: LeggedRobot) -> dict[str, RewardTermCfg | None]:
    """Return the rewards of a robot, scaled to its size and weight."""
    joints = acted_joints(robot)
    if not is_biped(robot):
        terms = clocked_rewards(robot, gait(robot), robot.clock)
        terms["soft_landing"].weight *= _GO1_MASS / robot.mass
        # With the Go1's weights, the feet of a hexapod did not step in time with each
        # other, and some robots' feet slipped.
        terms["gait_contact"].weight *= 2.0
        terms["foot_slip"].weight *= 2.0
        terms["pose"].params["asset_cfg"] = joints
    else:
        terms = biped_rewards(robot, gait(robot))
        terms["soft_landing"].weight *= biped.MASS / robot.mass
        momentum = robot.mass * robot.leg_length**2 / (biped.MASS * biped.LEG_LENGTH**2)
        terms["angular_momentum"].weight *= min(momentum**-2, 10.0)
        # With the weight of the G1, the feet of T1 slip by 5.2 cm per step; with this
        # weight, by 2.1 cm (one training each).
        terms["foot_slip"].weight *= 4.0
        # Helps together with harder pushes and a faster gait (docs/decisions/0033).
        terms["fall"] = RewardTermCfg(func=mdp.is_terminated, weight=-200.0)
        terms["gait_posture"].params["asset_cfg"] = joints
        terms["gait_contact"].params["legs"] = robot.clock
    for name in ("track_linear_velocity", "track_linear_closely"):
        terms[name].params["std"] *= _fastest(robot)
    lift = step_height(len(robot.feet), robot.leg_length)
    for name in ("foot_clearance", "foot_swing_height"):
        terms[name].params["target_height"] = round(lift, 3)
    return {**terms}


# Terminations and events.


def terminations(robot: LeggedRobot) -> dict[str, TerminationTermCfg | None]:
    """Return terminations: time limit, a tilt above 70 degrees, and a low base."""
    terms = walking.terminations(rough=False)
    lowest = (0.72 if is_biped(robot) else 0.5) * robot.height
    terms["too_low"] = TerminationTermCfg(
        func=mdp.root_height_below_minimum,
        params={"minimum_height": round(lowest, 3)},
    )
    return {**terms}


def events(robot: LeggedRobot) -> dict[str, EventTermCfg | None]:
    """Return resets, pushes and randomisation, smaller for small robots."""
    terms = walking.events(robot)
    share = min(1.0, _size(robot))
    params = terms["push_robot"].params
    params["velocity_range"] = {
        axis: (share * low, share * high)
        for axis, (low, high) in params["velocity_range"].items()
    }
    params = terms["base_com"].params
    params["ranges"] = {
        axis: (share * low, share * high)
        for axis, (low, high) in params["ranges"].items()
    }
    return {**terms}


def assistance(robot: LeggedRobot) -> EventTermCfg:
    """Return the assistive wrench of a biped, for its size and weight."""
    return biped.assistance(robot, mass=robot.mass, height=robot.height)


# Configurations and learner.


class WalkCfg(VelocityCfg):
    """Flat ground with a clocked trot, for four or more legs.

    A subclass sets scene, sim, commands, observations, actions, rewards, terminations
    and events with the functions of this file.
    """

    standing = 0.3
    curriculum = {}


class BipedWalkCfg(VelocityCfg):
    """Flat ground with a clocked walk, for two legs.

    Actions are added to joint targets of the gait. Training starts with an assistive
    wrench, slow commands and no pushes, and ends with pushes that are 1.5 times as hard
    as in evaluation. A subclass sets the managers, and defines
    `assistance`.
    """

    warm_up: WarmUpCfg = WarmUpCfg(pushes=1.5)
    """Commands and pushes at the start of training."""

    curriculum = {}

    def assistance(self) -> EventTermCfg:
        """Return the assistive wrench of training."""
        raise NotImplementedError(
            f"{type(self).__name__} has to define assistance: return "
            "walk.assistance(ROBOT)."
        )

    def for_training(self) -> Self:
        """Return the training configuration: assistance, warm-up and its physics."""
        return eased(super().for_training(), self.warm_up, self.assistance())


def learner(
    robot: LeggedRobot, model: type[EquivariantModelCfg] | None = None
) -> PpoAgentCfg:
    """Return PPO for a robot.

    It begins with half of the usual exploration, because it explores around a reference
    gait. With more, heavy robots with four legs learn to stand still, so that their
    feet do not slip.

    Args:
        robot: The robot.
        model: Networks with the robot's symmetry. None uses ordinary networks.
    """
    two_legs = is_biped(robot)
    iterations = 1200 if two_legs else 700
    entropy, std = 0.001 if two_legs else 0.005, 0.5
    if model is None:
        agent = rl.velocity_rl(
            max_iterations=2 * iterations,
            hidden_dims=rl.HIDDEN_DIMS_ON_CPU,
            entropy_coef=entropy,
            init_std=std,
        )
        agent.algorithm.desired_kl, agent.algorithm.gamma = 0.02, 0.985
        agent.average_decay = rl.AVERAGE_DECAY
        return agent
    agent = rl.mirrored_rl_on_cpu(
        model,
        max_iterations=iterations,
        entropy_coef=entropy,
        init_std=std,
        tied_actor=not two_legs,
        tied_critic=not two_legs,
    )
    if not two_legs:
        agent.algorithm.num_learning_epochs = 4
    return agent


def task(
    robot: LeggedRobot,
    env: type[VelocityCfg],
    model: type[EquivariantModelCfg] | None = None,
) -> Task:
    """Return the task of a robot, with few worlds on a CPU.

    Args:
        robot: The robot.
        env: Its configuration.
        model: Networks with the robot's symmetry. None uses ordinary networks.
    """

    def agent() -> PpoAgentCfg:
        return learner(robot, model)

    return Task(
        env=env,
        rl=agent,
        on_cpu=OnCpu(num_envs=rl.WORLDS_ON_CPU, rl=agent),
        summary=f"{robot.name} follows velocity commands on flat ground.",
    )
