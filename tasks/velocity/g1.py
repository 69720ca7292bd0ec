"""Unitree G1 walking at a commanded velocity."""

from dataclasses import dataclass, field

from mjlab.envs import ViewerCfg
from mjlab.managers import (
    ActionTermCfg,
    CurriculumTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch
from mjlab.sim import SimulationCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.env import VelocityCfg


def g1_scene(*, rough: bool = True) -> SceneCfg:
    """Return the G1 with contacts of its feet and with itself."""
    feet = ContactMatch(mode="subtree", pattern=G1.foot_bodies, entity="robot")
    sensors = (grounds.feet_contact(feet), grounds.self_contact(G1))
    return grounds.scene(G1, rough=rough, sensors=sensors)


def g1_rewards(*, rough: bool = True) -> dict[str, RewardTermCfg]:
    """Return those of all robots, with a quiet upper body and limbs apart."""
    terms = walking.rewards(G1, rough=rough)
    terms["body_ang_vel"].weight = -0.05
    terms["angular_momentum"].weight = -0.02
    terms["self_collisions"] = walking.contact_cost(grounds.self_contact(G1), -1.0)
    return terms


@dataclass(kw_only=True)
class VelocityG1Cfg(VelocityCfg):
    """On tiles of rising difficulty, which the robot scans."""

    scene: SceneCfg = field(default_factory=g1_scene)
    sim: SimulationCfg = field(
        default_factory=lambda: grounds.simulation(rough=True, nconmax=70, njmax=600)
    )
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=lambda: {**walking.observations(G1, rough=True)}
    )
    actions: dict[str, ActionTermCfg | None] = field(
        default_factory=lambda: {**walking.actions(G1)}
    )
    rewards: dict[str, RewardTermCfg | None] = field(
        default_factory=lambda: {**g1_rewards()}
    )
    terminations: dict[str, TerminationTermCfg | None] = field(
        default_factory=lambda: {**walking.terminations(rough=True)}
    )
    events: dict[str, EventTermCfg | None] = field(
        default_factory=lambda: {**walking.events(G1)}
    )
    curriculum: dict[str, CurriculumTermCfg | None] = field(
        default_factory=lambda: {**walking.curriculum(rough=True)}
    )
    viewer: ViewerCfg = field(default_factory=lambda: grounds.viewer(G1))


@dataclass(kw_only=True)
class VelocityG1FlatCfg(VelocityG1Cfg):
    """On a plane, without a scan."""

    scene: SceneCfg = field(default_factory=lambda: g1_scene(rough=False))
    sim: SimulationCfg = field(
        default_factory=lambda: grounds.simulation(rough=False, nconmax=64, njmax=300)
    )
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=lambda: {**walking.observations(G1, rough=False)}
    )
    rewards: dict[str, RewardTermCfg | None] = field(
        default_factory=lambda: {**g1_rewards(rough=False)}
    )
    terminations: dict[str, TerminationTermCfg | None] = field(
        default_factory=lambda: {**walking.terminations(rough=False)}
    )
    curriculum: dict[str, CurriculumTermCfg | None] = field(
        default_factory=lambda: {**walking.curriculum(rough=False)}
    )
