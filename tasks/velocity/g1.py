"""Velocity task of the Unitree G1 on rough terrain."""

from mjlab.managers import RewardTermCfg
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch
from mjlab.sim import SimulationCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.env import VelocityCfg


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
    """Unitree G1 tracks velocity commands on rough terrain, with a height scan.

    A curriculum increases the difficulty of the terrain.
    """

    scene = g1_scene()
    sim = g1_simulation(rough=True)
    observations = {**walking.observations(G1, rough=True)}
    actions = {**walking.actions(G1)}
    rewards = {**g1_rewards()}
    terminations = {**walking.terminations(rough=True)}
    events = {**walking.events(G1)}
    curriculum = {**walking.curriculum(rough=True)}
    viewer = grounds.viewer(G1)
