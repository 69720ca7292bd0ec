"""Record the gait of a policy under fixed commands.

There are two test conditions: `quiet` (without noise, pushes and randomisation), and as
in training.
"""

import contextlib
import copy
import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Policy, Rollout
from mjlab.gait.commands import COMMANDS, Command, Figures
from mjlab.gait.legs import leg_length
from mjlab.gait.limits import AS_TRAINED, QUIET
from mjlab.gait.motion import GRAVITY, LeggedMotion, measure
from mjlab.gait.recorder import SampleBuffer, body_motion, foot_motion
from mjlab.gait.size import relative_size, scaled
from mjlab.managers import EventTermCfg, MetricsTermCfg
from mjlab.mdp import UniformVelocityCommand, UniformVelocityCommandCfg
from mjlab.sensor import ContactSensorCfg
from mjlab.terrain import TerrainCfg
from mjlab.threads import torch_threads
from mjlab.watched import watched

Cfg = TypeVar("Cfg")

START_S = 3.0
"""Time at the start of a recording that is excluded from all metrics, s."""

_FEET, _BODY = "foot_motion", "body_motion"


class GaitError(ValueError):
    """Raised for an environment whose gait cannot be measured."""


@dataclasses.dataclass(frozen=True)
class Legs:
    """Contact sensor, command and robot that the gait measurement uses."""

    sensor: ContactSensorCfg
    """Contact sensor of the feet."""

    command: str
    """Name of the velocity command."""

    entity: str
    """Name of the robot's entity."""


def legs_of(cfg: ManagerBasedRlEnvCfg) -> Legs | None:
    """Return the contact sensor, command and robot of a legged task, None for others.

    The task must have one velocity command, and one contact sensor that tracks air
    times. The primaries of the sensor are the feet.
    """
    sensors = [
        sensor
        for sensor in cfg.scene.sensors
        if isinstance(sensor, ContactSensorCfg) and sensor.track_air_time
    ]
    commands = {
        name: command
        for name, command in cfg.commands.items()
        if isinstance(command, UniformVelocityCommandCfg)
    }
    if len(sensors) != 1 or len(commands) != 1:
        return None
    (sensor,), ((name, command),) = sensors, commands.items()
    return Legs(sensor, name, command.entity_name)


def need_legs(cfg: ManagerBasedRlEnvCfg) -> Legs:
    """Return `legs_of`; raise `GaitError` if the gait cannot be measured."""
    legs = legs_of(cfg)
    if legs is None:
        raise GaitError(
            "A gait measurement needs one velocity command (UniformVelocityCommandCfg) "
            "and one contact sensor of the feet (ContactSensorCfg with "
            "track_air_time=True)."
        )
    sensor = legs.sensor
    if sensor.reduce != "netforce" or "force" not in sensor.fields:
        raise GaitError(
            f"Contact sensor {sensor.name!r} has reduce={sensor.reduce!r} and "
            f"fields={sensor.fields}. The gait measurement needs reduce='netforce' "
            "and 'force'."
        )
    return legs


# Configurations of the two conditions: quiet (no noise, pushes or randomisation), and
# as trained.


def quiet(cfg: ManagerBasedRlEnvCfg) -> ManagerBasedRlEnvCfg:
    """Return the task without noise, pushes and randomisation, on a plane."""
    groups = {
        name: group and _changed(group, enable_corruption=False)
        for name, group in cfg.observations.items()
    }
    events = {n: e for n, e in cfg.events.items() if e and e.mode == "reset"}
    return _changed(_on_plane(cfg), observations=groups, events=events)


def as_trained(cfg: ManagerBasedRlEnvCfg) -> ManagerBasedRlEnvCfg:
    """Return the task with its noise, pushes and randomisation, on a plane.

    Events of mode "step" that are missing in the play configuration are training aids,
    such as an assistive wrench. They are removed.
    """
    kept = watched(cfg).events
    events = {
        name: event
        for name, event in cfg.events.items()
        if event and not _is_aid(event, kept.get(name))
    }
    return _changed(_on_plane(cfg), events=events)


def _is_aid(event: EventTermCfg, in_play: EventTermCfg | None) -> bool:
    return event.mode == "step" and in_play is None


def _changed(cfg: Cfg, **values: Any) -> Cfg:
    """Return a copy with changed attributes, without calling `__post_init__`."""
    changed = copy.copy(cfg)
    for name, value in values.items():
        setattr(changed, name, value)
    return changed


def _on_plane(cfg: ManagerBasedRlEnvCfg) -> ManagerBasedRlEnvCfg:
    terrain = cfg.scene.terrain
    if terrain is None or terrain.generator is None:
        return cfg
    return _changed(cfg, scene=_changed(cfg.scene, terrain=TerrainCfg()))


def held(
    cfg: ManagerBasedRlEnvCfg, worlds: int, seconds: float
) -> ManagerBasedRlEnvCfg:
    """Return the task with constant commands and recorders, without a time limit.

    Args:
        cfg: Configuration of the task.
        worlds: Number of worlds.
        seconds: Duration of the recording, s.
    """
    legs = need_legs(cfg)
    command = cfg.commands[legs.command]
    assert isinstance(command, UniformVelocityCommandCfg)
    zero = (0.0, 0.0)
    still = _changed(
        command.ranges, lin_vel_x=zero, lin_vel_y=zero, ang_vel_z=zero, heading=None
    )
    command = _changed(
        command,
        ranges=still,
        resampling_time_range=(float("inf"), float("inf")),
        rel_standing_envs=0.0,
        rel_heading_envs=0.0,
        rel_forward_envs=0.0,
        rel_world_envs=0.0,
        heading_command=False,
        init_velocity_prob=0.0,
    )
    steps = round(seconds / (cfg.sim.mujoco.timestep * cfg.decimation))
    entity = {"entity_name": legs.entity}
    feet = {
        "samples": steps * cfg.decimation,
        "sensor_name": legs.sensor.name,
        "by_geom": legs.sensor.primary.mode == "geom",
    }
    metrics = {
        _FEET: MetricsTermCfg(func=foot_motion, params=feet | entity, per_substep=True),
        _BODY: MetricsTermCfg(func=body_motion, params={"samples": steps} | entity),
    }
    falls = {n: t for n, t in cfg.terminations.items() if t and not t.time_out}
    return _changed(
        cfg,
        scene=_changed(cfg.scene, num_envs=worlds),
        commands={**cfg.commands, legs.command: command},
        metrics={**cfg.metrics, **metrics},
        terminations=falls,
        curriculum={},
        recorders={},
        episode_length_s=10.0 * seconds,
    )


# Measurement of a policy.

EPISODE_S = {QUIET: 12.0, AS_TRAINED: 20.0}
"""Duration of a recording by condition, s."""

ROBOTS = 8
"""Number of robots per command in the condition `QUIET`."""

EPISODES = 256
"""Minimum number of episodes in the condition `AS_TRAINED`, over all commands."""


def gait_of(
    cfg: ManagerBasedRlEnvCfg,
    load: Callable[[ManagerBasedRlEnv], Policy],
    *,
    commands: Mapping[str, Command] = COMMANDS,
    robots: int = ROBOTS,
    episodes: int = EPISODES,
    seed: int = 0,
    device: str | None = None,
) -> dict[str, dict[str, Figures]]:
    """Record a policy; return its gait metrics by test condition and command.

    The metrics include the leg length. Speeds are lower for robots with short legs; see
    `mjlab.gait.size`.

    Args:
        cfg: Training configuration of the task.
        load: Creates the policy for an environment.
        commands: Commands by name.
        robots: Number of robots per command in the condition `QUIET`.
        episodes: Minimum number of episodes in the condition `AS_TRAINED`, over all
            commands. 0 skips this condition.
        seed: Random seed of both conditions.
        device: Device of the simulation.
    """
    each = {QUIET: robots, AS_TRAINED: math.ceil(episodes / len(commands))}
    worlds = {QUIET: quiet(cfg), AS_TRAINED: as_trained(cfg)}
    found: dict[str, dict[str, Figures]] = {}
    for name, world in worlds.items():
        if not each[name]:
            continue
        seconds, number = EPISODE_S[name], each[name] * len(commands)
        world = _changed(held(world, number, seconds), seed=seed)
        env = ManagerBasedRlEnv(world, device=device)
        with contextlib.closing(env), torch_threads(1):
            about = _leg_length(env)
            told = scaled(commands, relative_size(about))
            motions = walk(env, load(env), told, seconds=seconds, seed=seed)
        found[name] = {n: measure(m, told[n]) | about for n, m in motions.items()}
    return found


def _leg_length(env: ManagerBasedRlEnv) -> Figures:
    """Return the number of feet and the leg length, as gait metrics."""
    feet = env.metrics_manager.terms[_FEET].instance
    assert isinstance(feet, foot_motion)
    length = leg_length(env.sim.mj_model, feet.ids, geoms=feet.by_geom)
    return {"feet": len(feet.ids), "leg_length": length}


# Rollouts under commands.


def walk(
    env: ManagerBasedRlEnv,
    policy: Policy,
    commands: Mapping[str, Command],
    *,
    seconds: float,
    seed: int,
) -> dict[str, LeggedMotion]:
    """Record the motion under each command, without the first `START_S` seconds.

    World i gets command i modulo the number of commands.

    Args:
        env: Environment with a configuration of `held`.
        policy: The policy.
        commands: Commands by name.
        seconds: Duration of the recording, including the start, s.
        seed: Random seed of the first world.
    """
    legs = need_legs(env.cfg)
    feet, body = _series(env, _FEET), _series(env, _BODY)
    fell = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
    rollout = Rollout(env, policy, seed=seed)
    policy.reset()
    _hold(env, legs.command, list(commands.values()))
    feet.begin()
    body.begin()
    for stepped in rollout.steps(round(seconds / env.step_dt)):
        fell |= stepped & env.termination_manager.terminated
    assert isinstance(feet, foot_motion)
    model = env.sim.mj_model
    root = env.scene.entity(legs.entity).index.root_body_id
    motion = LeggedMotion(
        feet=tuple(name.rpartition("/")[2] for name in feet.names),
        weight=float(model.body_subtreemass[root]) * GRAVITY,
        physics_dt=env.physics_dt,
        step_dt=env.step_dt,
        fell=fell.cpu().numpy(),
        **feet.taken(),
        **body.taken(),
    ).after(START_S)
    worlds = torch.arange(env.num_envs) % len(commands)
    return {name: motion.of((worlds == i).numpy()) for i, name in enumerate(commands)}


def _series(env: ManagerBasedRlEnv, name: str) -> SampleBuffer:
    series = env.metrics_manager.terms[name].instance
    assert isinstance(series, SampleBuffer)
    return series


def _hold(env: ManagerBasedRlEnv, name: str, commands: Sequence[Command]) -> None:
    """Set the command of each world, in turn."""
    term = env.command_manager.term(name)
    assert isinstance(term, UniformVelocityCommand)
    told = torch.tensor(commands, device=env.device)
    world = torch.arange(env.num_envs, device=env.device) % len(commands)
    term.state()["drawn"][:, :3].copy_(told[world])
