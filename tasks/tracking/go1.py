"""Motion tracking with the Unitree Go1."""

from pathlib import Path

from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.tracking import env as tracking
from mjlab.tasks.tracking import terms
from mjlab.tasks.tracking.env import TrackingCfg

CLIPS = Path(__file__).parent / "clips" / "go1"
"""Folder of the Go1's clips."""


class TrackingGo1Cfg(TrackingCfg):
    """Track one clip: the Go1 bows and sways with fixed feet."""

    scene = tracking.scene(GO1)
    commands = {**terms.commands(GO1, (CLIPS / "sway.npz",))}
    observations = {**terms.observations()}
    actions = {**terms.actions(GO1)}
    terminations = {**terms.terminations(GO1.foot_bodies)}
    events = {**terms.events(GO1)}
    viewer = tracking.viewer(GO1)
