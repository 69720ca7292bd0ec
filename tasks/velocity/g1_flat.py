"""Velocity task of the Unitree G1 on flat ground, with a clocked gait."""

import copy
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from mjlab.envs import mdp
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    CurriculumTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.mdp.curriculums import Value
from mjlab.settings import Config
from mjlab.sim import SimulationCfg, TrainingPhysicsCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import mdp as walking_mdp
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.g1 import VelocityG1Cfg, g1_rewards, g1_scene, g1_simulation
from mjlab.tasks.velocity.gait import Gait, GaitActionCfg
from mjlab.tasks.velocity.push import growing_push
from mjlab.tasks.velocity.scene import FEET_CONTACT

GAIT = Gait(period=0.76, knee=0.56, hip=0.28, sway=0.05, push_speed=0.25)
"""Gait of 2.6 steps per second; a shorter period vibrates more."""

SUPPORT = "support"
"""Name of the assistive wrench's event term."""

_ACTED = (".*_hip_.*_joint", ".*_knee_joint", ".*_ankle_.*_joint", "waist_.*_joint")

_ITERATION = 24
"""Environment steps per training iteration."""

GROWING_WEIGHTS = {
    "action_rate_l2": (-0.01, -0.07),
    "foot_slip": (-0.1, -0.3),
    "track_linear_closely": (1.0, 2.0),
}
"""Reward weights at the start and at the end of training. At the start, large penalties
lead to short steps, and close tracking leads to hopping."""

_GROWTH = (220 * _ITERATION, 400 * _ITERATION)
"""Environment steps between which the weights change linearly."""


class WarmUpCfg(Config):
    """Easier start of training: slow commands and no pushes.

    Ranges then grow linearly to the task's ranges.
    """

    steps: tuple[int, int] = (80 * _ITERATION, 200 * _ITERATION)
    """Environment steps at which the change starts and ends."""

    lin_vel_x: tuple[float, float] = (-0.4, 0.4)
    """Initial range of the forward command, m/s."""

    lin_vel_y: tuple[float, float] = (-0.3, 0.3)
    """Initial range of the sideways command, m/s."""

    ang_vel_z: tuple[float, float] = (-0.4, 0.4)
    """Initial range of the yaw rate command, rad/s."""


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
    """Return rewards with pose and contacts of the gait as reference.

    Linear velocity has a wide kernel for large errors and a narrow one for small ones.
    The yaw rate is averaged over 0.5 s, because the pelvis of a stepping robot turns
    faster than commanded. Kernels with roll and pitch rates are wide, to keep a slope.
    Low swings are penalised more, because feet that lift too little drag.
    """
    terms = g1_rewards(rough=False)
    for replaced in ("pose", "air_time"):
        del terms[replaced]
    command = {"command_name": walking.COMMAND}
    kept = command | {"gait": gait}
    terms["gait_posture"] = RewardTermCfg(
        func=walking_mdp.gait_posture,
        weight=1.5,
        params=kept
        | {
            "std_standing": {".*": 0.1},
            "std_walking": dict(G1.posture_std_walking),
        },
    )
    terms["gait_contact"] = RewardTermCfg(
        func=walking_mdp.gait_contact,
        weight=1.0,
        params=kept | {"sensor_name": FEET_CONTACT},
    )
    terms["track_linear_closely"] = RewardTermCfg(
        func=mdp.track_lin_vel_xy_exp, weight=1.0, params=command | {"std": 0.25}
    )
    terms["track_mean_yaw_rate"] = RewardTermCfg(
        func=walking_mdp.track_mean_yaw_rate,
        weight=1.5,
        params=command | {"std": 0.35, "seconds": 0.5},
    )
    terms["alive"] = RewardTermCfg(func=mdp.is_alive, weight=1.0)
    terms["track_angular_velocity"].params["std"] = 1.5
    terms["track_angular_velocity"].weight = 1.0
    terms["foot_swing_height"].weight = -1.0
    terms["self_collisions"].weight = -0.5
    for name, weights in GROWING_WEIGHTS.items():
        terms[name].weight = weights[-1]
    return {**terms}


def g1_flat_terminations() -> dict[str, TerminationTermCfg]:
    """Return flat-ground terminations, and one for a low pelvis, even if upright."""
    terms = walking.terminations(rough=False)
    terms["too_low"] = TerminationTermCfg(
        func=mdp.root_height_below_minimum, params={"minimum_height": 0.55}
    )
    return terms


def assistance() -> EventTermCfg:
    """Return the event of an assistive wrench that fades within ten seconds."""
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
    """Unitree G1 tracks velocity commands on flat ground, with a clocked gait.

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
        """Return the training configuration: assistance, warm-up, faster physics."""
        cfg = super().for_training()
        events: dict[str, EventTermCfg | None] = {**cfg.events, SUPPORT: assistance()}
        if (push := events.get("push_robot")) is not None:
            params = {**push.params, "steps": self.warm_up.steps}
            events["push_robot"] = replace(push, func=growing_push, params=params)
        command = copy.deepcopy(cfg.commands[walking.COMMAND])
        assert isinstance(command, mdp.UniformVelocityCommandCfg)
        curriculum: dict[str, CurriculumTermCfg | None] = {**cfg.curriculum}
        for name in ("lin_vel_x", "lin_vel_y", "ang_vel_z"):
            slow, full = getattr(self.warm_up, name), getattr(command.ranges, name)
            setattr(command.ranges, name, slow)
            target = f"command/{walking.COMMAND}/{name}"
            curriculum[f"{name}_range"] = _lines(
                target, self.warm_up.steps, (slow, full)
            )
        rewards = copy.deepcopy(cfg.rewards)
        for name, weights in GROWING_WEIGHTS.items():
            if (term := rewards.get(name)) is None:
                continue
            term.weight = weights[0]
            target = f"reward/{name}/weight"
            curriculum[f"{name}_weight"] = _lines(target, _GROWTH, weights)
        return replace(
            cfg,
            events=events,
            rewards=rewards,
            commands={**cfg.commands, walking.COMMAND: command},
            curriculum=curriculum,
        )


def _lines(
    target: str, steps: Sequence[int], values: Sequence[Value]
) -> CurriculumTermCfg:
    """Return a curriculum term that changes a live number or range linearly by step."""
    return CurriculumTermCfg(
        func=mdp.schedule,
        params={
            "target": target,
            "interpolation": "linear",
            "stages": list(zip(steps, values, strict=True)),
        },
    )
