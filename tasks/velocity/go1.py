"""Velocity task of the Unitree Go1 on rough terrain."""

from mjlab.envs import mdp
from mjlab.managers import (
    EventTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch, ContactSensorCfg, SensorCfg
from mjlab.sensor.contact import MatchMode
from mjlab.sim import SimulationCfg
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.env import VelocityCfg


def go1_scene(*, rough: bool = True) -> SceneCfg:
    """Return a Go1 with sensors of foot contacts and, if rough, unwanted contacts."""
    feet = ContactMatch(mode="geom", pattern=GO1.foot_geoms, entity="robot")
    sensors: tuple[SensorCfg, ...] = (grounds.feet_contact(feet),)
    if rough:
        sensors = (*sensors, *unwanted_contacts())
    return grounds.scene(GO1, rough=rough, sensors=sensors)


def unwanted_contacts() -> tuple[ContactSensorCfg, ...]:
    """Return sensors of self-contacts and of shank, trunk and thigh ground contacts."""
    return (
        grounds.self_contact(GO1),
        _ground_contact("shank_contact", "geom", r".*_calf_collision\d"),
        _ground_contact("trunk_contact", "body", "trunk"),
        _ground_contact("thigh_contact", "body", ".*_thigh", history_length=0),
    )


def _ground_contact(
    name: str,
    mode: MatchMode,
    pattern: str,
    history_length: int = grounds.DECIMATION,
) -> ContactSensorCfg:
    return ContactSensorCfg(
        name=name,
        primary=ContactMatch(mode=mode, pattern=pattern, entity="robot"),
        secondary=ContactMatch(mode="body", pattern="terrain"),
        fields=("force",),
        reduce="maxforce",
        history_length=history_length,
    )


def go1_rewards(*, rough: bool = True) -> dict[str, RewardTermCfg]:
    """Return the shared rewards, with slope and contact terms on rough terrain.

    On rough terrain, the trunk is rewarded for alignment with the slope, and contacts
    of shanks and trunk and self-contacts are penalised. A higher air-time reward and a
    lower action-rate penalty let a gait emerge within a few million steps.
    """
    terms = walking.rewards(GO1, rough=rough, scan_tilts=rough)
    terms["air_time"].weight = 0.5
    terms["action_rate_l2"].weight = -0.02
    if rough:
        own, shank, trunk, _ = unwanted_contacts()
        terms["self_collisions"] = walking.contact_cost(own, -0.1)
        terms["shank_collision"] = walking.contact_cost(shank, -0.1)
        terms["trunk_collision"] = walking.contact_cost(trunk, -0.1)
    return terms


def go1_terminations(*, rough: bool = True) -> dict[str, TerminationTermCfg]:
    """Return the shared terminations; if rough, thigh contact replaces the tilt."""
    terms = walking.terminations(rough=rough)
    if rough:
        del terms["fell_over"]
        terms["illegal_contact"] = TerminationTermCfg(
            func=mdp.illegal_contact,
            params={"sensor_name": "thigh_contact", "force_threshold": 1.0},
        )
    return terms


def go1_events() -> dict[str, EventTermCfg]:
    """Return shared events, plus torsional and rolling friction of the round feet."""
    return walking.events(GO1) | {
        "foot_friction": walking.foot_friction(GO1, "sliding", (0.3, 1.5)),
        "foot_friction_spin": walking.foot_friction(
            GO1, "torsional", (1e-4, 2e-2), log=True
        ),
        "foot_friction_roll": walking.foot_friction(
            GO1, "rolling", (1e-5, 5e-3), log=True
        ),
    }


def go1_simulation(*, rough: bool = True) -> SimulationCfg:
    """Return physics with elliptic cones and stiff friction, so feet do not creep.

    With elliptic cones, a sparse Jacobian reduces the step time of a fallen Go1 to
    75 %.
    """
    sim = grounds.simulation(rough=rough, nconmax=48, njmax=400 if rough else 200)
    sim.mujoco.cone = "elliptic"
    sim.mujoco.impratio = 10.0
    sim.native_jacobian = "sparse"
    return sim


class VelocityGo1Cfg(VelocityCfg):
    """Unitree Go1 tracks velocity commands on rough terrain, with a height scan.

    A curriculum increases the difficulty of the terrain.
    """

    scene = go1_scene()
    sim = go1_simulation()
    observations = {**walking.observations(GO1, rough=True)}
    actions = {**walking.actions(GO1)}
    rewards = {**go1_rewards()}
    terminations = {**go1_terminations()}
    events = {**go1_events()}
    curriculum = {**walking.curriculum(rough=True)}
    viewer = grounds.viewer(GO1)
