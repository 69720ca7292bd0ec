"""Velocity task of the Unitree Go1 on flat ground, with a clocked trot."""

import copy
from dataclasses import replace
from typing import Self

from mjlab.envs import mdp
from mjlab.managers import (
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
)
from mjlab.sim import SimulationCfg, TrainingPhysicsCfg
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.velocity import mdp as walking_mdp
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.gait import Clock
from mjlab.tasks.velocity.go1 import (
    VelocityGo1Cfg,
    go1_scene,
    go1_simulation,
    go1_terminations,
)
from mjlab.tasks.velocity.walk import clocked_rewards

GO1_LIMBS = (r".*_(hip|thigh|calf)_collision\d*", "head_collision")
"""Collision geoms other than feet and trunk."""

TROT = Clock(period=0.35, duty=0.55, push_speed=0.25)
"""Trot of 2.9 strides per second. Without `push_speed`, a standing robot that is pushed
does not step, and tips over."""

TROT_LEGS = (1, 0, 0, 1)
"""Clock leg of FR, FL, RR and RL: diagonal feet step together."""


def go1_flat_observations() -> dict[str, ObservationGroupCfg]:
    """Return the observations of flat ground, plus the clock of the trot."""
    groups = walking.observations(GO1, rough=False)
    for group in groups.values():
        group.terms["gait_clock"] = ObservationTermCfg(
            func=walking_mdp.gait_clock,
            params={"command_name": walking.COMMAND, "gait": TROT},
        )
    return groups


def go1_flat_rewards() -> dict[str, RewardTermCfg]:
    """Return the rewards of a clocked trot.

    The kernel of the standing pose is three times as wide as on rough terrain, so
    exploration noise does not saturate it.
    """
    terms = clocked_rewards(GO1, TROT, TROT_LEGS)
    terms["pose"].params["std_standing"] = {
        ".*_(hip|thigh)_joint": 0.15,
        ".*_calf_joint": 0.3,
    }
    return terms


def go1_flat_simulation() -> SimulationCfg:
    """Return the physics of flat ground, with cheaper physics for training.

    Training uses 2 steps of 10 ms instead of 4 steps of 5 ms, and only feet and trunk
    have contacts. It keeps the elliptic cones of evaluation, with which a standing
    robot that is pushed falls more often than with pyramidal cones.
    """
    sim = go1_simulation(rough=False)
    sim.training = TrainingPhysicsCfg(
        decimation=2, without_contacts={"robot": GO1_LIMBS}
    )
    return sim


class VelocityGo1FlatCfg(VelocityGo1Cfg):
    """Flat ground, with a clocked trot; a fall ends the episode.

    The policy observes the clock and is rewarded for contacts that match it. Training
    uses physics steps of 10 ms, with contacts of feet and trunk only, and more worlds
    stand than in evaluation.
    """

    scene = go1_scene(rough=False)
    sim = go1_flat_simulation()
    observations = {**go1_flat_observations()}
    rewards = {**go1_flat_rewards()}
    terminations = go1_terminations(rough=False)
    curriculum = walking.curriculum(rough=False)

    def for_training(self) -> Self:
        """Return the training configuration, in which 30% of the worlds stand."""
        cfg = super().for_training()
        command = copy.deepcopy(cfg.commands[walking.COMMAND])
        assert isinstance(command, mdp.UniformVelocityCommandCfg)
        command.rel_standing_envs = 0.3
        return replace(cfg, commands={**cfg.commands, walking.COMMAND: command})
