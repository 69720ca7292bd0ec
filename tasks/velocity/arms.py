"""Random position targets of the arms, similar to teleoperation."""

import re
from collections.abc import Mapping

import torch

from mjlab.managers import ManagerTermBase
from mjlab.managers.event import steps_of
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError
from mjlab.mdp.lookup import chosen
from mjlab.names import resolve_values
from mjlab.scene import SceneEntityCfg
from mjlab.tensors.columns import Columns
from mjlab.tensors.masks import fill_where, write_where

Range = tuple[float, float]


class move_arms(ManagerTermBase):
    """Event term that moves the position targets of two arms at random.

    Each arm moves from goal to goal, linearly in joint space. An episode starts at the
    default pose, with a first goal anywhere in the joints' ranges. Each further goal is
    the last goal plus a normally distributed step per joint, clamped to the ranges. In
    some episodes, the right arm mirrors the left arm. Use with `mode="step"`.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        params, device = cfg.params, env.device
        selection = chosen(params, env)
        self._entity = selection.entity
        joints = list(self._entity.joint_names)
        left = [name for name in selection.joint_names if name.startswith("left_")]
        right = [name.replace("left_", "right_", 1) for name in left]
        if {*left, *right} != {*selection.joint_names}:
            raise TermError(
                f"asset_cfg has the joints {selection.joint_names}. It needs joints "
                "called left_... and right_..., in pairs."
            )
        given: Mapping[str, Range] = params["ranges"]
        bounds = [
            resolve_values(
                {pattern: each[side] for pattern, each in given.items()},
                left,
                what="joint",
                required=True,
            )
            for side in (0, 1)
        ]
        self._low, self._high = torch.tensor(bounds, device=device)
        if bool((self._low > self._high).any()):
            raise TermError(f"ranges={dict(given)}: a lower bound is above the upper.")
        flipped = re.compile(params["flipped_joints"])
        signs = torch.tensor(
            [-1.0 if flipped.fullmatch(name) else 1.0 for name in left], device=device
        )
        self._signs = torch.stack((torch.ones_like(signs), signs))
        self._columns = Columns.of(
            [joints.index(name) for name in (*left, *right)], device
        )
        self._steps, _ = steps_of((params["goal_s"],) * 2, env.step_dt)
        self._first_steps, _ = steps_of((params["start_s"],) * 2, env.step_dt)
        self._stream = params.get("stream", "event")
        # Angles of both arms with the signs of the left arm, (num_envs, 2, joints).
        self._now = torch.zeros(env.num_envs, 2, len(left), device=device)
        self._rate = torch.zeros_like(self._now)
        self._steps_left = torch.zeros(env.num_envs, dtype=torch.int64, device=device)
        self._is_mirrored = torch.zeros(env.num_envs, dtype=torch.bool, device=device)
        self.reset(torch.ones_like(self._is_mirrored))

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        ranges: Mapping[str, Range],
        step: float,
        goal_s: float,
        start_s: float,
        mirrored: float,
        flipped_joints: str,
        asset_cfg: SceneEntityCfg,
        stream: str = "event",
    ) -> None:
        """Move the targets by one step in the worlds in `mask`.

        Args:
            env: The environment.
            mask: The worlds, shape (num_envs,), bool.
            ranges: Ranges of the left arm's targets by pattern of joints, rad.
            step: Standard deviation of the step from goal to goal, rad.
            goal_s: Time from goal to goal, s.
            start_s: Time to the first goal of an episode, s.
            mirrored: Fraction of episodes with mirrored arms.
            flipped_joints: Pattern of joints whose mirror image has the opposite sign.
            asset_cfg: Joints of both arms.
            stream: Name of the random stream; the event manager sets one.
        """
        due = (self._steps_left <= 0) & mask
        change = env.rng.normal(0.0, step, self._now.shape[1:], stream)
        goal = self._bounded(self._now + change)
        self._head_for(due, goal, self._steps)
        self._now.add_(self._rate * mask.view(-1, 1, 1))
        self._steps_left.sub_(mask.long())
        angles = (self._now * self._signs).flatten(1)
        self._columns.write(self._entity.data.targets.joint_pos, mask, angles)

    def reset(self, mask: torch.Tensor) -> None:
        """Start the worlds in `mask` at the default pose, with a first goal."""
        rng, stream = self._env.rng, self._stream
        default = self._columns.read(self._entity.data.default_joint_pos)
        write_where(self._now, mask, default.view(self._now.shape) * self._signs)
        chance = rng.draw(f"{stream}/mirrored", ())
        write_where(self._is_mirrored, mask, chance < self.cfg.params["mirrored"])
        unit = rng.draw(f"{stream}/reset", self._now.shape[1:])
        goal = torch.lerp(self._low.expand_as(unit), self._high.expand_as(unit), unit)
        self._head_for(mask, goal, self._first_steps)

    def state(self) -> dict[str, torch.Tensor]:
        return {
            "now": self._now,
            "rate": self._rate,
            "steps_left": self._steps_left,
            "is_mirrored": self._is_mirrored,
        }

    def _bounded(self, angles: torch.Tensor) -> torch.Tensor:
        return torch.maximum(torch.minimum(angles, self._high), self._low)

    def _head_for(self, mask: torch.Tensor, goal: torch.Tensor, steps: int) -> None:
        same = goal[:, :1].expand_as(goal)
        goal = torch.where(self._is_mirrored.view(-1, 1, 1), same, goal)
        write_where(self._rate, mask, (goal - self._now) / steps)
        fill_where(self._steps_left, mask, steps)
