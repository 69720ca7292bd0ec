"""Velocity task of the Unitree Go1 on flat ground, with a clocked trot."""

import copy
from dataclasses import replace
from typing import Self

from mjlab.envs import mdp
from mjlab.managers import (
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
)
from mjlab.sim import SimulationCfg, TrainingPhysicsCfg
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.velocity import mdp as walking_mdp
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.gait import Clock
from mjlab.tasks.velocity.go1 import (
    VelocityGo1Cfg,
    go1_rewards,
    go1_scene,
    go1_simulation,
    go1_terminations,
)
from mjlab.tasks.velocity.scene import FEET_CONTACT

GO1_LIMBS = (r".*_(hip|thigh|calf)_collision\d*", "head_collision")
"""Collision geoms other than feet and trunk."""

TROT = Clock(period=0.35, duty=0.55, push_speed=0.25)
"""Trot of 2.9 strides per second. Without `push_speed`, a standing robot that is pushed
does not step, and tips over."""

TROT_LEGS = (1, 0, 0, 1)
"""Clock leg of FR, FL, RR and RL: diagonal feet step together."""


def go1_flat_observations() -> dict[str, ObservationGroupCfg]:
    """Return the observations of flat ground, plus the clock of the trot."""
    groups = walking.observations(GO1, rough=False)
    for group in groups.values():
        group.terms["gait_clock"] = ObservationTermCfg(
            func=walking_mdp.gait_clock,
            params={"command_name": walking.COMMAND, "gait": TROT},
        )
    return groups


def go1_flat_rewards() -> dict[str, RewardTermCfg]:
    """Return the rewards of flat ground, with trot contacts instead of air time.

    Linear velocity has a wide kernel for large errors and a narrow one for small ones.
    Yaw rate has its own kernel, because roll and pitch rates of a trot exceed commanded
    yaw rates. The kernel of the standing pose is three times as wide, so exploration
    noise does not saturate it. Slip, low swings, hard landings and falls cost more.
    """
    terms = go1_rewards(rough=False)
    command = {"command_name": walking.COMMAND}
    del terms["air_time"]
    terms["gait_contact"] = RewardTermCfg(
        func=walking_mdp.gait_contact,
        weight=1.0,
        params=command | {"gait": TROT, "sensor_name": FEET_CONTACT, "legs": TROT_LEGS},
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
    terms["pose"].params["std_standing"] = {
        ".*_(hip|thigh)_joint": 0.15,
        ".*_calf_joint": 0.3,
    }
    return terms


def go1_flat_simulation() -> SimulationCfg:
    """Return physics for flat ground, with cheaper settings for training.

    Training uses 2 steps of 10 ms instead of 4 steps of 5 ms, and only feet and trunk
    have contacts. It keeps the elliptic cones of evaluation, although pyramidal cones
    are cheaper: with elliptic cones, a pushed standing robot falls more often.
    """
    sim = go1_simulation(rough=False)
    sim.training = TrainingPhysicsCfg(
        decimation=2, without_contacts={"robot": GO1_LIMBS}
    )
    return sim


class VelocityGo1FlatCfg(VelocityGo1Cfg):
    """Unitree Go1 tracks velocity commands on flat ground, with a clocked trot.

    The policy observes the clock and is rewarded for contacts that match it. A fall
    ends the episode. Training uses physics steps of 10 ms, with contacts of feet and
    trunk only, and more worlds stand than in evaluation.
    """

    scene = go1_scene(rough=False)
    sim = go1_flat_simulation()
    observations = {**go1_flat_observations()}
    rewards = {**go1_flat_rewards()}
    terminations = go1_terminations(rough=False)
    curriculum = walking.curriculum(rough=False)

    def for_training(self) -> Self:
        """Return the training configuration, in which 30% of the worlds stand."""
        cfg = super().for_training()
        command = copy.deepcopy(cfg.commands[walking.COMMAND])
        assert isinstance(command, mdp.UniformVelocityCommandCfg)
        command.rel_standing_envs = 0.3
        return replace(cfg, commands={**cfg.commands, walking.COMMAND: command})
