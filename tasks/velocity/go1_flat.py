"""Velocity task of the Unitree Go1 on flat ground, with a clocked trot."""

from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.go1 import (
    VelocityGo1Cfg,
    go1_observations,
    go1_rewards,
    go1_scene,
    go1_simulation,
    go1_terminations,
)


class VelocityGo1FlatCfg(VelocityGo1Cfg):
    """Unitree Go1 tracks velocity commands on flat ground, with the same trot.

    A fall ends the episode. Training has contacts of feet and trunk only.
    """

    scene = go1_scene(rough=False)
    sim = go1_simulation(rough=False)
    observations = {**go1_observations(rough=False)}
    rewards = {**go1_rewards(rough=False)}
    terminations = {**go1_terminations(rough=False)}
    curriculum = {**walking.curriculum(rough=False)}
