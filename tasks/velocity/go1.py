"""Velocity task of the Unitree Go1 on rough terrain, with a clocked trot.

`go1_flat.py` builds its task with these functions.
"""

from mjlab.envs import mdp
from mjlab.managers import (
    CurriculumTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch, ContactSensorCfg, SensorCfg
from mjlab.sensor.contact import MatchMode
from mjlab.sim import SimulationCfg, TrainingPhysicsCfg
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.env import VelocityCfg
from mjlab.tasks.velocity.gait import Clock
from mjlab.tasks.velocity.walk import clocked_observations, clocked_rewards

GO1_LIMBS = (r".*_(hip|thigh|calf)_collision\d*", "head_collision")
"""Collision geoms other than feet and trunk."""

TROT = Clock(period=0.35, duty=0.55, push_speed=0.25)
"""Trot of 2.9 strides per second. Without `push_speed`, a standing robot that is pushed
does not step, and tips over."""

TROT_LEGS = (1, 0, 0, 1)
"""Clock leg of FR, FL, RR and RL: diagonal feet step together."""


def go1_scene(*, rough: bool = True) -> SceneCfg:
    """Return a Go1 with sensors of foot contacts and, if rough, unwanted contacts.

    On rough terrain, worlds start on the easiest tiles, and the height scan has 9 by 6
    rays.
    """
    feet = ContactMatch(mode="geom", pattern=GO1.foot_geoms, entity="robot")
    sensors: tuple[SensorCfg, ...] = (grounds.feet_contact(feet),)
    if rough:
        sensors = (*sensors, *unwanted_contacts())
    scene = grounds.scene(GO1, rough=rough, sensors=sensors, scan_resolution=0.2)
    if rough:
        assert scene.terrain is not None
        scene.terrain.max_init_terrain_level = 0
    return scene


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


def go1_observations(*, rough: bool = True) -> dict[str, ObservationGroupCfg]:
    """Return shared observations, plus the clock of the trot."""
    return clocked_observations(GO1, TROT, rough=rough)


def go1_rewards(*, rough: bool = True) -> dict[str, RewardTermCfg]:
    """Return the rewards of a clocked trot.

    The standard deviations of the standing pose are three times the robot's, so that
    exploration noise does not reduce this reward to zero. On rough terrain, contacts of
    shanks and trunk and self-contacts are penalised.
    """
    terms = clocked_rewards(GO1, TROT, TROT_LEGS, rough=rough)
    terms["pose"].params["std_standing"] = {
        ".*_(hip|thigh)_joint": 0.15,
        ".*_calf_joint": 0.3,
    }
    if rough:
        own, shank, trunk, _ = unwanted_contacts()
        terms["body_ang_vel"].weight = -0.02
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

    Training uses 2 steps of 10 ms instead of 4 steps of 5 ms; on flat ground, only feet
    and trunk have contacts. It keeps the elliptic cones of evaluation, although
    pyramidal cones are cheaper: with elliptic cones, a pushed standing robot falls more
    often. On rough terrain the coarse steps diverge at times, see `max_velocity`.
    """
    sim = grounds.simulation(rough=rough, nconmax=48, njmax=400 if rough else 200)
    sim.mujoco.cone = "elliptic"
    sim.mujoco.impratio = 10.0
    sim.native_jacobian = "sparse"
    sim.training = TrainingPhysicsCfg(
        decimation=2, without_contacts={} if rough else {"robot": GO1_LIMBS}
    )
    if rough:
        sim.max_velocity = 200.0
    return sim


class VelocityGo1Cfg(VelocityCfg):
    """Unitree Go1 tracks velocity commands on rough terrain, with a height scan.

    A curriculum increases the difficulty of the terrain. The policy observes the clock
    and is rewarded for contacts that match it. Training uses physics steps of 10 ms;
    30% of its commands are zero, instead of 10% in evaluation.
    """

    standing = 0.3
    scene = go1_scene()
    sim = go1_simulation()
    observations = {**go1_observations()}
    actions = {**walking.actions(GO1)}
    rewards = {**go1_rewards()}
    terminations = {**go1_terminations()}
    events = {**go1_events()}
    curriculum = {
        "terrain_levels": CurriculumTermCfg(func=mdp.terrain_levels_by_survival)
    }
    viewer = grounds.viewer(GO1)
