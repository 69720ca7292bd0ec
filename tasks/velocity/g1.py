"""Velocity tasks of the Unitree G1."""

from typing import Self

from mjlab.managers import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch
from mjlab.sim import SimulationCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import mdp
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.env import VelocityCfg

SUPPORT = "support"
"""Name of the event that applies the assistive wrench."""


def g1_simulation(*, rough: bool = True) -> SimulationCfg:
    """Return physics with buffers for a G1's contacts."""
    nconmax, njmax = (70, 600) if rough else (64, 300)
    return grounds.simulation(rough=rough, nconmax=nconmax, njmax=njmax)


def g1_scene(*, rough: bool = True) -> SceneCfg:
    """Return the G1 with sensors of foot contacts and self-contacts."""
    feet = ContactMatch(mode="subtree", pattern=G1.foot_bodies, entity="robot")
    sensors = (grounds.feet_contact(feet), grounds.self_contact(G1))
    return grounds.scene(G1, rough=rough, sensors=sensors)


def g1_rewards(*, rough: bool = True) -> dict[str, RewardTermCfg]:
    """Return shared rewards, plus penalties on torso rotation and self-collision."""
    terms = walking.rewards(G1, rough=rough)
    terms["body_ang_vel"].weight = -0.05
    terms["angular_momentum"].weight = -0.02
    terms["self_collisions"] = walking.contact_cost(grounds.self_contact(G1), -1.0)
    return terms


class VelocityG1Cfg(VelocityCfg):
    """Rough terrain with increasing difficulty and a height scan."""

    scene = g1_scene()
    sim = g1_simulation(rough=True)
    observations = {**walking.observations(G1, rough=True)}
    actions = {**walking.actions(G1)}
    rewards = {**g1_rewards()}
    terminations = {**walking.terminations(rough=True)}
    events = {**walking.events(G1)}
    curriculum = {**walking.curriculum(rough=True)}
    viewer = grounds.viewer(G1)


def g1_flat_observations() -> dict[str, ObservationGroupCfg]:
    """Return flat-ground observations, plus the assistance level for the critic."""
    groups = walking.observations(G1, rough=False)
    groups["critic"].terms[SUPPORT] = ObservationTermCfg(
        func=mdp.support_level, params={"event": SUPPORT}
    )
    return groups


def g1_flat_rewards() -> dict[str, RewardTermCfg]:
    """Return rewards with which the G1 learns to walk from falling.

    Compared with rough terrain, being alive and feet in the air are rewarded, velocity
    tracking is wider (0.8 m/s, 1.2 rad/s), and penalties on action rate and
    self-contact are smaller.
    """
    terms = g1_rewards(rough=False)
    terms["alive"] = RewardTermCfg(func=walking.mdp.is_alive, weight=1.0)
    terms["air_time"].weight = 0.5
    terms["track_linear_velocity"].params["std"] = 0.8
    terms["track_angular_velocity"].params["std"] = 1.2
    terms["action_rate_l2"].weight = -0.005
    terms["self_collisions"].weight = -0.5
    return terms


def g1_flat_terminations() -> dict[str, TerminationTermCfg]:
    """Return flat-ground terminations, plus a low pelvis, which can have low tilt."""
    terms = walking.terminations(rough=False)
    terms["too_low"] = TerminationTermCfg(
        func=walking.mdp.root_height_below_minimum, params={"minimum_height": 0.55}
    )
    return terms


def g1_flat_events() -> dict[str, EventTermCfg]:
    """Return shared events, plus an assistive wrench that fades within ten seconds."""
    terms = walking.events(G1)
    terms[SUPPORT] = EventTermCfg(
        func=mdp.supporting_hand,
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
    return terms


class VelocityG1FlatCfg(VelocityG1Cfg):
    """Flat ground, no height scan, and an assistive wrench annealed to zero.

    A pelvis below 0.55 m ends the episode, too. The assistance depends on the policy's
    falls, and is absent in play; the critic observes its level.
    """

    scene = g1_scene(rough=False)
    sim = g1_simulation(rough=False)
    observations = g1_flat_observations()
    rewards = g1_flat_rewards()
    terminations = g1_flat_terminations()
    events = g1_flat_events()
    curriculum = walking.curriculum(rough=False)

    def play(self) -> Self:
        """Return the configuration for play, without assistance."""
        watched = super().play()
        watched.events = {**watched.events, SUPPORT: None}
        return watched
