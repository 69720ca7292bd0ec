"""Tracking errors of a policy over whole clips, from first to last frame."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv, ManagerBasedRlEnvCfg, Policy
from mjlab.envs.rollout import EpisodeResult
from mjlab.motion.command import MotionCommand, MotionCommandCfg
from mjlab.motion.poses import reanchored
from mjlab.tensors.math import quat_angle

FIGURES = {
    "global_pos": "body position, world, m",
    "pos": "body position, re-anchored, m",
    "global_ori": "body rotation, world, rad",
    "ori": "body rotation, re-anchored, rad",
}
"""Errors measured for each body and averaged over frames."""


def follows_clips(cfg: ManagerBasedRlEnvCfg) -> bool:
    """Return True if an environment configuration has a motion command."""
    return any(isinstance(c, MotionCommandCfg) for c in cfg.commands.values())


class TrackingMeter:
    """Policy wrapper that measures tracking errors in each step.

    The reference is read before a step and the robot after it, because the command
    advances the reference during the step. Only the first episode of each world after a
    reset of all worlds is measured.
    """

    def __init__(self, env: ManagerBasedRlEnv, policy: Policy) -> None:
        """Wrap a policy.

        Args:
            env: Environment with a motion command.
            policy: The policy.
        """
        terms = env.command_manager.terms.values()
        self._command = next(t for t in terms if isinstance(t, MotionCommand))
        self._policy = policy
        self._asked: dict[str, torch.Tensor] = {}
        self._is_first = True
        self._running = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        clips, bodies = len(self._command.table.names), self._command.num_bodies
        exact = {"dtype": torch.float64, "device": env.device}
        self._sums = torch.zeros(clips, len(FIGURES), bodies, **exact)
        self._joint_vel = torch.zeros(clips, **exact)
        self._frames = torch.zeros(clips, **exact)
        self.clips: list[int] = []
        """Clip index of each measured episode, by round and then world."""

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Measure the last step, and return the policy's actions."""
        self._measure()
        if self._is_first:
            self.clips += self._command.clip.tolist()
            self._is_first = False
        c = self._command
        live = {
            "anchor_pos": c.anchor_pos_w,
            "anchor_quat": c.anchor_quat_w,
            "body_pos": c.body_pos_w,
            "body_quat": c.body_quat_w,
            "joint_vel": c.joint_vel,
            "clip": c.clip,
        }
        self._asked = {name: tensor.clone() for name, tensor in live.items()}
        return self._policy(observations)

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Start measuring all worlds, or stop measuring those in `dones`."""
        if dones is None:
            self._running.fill_(True)
            self._is_first = True
            self._asked = {}
        else:
            self._running &= ~dones
        self._policy.reset(dones)

    def _measure(self) -> None:
        if not self._asked:
            return
        c, asked = self._command, self._asked
        place, turn = c.robot_bodies("body_pos_w"), c.robot_bodies("body_quat_w")
        moved = reanchored(
            (c.robot_anchor_pos_w, c.robot_anchor_quat_w),
            (asked["anchor_pos"], asked["anchor_quat"]),
            (asked["body_pos"], asked["body_quat"]),
        )
        found = torch.stack(
            (
                (place - asked["body_pos"]).norm(dim=-1),
                (place - moved[0]).norm(dim=-1),
                quat_angle(turn, asked["body_quat"]),
                quat_angle(turn, moved[1]),
            ),
            dim=1,
        ).double()
        speed = (c.entity.data.joint_vel - asked["joint_vel"]).double()
        counts = self._running.double()
        self._sums.index_add_(0, asked["clip"], found * counts[:, None, None])
        self._joint_vel.index_add_(
            0, asked["clip"], speed.square().mean(dim=1) * counts
        )
        self._frames.index_add_(0, asked["clip"], counts)

    def figures(self, episodes: Sequence[EpisodeResult]) -> dict[str, Any]:
        """Return the metrics of each clip by name, as plain numbers.

        Args:
            episodes: Results of the measured episodes.
        """
        ended = [
            (clip, episode.success_at_end)
            for clip, episode in zip(self.clips, episodes, strict=False)
        ]
        return {
            name: self._clip(number, [good for clip, good in ended if clip == number])
            for number, name in enumerate(self._command.table.names)
        }

    def _clip(self, number: int, ended: list[bool | None]) -> dict[str, Any]:
        frames = float(self._frames[number])
        means = (self._sums[number] / max(frames, 1.0)).cpu()
        bodies = {
            body: dict(zip(FIGURES, column, strict=True))
            for body, column in zip(
                self._command.cfg.body_names, means.T.tolist(), strict=True
            )
        }
        whole = dict(zip(FIGURES, means.mean(dim=1).tolist(), strict=True))
        speed = float(self._joint_vel[number] / max(frames, 1.0)) ** 0.5
        # Episodes without an outcome count neither as success nor as failure.
        known = [good for good in ended if good is not None]
        return {
            "episodes": len(ended),
            "success": sum(known) / len(known) if known else None,
            **whole,
            "joint_vel_rms": speed,
            "bodies": bodies,
        }


def table(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Format a table: a row per clip, then a row per body over all clips.

    Args:
        figures: Result of `TrackingMeter.figures`.
    """
    heads = ("", "success", "pos m", "world m", "rot rad", "world rad", "rad/s")
    rows: list[tuple[str, ...]] = [heads]
    drawn = {name: clip for name, clip in figures.items() if clip["episodes"]}
    for name, clip in drawn.items():
        share = clip["success"]
        rows.append((name, "-" if share is None else f"{share:.1%}", *_cells(clip)))
    weight = sum(clip["episodes"] for clip in drawn.values())
    for body in next(iter(drawn.values()))["bodies"] if drawn else ():
        means = {
            figure: sum(
                c["bodies"][body][figure] * c["episodes"] for c in drawn.values()
            )
            / weight
            for figure in FIGURES
        }
        rows.append((f"  {body}", "", *_cells(means)))
    width = max(len(row[0]) for row in rows)
    return "\n".join(
        (row[0].ljust(width) + "".join(cell.rjust(11) for cell in row[1:])).rstrip()
        for row in rows
    )


def _cells(means: Mapping[str, Any]) -> tuple[str, ...]:
    shown = [f"{means[k]:.4f}" for k in ("pos", "global_pos", "ori", "global_ori")]
    speed = means.get("joint_vel_rms")
    return (*shown, "" if speed is None else f"{speed:.3f}")
