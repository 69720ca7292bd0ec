"""Motion tracking with the Unitree G1."""

from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.tracking import env as tracking
from mjlab.tasks.tracking import terms
from mjlab.tasks.tracking.clips import G1_CLIPS
from mjlab.tasks.tracking.env import TrackingCfg

LIMBS = (*G1.foot_bodies, "left_wrist_yaw_link", "right_wrist_yaw_link")
"""Bodies whose height error relative to the clip ends an episode."""


class TrackingG1Cfg(TrackingCfg):
    """Unitree G1 tracks one clip; the default clip is a wave."""

    scene = tracking.scene(G1)
    commands = {**terms.commands(G1, (G1_CLIPS / "wave.npz",))}
    observations = {**terms.observations()}
    actions = {**terms.actions(G1)}
    terminations = {**terms.terminations(LIMBS)}
    events = {**terms.events(G1)}
    viewer = tracking.viewer(G1)


class TrackingG1NoStateEstimationCfg(TrackingG1Cfg):
    """Track a clip without observing position and linear velocity.

    Most robots cannot measure these.
    """

    observations = terms.observations(state_estimation=False)


class TrackingG1ClipsCfg(TrackingG1Cfg):
    """Unitree G1 tracks many clips with one policy."""

    commands = terms.commands(G1, (G1_CLIPS,))
