"""Unitree Go1 following a clip."""

from dataclasses import dataclass, field
from pathlib import Path

from mjlab.envs import ViewerCfg
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    TerminationTermCfg,
)
from mjlab.scene import SceneCfg
from mjlab.tasks.robots.go1 import GO1
from mjlab.tasks.tracking import env as tracking
from mjlab.tasks.tracking import terms
from mjlab.tasks.tracking.env import TrackingCfg

CLIPS = Path(__file__).parent / "clips" / "go1"
"""Folder of the clips of the Go1."""


@dataclass(kw_only=True)
class TrackingGo1Cfg(TrackingCfg):
    """One clip: the Go1 bows and sways on its feet."""

    scene: SceneCfg = field(default_factory=lambda: tracking.scene(GO1))
    commands: dict[str, CommandTermCfg | None] = field(
        default_factory=lambda: {**terms.commands(GO1, (CLIPS / "sway.npz",))}
    )
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=lambda: {**terms.observations()}
    )
    actions: dict[str, ActionTermCfg | None] = field(
        default_factory=lambda: {**terms.actions(GO1)}
    )
    terminations: dict[str, TerminationTermCfg | None] = field(
        default_factory=lambda: {**terms.terminations(GO1.foot_bodies)}
    )
    events: dict[str, EventTermCfg | None] = field(
        default_factory=lambda: {**terms.events(GO1)}
    )
    viewer: ViewerCfg = field(default_factory=lambda: tracking.viewer(GO1))
