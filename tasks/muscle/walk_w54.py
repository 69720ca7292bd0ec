"""Walking forward in space, with 54 muscles on legs and trunk."""

from __future__ import annotations

from dataclasses import dataclass, field

from mjlab.envs import ViewerCfg, mdp
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.muscle import mdp as muscle_mdp
from mjlab.muscle.action import MuscleActionCfg
from mjlab.scene import SceneCfg
from mjlab.sim import SimulationCfg
from mjlab.tasks.muscle import mdp as walking
from mjlab.tasks.muscle.commands import GaitCommandCfg
from mjlab.tasks.muscle.models import w54_cfg
from mjlab.tasks.muscle.walk import TORQUE_LAW, WalkW18Cfg, rewards, simulation
from mjlab.terrain import TerrainCfg

JOINTS = (
    "lumbar_extension",
    "lumbar_bending",
    "lumbar_rotation",
    *(
        f"{joint}_{side}"
        for side in "rl"
        for joint in ("hip_flexion", "hip_adduction", "hip_rotation", "knee", "ankle")
    ),
)
"""All that muscles move, in the order of the model."""

LOWEST = 0.7
"""A walker whose pelvis is lower has fallen, in m."""


def w54_scene() -> SceneCfg:
    """The walker on a plane."""
    return SceneCfg(
        num_envs=4096,
        env_spacing=4.0,
        terrain=TerrainCfg(),
        entities={"robot": w54_cfg()},
        extent=2.0,
    )


def w54_observations() -> dict[str, ObservationGroupCfg | None]:
    """Root, joints, phase and speed of the gait, and what the muscles can do."""
    terms: dict[str, ObservationTermCfg | None] = {
        "height": ObservationTermCfg(func=walking.root_height),
        "gravity": ObservationTermCfg(func=mdp.projected_gravity),
        "lin_vel": ObservationTermCfg(func=mdp.base_lin_vel),
        "ang_vel": ObservationTermCfg(func=mdp.base_ang_vel, scale=0.2),
        "joint_pos": ObservationTermCfg(func=mdp.joint_pos),
        "joint_vel": ObservationTermCfg(func=mdp.joint_vel, scale=0.2),
        "gait": ObservationTermCfg(
            func=mdp.generated_commands, params={"command_name": walking.GAIT}
        ),
        "pace_lag": ObservationTermCfg(func=walking.pace_lag),
        "capacity": ObservationTermCfg(func=muscle_mdp.muscle_torque_capacity),
        "last_action": ObservationTermCfg(func=mdp.last_action),
    }
    return {
        "actor": ObservationGroupCfg(terms=terms),
        "critic": ObservationGroupCfg(terms=dict(terms)),
    }


def w54_actions() -> dict[str, ActionTermCfg | None]:
    """Changes of the gait's pose, which the muscles go for."""
    return {
        "muscles": MuscleActionCfg(
            joint_names=JOINTS,
            scale=0.25,
            reference=walking.gait_reference,
            law=TORQUE_LAW,
        )
    }


def w54_rewards() -> dict[str, RewardTermCfg | None]:
    """Those of the planar walker; upright in all directions."""
    return {
        **rewards(pose_std=0.8),
        "upright": RewardTermCfg(func=walking.level, weight=0.3, params={"std": 0.3}),
        "straight": RewardTermCfg(
            func=walking.straight, weight=0.3, params={"std": 0.3}
        ),
    }


def w54_terminations() -> dict[str, TerminationTermCfg | None]:
    """A fall, losing the pace, or time."""
    return {
        "time_out": TerminationTermCfg(func=mdp.time_out, time_out=True),
        "off_pace": TerminationTermCfg(func=walking.off_pace, params={"limit": 0.6}),
        "too_low": TerminationTermCfg(func=walking.fell, params={"lowest": LOWEST}),
        "tipped_over": TerminationTermCfg(
            func=mdp.bad_orientation, params={"limit_angle": 0.7}
        ),
    }


@dataclass(kw_only=True)
class WalkW54Cfg(WalkW18Cfg):
    """The walker goes forward in space, imitating a mean gait."""

    scene: SceneCfg = field(default_factory=w54_scene)
    sim: SimulationCfg = field(
        default_factory=lambda: simulation(nconmax=24, njmax=128)
    )
    commands: dict[str, CommandTermCfg | None] = field(
        default_factory=lambda: {
            walking.GAIT: GaitCommandCfg(
                joint_names=JOINTS, forward_joint=None, height_joint=None
            )
        }
    )
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=w54_observations
    )
    actions: dict[str, ActionTermCfg | None] = field(default_factory=w54_actions)
    rewards: dict[str, RewardTermCfg | None] = field(default_factory=w54_rewards)
    terminations: dict[str, TerminationTermCfg | None] = field(
        default_factory=w54_terminations
    )
    viewer: ViewerCfg = field(
        default_factory=lambda: ViewerCfg(
            entity="robot", distance=3.5, azimuth=120.0, elevation=-10.0
        )
    )
