"""Velocity task of the Unitree G1 on rough terrain, with a clocked gait.

`g1_flat.py` and `g1_loco.py` build their tasks with these functions.
"""

import re
from dataclasses import replace
from typing import Self

from mjlab.envs import mdp
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    CurriculumTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch
from mjlab.sim import SimulationCfg, TrainingPhysicsCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import mdp as walking_mdp
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.biped import GAIT, SUPPORT, WarmUpCfg, assistance, eased
from mjlab.tasks.velocity.env import VelocityCfg, outcomes
from mjlab.tasks.velocity.gait import Gait, GaitActionCfg
from mjlab.tasks.velocity.walk import biped_rewards, clocked_observations

ACTED = (".*_hip_.*_joint", ".*_knee_joint", ".*_ankle_.*_joint", "waist_.*_joint")
"""Joints that the policy moves: legs and waist."""

ROUGH_GAIT = replace(GAIT, knee=0.7, hip=0.35)
"""Gait on rough ground. It lifts the feet higher than on flat ground, because robots
then fall less often (docs/decisions/0026)."""


def g1_simulation(*, rough: bool = True) -> SimulationCfg:
    """Return physics settings with steps of 5 ms, and of 10 ms for training.

    On rough terrain the coarse steps diverge at times, see `max_velocity`.
    """
    nconmax, njmax = (70, 600) if rough else (64, 300)
    sim = grounds.simulation(rough=rough, nconmax=nconmax, njmax=njmax)
    sim.training = TrainingPhysicsCfg(decimation=2)
    if rough:
        sim.max_velocity = 200.0
    return sim


def g1_scene(*, rough: bool = True) -> SceneCfg:
    """Return the G1 with sensors of foot contacts and self-contacts.

    On rough terrain, worlds start on the easiest tiles, and the height scan has 9 by 6
    rays. On these tiles, the scan is constant except for noise, and a finer scan with
    187 noisy inputs would slow down the learning of a gait.
    """
    feet = ContactMatch(mode="subtree", pattern=G1.foot_bodies, entity="robot")
    sensors = (grounds.feet_contact(feet), grounds.self_contact(G1))
    scene = grounds.scene(G1, rough=rough, sensors=sensors, scan_resolution=0.2)
    if rough:
        assert scene.terrain is not None
        scene.terrain.max_init_terrain_level = 0
    return scene


def g1_commands(*, rough: bool = True) -> dict[str, CommandTermCfg]:
    """Return the velocity command, with slower sideways steps on rough ground."""
    terms = walking.commands()
    command = terms[walking.COMMAND]
    assert isinstance(command, mdp.UniformVelocityCommandCfg)
    aside = 0.5 if rough else 0.8
    command.ranges.lin_vel_y = (-aside, aside)
    return terms


def g1_observations(
    gait: Gait = GAIT, *, rough: bool = True
) -> dict[str, ObservationGroupCfg]:
    """Return observations with the gait clock.

    The critic also observes the level of the assistive wrench.
    """
    groups = clocked_observations(G1, gait, rough=rough)
    groups["critic"].terms[SUPPORT] = ObservationTermCfg(
        func=walking_mdp.support_level, params={"event": SUPPORT}
    )
    return groups


def acted_scale() -> dict[str, float]:
    """Return the action scale of legs and waist, rad, by joint pattern."""
    legs = re.compile("hip|knee|ankle|waist")
    return {name: by for name, by in G1.action_scale.items() if legs.search(name)}


def g1_actions(gait: Gait = GAIT) -> dict[str, ActionTermCfg]:
    """Return targets of legs and waist relative to the gait; arms keep their pose."""
    return {
        "joint_pos": GaitActionCfg(
            joint_names=ACTED,
            scale=acted_scale(),
            gait=gait,
            command_name=walking.COMMAND,
        )
    }


def g1_rewards(gait: Gait = GAIT, *, rough: bool = True) -> dict[str, RewardTermCfg]:
    """Return rewards with pose and contacts of the gait as reference.

    On rough ground, falls and feet that are close together have a penalty, and velocity
    tracking has a larger weight, because slow steps are safer.
    """
    terms = biped_rewards(G1, gait, rough=rough)
    if rough:
        terms["track_linear_closely"].weight = 3.0
        terms["fall"] = RewardTermCfg(func=mdp.is_terminated, weight=-200.0)
        terms["feet_too_close"] = RewardTermCfg(
            func=walking_mdp.feet_too_close,
            weight=-1.0,
            params={"min_distance": 0.18, "asset_cfg": walking.feet_of(G1)},
        )
    return terms


def g1_terminations(*, rough: bool = True) -> dict[str, TerminationTermCfg]:
    """Return the shared terminations, plus a termination for a low pelvis."""
    terms = walking.terminations(rough=rough)
    terms["too_low"] = TerminationTermCfg(
        func=mdp.root_height_below_minimum, params={"minimum_height": 0.55}
    )
    if rough:
        feet = SceneEntityCfg("robot", body_names=G1.foot_bodies)
        terms["too_low"] = TerminationTermCfg(
            func=walking_mdp.base_near_feet,
            params={"minimum_height": 0.5, "asset_cfg": feet},
        )
    return terms


class VelocityG1Cfg(VelocityCfg):
    """Unitree G1 tracks velocity commands on rough terrain, with a height scan.

    A curriculum increases the difficulty of the terrain. A clocked gait takes 3 steps
    per second. Actions move legs and waist, and are added to the joint targets of the
    gait (`GaitAction`). Training differs from evaluation: physics steps take 10 ms, an
    assistive wrench is annealed to zero, and commands, pushes and some weights grow.
    """

    warm_up: WarmUpCfg = WarmUpCfg(steps=(2880, 7200))
    """Commands and pushes at the start of training."""

    standing = 0.3
    scene = g1_scene()
    sim = g1_simulation()
    commands = {**g1_commands()}
    observations = {**g1_observations(ROUGH_GAIT)}
    actions = {**g1_actions(ROUGH_GAIT)}
    rewards = {**g1_rewards(ROUGH_GAIT)}
    terminations = {**g1_terminations()}
    events = {**walking.events(G1)}
    # The pelvis of a stepping robot turns faster than commanded, so success does not
    # depend on the yaw rate.
    outcomes = {**outcomes({"error_vel_xy": 0.4})}
    curriculum = {
        "terrain_levels": CurriculumTermCfg(func=mdp.terrain_levels_by_survival)
    }
    viewer = grounds.viewer(G1)

    def for_training(self) -> Self:
        """Return the training configuration: assistance, warm-up, faster physics."""
        return eased(super().for_training(), self.warm_up, assistance(G1))
