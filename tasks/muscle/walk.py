"""Muscle-driven walking at a commanded speed: planar and three-dimensional."""

from __future__ import annotations

import copy
from typing import Self

from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnvCfg, ViewerCfg, mdp
from mjlab.managers import (
    ActionTermCfg,
    MetricsTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    OutcomeTermCfg,
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
from mjlab.tasks.muscle.models import w18_cfg, w54_cfg
from mjlab.terrain import TerrainCfg

TIMESTEP = 1.0 / 600.0
DECIMATION = 20
TORQUE_LAW = TorqueLawCfg(stiffness=400.0, damping=30.0)

PITCH = SceneEntityCfg("robot", joint_names=("root_pitch",))
HEIGHT = SceneEntityCfg("robot", joint_names=("root_z",))
SEEN = SceneEntityCfg(
    "robot", joint_names=("root_z", "root_pitch", "(hip|knee|ankle)_[rl]")
)
"""All joints except the forward position."""


W54_JOINTS = (
    "lumbar_extension",
    "lumbar_bending",
    "lumbar_rotation",
    *(
        f"{joint}_{side}"
        for side in "rl"
        for joint in ("hip_flexion", "hip_adduction", "hip_rotation", "knee", "ankle")
    ),
)
"""All joints that muscles actuate, in the order of the model."""

LOWEST = 0.7
"""Pelvis height below which a walker has fallen, in m."""


def walker_scene(walker: EntityCfg) -> SceneCfg:
    """Return a walker on a plane."""
    return SceneCfg(
        num_envs=4096,
        env_spacing=4.0,
        terrain=TerrainCfg(),
        entities={"robot": walker},
        extent=2.0,
    )


def simulation(*, nconmax: int = 16, njmax: int = 96) -> SimulationCfg:
    """Return physics at 600 Hz, with muscle control at every physics step.

    Args:
        nconmax: Average number of contacts per world, for MuJoCo Warp's buffers.
        njmax: Maximum number of constraint rows per world, for MuJoCo Warp's buffers.
    """
    return SimulationCfg(
        nconmax=nconmax,
        njmax=njmax,
        # Island discovery is disabled: a walker is one constraint island anyway.
        mujoco=MujocoCfg(
            timestep=TIMESTEP, ccd_iterations=35, disableflags=("island",)
        ),
    )


def for_both(
    terms: dict[str, ObservationTermCfg | None],
) -> dict[str, ObservationGroupCfg | None]:
    """Return observation groups with the same terms for actor and critic."""
    return {
        "actor": ObservationGroupCfg(terms=terms),
        "critic": ObservationGroupCfg(terms=dict(terms)),
    }


def _gait_terms() -> dict[str, ObservationTermCfg | None]:
    return {
        "joint_vel": ObservationTermCfg(func=mdp.joint_vel, scale=0.2),
        "gait": ObservationTermCfg(
            func=mdp.generated_commands, params={"command_name": walking.GAIT}
        ),
        "pace_lag": ObservationTermCfg(func=walking.pace_lag),
        "capacity": ObservationTermCfg(func=muscle_mdp.muscle_torque_capacity),
        "last_action": ObservationTermCfg(func=mdp.last_action),
    }


def w18_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return joint states, gait command and phase, and the muscles' torque capacity."""
    pose = ObservationTermCfg(func=mdp.joint_pos, params={"asset_cfg": SEEN})
    return for_both({"joint_pos": pose, **_gait_terms()})


def w54_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return the observations of W18, and the root state."""
    return for_both(
        {
            "height": ObservationTermCfg(func=walking.root_height),
            "gravity": ObservationTermCfg(func=mdp.projected_gravity),
            "lin_vel": ObservationTermCfg(func=mdp.base_lin_vel),
            "ang_vel": ObservationTermCfg(func=mdp.base_ang_vel, scale=0.2),
            "joint_pos": ObservationTermCfg(func=mdp.joint_pos),
            **_gait_terms(),
        }
    )


def actions(
    joint_names: tuple[str, ...] | None = None,
) -> dict[str, ActionTermCfg | None]:
    """Return the muscle action: offsets from the reference pose of the gait."""
    muscles = MuscleActionCfg(
        joint_names=joint_names,
        scale=0.25,
        reference=walking.gait_reference,
        law=TORQUE_LAW,
    )
    return {"muscles": muscles}


def rewards(*, pose_std: float = 0.5) -> dict[str, RewardTermCfg | None]:
    """Return rewards for speed tracking, gait imitation and low effort.

    Args:
        pose_std: Parameter `std` of the reward `imitate_pose`, rad.
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
    """Return the walking rewards, plus a reward for an upright trunk."""
    return {
        **rewards(),
        "upright": RewardTermCfg(
            func=walking.upright,
            weight=0.3,
            params={"std": 0.3, "asset_cfg": PITCH},
        ),
    }


def w54_rewards() -> dict[str, RewardTermCfg | None]:
    """Return the walking rewards, plus rewards for a level root and a straight path."""
    return {
        **rewards(pose_std=0.8),
        "upright": RewardTermCfg(func=walking.level, weight=0.3, params={"std": 0.3}),
        "straight": RewardTermCfg(
            func=walking.straight, weight=0.3, params={"std": 0.3}
        ),
    }


def _late() -> dict[str, TerminationTermCfg | None]:
    return {
        "time_out": TerminationTermCfg(func=mdp.time_out, time_out=True),
        "off_pace": TerminationTermCfg(func=walking.off_pace, params={"limit": 0.6}),
    }


def w18_terminations() -> dict[str, TerminationTermCfg | None]:
    """Return terminations: a fall, falling behind the reference, and the time limit."""
    return {
        **_late(),
        "too_low": TerminationTermCfg(
            func=walking.below, params={"limit": -0.25, "asset_cfg": HEIGHT}
        ),
        "tipped_over": TerminationTermCfg(
            func=walking.beyond, params={"limit": 0.7, "asset_cfg": PITCH}
        ),
    }


def w54_terminations() -> dict[str, TerminationTermCfg | None]:
    """Return terminations: a fall, falling behind the reference, and the time limit."""
    return {
        **_late(),
        "too_low": TerminationTermCfg(func=walking.fell, params={"lowest": LOWEST}),
        "tipped_over": TerminationTermCfg(
            func=mdp.bad_orientation, params={"limit_angle": 0.7}
        ),
    }


def metrics() -> dict[str, MetricsTermCfg | None]:
    """Return metrics of how well muscles produce the target torques."""
    return {
        "torque_residual": MetricsTermCfg(func=muscle_mdp.torque_residual),
        "effort": MetricsTermCfg(func=muscle_mdp.muscle_effort),
        "full_muscles": MetricsTermCfg(func=muscle_mdp.full_share),
        "idle_muscles": MetricsTermCfg(func=muscle_mdp.idle_share),
    }


def outcomes() -> dict[str, OutcomeTermCfg | None]:
    """Return the outcomes: success at the time limit, failure at a termination."""
    return {
        "success": OutcomeTermCfg(func=mdp.lasted),
        "fail": OutcomeTermCfg(func=mdp.failed),
    }


class WalkW18Cfg(ManagerBasedRlEnvCfg):
    """Planar walker that walks forward, imitating a mean gait."""

    scene = walker_scene(w18_cfg())
    sim = simulation()
    decimation = DECIMATION
    episode_length_s = 10.0
    commands = {walking.GAIT: GaitCommandCfg()}
    observations = w18_observations()
    actions = actions()
    rewards = w18_rewards()
    terminations = w18_terminations()
    metrics = metrics()
    outcomes = outcomes()
    viewer = ViewerCfg(entity="robot", azimuth=110.0, elevation=-8.0)

    def play(self) -> Self:
        """Return the configuration for play, without a time limit, for few worlds."""
        watched = copy.deepcopy(self)
        watched.episode_length_s = 1e9
        muscles = watched.actions["muscles"]
        assert isinstance(muscles, MuscleActionCfg)
        muscles.block = 8
        return watched


class WalkW54Cfg(WalkW18Cfg):
    """Three-dimensional walker that walks forward, imitating a mean gait."""

    scene = walker_scene(w54_cfg())
    sim = simulation(nconmax=24, njmax=128)
    commands = {
        walking.GAIT: GaitCommandCfg(
            joint_names=W54_JOINTS, forward_joint=None, height_joint=None
        )
    }
    observations = w54_observations()
    actions = actions(W54_JOINTS)
    rewards = w54_rewards()
    terminations = w54_terminations()
    viewer = ViewerCfg(entity="robot", azimuth=120.0, elevation=-10.0)
