"""Velocity task of the Unitree G1 that walks in the style of clips, without a clock."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import torch

from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import (
    CommandTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
)
from mjlab.motion.clips import load_clips
from mjlab.motion.mirror import mirrored
from mjlab.motion.style import clip_features, reset_to_clips
from mjlab.rl import CriticCfg, PpoAgentCfg, StyleCfg
from mjlab.tasks.robots.g1 import G1, MIRROR
from mjlab.tasks.velocity import mdp as walking_mdp
from mjlab.tasks.velocity import rl
from mjlab.tasks.velocity import scene as grounds
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.biped import SUPPORT, WarmUpCfg
from mjlab.tasks.velocity.clips import G1_WALK
from mjlab.tasks.velocity.g1 import (
    ACTED,
    acted_scale,
    g1_scene,
    g1_simulation,
    g1_terminations,
)
from mjlab.tasks.velocity.g1_flat import VelocityG1FlatCfg
from mjlab.tasks.velocity.symmetry import G1EquivariantModelCfg
from mjlab.tasks.velocity.walk import biped_tracking

STYLE = "style"
"""Name of the features' observation group, and of the style reward's critic."""

_FORWARD, _SIDEWAYS = (-0.5, 1.0), (-0.4, 0.4)
"""Ranges of the commanded velocities in the clips, m/s."""


class G1StyleCfg(StyleCfg):
    """Style of motion clips of the G1, and of their mirror images."""

    clips: tuple[Path, ...] = (G1_WALK,)
    """Motion files, and folders of motion files."""

    def clip_features(
        self, env: ManagerBasedRlEnv, groups: Sequence[str]
    ) -> list[torch.Tensor]:
        """Return the features of each clip and of its mirror image."""
        motions = load_clips(self.clips)
        images = [mirrored(motion, MIRROR) for motion in motions]
        return clip_features(env, groups, [*motions, *images])


def g1_style_observations() -> dict[str, ObservationGroupCfg]:
    """Return the shared observations, and the features of the style.

    The features have no velocities: a transition contains the change of each feature,
    which has the same definition in clips and in simulation.
    """
    groups = walking.observations(G1, rough=False)
    groups["critic"].terms[SUPPORT] = ObservationTermCfg(
        func=walking_mdp.support_level, params={"event": SUPPORT}
    )
    joints = SceneEntityCfg("robot", joint_names=ACTED)
    groups[STYLE] = ObservationGroupCfg(
        terms={
            "joint_pos": ObservationTermCfg(
                func=mdp.joint_pos_rel, params={"asset_cfg": joints}
            ),
            "projected_gravity": ObservationTermCfg(func=mdp.projected_gravity),
            "base_height": ObservationTermCfg(func=mdp.base_height),
        }
    )
    return groups


def g1_style_rewards() -> dict[str, RewardTermCfg]:
    """Return rewards for tracking, posture and small actions; none is about feet."""
    shared = walking.rewards(G1, rough=False)
    names = ("track_linear_velocity", "track_angular_velocity", "upright")
    names += ("body_ang_vel", "angular_momentum", "dof_pos_limits", "action_rate_l2")
    terms = {name: shared[name] for name in names}
    terms["body_ang_vel"].weight = -0.05
    terms["angular_momentum"].weight = -0.02
    terms["action_rate_l2"].weight = -0.07
    terms |= biped_tracking(terms["track_angular_velocity"], linear_weight=2.0)
    terms["self_collisions"] = walking.contact_cost(grounds.self_contact(G1), -0.5)
    return terms


def g1_style_commands() -> dict[str, CommandTermCfg]:
    """Return a velocity command in the range of the clips."""
    terms = walking.commands()
    command = terms[walking.COMMAND]
    assert isinstance(command, mdp.UniformVelocityCommandCfg)
    command.ranges.lin_vel_x, command.ranges.lin_vel_y = _FORWARD, _SIDEWAYS
    return terms


class VelocityG1StyleCfg(VelocityG1FlatCfg):
    """Unitree G1 tracks velocity commands on flat ground, in the style of clips.

    There is no gait clock, and no reward for a gait: the learner's style reward
    (`PpoAgentCfg.style`) replaces them. Actions are joint targets of legs and waist. In
    training, 80 % of the episodes start in a frame of a clip.
    """

    final_obs = True
    # Slow commands at the start would reward standing.
    warm_up = WarmUpCfg(
        steps=(2880, 7200),
        lin_vel_x=_FORWARD,
        lin_vel_y=_SIDEWAYS,
        ang_vel_z=(-0.5, 0.5),
    )
    scene = g1_scene(rough=False)
    sim = g1_simulation(rough=False)
    commands = {**g1_style_commands()}
    observations = {**g1_style_observations()}
    actions = {
        "joint_pos": mdp.JointPositionActionCfg(joint_names=ACTED, scale=acted_scale())
    }
    rewards = {**g1_style_rewards()}
    terminations = {**g1_terminations(rough=False)}

    def for_training(self) -> Self:
        """Return the training configuration, with episodes that start in clips."""
        cfg = super().for_training()
        cfg.events = {
            **cfg.events,
            "reset_to_clips": EventTermCfg(
                func=reset_to_clips,
                mode="reset",
                params={"clips": (G1_WALK,), "probability": 0.8},
            ),
        }
        return cfg


def g1_style_rl() -> PpoAgentCfg:
    """Return settings with which a G1 learns a style on a CPU."""
    agent = rl.mirrored_rl_on_cpu(
        G1EquivariantModelCfg,
        max_iterations=3000,
        entropy_coef=0.01,
        tied_critic=False,
    )
    agent.obs_groups = {**agent.obs_groups, STYLE: (STYLE,)}
    agent.style = G1StyleCfg()
    agent.critics = {STYLE: CriticCfg(rewards=(STYLE,), gamma=0.97, weight=1.5)}
    return agent
