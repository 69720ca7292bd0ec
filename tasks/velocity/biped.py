"""Gait and training of bipeds, tuned for the Unitree G1.

Training starts with an assistive wrench, slow commands and no pushes.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from mjlab.envs import ManagerBasedRlEnvCfg, mdp
from mjlab.managers import CurriculumTermCfg, EventTermCfg
from mjlab.mdp.curriculums import Value
from mjlab.settings import Config
from mjlab.tasks.robots.robot import Robot
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.gait import Gait
from mjlab.tasks.velocity.push import growing_push
from mjlab.tasks.velocity.support import supporting_hand

GAIT = Gait(
    period=0.66,
    knee=0.5,
    hip=0.25,
    sway=0.05,
    push_speed=0.25,
    measured=0.4,
    room=0.0,
)
"""Gait of 3 steps per second. The feet do not come closer together in sideways steps.
With closer feet or slower steps, robots fall more often (docs/decisions/0026)."""

LEG_LENGTH, MASS, HEIGHT = 0.65, 33.3, 0.76
"""The Unitree G1: leg length in the stance, m, mass, kg, and height of the base, m."""

SUPPORT = "support"
"""Name of the assistive wrench's event term."""

_ITERATION = 24
"""Environment steps per training iteration."""

INITIAL_WEIGHTS = {
    "action_rate_l2": -0.01,
    "foot_slip": -0.1,
    "track_linear_closely": 1.0,
}
"""Reward weights at the start of training, which change to the weights of the task. At
the start, large penalties lead to short steps, and close tracking leads to hopping."""

_Cfg = TypeVar("_Cfg", bound=ManagerBasedRlEnvCfg)


class WarmUpCfg(Config):
    """Easier start of training: slow commands and no pushes.

    Ranges then grow linearly to the task's ranges.
    """

    steps: tuple[int, int] = (80 * _ITERATION, 200 * _ITERATION)
    """Environment steps at which the change starts and ends."""

    weight_steps: tuple[int, int] = (220 * _ITERATION, 400 * _ITERATION)
    """Environment steps at which the change of reward weights starts and ends: from
    `INITIAL_WEIGHTS` to the weights of the task. To continue the training of a policy
    that already walks, set `steps` and `weight_steps` to (1, 2)."""

    lin_vel_x: tuple[float, float] = (-0.4, 0.4)
    """Initial range of the forward command, m/s."""

    lin_vel_y: tuple[float, float] = (-0.3, 0.3)
    """Initial range of the sideways command, m/s."""

    ang_vel_z: tuple[float, float] = (-0.4, 0.4)
    """Initial range of the yaw rate command, rad/s."""

    pushes: float = 1.0
    """Scale of the pushes at the end of training; in evaluation it is 1."""


def assistance(
    robot: Robot, *, mass: float = MASS, height: float = HEIGHT
) -> EventTermCfg:
    """Return the event term of the assistive wrench.

    The wrench decreases to zero within 480 steps without a fall. Its gains are scaled
    from the G1 by the robot's mass and height, so that the assisted motion of a larger
    or heavier robot is the same, apart from its slower time scale.

    Args:
        robot: The robot.
        mass: Its mass, kg.
        height: Height of its base in the stance, m.
    """
    heavier, higher = mass / MASS, height / HEIGHT
    return EventTermCfg(
        func=supporting_hand,
        mode="step",
        params={
            "pelvis": robot.base_body,
            "torso": robot.torso_body,
            "feet": robot.foot_bodies,
            "command_name": walking.COMMAND,
            "hand": {
                "spring": 700.0 * heavier / higher,
                "damper": 120.0 * heavier / math.sqrt(higher),
                "tilt": 60.0 * heavier * higher,
                "tilt_damper": 3.6 * heavier * higher**1.5,
                "lift": 800.0 * heavier / higher,
                # Above the lower ankle.
                "height": round(0.974 * height, 3),
            },
            "last_steps": 480.0,
            "steps_per_fall": 120.0,
        },
    )


def eased(cfg: _Cfg, warm_up: WarmUpCfg, assistance: EventTermCfg) -> _Cfg:
    """Return a configuration with an easier start of training.

    Args:
        cfg: Configuration for training.
        warm_up: Commands and pushes at the start.
        assistance: Assistive wrench, which fades.
    """
    events: dict[str, EventTermCfg | None] = {**cfg.events, SUPPORT: assistance}
    if (push := events.get("push_robot")) is not None:
        scaled = {
            axis: (warm_up.pushes * low, warm_up.pushes * high)
            for axis, (low, high) in push.params["velocity_range"].items()
        }
        params = {**push.params, "velocity_range": scaled, "steps": warm_up.steps}
        events["push_robot"] = replace(push, func=growing_push, params=params)
    command = copy.deepcopy(cfg.commands[walking.COMMAND])
    assert isinstance(command, mdp.UniformVelocityCommandCfg)
    curriculum: dict[str, CurriculumTermCfg | None] = {**cfg.curriculum}
    for name in ("lin_vel_x", "lin_vel_y", "ang_vel_z"):
        slow, full = getattr(warm_up, name), getattr(command.ranges, name)
        setattr(command.ranges, name, slow)
        target = f"command/{walking.COMMAND}/{name}"
        curriculum[f"{name}_range"] = _lines(target, warm_up.steps, (slow, full))
    rewards = copy.deepcopy(cfg.rewards)
    for name, initial in INITIAL_WEIGHTS.items():
        term = rewards.get(name)
        if term is None or not term.weight:
            continue
        target, weights = f"reward/{name}/weight", (initial, term.weight)
        term.weight = initial
        curriculum[f"{name}_weight"] = _lines(target, warm_up.weight_steps, weights)
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
    """Return a curriculum term that interpolates a weight or a range linearly."""
    return CurriculumTermCfg(
        func=mdp.schedule,
        params={
            "target": target,
            "interpolation": "linear",
            "stages": list(zip(steps, values, strict=True)),
        },
    )
