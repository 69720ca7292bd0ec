"""Motion tracking with the Unitree G1."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Self

from mjlab.managers import CommandTermCfg
from mjlab.motion import MotionCommandCfg
from mjlab.motion.sampling import AdaptiveSampling
from mjlab.sim import SimulationCfg
from mjlab.sim.config import TrainingPhysicsCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.tracking import env as tracking
from mjlab.tasks.tracking import terms
from mjlab.tasks.tracking.clips import G1_CLIPS, G1_RANDOM_CLIPS
from mjlab.tasks.tracking.env import TrackingCfg

LIMBS = (*G1.foot_bodies, "left_wrist_yaw_link", "right_wrist_yaw_link")
"""Bodies whose height error relative to the clip ends an episode."""


PREVIEW = (10, 20, 35, 50)
"""Offsets of the future reference frames that the policy observes, in control steps
of 20 ms."""


def coarse_simulation() -> SimulationCfg:
    """Return the physics of tracking, with steps of 10 ms for training."""
    sim = tracking.simulation()
    sim.training = TrainingPhysicsCfg(decimation=2)
    return sim


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


def clips_commands() -> dict[str, CommandTermCfg]:
    """Return the motion command of many clips.

    About half of the episodes start at uniformly drawn frames, so that hard clips do
    not displace the others.
    """
    commands = terms.commands(G1, (G1_CLIPS,), disturbance=0.5)
    motion = commands[terms.COMMAND]
    assert isinstance(motion, MotionCommandCfg)
    motion.adaptive = AdaptiveSampling(uniform=0.5, kernel=3)
    return commands


class TrackingG1ClipsCfg(TrackingG1Cfg):
    """Unitree G1 tracks many clips with one policy.

    The policy also observes reference frames up to 1 s ahead. Pushes and initial
    velocity errors are half as large as for one clip.
    """

    training_clips: tuple[Path, ...] = (G1_RANDOM_CLIPS,)
    """Additional clips for training. They are not played, evaluated or exported."""

    sim = coarse_simulation()
    commands = {**clips_commands()}
    events = {**terms.events(G1, disturbance=0.5)}
    observations = {**terms.observations(preview=PREVIEW)}

    def for_training(self) -> Self:
        """Return the training configuration, with more clips."""
        cfg = super().for_training()
        motion = copy.deepcopy(cfg.commands[terms.COMMAND])
        assert isinstance(motion, MotionCommandCfg)
        motion.clips = (*motion.clips, *self.training_clips)
        return replace(cfg, commands={**cfg.commands, terms.COMMAND: motion})
