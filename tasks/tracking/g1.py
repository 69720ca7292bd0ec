"""Unitree G1 following clips."""

from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.tracking import env as tracking
from mjlab.tasks.tracking import terms
from mjlab.tasks.tracking.clips import G1_CLIPS
from mjlab.tasks.tracking.env import TrackingCfg

LIMBS = (*G1.foot_bodies, "left_wrist_yaw_link", "right_wrist_yaw_link")
"""Bodies that end an episode where their height is far from the clip's."""


class TrackingG1Cfg(TrackingCfg):
    """One clip; by default the G1 waves."""

    scene = tracking.scene(G1)
    commands = {**terms.commands(G1, (G1_CLIPS / "wave.npz",))}
    observations = {**terms.observations()}
    actions = {**terms.actions(G1)}
    terminations = {**terms.terminations(LIMBS)}
    events = {**terms.events(G1)}
    viewer = tracking.viewer(G1)


class TrackingG1NoStateEstimationCfg(TrackingG1Cfg):
    """The policy knows neither where it is nor how fast it moves, as on hardware."""

    observations = terms.observations(state_estimation=False)


class TrackingG1ClipsCfg(TrackingG1Cfg):
    """Many clips, each of them followed by the one policy."""

    commands = terms.commands(G1, (G1_CLIPS,))
