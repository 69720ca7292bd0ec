"""Velocity task of the Unitree G1 with a clocked stepping gait."""

import re

from mjlab.managers import (
    ActionTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
)
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import mdp
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.g1 import (
    SUPPORT,
    VelocityG1FlatCfg,
    g1_flat_observations,
    g1_flat_rewards,
)
from mjlab.tasks.velocity.gait import Gait, GaitActionCfg
from mjlab.tasks.velocity.scene import FEET_CONTACT

GAIT = Gait()

_ACTED = (".*_hip_.*_joint", ".*_knee_joint", ".*_ankle_.*_joint", "waist_.*_joint")


def gait_observations(gait: Gait = GAIT) -> dict[str, ObservationGroupCfg | None]:
    """Return the flat-ground observations, plus the gait clock."""
    groups = g1_flat_observations()
    for group in groups.values():
        group.terms["gait_clock"] = ObservationTermCfg(
            func=mdp.gait_clock, params={"command_name": walking.COMMAND, "gait": gait}
        )
    # Last, as in the shipped policy.
    critic = groups["critic"].terms
    critic[SUPPORT] = critic.pop(SUPPORT)
    return {**groups}


def gait_actions(gait: Gait = GAIT) -> dict[str, ActionTermCfg | None]:
    """Return targets of legs and waist relative to the gait; arms keep their pose."""
    legs = re.compile("hip|knee|ankle|waist")
    scale = {name: by for name, by in G1.action_scale.items() if legs.search(name)}
    action = GaitActionCfg(
        joint_names=_ACTED, scale=scale, gait=gait, command_name=walking.COMMAND
    )
    return {"joint_pos": action}


def gait_rewards(gait: Gait = GAIT) -> dict[str, RewardTermCfg | None]:
    """Return flat-ground rewards, with pose and contacts of the gait as reference."""
    terms = g1_flat_rewards()
    del terms["pose"]
    terms["air_time"].weight = 0.0
    kept = {"gait": gait, "command_name": walking.COMMAND}
    widths = {
        "std_standing": {".*": 0.1},
        "std_walking": dict(G1.posture_std_walking),
    }
    terms["gait_posture"] = RewardTermCfg(
        func=mdp.gait_posture, weight=1.5, params=kept | widths
    )
    terms["gait_contact"] = RewardTermCfg(
        func=mdp.gait_contact, weight=1.0, params=kept | {"sensor_name": FEET_CONTACT}
    )
    return {**terms}


class VelocityG1GaitCfg(VelocityG1FlatCfg):
    """Flat ground, with a clocked stepping gait.

    Differences from `VelocityG1FlatCfg`:

    - Actions are added to a gait (`GaitAction`) and move legs and waist only.
    - The policy observes the gait clock.
    - Pose and contacts of the gait are rewarded instead of default pose and air time.
    """

    observations = gait_observations()
    actions = gait_actions()
    rewards = gait_rewards()
