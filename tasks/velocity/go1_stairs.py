"""Velocity task of the Unitree Go1 on stairs, blocks and gaps, with a height scan.

Its policy is the teacher of `go1_sight.py`, whose policy has a depth camera instead of
the scan.
"""

import copy
import math

from mjlab.envs import mdp
from mjlab.managers import (
    CommandTermCfg,
    CurriculumTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    RewardTermCfg,
)
from mjlab.rl import PpoAgentCfg
from mjlab.scene import SceneCfg
from mjlab.sensor import RayCastSensorCfg
from mjlab.sim import SimulationCfg
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.velocity import rl
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.commands import TwistCommandCfg
from mjlab.tasks.velocity.env import VelocityCfg
from mjlab.tasks.velocity.foot_height import FootHeightSensorCfg
from mjlab.tasks.velocity.go1 import (
    go1_events,
    go1_observations,
    go1_rewards,
    go1_scene,
    go1_simulation,
    go1_terminations,
)
from mjlab.tasks.velocity.terrains import NestedRingsCfg
from mjlab.tensors import UniformNoiseCfg
from mjlab.terrain import (
    InvertedPyramidStairsCfg,
    PyramidStairsCfg,
    RandomGridCfg,
    TerrainGeneratorCfg,
)

HIGHEST_STEP = 0.16
"""Height of the steps on the last terrain row, m."""

WIDEST_GAP = 0.2
"""Width of the gaps on the last terrain row, m. A stride of the trot is 0.18 m long at
0.5 m/s, and 0.35 m at 1 m/s."""

DEEPEST_GAP = 0.4
"""Depth of the gaps on the last terrain row, m: a leg has a length of 0.28 m in the
stance. The first gaps are shallow, because a robot that falls into every gap does not
learn to cross any."""


def obstacles() -> TerrainGeneratorCfg:
    """Return stairs down and up, blocks and gaps, with a row for each difficulty.

    Worlds start at the centre of a tile.
    """
    stairs = {"step_height_range": (0.02, HIGHEST_STEP), "platform_width": 2.0}
    return TerrainGeneratorCfg(
        num_rows=10,
        curriculum=True,
        border_width=12.0,
        sub_terrains={
            "stairs_down": PyramidStairsCfg(**stairs),
            "stairs_up": InvertedPyramidStairsCfg(**stairs),
            "blocks": RandomGridCfg(
                grid_width=0.5,
                grid_height_range=(0.0, HIGHEST_STEP / 2),
                platform_width=1.5,
            ),
            "gaps": NestedRingsCfg(
                proportion=2.0,
                gap_range=(0.08, WIDEST_GAP),
                ring_height_range=(0.0, 0.03),
                ring_width=0.5,
                first_floor_depth=0.04,
                floor_depth=DEEPEST_GAP,
            ),
        },
    )


def stairs_scene() -> SceneCfg:
    """Return a Go1 on obstacles, with a height scan of 17 by 11 rays.

    Foot heights are limited, so that a foot above a gap is not treated as a high swing.
    """
    scene = go1_scene()
    assert scene.terrain is not None
    scene.terrain.generator = obstacles()
    scene.terrain.max_init_terrain_level = 4
    scene.sensors = tuple(
        _fine(sensor) if isinstance(sensor, RayCastSensorCfg) else sensor
        for sensor in scene.sensors
    )
    return scene


def _fine(sensor: RayCastSensorCfg) -> RayCastSensorCfg:
    if isinstance(sensor, FootHeightSensorCfg):
        low = copy.copy(sensor)
        low.max_distance = sensor.start_offset[2] + 0.2
        return low
    return grounds.terrain_scan(GO1, resolution=0.1)


def stairs_commands() -> dict[str, CommandTermCfg | None]:
    """Return one command per episode: walk in a random direction at 0.5 to 1 m/s.

    The robot turns towards the direction first, so it walks to where a camera at its
    front looks.
    """
    command = walking.commands()[walking.COMMAND]
    assert isinstance(command, TwistCommandCfg)
    command.rel_heading_envs, command.rel_forward_envs = 0.95, 0.0
    command.rel_standing_envs = 0.05
    command.resampling_time_range = (100.0, 100.0)
    command.ranges = TwistCommandCfg.Ranges(
        lin_vel_x=(0.5, 1.0),
        lin_vel_y=(0.0, 0.0),
        ang_vel_z=(-0.5, 0.5),
        heading=(-math.pi, math.pi),
    )
    return {walking.COMMAND: command}


def stairs_observations() -> dict[str, ObservationGroupCfg]:
    """Return the observations of `Velocity-Go1`, with less noise of the scan."""
    groups = go1_observations()
    scan = groups["actor"].terms["height_scan"]
    assert scan is not None
    scan.noise = UniformNoiseCfg(n_min=-0.01, n_max=0.01)
    return groups


def stairs_rewards() -> dict[str, RewardTermCfg]:
    """Return the rewards of `Velocity-Go1`, with the vertical as upright direction.

    The plane through the scanned points tilts at gaps. Falls cost half as much and a
    small velocity error is worth twice as much, because a robot that stands in front of
    an obstacle never falls.
    """
    terms = go1_rewards()
    terms["upright"].params["terrain_sensor_names"] = None
    terms["fall"].weight *= 0.5
    terms["track_linear_closely"].weight *= 2.0
    return terms


def stairs_events() -> dict[str, EventTermCfg]:
    """Return the events of `Velocity-Go1`, with pushes of half the speed."""
    terms = go1_events()
    pushes = terms["push_robot"].params
    pushes["velocity_range"] = {
        axis: (low / 2, high / 2)
        for axis, (low, high) in pushes["velocity_range"].items()
    }
    return terms


def stairs_simulation() -> SimulationCfg:
    """Return the physics of `Velocity-Go1`, with more memory.

    The default memory is too small for a robot that is far inside the ground, where it
    touches hundreds of boxes.
    """
    sim = go1_simulation()
    sim.mujoco.memory = "32M"
    return sim


class VelocityGo1StairsCfg(VelocityCfg):
    """Unitree Go1 walks across stairs, blocks and gaps, with a height scan.

    A world moves to a harder row after it has crossed its tile, and to an easier one
    if it has failed early.
    """

    scene = stairs_scene()
    sim = stairs_simulation()
    commands = stairs_commands()
    observations = {**stairs_observations()}
    actions = {**walking.actions(GO1)}
    rewards = {**stairs_rewards()}
    terminations = {**go1_terminations()}
    events = {**stairs_events()}
    curriculum = {
        "terrain_levels": CurriculumTermCfg(
            func=mdp.terrain_levels,
            params={
                "command_name": walking.COMMAND,
                "up_share": 0.45,
                "down_share": 0.2,
            },
        )
    }
    viewer = grounds.viewer(GO1)


def go1_stairs_rl() -> PpoAgentCfg:
    """Return PPO settings for training from the weights of `Velocity-Go1`."""
    agent = rl.go1_flat_rl()
    agent.max_iterations = 1200
    return agent
