"""Make videos of motions, and charts of heights, contacts and speeds."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch

from mjlab.cli.progress import tell_progress
from mjlab.cli.watching import watch_in_browser
from mjlab.envs import ManagerBasedRlEnv, ViewerCfg, ZeroPolicy
from mjlab.files import write_text
from mjlab.managers import EventTermCfg
from mjlab.motion import Motion, MotionCommandCfg, MotionRobot
from mjlab.motion.mdp import follow_exactly
from mjlab.motion.tools.checks import collision_geoms, lowest_points
from mjlab.random import WorldRng
from mjlab.render import Offscreen, Video
from mjlab.report.chart import Chart, ChartLine, svg
from mjlab.scene import Scene, SceneCfg, build_scene
from mjlab.sim import Simulation, SimulationCfg, compile_model
from mjlab.tasks.robots.robot import Robot
from mjlab.tasks.tracking import TrackingCfg, TrackingG1Cfg, TrackingGo1Cfg
from mjlab.tasks.tracking.terms import COMMAND
from mjlab.terrain import TerrainCfg
from mjlab.viewer import Player

TRACKED: dict[str, type[TrackingCfg]] = {"G1": TrackingG1Cfg, "Go1": TrackingGo1Cfg}
"""Tracking tasks by the robot's name."""


def pictures(
    motion: Motion,
    robot: Robot,
    view: ViewerCfg,
    frames: Sequence[int],
    text: Callable[[int], list[str]],
) -> Iterator[np.ndarray]:
    """Yield an image of each selected frame, shape (height, width, 3), uint8.

    Args:
        motion: Motion with all bodies and joints, in the order of the robot.
        robot: The robot of the motion.
        view: Camera and image size.
        frames: Indices of the frames.
        text: Function that returns the text lines of a frame, given its index.
    """
    cfg = SceneCfg(terrain=TerrainCfg(), entities={"robot": robot.entity_cfg()})
    sim_cfg = SimulationCfg(backend="native", num_threads=1)
    built = build_scene(cfg)
    sim = Simulation(compile_model(built.spec, sim_cfg), 1, sim_cfg)
    scene = Scene(cfg, built, sim, WorldRng(1, 0, sim.device))
    entity, everyone = scene.entity("robot"), torch.ones(1, dtype=torch.bool)
    root = np.concatenate((motion.root_pos, motion.root_quat), axis=1)
    state = torch.from_numpy(root).float()
    joints = torch.from_numpy(motion.joint_pos).float()
    with Offscreen(sim, scene, view) as camera:
        for frame in frames:
            still = torch.zeros(1, 6)
            there = torch.cat((state[frame : frame + 1], still), dim=1)
            entity.write_root_state(everyone, there)
            here = joints[frame : frame + 1]
            entity.write_joint_state(everyone, here, torch.zeros_like(here))
            sim.forward()
            yield camera.frame(lines=lambda world, at=frame: text(at))


def watch(path: Path, robot: Robot, port: int, steps: int | None) -> None:
    """Show a motion in a browser, played kinematically, until the user stops it."""
    cfg = TRACKED[robot.name]().play()
    command = cfg.commands[COMMAND]
    assert isinstance(command, MotionCommandCfg), "It follows a clip."
    command.clips = (path,)
    step = cfg.decimation * cfg.sim.mujoco.timestep
    exactly = EventTermCfg(
        func=follow_exactly,
        mode="interval",
        interval_range_s=(step, step),
        params={"command_name": COMMAND},
    )
    cfg.events = {"follow_exactly": exactly}
    env = ManagerBasedRlEnv(cfg, "cpu")
    watch_in_browser(Player(env, ZeroPolicy(env)), path.name, port=port, steps=steps)


def write_film(motion: Motion, robot: Robot, path: Path, size: tuple[int, int]) -> int:
    """Write a video of a motion in real time, and return its number of frames."""
    width, height = size
    view = ViewerCfg(entity="robot", body=robot.torso_body, width=width, height=height)
    told = tell_progress(str(path))
    text = partial(_caption, motion)
    number = motion.num_frames
    with Video(path, motion.fps) as video:
        for picture in pictures(motion, robot, view, range(number), text):
            video.add(picture)
            told(video.num_frames, number)
    return number


def write_plots(motion: Motion, robot: MotionRobot, facts: Robot, path: Path) -> Path:
    """Write charts of a motion side by side into an SVG file."""
    times = (np.arange(motion.num_frames) / motion.fps).tolist()
    model = robot.sim.mj_model
    lows = lowest_points(motion, robot)
    bodies = [
        model.body(int(model.geom_bodyid[geom])).name.removeprefix("robot/")
        for geom in collision_geoms(model)
    ]
    feet = {
        foot: lows[:, [body == foot for body in bodies]].min(axis=1)
        for foot in facts.foot_bodies
    }
    heights = {motion.root_body: motion.root_pos[:, 2], **feet}
    charts = [_chart("Height of the lowest point of each foot", "m", times, heights)]
    if motion.contacts is not None:
        labels = dict(zip(motion.contact_names, motion.contacts.T, strict=True))
        # Offset the lines of the feet, so that they do not overlap.
        shown = {
            name: 1.5 * k + label for k, (name, label) in enumerate(labels.items())
        }
        charts.append(_chart("Foot contact", "", times, shown))
    speeds = np.abs(motion.joint_vel)
    fastest = np.argsort(speeds.max(axis=0))[::-1][:4]
    names = {motion.joint_names[joint]: speeds[:, joint] for joint in fastest}
    charts.append(_chart("Speed of the fastest joints", "rad/s", times, names))
    write_text(path, svg(charts, width=720, height=360))
    return path


def _chart(
    title: str, unit: str, times: list[float], curves: dict[str, np.ndarray]
) -> Chart:
    lines = [
        ChartLine(x=times, y=curve.tolist(), label=name, colour=number)
        for number, (name, curve) in enumerate(curves.items())
    ]
    return Chart(title=title, up=unit, across="seconds", lines=lines, with_zero=True)


def _caption(motion: Motion, frame: int) -> list[str]:
    text = [f"{motion.name}  {frame / motion.fps:.2f} s"]
    if motion.contacts is not None:
        pairs = zip(motion.contact_names, motion.contacts[frame], strict=True)
        standing = [name for name, stands in pairs if stands]
        text.append(f"on {', '.join(standing) or 'nothing'}")
    return text
