"""Velocity task of the Unitree G1 on flat ground, with a clocked gait."""

from mjlab.tasks.velocity.biped import WarmUpCfg
from mjlab.tasks.velocity.g1 import (
    VelocityG1Cfg,
    g1_actions,
    g1_commands,
    g1_observations,
    g1_rewards,
    g1_scene,
    g1_simulation,
    g1_terminations,
)


class VelocityG1FlatCfg(VelocityG1Cfg):
    """Unitree G1 tracks velocity commands on flat ground, with the same gait."""

    warm_up = WarmUpCfg()
    standing = None
    scene = g1_scene(rough=False)
    sim = g1_simulation(rough=False)
    commands = {**g1_commands(rough=False)}
    observations = {**g1_observations(rough=False)}
    actions = {**g1_actions()}
    rewards = {**g1_rewards(rough=False)}
    terminations = {**g1_terminations(rough=False)}
    curriculum = {}
