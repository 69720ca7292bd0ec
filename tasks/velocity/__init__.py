"""Velocity tasks: walking at a commanded velocity."""

from pathlib import Path

from mjlab.registry import OnCpu, Task
from mjlab.tasks.robots.symmetry import (
    G1EquivariantModelCfg as G1EquivariantModelCfg,
)
from mjlab.tasks.robots.symmetry import G1SymmetryCfg as G1SymmetryCfg
from mjlab.tasks.robots.symmetry import (
    Go1EquivariantModelCfg as Go1EquivariantModelCfg,
)
from mjlab.tasks.robots.symmetry import Go1SymmetryCfg as Go1SymmetryCfg
from mjlab.tasks.robots.symmetry import mirror_g1 as mirror_g1
from mjlab.tasks.robots.symmetry import mirror_go1 as mirror_go1
from mjlab.tasks.velocity.env import VelocityCfg as VelocityCfg
from mjlab.tasks.velocity.g1 import VelocityG1Cfg as VelocityG1Cfg
from mjlab.tasks.velocity.g1 import g1_rewards as g1_rewards
from mjlab.tasks.velocity.g1_flat import VelocityG1FlatCfg as VelocityG1FlatCfg
from mjlab.tasks.velocity.g1_loco import VelocityG1LocoCfg as VelocityG1LocoCfg
from mjlab.tasks.velocity.g1_loco import g1_loco_rl as g1_loco_rl
from mjlab.tasks.velocity.g1_style import G1StyleCfg as G1StyleCfg
from mjlab.tasks.velocity.g1_style import VelocityG1StyleCfg as VelocityG1StyleCfg
from mjlab.tasks.velocity.g1_style import g1_style_rl as g1_style_rl
from mjlab.tasks.velocity.go1 import VelocityGo1Cfg as VelocityGo1Cfg
from mjlab.tasks.velocity.go1 import go1_rewards as go1_rewards
from mjlab.tasks.velocity.go1_flat import VelocityGo1FlatCfg as VelocityGo1FlatCfg
from mjlab.tasks.velocity.go1_gaits import VelocityGo1GaitsCfg as VelocityGo1GaitsCfg
from mjlab.tasks.velocity.go1_gaits import go1_gaits_rl as go1_gaits_rl
from mjlab.tasks.velocity.go1_sight import VelocityGo1SightCfg as VelocityGo1SightCfg
from mjlab.tasks.velocity.go1_sight import go1_sight_rl as go1_sight_rl
from mjlab.tasks.velocity.go1_stairs import VelocityGo1StairsCfg as VelocityGo1StairsCfg
from mjlab.tasks.velocity.go1_stairs import go1_stairs_rl as go1_stairs_rl
from mjlab.tasks.velocity.rl import WORLDS_ON_CPU
from mjlab.tasks.velocity.rl import g1_flat_rl as g1_flat_rl
from mjlab.tasks.velocity.rl import g1_rl as g1_rl
from mjlab.tasks.velocity.rl import g1_rough_rl_on_cpu as g1_rough_rl_on_cpu
from mjlab.tasks.velocity.rl import go1_flat_rl as go1_flat_rl
from mjlab.tasks.velocity.rl import go1_rl as go1_rl
from mjlab.tasks.velocity.rl import go1_rough_rl_on_cpu as go1_rough_rl_on_cpu
from mjlab.tasks.velocity.rl import mirrored_rl_on_cpu as mirrored_rl_on_cpu
from mjlab.tasks.velocity.terrains import NarrowBeamsCfg as NarrowBeamsCfg
from mjlab.tasks.velocity.terrains import NestedRingsCfg as NestedRingsCfg
from mjlab.tasks.velocity.terrains import RandomStairsCfg as RandomStairsCfg
from mjlab.tasks.velocity.terrains import TiltedGridCfg as TiltedGridCfg
from mjlab.tasks.velocity.terrains import walking_terrains as walking_terrains

G1 = Task(
    env=VelocityG1Cfg,
    rl=g1_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=g1_rough_rl_on_cpu),
    summary="Unitree G1 follows velocity commands on rough ground.",
    trained=Path(__file__).parent / "trained" / "Velocity-G1",
)
G1_FLAT = Task(
    env=VelocityG1FlatCfg,
    rl=g1_flat_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=g1_flat_rl),
    summary="Unitree G1 follows velocity commands on flat ground.",
    trained=Path(__file__).parent / "trained" / "Velocity-G1-Flat",
)
G1_LOCO = Task(
    env=VelocityG1LocoCfg,
    rl=g1_loco_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=g1_loco_rl),
    summary=(
        "Unitree G1 follows velocity commands despite random punches and random arm "
        "motion."
    ),
    trained=Path(__file__).parent / "trained" / "Velocity-G1-Loco",
)
G1_STYLE = Task(
    env=VelocityG1StyleCfg,
    rl=g1_style_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=g1_style_rl),
    summary="Unitree G1 follows velocity commands in the style of motion clips.",
    trained=Path(__file__).parent / "trained" / "Velocity-G1-Style",
)
GO1 = Task(
    env=VelocityGo1Cfg,
    rl=go1_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=go1_rough_rl_on_cpu),
    summary="Unitree Go1 follows velocity commands on rough ground.",
    trained=Path(__file__).parent / "trained" / "Velocity-Go1",
)
GO1_FLAT = Task(
    env=VelocityGo1FlatCfg,
    rl=go1_flat_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=go1_flat_rl),
    summary="Unitree Go1 follows velocity commands on flat ground.",
    trained=Path(__file__).parent / "trained" / "Velocity-Go1-Flat",
)
GO1_GAITS = Task(
    env=VelocityGo1GaitsCfg,
    rl=go1_gaits_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=go1_gaits_rl),
    summary="Unitree Go1 trots, paces or gallops by choice, on flat ground.",
    trained=Path(__file__).parent / "trained" / "Velocity-Go1-Gaits",
)
GO1_STAIRS = Task(
    env=VelocityGo1StairsCfg,
    rl=go1_stairs_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=go1_stairs_rl),
    summary="Unitree Go1 walks across stairs, blocks and gaps, with a height scan.",
    trained=Path(__file__).parent / "trained" / "Velocity-Go1-Stairs",
)
GO1_SIGHT = Task(
    env=VelocityGo1SightCfg,
    rl=go1_sight_rl,
    on_cpu=OnCpu(num_envs=WORLDS_ON_CPU, rl=go1_sight_rl),
    trained=Path(__file__).parent / "trained" / "Velocity-Go1-Sight",
    summary="Unitree Go1 walks across stairs, blocks and gaps, with a depth camera.",
)
