"""Cartpole on MuJoCo: balance or swing-up."""

import math
from collections.abc import Callable
from typing import Any

from mjlab.envs import ManagerBasedRlEnvCfg, ViewerCfg, mdp
from mjlab.managers import (
    ActionTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    OutcomeTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.scene import SceneCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.cartpole import mdp as cartpole_mdp
from mjlab.tasks.robots.cartpole import cartpole_cfg

SLIDER = SceneEntityCfg("cartpole", joint_names=("slider",))
HINGE = SceneEntityCfg("cartpole", joint_names=("hinge_1",))
JOINTS = SceneEntityCfg("cartpole", joint_names=("slider", "hinge_1"))


def observations() -> dict[str, ObservationGroupCfg | None]:
    """Return position, angle and velocities, the same for actor and critic."""
    terms: dict[str, ObservationTermCfg | None] = {
        "cart_pos": ObservationTermCfg(
            func=mdp.joint_pos, params={"asset_cfg": SLIDER}
        ),
        "pole_angle": ObservationTermCfg(func=cartpole_mdp.pole_angle_cos_sin),
        "velocity": ObservationTermCfg(
            func=mdp.joint_vel, params={"asset_cfg": JOINTS}
        ),
    }
    return {
        "actor": ObservationGroupCfg(terms=terms),
        "critic": ObservationGroupCfg(terms=dict(terms)),
    }


def actions() -> dict[str, ActionTermCfg | None]:
    """Return the action term: force on the cart, in units of 10 N."""
    return {
        "force": mdp.JointEffortActionCfg(
            entity_name="cartpole", joint_names=("slider",)
        )
    }


def rewards() -> dict[str, RewardTermCfg | None]:
    """Return the smooth reward of the DeepMind Control Suite."""
    return {"smooth": RewardTermCfg(func=cartpole_mdp.smooth_reward, weight=1.0)}


def terminations() -> dict[str, TerminationTermCfg | None]:
    """Return the time limit as the only termination."""
    return {"time_out": TerminationTermCfg(func=mdp.time_out, time_out=True)}


def outcomes(fail: Callable[..., Any]) -> dict[str, OutcomeTermCfg | None]:
    """Return the outcomes: success if the pole is balanced, and a failure condition."""
    return {
        "success": OutcomeTermCfg(func=cartpole_mdp.balanced),
        "fail": OutcomeTermCfg(func=fail),
    }


def start(angle: float, spread: float) -> dict[str, EventTermCfg | None]:
    """Return events that reset the cart near the centre.

    Args:
        angle: Mean angle of the pole from upright, rad.
        spread: Maximum deviation from this angle, rad.
    """
    starts = {
        "reset_slider": (SLIDER, (-0.1, 0.1)),
        "reset_hinge": (HINGE, (angle - spread, angle + spread)),
    }
    return {
        name: EventTermCfg(
            func=mdp.reset_joints_by_offset,
            mode="reset",
            params={
                "position_range": positions,
                "velocity_range": (-0.01, 0.01),
                "asset_cfg": joint,
            },
        )
        for name, (joint, positions) in starts.items()
    }


class CartpoleBalanceCfg(ManagerBasedRlEnvCfg):
    """Keep the pole upright and the cart near the centre."""

    scene = SceneCfg(num_envs=1, env_spacing=4.0, entities={"cartpole": cartpole_cfg()})
    sim = SimulationCfg(
        mujoco=MujocoCfg(timestep=0.01, ccd_iterations=35, disableflags=("contact",))
    )
    viewer = ViewerCfg(lookat=(0.0, 0.0, 1.0), distance=5.0)
    decimation = 5
    episode_length_s = 50.0
    observations = observations()
    actions = actions()
    rewards = rewards()
    terminations = terminations()
    events = start(0.0, 0.034)
    outcomes = outcomes(cartpole_mdp.hangs)


class CartpoleSwingupCfg(CartpoleBalanceCfg):
    """Swing the pole up from hanging, then balance it."""

    events = start(math.pi, 0.01)
    outcomes = outcomes(cartpole_mdp.not_balanced_in_time)


class CartpoleBalancePlayCfg(CartpoleBalanceCfg):
    """Configuration for play: balancing without a time limit."""

    episode_length_s = 1e9


class CartpoleSwingupPlayCfg(CartpoleSwingupCfg):
    """Configuration for play: swing-up without a time limit."""

    episode_length_s = 1e9
