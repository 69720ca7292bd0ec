"""Unitree G1 on a plane about a clocked gait: settings under trial, not registered.

They step naturally after 1.2 million steps, and do not follow the commanded speed yet
(bench/results/walking/trials.json).
"""

import copy
from dataclasses import replace
from typing import Self

from mjlab.envs import mdp
from mjlab.managers import (
    CommandTermCfg,
    CurriculumTermCfg,
    EventTermCfg,
    RewardTermCfg,
)
from mjlab.mdp.curriculums import Value
from mjlab.settings import Config
from mjlab.sim import SimulationCfg, TrainingPhysicsCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.g1 import SUPPORT, g1_flat_events, g1_simulation
from mjlab.tasks.velocity.g1_gait import (
    VelocityG1GaitCfg,
    gait_actions,
    gait_observations,
    gait_rewards,
)
from mjlab.tasks.velocity.gait import Gait
from mjlab.tasks.velocity.push import growing_push

QUICK_GAIT = Gait(period=0.66, knee=0.5, hip=0.25, sway=0.05)
"""Three steps a second: a robot falls less far in a shorter step."""

_ITERATION = 24
"""Steps of the environment in an iteration of the learner."""


class WarmUpCfg(Config):
    """Easier start of training: slow commands and no pushes.

    From there they go to the values of the task in a straight line.
    """

    steps: tuple[int, int] = (80 * _ITERATION, 200 * _ITERATION)
    """Steps of the environment at which the change begins and ends."""

    lin_vel_x: tuple[float, float] = (-0.4, 0.4)
    """Range of the forward command at first, m/s."""

    lin_vel_y: tuple[float, float] = (-0.3, 0.3)
    """Range of the sideways command at first, m/s."""

    ang_vel_z: tuple[float, float] = (-0.4, 0.4)
    """Range of the yaw rate command at first, rad/s."""


def g1_quick_simulation() -> SimulationCfg:
    """Return physics steps of 5 ms, and of 10 ms for training."""
    sim = g1_simulation(rough=False)
    sim.training = TrainingPhysicsCfg(decimation=2)
    return sim


def g1_quick_commands() -> dict[str, CommandTermCfg | None]:
    """Return the velocity command."""
    terms = walking.commands()
    command = terms[walking.COMMAND]
    assert isinstance(command, mdp.UniformVelocityCommandCfg)
    command.ranges.lin_vel_y = (-0.8, 0.8)
    return {**terms}


def g1_quick_rewards() -> dict[str, RewardTermCfg | None]:
    """Return the rewards of the clocked gait, with narrower velocity tracking."""
    terms = gait_rewards(QUICK_GAIT)
    for name, std in (("track_linear_velocity", 0.5), ("track_angular_velocity", 0.9)):
        term = terms[name]
        assert term is not None
        term.params["std"] = std
    return terms


class VelocityG1QuickCfg(VelocityG1GaitCfg):
    """On a plane, about a clocked gait of three steps a second.

    Training differs from evaluation: physics steps take 10 ms, a supporting force is
    annealed to zero, and commands and pushes grow (`warm_up`).
    """

    warm_up: WarmUpCfg = WarmUpCfg()
    """Start of training."""

    sim = g1_quick_simulation()
    commands = g1_quick_commands()
    observations = gait_observations(QUICK_GAIT)
    actions = gait_actions(QUICK_GAIT)
    rewards = g1_quick_rewards()
    events = {**walking.events(G1)}
    curriculum = {}

    def for_training(self) -> Self:
        """Return the training configuration with support, warm-up and its physics."""
        cfg = super().for_training()
        events: dict[str, EventTermCfg | None] = {**cfg.events}
        events[SUPPORT] = g1_flat_events()[SUPPORT]
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
            curriculum[f"{name}_range"] = self._line(target, slow, full)
        return replace(
            cfg,
            events=events,
            commands={**cfg.commands, walking.COMMAND: command},
            curriculum=curriculum,
        )

    def _line(self, target: str, first: Value, last: Value) -> CurriculumTermCfg:
        """Return a term that interpolates a live number or range linearly."""
        begin, end = self.warm_up.steps
        return CurriculumTermCfg(
            func=mdp.schedule,
            params={
                "target": target,
                "interpolation": "linear",
                "stages": [(begin, first), (end, last)],
            },
        )
