"""Unitree Go1 walking at a commanded velocity."""

from mjlab.envs import mdp
from mjlab.managers import (
    CommandTermCfg,
    EventTermCfg,
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

GO1_LIMBS = (r".*_(hip|thigh|calf)_collision\d*", "head_collision")
"""Collision geoms other than feet and trunk."""


def go1_scene(*, rough: bool = True) -> SceneCfg:
    """Return the Go1 with contacts of its feet and, on tiles, unwanted ones."""
    feet = ContactMatch(mode="geom", pattern=GO1.foot_geoms, entity="robot")
    sensors: tuple[SensorCfg, ...] = (grounds.feet_contact(feet),)
    if rough:
        sensors = (*sensors, *unwanted_contacts())
    return grounds.scene(GO1, rough=rough, sensors=sensors)


def unwanted_contacts() -> tuple[ContactSensorCfg, ...]:
    """Return contacts of the robot with itself, and of all but feet with the ground."""
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
    """Return those of all robots; on tiles, upright to the slope, and nothing but feet.

    Feet in the air are worth something and quick actions cost little, so that a gait is
    found in a few million steps, by a CPU too.
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


def go1_flat_rewards() -> dict[str, RewardTermCfg]:
    """Return those of the plane, with which small commands are followed too.

    A second, narrow reward of the linear velocity counts near the command, where the
    wide one hardly changes; alone, it would not be found. The yaw rate is tracked by
    itself, since roll and pitch rates of a trot are larger than a commanded yaw rate.
    Feet in the air are worth something from a command of 0.1 m/s on. The standing pose
    is three times as wide, so that exploration does not hide it.
    """
    terms = go1_rewards(rough=False)
    command = {"command_name": walking.COMMAND}
    terms["track_linear_closely"] = RewardTermCfg(
        func=mdp.track_lin_vel_xy_exp, weight=1.0, params=command | {"std": 0.25}
    )
    terms["track_angular_velocity"] = RewardTermCfg(
        func=mdp.track_ang_vel_z_exp, weight=2.0, params=command | {"std": 0.5}
    )
    terms["body_ang_vel"].weight = -0.05
    terms["air_time"].params["command_threshold"] = 0.1
    terms["pose"].params["std_standing"] = {
        ".*_(hip|thigh)_joint": 0.15,
        ".*_calf_joint": 0.3,
    }
    return terms


def go1_flat_commands() -> dict[str, CommandTermCfg]:
    """Return the velocity command, 0 in 15 of 100 worlds."""
    terms = walking.commands()
    command = terms[walking.COMMAND]
    assert isinstance(command, mdp.UniformVelocityCommandCfg)
    command.rel_standing_envs = 0.15
    return terms


def go1_terminations(*, rough: bool = True) -> dict[str, TerminationTermCfg]:
    """Return those of all; on tiles, it may roll over, but not lean on its thighs."""
    terms = walking.terminations(rough=rough)
    if rough:
        del terms["fell_over"]
        terms["illegal_contact"] = TerminationTermCfg(
            func=mdp.illegal_contact,
            params={"sensor_name": "thigh_contact", "force_threshold": 1.0},
        )
    return terms


def go1_events() -> dict[str, EventTermCfg]:
    """Return those of all robots, with round feet that also twist and roll."""
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
    """Return elliptic cones with stiff friction, so that standing feet do not creep.

    With those, a fallen Go1 takes 0.75 of the time with a sparse Jacobian.
    """
    sim = grounds.simulation(rough=rough, nconmax=48, njmax=400 if rough else 200)
    sim.mujoco.cone = "elliptic"
    sim.mujoco.impratio = 10.0
    sim.native_jacobian = "sparse"
    return sim


def go1_flat_simulation() -> SimulationCfg:
    """Return the physics of the plane, and cheaper physics for training.

    Training takes 2 steps of 10 ms with pyramidal cones, where the judged physics has 4
    of 5 ms with elliptic ones, and only feet and trunk touch anything: 0.6 of the
    processor time of an environment step.
    """
    sim = go1_simulation(rough=False)
    sim.training = TrainingPhysicsCfg(
        decimation=2,
        cone="pyramidal",
        impratio=1.0,
        without_contacts={"robot": GO1_LIMBS},
    )
    return sim


class VelocityGo1Cfg(VelocityCfg):
    """On tiles of rising difficulty, which the robot scans."""

    scene = go1_scene()
    sim = go1_simulation()
    observations = {**walking.observations(GO1, rough=True)}
    actions = {**walking.actions(GO1)}
    rewards = {**go1_rewards()}
    terminations = {**go1_terminations()}
    events = {**go1_events()}
    curriculum = {**walking.curriculum(rough=True)}
    viewer = grounds.viewer(GO1)


class VelocityGo1FlatCfg(VelocityGo1Cfg):
    """On a plane, without a scan; a fall ends the episode."""

    scene = go1_scene(rough=False)
    sim = go1_flat_simulation()
    commands = {**go1_flat_commands()}
    observations = {**walking.observations(GO1, rough=False)}
    rewards = {**go1_flat_rewards()}
    terminations = {**go1_terminations(rough=False)}
    curriculum = {**walking.curriculum(rough=False)}
