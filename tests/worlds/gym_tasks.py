"""Tasks with frequent, unsynchronised episode ends, for Gymnasium forms."""

from collections.abc import Sequence
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, mdp
from mjlab.gym import ManagedWorlds
from mjlab.managers import (
    ObservationGroupCfg,
    ObservationTermCfg,
    OutcomeTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
    TerminationTermCfg,
)
from mjlab.registry import load_task
from mjlab.tasks.cartpole import CartpoleBalanceCfg
from mjlab.tensors import UniformNoiseCfg

JOINTS = SceneEntityCfg("cartpole", joint_names=("slider", "hinge_1"))


def is_tilted(env: Any) -> torch.Tensor:
    """Return whether the pole is tilted, shape (num_envs,)."""
    return env.scene.entity("cartpole").data.joint_pos[:, 1].abs() > 0.12


def is_left(env: Any) -> torch.Tensor:
    """Return True where the cart is left of the centre, shape (num_envs,)."""
    return env.scene.entity("cartpole").data.joint_pos[:, 0] < 0.0


def cartpole() -> ManagerBasedRlEnvCfg:
    """Cartpole that ends when the pole tilts, or after 25 steps."""
    cfg = CartpoleBalanceCfg(seed=3, episode_length_s=25 * 0.05)
    cfg.sim.backend = "native"
    cfg.terminations["tilted"] = TerminationTermCfg(func=is_tilted)
    cfg.outcomes = {
        "success": OutcomeTermCfg(func=is_left),
        "fail": OutcomeTermCfg(func=is_tilted),
    }
    return cfg


def remembering() -> ManagerBasedRlEnvCfg:
    """The same with noise, delays and histories, in named groups and terms."""
    cfg = cartpole()
    cfg.observations["memory"] = ObservationGroupCfg(
        concatenate_terms=False,
        terms={
            "position": ObservationTermCfg(
                func=mdp.joint_pos,
                params={"asset_cfg": JOINTS},
                noise=UniformNoiseCfg(n_min=-0.1, n_max=0.1),
                history_length=3,
            ),
            "velocity": ObservationTermCfg(
                func=mdp.joint_vel,
                params={"asset_cfg": JOINTS},
                noise=UniformNoiseCfg(n_min=-0.1, n_max=0.1),
                delay_max_lag=2,
            ),
        },
    )
    return cfg


def go1() -> ManagerBasedRlEnvCfg:
    """A Go1 that walks on a plane, for six steps."""
    cfg = load_task("Velocity-Go1-Flat").env()
    cfg.seed, cfg.sim.backend = 3, "native"
    cfg.episode_length_s = 6 * cfg.decimation * cfg.sim.mujoco.timestep
    return cfg


def two_terms() -> ManagerBasedRlEnvCfg:
    """The same with an action term per pair of legs, named out of order."""
    cfg = go1()
    cfg.actions = {
        "rear": mdp.JointPositionActionCfg(joint_names=("R[RL]_.*",), scale=0.3),
        "front": mdp.JointPositionActionCfg(joint_names=("F[RL]_.*",), scale=0.3),
    }
    return cfg


def worlds(
    cfg: ManagerBasedRlEnvCfg,
    num_envs: int = 3,
    *,
    first_world: int = 0,
    groups: str | Sequence[str] | None = "actor",
) -> ManagedWorlds:
    """Return worlds of a config, which they own."""
    cfg.scene.num_envs, cfg.final_obs = num_envs, True
    env = ManagerBasedRlEnv(cfg, device="cpu", first_world=first_world)
    return ManagedWorlds(env, groups=groups)


def steps_so_far(env: Any) -> torch.Tensor:
    """Steps of the episode, shape (num_envs, 1)."""
    return env.episode_length_buf.float().unsqueeze(1)


def step_number(env: Any) -> torch.Tensor:
    """The same as a reward, shape (num_envs,)."""
    return env.episode_length_buf.float()


def is_over(env: Any) -> torch.Tensor:
    """World i ends after 3 + i steps."""
    return env.episode_length_buf >= 3 + torch.arange(env.num_envs)


def succeeds(env: Any) -> torch.Tensor:
    """True only in the second step of an episode."""
    return env.episode_length_buf == 2


def fails(env: Any) -> torch.Tensor:
    """True from the fourth step on."""
    return env.episode_length_buf >= 4


def scripted() -> ManagerBasedRlEnvCfg:
    """Counter: observation and reward are its steps; world i ends after 3 + i, or 6."""
    cfg = CartpoleBalanceCfg(seed=3, episode_length_s=6 * 0.05)
    cfg.sim.backend, cfg.scale_rewards_by_dt = "native", False
    counter = ObservationTermCfg(func=steps_so_far)
    cfg.observations = {"actor": ObservationGroupCfg(terms={"steps": counter})}
    cfg.rewards = {"steps": RewardTermCfg(func=step_number)}
    cfg.terminations["over"] = TerminationTermCfg(func=is_over)
    cfg.outcomes = {
        "success": OutcomeTermCfg(func=succeeds),
        "fail": OutcomeTermCfg(func=fails),
    }
    return cfg
