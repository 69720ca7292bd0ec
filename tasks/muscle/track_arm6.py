"""Arm with six muscles that tracks joint angles."""

from __future__ import annotations

import copy
from typing import Self

import torch

from mjlab.entity import Entity
from mjlab.envs import ManagerBasedRlEnvCfg, ViewerCfg, mdp
from mjlab.managers import (
    CommandTerm,
    CommandTermCfg,
    Env,
    ObservationGroupCfg,
    ObservationTermCfg,
    OutcomeTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.muscle import mdp as muscle_mdp
from mjlab.muscle.action import MuscleActionCfg
from mjlab.scene import SceneCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.muscle.models import arm6_cfg
from mjlab.tasks.muscle.walk import DECIMATION, TIMESTEP, for_both, metrics
from mjlab.tensors.masks import write_where

TARGET = "target"


class JointTargetCommandCfg(CommandTermCfg):
    """Target joint angles, sampled from the middle of each joint's range."""

    resampling_time_range = (1.0, 2.0)

    entity_name: str = "robot"
    """Name of the arm."""

    share: float = 0.8
    """Fraction of a joint's range from which targets are sampled."""

    def bind(self, name: str, env: Env) -> CommandTerm:
        return JointTargetCommand(name, self, env)


class JointTargetCommand(CommandTerm):
    """Samples target joint angles."""

    metric_names = ("error",)

    def __init__(self, name: str, cfg: JointTargetCommandCfg, env: Env) -> None:
        self.entity: Entity = env.scene.entity(cfg.entity_name)
        """The arm."""
        joints = self.entity.data.joint_pos.shape[1]
        super().__init__(name, cfg, env, num_draws=joints)
        limits = self.entity.data.joint_pos_limits
        self._middle = limits.mean(dim=-1)
        self._half = 0.5 * cfg.share * (limits[..., 1] - limits[..., 0])
        self._target = self._middle.clone()

    @property
    def command(self) -> torch.Tensor:
        """Target angles, in rad, shape (num_envs, joints)."""
        return self._target

    def error(self) -> torch.Tensor:
        """Return the RMS distance to the target, in rad, shape (num_envs,)."""
        away = self.entity.data.joint_pos - self._target
        return away.square().mean(dim=1).sqrt()

    def state(self) -> dict[str, torch.Tensor]:
        return super().state() | {"target": self._target}

    def _resample(self, mask: torch.Tensor, unit: torch.Tensor) -> None:
        target = self._middle + (2.0 * unit - 1.0) * self._half
        write_where(self._target, mask, target)

    def _update_metrics(self) -> None:
        self._average(self.error().unsqueeze(1))


def target_pose(env: Env) -> torch.Tensor:
    """Return the target angles, to which actions are added, in rad."""
    return env.command_manager.term(TARGET).command


def reach(env: Env, std: float) -> torch.Tensor:
    """Return exp(-(e / std)²), where e is the RMS joint error, rad.

    Args:
        env: The environment.
        std: RMS error at which the reward is 0.37, in rad.
    """
    command = env.command_manager.term(TARGET)
    assert isinstance(command, JointTargetCommand)
    return torch.exp(-(command.error() / std).square())


def observations() -> dict[str, ObservationGroupCfg | None]:
    """Return joint states, targets, torque capacity and last action for both groups."""
    return for_both(
        {
            "joint_pos": ObservationTermCfg(func=mdp.joint_pos),
            "joint_vel": ObservationTermCfg(func=mdp.joint_vel, scale=0.2),
            "target": ObservationTermCfg(
                func=mdp.generated_commands, params={"command_name": TARGET}
            ),
            "capacity": ObservationTermCfg(func=muscle_mdp.muscle_torque_capacity),
            "last_action": ObservationTermCfg(func=mdp.last_action),
        }
    )


MOST_ERROR = 0.07
"""Maximum mean error of a successful episode, including transitions between targets,
rad. Without a policy, the mean error is 0.08."""


def behind(env: Env) -> torch.Tensor:
    """Return True where the time limit is reached and the mean error is too large."""
    ends = env.termination_manager.time_outs
    return ends & (env.command_manager.term(TARGET).metrics["error"] >= MOST_ERROR)


def outcomes() -> dict[str, OutcomeTermCfg | None]:
    """Return the outcomes: success if all targets are tracked, failure if not."""
    followed = {"command_name": TARGET, "limits": {"error": MOST_ERROR}}
    return {
        "success": OutcomeTermCfg(func=mdp.lasted, params=followed),
        "fail": OutcomeTermCfg(func=behind),
    }


class TrackArm6Cfg(ManagerBasedRlEnvCfg):
    """Arm with six muscles that tracks joint angles, which change every 1 to 2 s."""

    scene = SceneCfg(num_envs=2048, env_spacing=2.0, entities={"robot": arm6_cfg()})
    sim = SimulationCfg(mujoco=MujocoCfg(timestep=TIMESTEP, ccd_iterations=35))
    decimation = DECIMATION
    episode_length_s = 8.0
    commands = {TARGET: JointTargetCommandCfg()}
    observations = observations()
    actions = {"muscles": MuscleActionCfg(scale=0.3, reference=target_pose)}
    rewards = {
        "reach": RewardTermCfg(func=reach, weight=1.0, params={"std": 0.3}),
        "reach_closely": RewardTermCfg(func=reach, weight=1.0, params={"std": 0.08}),
        "action_rate": RewardTermCfg(func=mdp.action_rate_l2, weight=-0.02),
        "effort": RewardTermCfg(func=muscle_mdp.muscle_effort, weight=-0.2),
    }
    terminations = {"time_out": TerminationTermCfg(func=mdp.time_out, time_out=True)}
    metrics = metrics()
    outcomes = outcomes()
    viewer = ViewerCfg(
        lookat=(0.1, 0.0, 1.1), distance=2.0, azimuth=90.0, elevation=-5.0
    )

    def play(self) -> Self:
        """Return the configuration for play, without a time limit."""
        watched = copy.deepcopy(self)
        watched.episode_length_s = 1e9
        return watched
