"""Unitree G1 walking about a clocked stepping gait."""

import copy
import re
from dataclasses import dataclass, field
from typing import Self

from mjlab.managers import (
    ActionTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TerminationTermCfg,
)
from mjlab.rl import GaussianCfg, PpoAgentCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.velocity import mdp
from mjlab.tasks.velocity import terms as walking
from mjlab.tasks.velocity.g1 import VelocityG1FlatCfg, g1_rewards
from mjlab.tasks.velocity.gait import Gait, GaitActionCfg
from mjlab.tasks.velocity.rl import HIDDEN_DIMS_ON_CPU, rl_on_cpu
from mjlab.tasks.velocity.scene import FEET_CONTACT
from mjlab.tasks.velocity.symmetry import G1EquivariantModelCfg

GAIT = Gait()
SUPPORT = "support"
"""Name of the event of the hand."""

GAIT_WORLDS_ON_CPU = 256
"""Batches of 6,144 steps: with a gait to start from, exploration need not find one."""

_ACTED = (".*_hip_.*_joint", ".*_knee_joint", ".*_ankle_.*_joint", "waist_.*_joint")


def gait_observations() -> dict[str, ObservationGroupCfg | None]:
    """Return those of the plane, the clock, and for the critic the hand's level."""
    groups = walking.observations(G1, rough=False)
    for group in groups.values():
        group.terms["gait_clock"] = ObservationTermCfg(
            func=mdp.gait_clock, params={"command_name": walking.COMMAND, "gait": GAIT}
        )
    groups["critic"].terms["support"] = ObservationTermCfg(
        func=mdp.support_level, params={"event": SUPPORT}
    )
    return {**groups}


def gait_actions() -> dict[str, ActionTermCfg | None]:
    """Return positions of legs and waist about the gait; servos hold the arms."""
    legs = re.compile("hip|knee|ankle|waist")
    scale = {name: by for name, by in G1.action_scale.items() if legs.search(name)}
    action = GaitActionCfg(
        joint_names=_ACTED, scale=scale, gait=GAIT, command_name=walking.COMMAND
    )
    return {"joint_pos": action}


def gait_rewards() -> dict[str, RewardTermCfg | None]:
    """Return those of the plane, wider, and the gait's pose for the default one."""
    terms = g1_rewards(rough=False)
    del terms["pose"]
    gait = {"gait": GAIT, "command_name": walking.COMMAND}
    widths = {
        "std_standing": {".*": 0.1},
        "std_walking": dict(G1.posture_std_walking),
    }
    terms["gait_posture"] = RewardTermCfg(
        func=mdp.gait_posture, weight=1.5, params=gait | widths
    )
    terms["gait_contact"] = RewardTermCfg(
        func=mdp.gait_contact, weight=1.0, params=gait | {"sensor_name": FEET_CONTACT}
    )
    terms["alive"] = RewardTermCfg(func=walking.mdp.is_alive, weight=1.0)
    terms["track_linear_velocity"].params["std"] = 0.8
    terms["track_angular_velocity"].params["std"] = 1.2
    terms["action_rate_l2"].weight = -0.005
    terms["self_collisions"].weight = -0.5
    return {**terms}


def gait_terminations() -> dict[str, TerminationTermCfg | None]:
    """Return those of the plane, and a low pelvis: one may lie tilted too little."""
    terms = walking.terminations(rough=False)
    terms["too_low"] = TerminationTermCfg(
        func=walking.mdp.root_height_below_minimum, params={"minimum_height": 0.55}
    )
    return {**terms}


def gait_events() -> dict[str, EventTermCfg | None]:
    """Return those of the plane, and a hand that lets go within ten seconds."""
    terms = walking.events(G1)
    terms[SUPPORT] = EventTermCfg(
        func=mdp.supporting_hand,
        mode="step",
        params={
            "pelvis": G1.base_body,
            "torso": G1.torso_body,
            "feet": G1.foot_bodies,
            "command_name": walking.COMMAND,
            "hand": {
                "spring": 700.0,
                "damper": 120.0,
                "tilt": 60.0,
                "tilt_damper": 3.6,
                "lift": 800.0,
                "height": 0.78,
            },
            "last_steps": 480.0,
            "steps_per_fall": 120.0,
        },
    )
    return {**terms}


@dataclass(kw_only=True)
class VelocityG1GaitCfg(VelocityG1FlatCfg):
    """On a plane, about a clocked stepping gait, with a hand that lets go.

    Commands, pushes, randomisation and the length of episodes are those of
    `VelocityG1FlatCfg`. What differs:

    - Actions are added to a gait (`GaitAction`) and move legs and waist alone.
    - The policy sees the gait's clock, and the critic also the hand's level.
    - The pose of the gait is rewarded in place of the default pose, its contacts and
      staying alive are rewarded as well; velocities are tracked more widely (0.8 m/s,
      1.2 rad/s), and quick actions and self-contacts cost less.
    - An episode also ends when the pelvis is below 0.55 m.
    - A hand holds the robot at first. It lets go by itself, and is absent in play.
    """

    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=gait_observations
    )
    actions: dict[str, ActionTermCfg | None] = field(default_factory=gait_actions)
    rewards: dict[str, RewardTermCfg | None] = field(default_factory=gait_rewards)
    terminations: dict[str, TerminationTermCfg | None] = field(
        default_factory=gait_terminations
    )
    events: dict[str, EventTermCfg | None] = field(default_factory=gait_events)

    def play(self) -> Self:
        """Return the same task to be watched, with commands no faster than trained."""
        watched = super().play()
        watched.commands = copy.deepcopy(self.commands)
        watched.events = {**watched.events, SUPPORT: None}
        return watched


def g1_gait_rl() -> PpoAgentCfg:
    """Return PPO with networks that are the same in a mirror."""
    agent = rl_on_cpu()
    agent.max_iterations = 1200
    agent.actor = G1EquivariantModelCfg(
        hidden_dims=HIDDEN_DIMS_ON_CPU,
        activation="elu",
        obs_normalization=True,
        distribution_cfg=GaussianCfg(init_std=1.0, std_type="scalar"),
        output_gain=0.5,
    )
    agent.critic = G1EquivariantModelCfg(
        hidden_dims=HIDDEN_DIMS_ON_CPU, activation="elu", obs_normalization=True
    )
    agent.algorithm.desired_kl = 0.02
    agent.algorithm.gamma = 0.985
    agent.algorithm.entropy_coef = 0.001
    return agent
