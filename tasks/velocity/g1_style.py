"""Velocity task of the Unitree G1 that walks in the style of clips."""

from collections.abc import Sequence
from pathlib import Path

import torch

from mjlab.envs import ManagerBasedRlEnv, mdp
from mjlab.managers import (
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    SceneEntityCfg,
)
from mjlab.motion.clips import load_clips
from mjlab.motion.mirror import mirrored
from mjlab.motion.style import clip_features
from mjlab.rl import CriticCfg, PpoAgentCfg, StyleCfg
from mjlab.tasks.robots.g1 import MIRROR
from mjlab.tasks.velocity import rl
from mjlab.tasks.velocity.clips import G1_WALK
from mjlab.tasks.velocity.g1 import ACTED, g1_actions, g1_observations, g1_rewards
from mjlab.tasks.velocity.g1_flat import VelocityG1FlatCfg
from mjlab.tasks.velocity.gait import Gait

CLIP_GAIT = Gait(period=0.76, knee=0.56, hip=0.28, sway=0.05, push_speed=0.25)
"""Gait of 2.6 steps per second, like the walks in the clips."""

STYLE = "style"
"""Name of the features' observation group, and of the style reward's critic."""


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
    """Return the observations of `Velocity-G1-Flat`, and the features of the style.

    The features have no velocities: a transition contains the change of each feature,
    which has the same definition in clips and in simulation.
    """
    groups = g1_observations(CLIP_GAIT, rough=False)
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
    """Return the rewards of `Velocity-G1-Flat` without those that the style replaces.

    These are the joint positions of the gait and the heights of the feet.
    """
    terms = g1_rewards(CLIP_GAIT, rough=False)
    for replaced in ("gait_posture", "foot_clearance", "foot_swing_height"):
        del terms[replaced]
    return terms


class VelocityG1StyleCfg(VelocityG1FlatCfg):
    """Unitree G1 tracks velocity commands on flat ground, in the style of clips.

    The reference gait is as fast as the clips (`CLIP_GAIT`). The style reward
    (`PpoAgentCfg.style`) replaces the rewards for joint positions. Initialise the
    weights with `--init-from Velocity-G1-Flat --critic-first 20`: from random weights,
    one of two seeds did not learn to walk (docs/howto/style.md).
    """

    final_obs = True
    observations = {**g1_style_observations()}
    actions = {**g1_actions(CLIP_GAIT)}
    rewards = {**g1_style_rewards()}


def g1_style_rl() -> PpoAgentCfg:
    """Return settings with which a G1 that walks learns a style on a CPU."""
    agent = rl.g1_flat_rl()
    agent.max_iterations = 300
    agent.obs_groups = {**agent.obs_groups, STYLE: (STYLE,)}
    agent.style = G1StyleCfg()
    agent.critics = {STYLE: CriticCfg(rewards=(STYLE,), gamma=0.97, weight=0.5)}
    return agent
