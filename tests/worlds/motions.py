"""Motions for tests, without a solver: joints and a root on smooth paths."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.motion import (
    Motion,
    MotionCommandCfg,
    MotionRobot,
    motion_command,
    save_motion,
)
from mjlab.tasks.robots.g1 import g1_cfg
from mjlab.tasks.tracking import TrackingG1Cfg


def g1_robot() -> MotionRobot:
    return MotionRobot(g1_cfg(), "G1")


def turning(robot: MotionRobot, frames: int = 101, fps: float = 50.0) -> Motion:
    """The robot glides, rises and turns while all joints swing."""
    times = np.arange(frames) / fps
    random = np.random.default_rng(3)
    home = robot.entity.data.default_joint_pos[0].double().numpy()
    rates = 1.0 + random.random(len(home))
    joints = home + 0.1 * np.sin(times[:, None] * rates)
    pos = np.stack((0.4 * times, 0.1 * np.sin(times), 0.8 + 0.05 * times), axis=1)
    axis = np.array((0.6, 0.0, 0.8))
    half = 0.35 * times[:, None]
    quat = np.concatenate((np.cos(half), np.sin(half) * axis), axis=1)
    return Motion.from_root(
        "turning",
        fps,
        pos,
        quat,
        joints,
        root_body=robot.root_body,
        joint_names=robot.joint_names,
    )


def standing(robot: MotionRobot, name: str, seconds: float, speed: float) -> Motion:
    """The robot stands with swinging arms; `speed` makes such motions distinct."""
    frames = round(seconds * 50.0) + 1
    times = np.arange(frames) / 50.0
    default = robot.entity.data.default_root_state[0].double().numpy()
    joints = np.tile(
        robot.entity.data.default_joint_pos[0].double().numpy(), (frames, 1)
    )
    for joint in ("left_elbow_joint", "right_shoulder_pitch_joint"):
        column = robot.joint_names.index(joint)
        joints[:, column] += 0.4 * np.sin(speed * times)
    return Motion.from_root(
        name,
        50.0,
        np.tile(default[:3], (frames, 1)),
        np.tile(default[3:7], (frames, 1)),
        joints,
        root_body=robot.root_body,
        joint_names=robot.joint_names,
    )


def shuffled(motion: Motion) -> Motion:
    """The same motion with the columns of joints and bodies in another order."""
    joints = np.random.default_rng(0).permutation(len(motion.joint_names))
    bodies = np.random.default_rng(1).permutation(len(motion.body_names))
    return Motion(
        name=motion.name,
        fps=motion.fps,
        joint_names=tuple(motion.joint_names[i] for i in joints),
        joint_pos=motion.joint_pos[:, joints],
        joint_vel=motion.joint_vel[:, joints],
        root_body=motion.root_body,
        body_names=tuple(motion.body_names[i] for i in bodies),
        body_pos_w=motion.body_pos_w[:, bodies],
        body_quat_w=motion.body_quat_w[:, bodies],
        body_lin_vel_w=motion.body_lin_vel_w[:, bodies],
        body_ang_vel_w=motion.body_ang_vel_w[:, bodies],
        info=motion.info,
    )


def saved(folder: Path, *motions: Motion) -> tuple[Path, ...]:
    return tuple(save_motion(m, folder / f"{m.name}.npz", bare=True) for m in motions)


def tracking_env(
    num_envs: int, clips: tuple[Path, ...] | None = None, **changes: Any
) -> ManagerBasedRlEnv:
    """Return the G1 tracking clips, with changes of its command.

    Args:
        num_envs: Number of worlds.
        clips: The clips. None keeps the task's clips.
        changes: Settings of the command.
    """
    cfg = TrackingG1Cfg(seed=5)
    cfg.scene.num_envs = num_envs
    cfg.sim.num_threads = 1
    command = cfg.commands["motion"]
    assert isinstance(command, MotionCommandCfg)
    given = {} if clips is None else {"clips": clips}
    cfg.commands["motion"] = replace(command, **(given | changes))
    env = ManagerBasedRlEnv(cfg, device="cpu")
    env.reset()
    return env


def show(env: ManagerBasedRlEnv, clip: int, frames: torch.Tensor) -> None:
    """Set the start of world i to `frames[i]` of a clip, from 1."""
    command = motion_command(env, "motion")
    command.clip.fill_(clip)
    command.begin.copy_(command.table.starts[clip] + frames - 1)
    env.episode_length_buf.zero_()
    command.update()


def play(env: ManagerBasedRlEnv, clip: int, frames: torch.Tensor) -> None:
    """Place the robot of world i exactly in frame `frames[i]` of a clip."""
    command = motion_command(env, "motion")
    motion = command.table.motions[clip]
    robot = env.scene.entity("robot")
    everyone = torch.ones(env.num_envs, dtype=torch.bool)

    def rows(values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values[frames.numpy()]).float()

    root = motion.body_names.index(motion.root_body)
    bodies = (motion.body_pos_w, motion.body_quat_w)
    bodies += (motion.body_lin_vel_w, motion.body_ang_vel_w)
    state = torch.cat([rows(part[:, root]) for part in bodies], dim=1)
    robot.write_root_state(everyone, state)
    robot.write_joint_state(everyone, rows(motion.joint_pos), rows(motion.joint_vel))
    env.sim.forward()
    env.scene.refresh()


def kernels(env: ManagerBasedRlEnv) -> torch.Tensor:
    """Return the six weighted tracking rewards of each world."""
    terms = env.reward_manager.terms
    found = [n for n in terms if n.startswith("motion_")]
    weights = {n: env.cfg.rewards[n].weight for n in found}  # type: ignore[union-attr]
    assert len(found) == 6
    return sum(weights[n] * terms[n]() for n in found)  # type: ignore[return-value]
