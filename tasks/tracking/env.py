"""Motion tracking environment, independent of the robot.

A robot's configuration (`g1.py`, `go1.py`) is a subclass of `TrackingCfg` that defines
the missing parts. For your own task, subclass one of these configurations, or use one
of them with other clips: `--env.commands.motion.clips PATH`.
"""

import copy
from typing import Self

from mjlab.envs import ManagerBasedRlEnvCfg, ViewerCfg
from mjlab.motion import MotionCommandCfg
from mjlab.scene import SceneCfg
from mjlab.sensor import ContactMatch, ContactSensorCfg
from mjlab.sim import MujocoCfg, SimulationCfg
from mjlab.tasks.robots.robot import Robot
from mjlab.tasks.tracking import terms
from mjlab.terrain import TerrainCfg

DECIMATION = 4


def scene(robot: Robot) -> SceneCfg:
    """Return the robot on a plane, with self-contact sensors."""
    whole = ContactMatch(mode="subtree", pattern=robot.base_body, entity="robot")
    contact = ContactSensorCfg(
        name=terms.SELF_CONTACT,
        primary=whole,
        secondary=whole,
        fields=("force",),
        reduce="maxforce",
        history_length=DECIMATION,
    )
    return SceneCfg(
        terrain=TerrainCfg(),
        entities={"robot": robot.entity_cfg()},
        sensors=(contact,),
        extent=2.0,
    )


def simulation() -> SimulationCfg:
    """Return physics at 200 Hz, without islands: a robot is one island anyway."""
    return SimulationCfg(
        mujoco=MujocoCfg(
            timestep=0.005,
            disableflags=("island",),
            iterations=10,
            ls_iterations=20,
            ccd_iterations=35,
        ),
        nconmax=64,
        njmax=300,
    )


def viewer(robot: Robot) -> ViewerCfg:
    """Return a camera that follows the robot's torso."""
    return ViewerCfg(
        entity="robot",
        body=robot.torso_body,
        elevation=-12.0,
        azimuth=125.0,
    )


class TrackingCfg(ManagerBasedRlEnvCfg):
    """Track the motion of a clip.

    A robot's subclass defines the missing parts: scene, command, observations, actions,
    terminations and events.
    """

    decimation = DECIMATION
    episode_length_s = 10.0
    sim = simulation()
    rewards = {**terms.rewards()}
    metrics = {**terms.metrics()}
    outcomes = {**terms.outcomes()}

    def play(self) -> Self:
        """Return the configuration for play.

        Clips are played from the beginning to the end, without noise, pushes or failure
        terminations.
        """
        watched = copy.deepcopy(self)
        watched.episode_length_s = 1e9
        for group in watched.observations.values():
            if group is not None:
                group.enable_corruption = False
        watched.events = {**watched.events, "push_robot": None}
        command = watched.commands[terms.COMMAND]
        assert isinstance(command, MotionCommandCfg)
        command.sampling = "start"
        command.pose_range, command.velocity_range = {}, {}
        command.joint_range = (0.0, 0.0)
        return watched
