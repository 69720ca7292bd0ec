"""Motion clips as a style: their features, and episodes that start in their frames."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from mjlab.entity import Entity
from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers import EventTermCfg, ManagerTermBase
from mjlab.managers.env import Env
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg
from mjlab.mdp import reset_scene_to_default
from mjlab.motion.clips import load_clips
from mjlab.motion.motion import Motion
from mjlab.tensors.math import quat_mul, quat_rotate

_WORLDS = 64
"""Number of worlds, equal to the number of frames observed at once."""

_LEFT_OUT = ("actions", "commands", "rewards", "terminations", "outcomes")
_LEFT_OUT += ("curriculum", "metrics", "recorders")


def clip_features(
    env: ManagerBasedRlEnv,
    groups: Sequence[str],
    motions: Sequence[Motion],
    entity_name: str = "robot",
) -> list[torch.Tensor]:
    """Return the observations in each frame of clips, float32, (frames, features).

    Frames are written into the worlds of a second environment, which has the robot and
    the groups of `env` without noise and randomisation. Clips are resampled to the
    control rate.

    Args:
        env: The environment. Its state does not change.
        groups: Observation groups, without history and delay.
        motions: The clips.
        entity_name: The robot.
    """
    observer = _observer(env, groups)
    entity, fps = observer.scene.entity(entity_name), 1.0 / env.step_dt
    return [
        _observed(observer, entity, groups, _frames(one.resampled(fps), entity))
        for one in motions
    ]


def _observer(env: ManagerBasedRlEnv, groups: Sequence[str]) -> ManagerBasedRlEnv:
    """Return worlds with the given observations and no other terms."""
    kept = {}
    for name in groups:
        for slot in env.observation_manager.groups[name].slots:
            if slot.history > 1:
                raise ValueError(
                    f"Observation group {name!r} has a history of {slot.history} "
                    "steps; the features of clips need groups without history."
                )
        group = env.cfg.observations[name]
        assert group is not None
        kept[name] = replace(group, enable_corruption=False)
    cfg = replace(
        env.cfg,
        scene=replace(env.cfg.scene, num_envs=_WORLDS),
        observations=kept,
        events={"reset": EventTermCfg(func=reset_scene_to_default, mode="reset")},
        seed=0,
        **{kind: {} for kind in _LEFT_OUT},
    )
    return ManagerBasedRlEnv(cfg, str(env.device))


def _frames(motion: Motion, entity: Entity) -> torch.Tensor:
    """Return root states, joint positions and velocities, (frames, 13 + 2 * joints)."""
    columns = motion.joint_columns(entity.joint_names)
    root = motion.body_columns([motion.root_body])[0]
    state = (motion.body_pos_w, motion.body_quat_w)
    state += (motion.body_lin_vel_w, motion.body_ang_vel_w)
    parts = [part[:, root] for part in state]
    parts += [motion.joint_pos[:, columns], motion.joint_vel[:, columns]]
    return torch.from_numpy(np.concatenate(parts, axis=1).astype(np.float32))


def _observed(
    observer: ManagerBasedRlEnv,
    entity: Entity,
    groups: Sequence[str],
    frames: torch.Tensor,
) -> torch.Tensor:
    """Return the concatenated groups in each frame, (frames, features)."""
    everyone = torch.ones(_WORLDS, dtype=torch.bool, device=observer.device)
    joints, found = entity.num_joints, []
    for first in range(0, len(frames), _WORLDS):
        # Unused worlds of the last batch repeat the last frame.
        chosen = torch.arange(first, first + _WORLDS).clamp_(max=len(frames) - 1)
        rows = frames[chosen].to(observer.device)
        rows[:, :3] += observer.scene.spawn_origins
        entity.write_root_state(everyone, rows[:, :13])
        entity.write_joint_state(
            everyone, rows[:, 13 : 13 + joints], rows[:, 13 + joints :]
        )
        observer.program.refresh(0.0)
        observer.program.compute_observations(0.0)
        output = observer.observation_manager.output
        parts = []
        for group in groups:
            values = output[group]
            assert isinstance(values, torch.Tensor)
            parts.append(values)
        found.append(torch.cat(parts, dim=-1).clone())
    return torch.cat(found)[: len(frames)]


class reset_to_clips(ManagerTermBase):
    """Start some episodes in a random frame of the clips, with a random yaw.

    An event term for `mode="reset"`. List it after events that write the root and the
    joints, because it overwrites them. The horizontal position does not change.
    """

    def __init__(self, cfg: TermCfg, env: Env) -> None:
        super().__init__(cfg, env)
        self._robot: Entity = env.scene.entity(cfg.params.get("entity_name", "robot"))
        motions = load_clips(cfg.params["clips"])
        rows = [_frames(motion, self._robot) for motion in motions]
        self._frames = torch.cat(rows).to(env.device)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        clips: tuple[Path, ...],
        probability: float = 1.0,
        entity_name: str = "robot",
        stream: str = "event",
    ) -> None:
        """Draw frames, and write them.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            clips: Motion files, and folders of motion files.
            probability: Probability that an episode starts in a frame.
            entity_name: The robot.
            stream: Name of the random stream, set by the event manager.
        """
        robot, rng = self._robot, env.rng
        chosen = mask & rng.bernoulli(probability, (), f"{stream}/chosen")
        frame = rng.integers(0, len(self._frames), (), f"{stream}/frame")
        half_yaw = rng.uniform(-0.5 * math.pi, 0.5 * math.pi, (), f"{stream}/yaw")
        rows, zero = self._frames[frame], torch.zeros_like(half_yaw)
        turn = torch.stack((half_yaw.cos(), zero, zero, half_yaw.sin()), dim=1)
        height = rows[:, 2:3] + env.scene.spawn_origins[:, 2:3]
        state = (
            torch.cat((robot.data.root_pos_w[:, :2], height), dim=1),
            quat_mul(turn, rows[:, 3:7]),
            quat_rotate(turn, rows[:, 7:10]),
            quat_rotate(turn, rows[:, 10:13]),
        )
        joints = rows[:, 13:].chunk(2, dim=1)
        robot.write_root_state(chosen, torch.cat(state, dim=1))
        robot.write_joint_state(chosen, *joints)
