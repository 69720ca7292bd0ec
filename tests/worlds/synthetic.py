"""A task with every feature, for tests of properties of all tasks.

A Go1 with delays in actuators and observations, histories, noise, every event mode,
randomised masses with derived constants, commands, a curriculum, contact sensors and
ray casters.
"""

import math
from dataclasses import dataclass, field

from mjlab.actuator import DelayCfg, IdealPdActuatorCfg
from mjlab.entity import EntityCfg
from mjlab.envs import ManagerBasedRlEnvCfg, mdp
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    CurriculumTermCfg,
    EventTermCfg,
    MetricsTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.scene import SceneCfg
from mjlab.sensor import (
    ContactMatch,
    ContactSensorCfg,
    GridPatternCfg,
    ObjRef,
    RayCastSensorCfg,
)
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.robots.go1 import go1_cfg
from mjlab.tensors import GaussianNoiseCfg, UniformNoiseCfg
from mjlab.terrain import TerrainCfg

FEET = ("FR", "FL", "RR", "RL")
ROBOT = SceneEntityCfg("robot")
TRUNK = SceneEntityCfg("robot", body_names="trunk")


def robot() -> EntityCfg:
    """The Go1 with delayed explicit servos."""
    cfg = go1_cfg()
    cfg.articulation.actuators = (
        IdealPdActuatorCfg(
            target_names_expr=(".*",),
            stiffness=20.0,
            damping=0.8,
            effort_limit=23.7,
            armature=0.005,
            delay=DelayCfg(min_lag=0, max_lag=3),
        ),
    )
    return cfg


def scene() -> SceneCfg:
    """The robot on a plane, with contact sensors of its feet and ray casters."""
    return SceneCfg(
        num_envs=4,
        terrain=TerrainCfg(light=False),
        entities={"robot": robot()},
        sensors=(
            ContactSensorCfg(
                name="feet",
                primary=ContactMatch(
                    mode="geom",
                    pattern=tuple(f"{foot}_foot_collision" for foot in FEET),
                    entity="robot",
                ),
                fields=("found", "force"),
                reduce="netforce",
                track_air_time=True,
                history_length=3,
            ),
            RayCastSensorCfg(
                name="scan",
                frame=ObjRef(type="body", name="trunk", entity="robot"),
                pattern=GridPatternCfg(size=(0.4, 0.2), resolution=0.2),
                ray_alignment="yaw",
                max_distance=5.0,
                include_geom_groups=(0,),
            ),
        ),
    )


def observations() -> dict[str, ObservationGroupCfg | None]:
    """Ten terms, with noise, delays and histories for the actor."""
    terms: dict[str, ObservationTermCfg | None] = {
        "lin_vel": ObservationTermCfg(
            func=mdp.base_lin_vel, noise=UniformNoiseCfg(n_min=-0.1, n_max=0.1)
        ),
        "ang_vel": ObservationTermCfg(
            func=mdp.base_ang_vel,
            noise=UniformNoiseCfg(n_min=-0.2, n_max=0.2),
            delay_max_lag=2,
        ),
        "gravity": ObservationTermCfg(
            func=mdp.projected_gravity, noise=GaussianNoiseCfg(mean=0.0, std=0.05)
        ),
        "joint_pos": ObservationTermCfg(
            func=mdp.joint_pos_rel,
            params={"biased": True},
            noise=UniformNoiseCfg(n_min=-0.01, n_max=0.01),
            history_length=3,
        ),
        "joint_vel": ObservationTermCfg(
            func=mdp.joint_vel_rel,
            noise=UniformNoiseCfg(n_min=-1.5, n_max=1.5),
            scale=0.05,
            delay_min_lag=1,
            delay_max_lag=1,
        ),
        "action": ObservationTermCfg(func=mdp.last_action),
        "command": ObservationTermCfg(
            func=mdp.generated_commands, params={"command_name": "twist"}
        ),
        "scan": ObservationTermCfg(
            func=mdp.height_scan,
            params={"sensor_name": "scan", "offset": 0.3},
            noise=UniformNoiseCfg(n_min=-0.05, n_max=0.05),
            clip=(-1.0, 1.0),
        ),
        "accelerometer": ObservationTermCfg(
            func=mdp.builtin_sensor,
            params={"sensor_name": "robot/imu_lin_acc"},
            scale=0.1,
        ),
        "contact": ObservationTermCfg(
            func=mdp.contact_found, params={"sensor_name": "feet"}
        ),
    }
    return {
        "actor": ObservationGroupCfg(terms=terms, enable_corruption=True),
        "critic": ObservationGroupCfg(terms=dict(terms), enable_corruption=False),
    }


def rewards() -> dict[str, RewardTermCfg | None]:
    """Twelve terms, and one with a weight set by a curriculum."""
    return {
        "alive": RewardTermCfg(func=mdp.is_alive, weight=0.5),
        "lin": RewardTermCfg(
            func=mdp.track_lin_vel_xy_exp,
            weight=2.0,
            params={"std": 0.5, "command_name": "twist"},
        ),
        "ang": RewardTermCfg(
            func=mdp.track_ang_vel_z_exp,
            weight=1.0,
            params={"std": 0.7, "command_name": "twist"},
        ),
        "flat": RewardTermCfg(func=mdp.flat_orientation_l2, weight=-1.0),
        "bounce": RewardTermCfg(func=mdp.lin_vel_z_l2, weight=-1.0),
        "roll": RewardTermCfg(func=mdp.ang_vel_xy_l2, weight=-0.05),
        "torque": RewardTermCfg(func=mdp.joint_torques_l2, weight=-1e-5),
        "acc": RewardTermCfg(func=mdp.joint_acc_l2, weight=-2.5e-7),
        "limits": RewardTermCfg(func=mdp.joint_pos_limits, weight=-1.0),
        "rate": RewardTermCfg(func=mdp.action_rate_l2, weight=-0.01),
        "power": RewardTermCfg(func=mdp.electrical_power_cost, weight=-1e-4),
        "posture": RewardTermCfg(
            func=mdp.posture, weight=0.5, params={"std": {".*": 0.3}}
        ),
        "height": RewardTermCfg(
            func=mdp.base_height_l2, weight=-5.0, params={"target_height": 0.28}
        ),
    }


def terminations() -> dict[str, TerminationTermCfg | None]:
    """Time limit and fall."""
    return {
        "time_out": TerminationTermCfg(func=mdp.time_out, time_out=True),
        "fell": TerminationTermCfg(
            func=mdp.bad_orientation, params={"limit_angle": 1.0}
        ),
    }


def events() -> dict[str, EventTermCfg | None]:
    """Every event mode, and masses with derived constants."""
    return {
        "friction": EventTermCfg(
            func=mdp.randomize.geom_friction,
            mode="startup",
            params={
                "ranges": (0.4, 1.2),
                "operation": "abs",
                "asset_cfg": SceneEntityCfg("robot", geom_names=".*_foot_collision"),
            },
        ),
        "base": EventTermCfg(
            func=mdp.reset_root_state_uniform,
            mode="reset",
            params={
                "pose_range": {"x": (-0.5, 0.5), "y": (-0.5, 0.5), "yaw": (-3.1, 3.1)},
                "velocity_range": {"x": (-0.3, 0.3)},
            },
        ),
        "joints": EventTermCfg(
            func=mdp.reset_joints_by_offset,
            mode="reset",
            params={"position_range": (-0.1, 0.1), "velocity_range": (-0.1, 0.1)},
        ),
        "mass": EventTermCfg(
            func=mdp.randomize.body_mass,
            mode="reset",
            params={"ranges": (0.8, 1.2), "operation": "scale", "asset_cfg": TRUNK},
        ),
        "bias": EventTermCfg(
            func=mdp.randomize.encoder_bias,
            mode="reset",
            params={"bias_range": (-0.015, 0.015)},
        ),
        "push": EventTermCfg(
            func=mdp.push_by_setting_velocity,
            mode="interval",
            interval_range_s=(0.1, 0.4),
            params={"velocity_range": {"x": (-0.5, 0.5), "y": (-0.5, 0.5)}},
        ),
        "impulse": EventTermCfg(
            func=mdp.apply_body_impulse,
            mode="step",
            params={
                "force_range": (-20.0, 20.0),
                "torque_range": (0.0, 0.0),
                "duration_s": (0.02, 0.1),
                "cooldown_s": (0.1, 0.3),
                "asset_cfg": TRUNK,
            },
        ),
    }


@dataclass(kw_only=True)
class SyntheticCfg(ManagerBasedRlEnvCfg):
    """All features together."""

    scene: SceneCfg = field(default_factory=scene)
    sim: SimulationCfg = field(
        default_factory=lambda: SimulationCfg(
            # MuJoCo Warp 4.0.0 uses other tangents than C for some contacts of a
            # capsule with a plane, which affect pyramidal but not elliptic cones.
            mujoco=MujocoCfg(
                timestep=0.005,
                cone="elliptic",
                iterations=10,
                ls_iterations=20,
                ccd_iterations=35,
            ),
            nconmax=64,
            njmax=256,
        )
    )
    decimation: int = 4
    episode_length_s: float = 0.6
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=observations
    )
    actions: dict[str, ActionTermCfg | None] = field(
        default_factory=lambda: {"joints": mdp.JointPositionActionCfg(scale=0.3)}
    )
    rewards: dict[str, RewardTermCfg | None] = field(default_factory=rewards)
    terminations: dict[str, TerminationTermCfg | None] = field(
        default_factory=terminations
    )
    events: dict[str, EventTermCfg | None] = field(default_factory=events)
    commands: dict[str, CommandTermCfg | None] = field(
        default_factory=lambda: {
            "twist": mdp.UniformVelocityCommandCfg(
                resampling_time_range=(0.1, 0.3),
                ranges=mdp.VelocityRanges(
                    lin_vel_x=(-1.0, 1.0),
                    lin_vel_y=(-0.5, 0.5),
                    ang_vel_z=(-0.5, 0.5),
                    heading=(-math.pi, math.pi),
                ),
                rel_standing_envs=0.1,
                rel_heading_envs=0.3,
                heading_command=True,
            )
        }
    )
    curriculum: dict[str, CurriculumTermCfg | None] = field(
        default_factory=lambda: {
            "weigh_rate": CurriculumTermCfg(
                func=mdp.reward_weight_schedule,
                params={
                    "reward_name": "rate",
                    "stages": [(0, -0.01), (20, -0.02), (40, -0.05)],
                },
            )
        }
    )
    metrics: dict[str, MetricsTermCfg | None] = field(
        default_factory=lambda: {
            "jerk": MetricsTermCfg(func=mdp.mean_action_acc),
            "speed": MetricsTermCfg(func=mdp.base_speed, reduce="max"),
            "power": MetricsTermCfg(func=mdp.mechanical_power, per_substep=True),
        }
    )
