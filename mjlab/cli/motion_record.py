"""Record motions from rollouts of a trained policy."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mjlab.cli.answers import UsageError
from mjlab.cli.motion_options import RecordMotionOptions
from mjlab.cli.progress import tell_progress
from mjlab.envs import ManagerBasedRlEnv
from mjlab.motion import Motion, MotionInfo, MotionRobot
from mjlab.rl import load_policy
from mjlab.rl.learners import InferencePolicy
from mjlab.tasks.robots.robot import Robot
from mjlab.viewer import Player
from mjlab.watched import watched

ENTITY = "robot"
"""Name of the robot in the scenes of tasks."""


def recorded(
    place: str, options: RecordMotionOptions, robots: Mapping[str, Robot]
) -> Motion:
    """Return the motion of a rollout.

    Args:
        place: The run, as `play.py` takes it.
        options: Command, durations and seed of the rollout.
        robots: Robots that motions support, by name.
    """
    found = options.find(place)
    run = found.run
    task = run.task
    configs = run.configs(accept_changes=options.accept_changes)
    cfg = replace(watched(configs["env"]), recorders={})
    cfg = replace(cfg, scene=replace(cfg.scene, num_envs=1), seed=options.seed)
    if ENTITY not in cfg.scene.entities:
        raise UsageError(
            f"{task} has no entity {ENTITY!r}, so it has no motion to record."
        )
    env = ManagerBasedRlEnv(cfg, "cpu")
    policy = load_policy(found.place, env, configs["agent"])
    source = f"simulated policy: {task}, {run.path.name}"
    return rollout(env, policy, options, robots, task=task, source=source)


def rollout(
    env: ManagerBasedRlEnv,
    policy: InferencePolicy,
    options: RecordMotionOptions,
    robots: Mapping[str, Robot],
    *,
    task: str,
    source: str,
) -> Motion:
    """Return the motion of a rollout in the first world of an environment.

    Args:
        env: The environment.
        policy: The policy.
        options: Command, durations and seed of the rollout.
        robots: Robots that motions support, by name.
        task: Name of the task.
        source: Where the motion comes from, for the file.
    """
    entity = env.scene.entity(ENTITY)
    name = _name_of(MotionRobot(entity.cfg).hash, task, robots)
    player = Player(env, policy, seed=options.seed)
    if options.command is not None:
        if not player.drives:
            raise UsageError(f"{task} has no velocity command: leave out --command.")
        for drive in player.drives.values():
            drive.steer(options.command, None)
    before = round(options.after / env.step_dt)
    number = before + round(options.seconds / env.step_dt) + 1
    tell, rows = tell_progress(task), []
    for step in range(number):
        rows.append(
            np.concatenate((entity.data.root_pose_w[0], entity.data.joint_pos[0]))
        )
        player.step()
        tell(step + 1, number)
        if bool(player.rollout.dones[0]):
            raise UsageError(
                f"The episode of {task} ended after {(step + 1) * env.step_dt:.2f} s. "
                "Pass fewer --seconds, another --command or another --seed."
            )
    frames = np.array(rows[before:], dtype=np.float64)
    quats = frames[:, 3:7] / np.linalg.norm(frames[:, 3:7], axis=1, keepdims=True)
    return Motion.from_root(
        task,
        1.0 / env.step_dt,
        frames[:, :3] - (*frames[0, :2], 0.0),
        quats,
        frames[:, 7:],
        root_body=entity.body_names[0],
        joint_names=entity.joint_names,
        info=MotionInfo(robot=name, source=source),
    )


def _name_of(links: str, task: str, robots: Mapping[str, Robot]) -> str:
    """Return the name of the robot whose links have the hash `links`."""
    for name, facts in robots.items():
        if MotionRobot(facts.entity_cfg(), name).hash == links:
            return name
    raise UsageError(
        f"The robot of {task} has no motion model. Supported robots: "
        f"{', '.join(robots)}."
    )
