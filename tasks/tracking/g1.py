"""Motion tracking with the Unitree G1."""

from mjlab.sim import SimulationCfg
from mjlab.sim.config import TrainingPhysicsCfg
from mjlab.tasks.robots.g1 import G1
from mjlab.tasks.tracking import env as tracking
from mjlab.tasks.tracking import terms
from mjlab.tasks.tracking.clips import G1_CLIPS
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


class TrackingG1ClipsCfg(TrackingG1Cfg):
    """Unitree G1 tracks many clips with one policy.

    The policy also observes reference frames up to 1 s ahead. Pushes and initial
    velocity errors are half as large as for one clip.
    """

    sim = coarse_simulation()
    commands = terms.commands(G1, (G1_CLIPS,), disturbance=0.5)
    events = {**terms.events(G1, disturbance=0.5)}
    observations = {**terms.observations(preview=PREVIEW)}
