"""Walking forward with muscles, at a commanded speed."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Self

from mjlab.envs import ManagerBasedRlEnvCfg, ViewerCfg, mdp
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    MetricsTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.muscle import mdp as muscle_mdp
from mjlab.muscle.action import MuscleActionCfg
from mjlab.muscle.config import TorqueLawCfg
from mjlab.scene import SceneCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.muscle import mdp as walking
from mjlab.tasks.muscle.commands import GaitCommandCfg
from mjlab.tasks.muscle.models import w18_cfg
from mjlab.terrain import TerrainCfg

TIMESTEP = 1.0 / 600.0
DECIMATION = 20
TORQUE_LAW = TorqueLawCfg(stiffness=400.0, damping=30.0)

PITCH = SceneEntityCfg("robot", joint_names=("root_pitch",))
HEIGHT = SceneEntityCfg("robot", joint_names=("root_z",))
SEEN = SceneEntityCfg(
    "robot", joint_names=("root_z", "root_pitch", "(hip|knee|ankle)_[rl]")
)
"""All but how far the walker has come."""


def w18_scene() -> SceneCfg:
    """The planar walker on a plane."""
    return SceneCfg(
        num_envs=4096,
        env_spacing=4.0,
        terrain=TerrainCfg(),
        entities={"robot": w18_cfg()},
        extent=2.0,
    )


def simulation(*, nconmax: int = 16, njmax: int = 96) -> SimulationCfg:
    """600 physics steps a second, at each of which muscles are controlled.

    Args:
        nconmax: Room for contacts.
        njmax: Room for rows of constraints.
    """
    return SimulationCfg(
        nconmax=nconmax,
        njmax=njmax,
        mujoco=MujocoCfg(timestep=TIMESTEP, integrator="implicitfast"),
    )


def w18_observations() -> dict[str, ObservationGroupCfg | None]:
    """Joints, phase and speed of the gait, and what the muscles can do."""
    terms: dict[str, ObservationTermCfg | None] = {
        "joint_pos": ObservationTermCfg(func=mdp.joint_pos, params={"asset_cfg": SEEN}),
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


def w18_actions() -> dict[str, ActionTermCfg | None]:
    """Changes of the gait's pose, which the muscles go for."""
    return {
        "muscles": MuscleActionCfg(
            scale=0.25,
            reference=walking.gait_reference,
            law=TORQUE_LAW,
        )
    }


def rewards(*, pose_std: float = 0.5) -> dict[str, RewardTermCfg | None]:
    """Go at the speed that is asked for, about as people do, with little effort.

    Args:
        pose_std: As of `imitate_pose`.
    """
    walk = {"speed_std": 0.4, "pose_std": pose_std, "pose_share": 0.6}
    return {
        "walk": RewardTermCfg(func=walking.walk_like_people, weight=2.0, params=walk),
        "imitate_velocity": RewardTermCfg(
            func=walking.imitate_velocity, weight=0.3, params={"std": 6.0}
        ),
        "action_rate": RewardTermCfg(func=mdp.action_rate_l2, weight=-0.02),
        "effort": RewardTermCfg(func=muscle_mdp.muscle_effort, weight=-0.5),
    }


def w18_rewards() -> dict[str, RewardTermCfg | None]:
    """Those of walking, with an upright trunk."""
    return {
        **rewards(),
        "upright": RewardTermCfg(
            func=walking.upright,
            weight=0.3,
            params={"std": 0.3, "asset_cfg": PITCH},
        ),
    }


def w18_terminations() -> dict[str, TerminationTermCfg | None]:
    """A fall, losing the pace, or time."""
    return {
        "time_out": TerminationTermCfg(func=mdp.time_out, time_out=True),
        "off_pace": TerminationTermCfg(func=walking.off_pace, params={"limit": 0.6}),
        "too_low": TerminationTermCfg(
            func=walking.below, params={"limit": -0.25, "asset_cfg": HEIGHT}
        ),
        "tipped_over": TerminationTermCfg(
            func=walking.beyond, params={"limit": 0.7, "asset_cfg": PITCH}
        ),
    }


def metrics() -> dict[str, MetricsTermCfg | None]:
    """How well muscles do what they are asked for."""
    return {
        "torque_residual": MetricsTermCfg(func=muscle_mdp.torque_residual),
        "effort": MetricsTermCfg(func=muscle_mdp.muscle_effort),
        "full_muscles": MetricsTermCfg(func=muscle_mdp.full_share),
        "idle_muscles": MetricsTermCfg(func=muscle_mdp.idle_share),
    }


@dataclass(kw_only=True)
class WalkW18Cfg(ManagerBasedRlEnvCfg):
    """The planar walker goes forward, imitating a mean gait."""

    scene: SceneCfg = field(default_factory=w18_scene)
    sim: SimulationCfg = field(default_factory=simulation)
    decimation: int = DECIMATION
    episode_length_s: float = 10.0
    commands: dict[str, CommandTermCfg | None] = field(
        default_factory=lambda: {walking.GAIT: GaitCommandCfg()}
    )
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=w18_observations
    )
    actions: dict[str, ActionTermCfg | None] = field(default_factory=w18_actions)
    rewards: dict[str, RewardTermCfg | None] = field(default_factory=w18_rewards)
    terminations: dict[str, TerminationTermCfg | None] = field(
        default_factory=w18_terminations
    )
    metrics: dict[str, MetricsTermCfg | None] = field(default_factory=metrics)
    viewer: ViewerCfg = field(
        default_factory=lambda: ViewerCfg(
            entity="robot", distance=3.5, azimuth=90.0, elevation=-8.0
        )
    )

    def play(self) -> Self:
        """Return the same task to be watched, without end."""
        watched = copy.deepcopy(self)
        watched.episode_length_s = 1e9
        return watched
