"""Velocity environment, independent of the robot.

A robot's configuration (`g1.py`, `go1.py`) is a subclass of `VelocityCfg` that creates
its parts with `scene.py` and `terms.py`, and changes some of them. For your own task,
subclass one of these configurations.
"""

import copy
from dataclasses import replace
from typing import ClassVar, Self

from mjlab.envs import ManagerBasedRlEnvCfg, mdp
from mjlab.managers import EventTermCfg, OutcomeTermCfg
from mjlab.tasks.velocity import terms
from mjlab.tasks.velocity.scene import DECIMATION
from mjlab.terrain import TerrainGeneratorCfg


def outcomes(limits: dict[str, float] | None = None) -> dict[str, OutcomeTermCfg]:
    """Return the outcomes: success if commands are tracked until the time limit.

    Errors are averaged over the episode. They include pushes, body sway and the
    response to new commands: a rollout of the shipped Go1 policy in 64 worlds on rough
    terrain had mean errors of 0.2 m/s and 0.13 rad/s.

    Args:
        limits: Maximum errors, m/s and rad/s, by the name of the command's metric. None
            uses 0.4 for the linear velocity and the yaw rate.
    """
    limits = limits or {"error_vel_xy": 0.4, "error_vel_yaw": 0.4}
    params = {"command_name": terms.COMMAND, "limits": limits}
    return {
        "success": OutcomeTermCfg(func=mdp.lasted, params=params),
        "fail": OutcomeTermCfg(func=mdp.failed),
    }


class VelocityCfg(ManagerBasedRlEnvCfg):
    """Base configuration of walking at a commanded velocity.

    A robot's subclass defines the missing parts: scene, observations, actions, rewards,
    terminations and events.
    """

    decimation = DECIMATION
    episode_length_s = 20.0
    commands = {**terms.commands()}
    outcomes = {**outcomes()}

    standing: ClassVar[float | None] = None
    """Fraction of worlds with zero command in training. None: as in evaluation."""

    def for_training(self) -> Self:
        """Return the training configuration, with the fraction `standing`."""
        cfg = super().for_training()
        if self.standing is None:
            return cfg
        command = copy.deepcopy(cfg.commands[terms.COMMAND])
        assert isinstance(command, mdp.UniformVelocityCommandCfg)
        command.rel_standing_envs = self.standing
        return replace(cfg, commands={**cfg.commands, terms.COMMAND: command})

    def play(self) -> Self:
        """Return the configuration for play.

        It has no noise, pushes, curriculum or time limit. Terrain has fewer tiles, and
        each episode starts on a random tile.
        """
        watched = copy.deepcopy(self)
        watched.episode_length_s = 1e9
        watched.curriculum = {}
        for group in watched.observations.values():
            if group is not None:
                group.enable_corruption = False
        watched.events = {**watched.events, "push_robot": None}
        terrain = watched.scene.terrain
        if terrain is not None and terrain.generator is not None:
            terrain.generator = _fewer_tiles(terrain.generator)
            terrain.max_init_terrain_level = None
            anywhere = EventTermCfg(func=mdp.randomize_terrain, mode="reset")
            # Insert it before the event that places the robot on the chosen tile.
            watched.events = {"randomize_terrain": anywhere, **watched.events}
        return watched


def _fewer_tiles(generator: TerrainGeneratorCfg) -> TerrainGeneratorCfg:
    """Reduce a terrain to five rows, and one column per sub-terrain type."""
    kinds = len(generator.sub_terrains)
    return replace(generator, num_rows=5, num_cols=kinds, border_width=10.0)
