"""Velocity task of the Unitree G1 on flat ground, with a clocked gait."""

import re
from typing import Self

from mjlab.envs import mdp
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.sim import SimulationCfg, TrainingPhysicsCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import mdp as walking_mdp
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.biped import SUPPORT, WarmUpCfg, eased
from mjlab.tasks.velocity.g1 import VelocityG1Cfg, g1_scene, g1_simulation
from mjlab.tasks.velocity.gait import Gait, GaitActionCfg
from mjlab.tasks.velocity.walk import biped_rewards

GAIT = Gait(period=0.76, knee=0.56, hip=0.28, sway=0.05, push_speed=0.25)
"""Gait of 2.6 steps per second; a shorter period vibrates more."""

_ACTED = (".*_hip_.*_joint", ".*_knee_joint", ".*_ankle_.*_joint", "waist_.*_joint")


def g1_flat_simulation() -> SimulationCfg:
    """Return physics settings with steps of 5 ms, and of 10 ms for training."""
    sim = g1_simulation(rough=False)
    sim.training = TrainingPhysicsCfg(decimation=2)
    return sim


def g1_flat_commands() -> dict[str, CommandTermCfg | None]:
    """Return the velocity command."""
    terms = walking.commands()
    command = terms[walking.COMMAND]
    assert isinstance(command, mdp.UniformVelocityCommandCfg)
    command.ranges.lin_vel_y = (-0.8, 0.8)
    return {**terms}


def g1_flat_observations(gait: Gait = GAIT) -> dict[str, ObservationGroupCfg | None]:
    """Return observations with the gait clock, and the assistance for the critic."""
    groups = walking.observations(G1, rough=False)
    for group in groups.values():
        group.terms["gait_clock"] = ObservationTermCfg(
            func=walking_mdp.gait_clock,
            params={"command_name": walking.COMMAND, "gait": gait},
        )
    groups["critic"].terms[SUPPORT] = ObservationTermCfg(
        func=walking_mdp.support_level, params={"event": SUPPORT}
    )
    return {**groups}


def g1_flat_actions(gait: Gait = GAIT) -> dict[str, ActionTermCfg | None]:
    """Return targets of legs and waist relative to the gait; arms keep their pose."""
    legs = re.compile("hip|knee|ankle|waist")
    scale = {name: by for name, by in G1.action_scale.items() if legs.search(name)}
    return {
        "joint_pos": GaitActionCfg(
            joint_names=_ACTED, scale=scale, gait=gait, command_name=walking.COMMAND
        )
    }


def g1_flat_rewards(gait: Gait = GAIT) -> dict[str, RewardTermCfg | None]:
    """Return rewards with pose and contacts of the gait as reference."""
    return {**biped_rewards(G1, gait)}


def g1_flat_terminations() -> dict[str, TerminationTermCfg]:
    """Return flat-ground terminations, plus a low pelvis, which can have low tilt."""
    terms = walking.terminations(rough=False)
    terms["too_low"] = TerminationTermCfg(
        func=mdp.root_height_below_minimum, params={"minimum_height": 0.55}
    )
    return terms


def assistance() -> EventTermCfg:
    """Return an assistive wrench that fades within ten seconds."""
    return EventTermCfg(
        func=walking_mdp.supporting_hand,
        mode="step",
        params={
            "pelvis": G1.base_body,
            "torso": G1.torso_body,
            "feet": G1.foot_bodies,
            "command_name": walking.COMMAND,
            "hand": {
                "spring": 700.0,
                "damper": 120.0,
                "tilt": 60.0,
                "tilt_damper": 3.6,
                "lift": 800.0,
                "height": 0.78,
            },
            "last_steps": 480.0,
            "steps_per_fall": 120.0,
        },
    )


class VelocityG1FlatCfg(VelocityG1Cfg):
    """Flat ground, with a clocked gait of 2.6 steps per second.

    Actions are added to joint targets of the gait (`GaitAction`), and move legs and
    waist. Training differs from evaluation: physics steps take 10 ms, an assistive
    wrench is annealed to zero, and commands, pushes and some weights grow.
    """

    warm_up: WarmUpCfg = WarmUpCfg()
    """Commands and pushes at the start of training."""

    scene = g1_scene(rough=False)
    sim = g1_flat_simulation()
    commands = g1_flat_commands()
    observations = g1_flat_observations()
    actions = g1_flat_actions()
    rewards = g1_flat_rewards()
    terminations = g1_flat_terminations()
    events = {**walking.events(G1)}
    curriculum = {}

    def for_training(self) -> Self:
        """Return the training configuration: assistance, warm-up and its physics."""
        return eased(super().for_training(), self.warm_up, assistance())
