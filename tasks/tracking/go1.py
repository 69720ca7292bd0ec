"""Motion tracking with the Unitree Go1."""

from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.tracking import env as tracking
from mjlab.tasks.tracking import terms
from mjlab.tasks.tracking.clips import GO1_CLIPS
from mjlab.tasks.tracking.env import TrackingCfg


class TrackingGo1Cfg(TrackingCfg):
    """Unitree Go1 tracks one clip: it bows and sways with fixed feet."""

    scene = tracking.scene(GO1)
    commands = {**terms.commands(GO1, (GO1_CLIPS / "sway.npz",))}
    observations = {**terms.observations()}
    actions = {**terms.actions(GO1)}
    terminations = {**terms.terminations(GO1.foot_bodies)}
    events = {**terms.events(GO1)}
    viewer = tracking.viewer(GO1)
