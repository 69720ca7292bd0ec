"""Unitree Go1 on a plane in coarse physics: settings under trial, not registered.

They follow linear velocities after 1.5 million steps, and do not turn on the spot or
stand still yet (bench/results/walking/trials.json).
"""

from mjlab.envs import mdp
from mjlab.managers import CommandTermCfg, RewardTermCfg
from mjlab.sim import SimulationCfg, TrainingPhysicsCfg
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.go1 import VelocityGo1FlatCfg, go1_rewards, go1_simulation

GO1_LIMBS = (r".*_(hip|thigh|calf)_collision\d*", "head_collision")
"""Collision geoms other than feet and trunk."""


def go1_quick_rewards() -> dict[str, RewardTermCfg]:
    """Return the rewards of flat ground, plus terms for small commands.

    Linear velocity has a wide kernel for large errors and a narrow one for small ones.
    Yaw rate has its own kernel, because roll and pitch rates of a trot exceed commanded
    yaw rates. Air time is rewarded from a command of 0.1 m/s on. The kernel of the
    standing pose is three times as wide, so exploration noise does not saturate it.
    """
    terms = go1_rewards(rough=False)
    command = {"command_name": walking.COMMAND}
    terms["track_linear_closely"] = RewardTermCfg(
        func=mdp.track_lin_vel_xy_exp, weight=1.0, params=command | {"std": 0.25}
    )
    terms["track_angular_velocity"] = RewardTermCfg(
        func=mdp.track_ang_vel_z_exp, weight=2.0, params=command | {"std": 0.5}
    )
    terms["body_ang_vel"].weight = -0.05
    terms["air_time"].params["command_threshold"] = 0.1
    terms["pose"].params["std_standing"] = {
        ".*_(hip|thigh)_joint": 0.15,
        ".*_calf_joint": 0.3,
    }
    return terms


def go1_quick_commands() -> dict[str, CommandTermCfg]:
    """Return the velocity command; 15% of the worlds stand."""
    terms = walking.commands()
    command = terms[walking.COMMAND]
    assert isinstance(command, mdp.UniformVelocityCommandCfg)
    command.rel_standing_envs = 0.15
    return terms


def go1_quick_simulation() -> SimulationCfg:
    """Return the physics of the plane, and cheaper physics for training.

    Training takes 2 steps of 10 ms with pyramidal cones, where the judged physics has 4
    of 5 ms with elliptic ones, and only feet and trunk touch anything: 0.6 of the
    processor time of an environment step.
    """
    sim = go1_simulation(rough=False)
    sim.training = TrainingPhysicsCfg(
        decimation=2,
        cone="pyramidal",
        impratio=1.0,
        without_contacts={"robot": GO1_LIMBS},
    )
    return sim


class VelocityGo1QuickCfg(VelocityGo1FlatCfg):
    """As `VelocityGo1FlatCfg`, with small commands rewarded, trained in 10 ms steps."""

    sim = go1_quick_simulation()
    commands = {**go1_quick_commands()}
    rewards = {**go1_quick_rewards()}
