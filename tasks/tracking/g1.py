"""Unitree G1 following clips."""

from dataclasses import dataclass, field

from mjlab.envs import ViewerCfg
from mjlab.managers import (
    ActionTermCfg,
    CommandTermCfg,
    EventTermCfg,
    ObservationGroupCfg,
    TerminationTermCfg,
)
from mjlab.scene import SceneCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.tracking import env as tracking
from mjlab.tasks.tracking import terms
from mjlab.tasks.tracking.clips import FOLDER
from mjlab.tasks.tracking.env import TrackingCfg

LIMBS = (*G1.foot_bodies, "left_wrist_yaw_link", "right_wrist_yaw_link")
"""Bodies that end an episode where their height is far from the clip's."""


@dataclass(kw_only=True)
class TrackingG1Cfg(TrackingCfg):
    """One clip; by default the G1 waves."""

    scene: SceneCfg = field(default_factory=lambda: tracking.scene(G1))
    commands: dict[str, CommandTermCfg | None] = field(
        default_factory=lambda: {**terms.commands(G1, (FOLDER / "wave.npz",))}
    )
    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=lambda: {**terms.observations()}
    )
    actions: dict[str, ActionTermCfg | None] = field(
        default_factory=lambda: {**terms.actions(G1)}
    )
    terminations: dict[str, TerminationTermCfg | None] = field(
        default_factory=lambda: {**terms.terminations(LIMBS)}
    )
    events: dict[str, EventTermCfg | None] = field(
        default_factory=lambda: {**terms.events(G1)}
    )
    viewer: ViewerCfg = field(default_factory=lambda: tracking.viewer(G1))


@dataclass(kw_only=True)
class TrackingG1NoStateEstimationCfg(TrackingG1Cfg):
    """The policy knows neither where it is nor how fast it moves, as on hardware."""

    observations: dict[str, ObservationGroupCfg | None] = field(
        default_factory=lambda: {**terms.observations(state_estimation=False)}
    )


@dataclass(kw_only=True)
class TrackingG1ClipsCfg(TrackingG1Cfg):
    """Many clips, each of them followed by the one policy."""

    commands: dict[str, CommandTermCfg | None] = field(
        default_factory=lambda: {**terms.commands(G1, (FOLDER,))}
    )
