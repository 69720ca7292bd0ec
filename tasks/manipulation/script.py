"""A controller by hand for `Lift-Yam-IK`: over the cube, down, grip, to the goal.

Every world is in a stage of its own; all stages are computed for all worlds, and a mask
chooses. It makes demonstrations, and says what the task allows.
"""

import math
from typing import Any

import torch

from mjlab import views
from mjlab.envs import ManagerBasedRlEnv
from mjlab.mdp.kinematics import Frame
from mjlab.tasks.manipulation.lift_ik import POSITION_SCALE, ROTATION_SCALE
from mjlab.tasks.manipulation.mdp import goal_command
from mjlab.tasks.manipulation.reach import GOAL
from mjlab.tasks.manipulation.scene import OBJECT
from mjlab.tasks.robots.yam import GRASP_SITE
from mjlab.tensors.masks import fill_where
from mjlab.tensors.math import (
    quat_box_minus,
    quat_from_matrix,
    quat_rotate_inverse,
)

_OVER, _DOWN, _GRIP, _CARRY = range(4)

_CLEARANCE = 0.06
"""Height above a cube at which the gripper turns to it, in m."""

_BELOW_SITE = 0.012
"""Way from the site to the middle of the fingertips along the gripper, in m."""

_NEAR = (0.02, 0.012)
"""Distance from the target at which a gripper is over a cube, and around it, in m."""

_GRIP_TIME = 0.6
"""Time to close, in s."""

_CARRY_GAIN = 2.0
"""Factor of the way to the goal: soft joints go as far as their loads let them."""

_SHOULDER_HEIGHT = 0.114
_HAND_LENGTH = 0.2
"""From the wrist to what is gripped, in m."""

_LONGEST = 0.44
"""Distance from shoulder to wrist up to which the arm is not stretched out, in m."""

_TILT_PER_HEIGHT = 2.6
"""Least tilt of the gripper at a goal, in rad per m of its height."""

_TILTS = 10
"""Tilts of the gripper that are tried at a goal, from vertical to horizontal."""


class LiftScript:
    """Acts in all worlds of `Lift-Yam-IK` at once, on what it sees of their state."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        """Begin in all worlds.

        Args:
            env: The worlds. Their action is that of `Lift-Yam-IK`.
        """
        self._env = env
        self._command = goal_command(env, GOAL)
        self._object = views.of(env.scene).view(OBJECT)
        self._robot = env.scene.entity("robot")
        self._hand = Frame(env.sim, self._robot, "site", GRASP_SITE)
        self._grip_steps = round(_GRIP_TIME / env.step_dt)
        count = {"dtype": torch.int64, "device": env.device}
        self.stage = torch.zeros(env.num_envs, **count)
        """Stage of each world: over, down, grip, carry; shape (num_envs,)."""
        self._steps = torch.zeros(env.num_envs, **count)
        self._down = torch.tensor([0.0, 0.0, -1.0], device=env.device)
        self._tilts = torch.linspace(0.0, 0.5 * math.pi, _TILTS, device=env.device)
        self._outward, self._downward = self._tilts.sin(), self._tilts.cos()

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Begin anew where `dones`, shape (num_envs,), holds; None in all worlds."""
        everyone = torch.ones_like(self.stage, dtype=torch.bool)
        mask = everyone if dones is None else dones
        fill_where(self.stage, mask, _OVER)
        fill_where(self._steps, mask, 0)

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return the action of the moment, shape (num_envs, 7)."""
        pos, quat = self._hand.pos_w, self._hand.quat_w
        target, turned = self._targets(pos, quat)
        away = target - pos
        turn = quat_box_minus(turned, quat)
        self._advance(away.square().sum(dim=1).sqrt(), turn.square().sum(dim=1).sqrt())
        base = self._robot.data.root_quat_w
        closed = (self.stage >= _GRIP).unsqueeze(1)
        return torch.cat(
            (
                quat_rotate_inverse(base, away) / POSITION_SCALE,
                quat_rotate_inverse(base, turn) / ROTATION_SCALE,
                1.0 - 2.0 * closed,
            ),
            dim=1,
        )

    def _targets(
        self, pos: torch.Tensor, quat: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return where the gripper should be, in the world, and how turned."""
        thing = self._object.root_pose
        lift = torch.where(self.stage == _OVER, _CLEARANCE, 0.0).unsqueeze(1)
        over = thing.p - self._down * (lift + _BELOW_SITE)
        vertical = self._vertical(thing.p, thing.q)
        goal = self._command.goal_pos_w
        approach = self._approach(goal)
        # The thing may have slipped, so it is the thing that is brought, not the hand.
        carried = pos + _CARRY_GAIN * (goal - thing.p)
        carries = (self.stage == _CARRY).unsqueeze(1)
        return (
            torch.where(carries, carried, over),
            torch.where(carries, _frame(approach, _sideways(goal)), vertical),
        )

    def _vertical(self, pos: torch.Tensor, quat: torch.Tensor) -> torch.Tensor:
        """Return the gripper pointing down, its fingers along the nearest faces.

        Of the four ways to hold a cube, it takes the one that is least turned from
        pointing sideways of the arm, where the wrist has most room.
        """
        w, _, _, z = quat.unbind(dim=1)
        yaw = 2.0 * torch.atan2(z, w)
        at = pos - self._env.scene.spawn_origins
        side = torch.atan2(at[:, 1], at[:, 0]) + 0.5 * math.pi
        quarter = 0.5 * math.pi
        off = yaw - side
        off = off - quarter * torch.round(off / quarter)
        closing = side + off
        axis = torch.stack((closing.cos(), closing.sin(), torch.zeros_like(off)), dim=1)
        return _frame(self._down.expand_as(axis), axis)

    def _approach(self, goal: torch.Tensor) -> torch.Tensor:
        """Return the direction in which the gripper points at a goal.

        The higher the goal, the more it is tilted outward, or the wrist would have to
        bend beyond its limit; and as far as it takes to bring the wrist within reach.
        """
        local = goal - self._env.scene.spawn_origins
        radius = local[:, :2].square().sum(dim=1).sqrt()
        wrist_out = radius.unsqueeze(1) - _HAND_LENGTH * self._outward
        wrist_up = local[:, 2:] + _HAND_LENGTH * self._downward - _SHOULDER_HEIGHT
        reachable = wrist_out.square() + wrist_up.square() <= _LONGEST**2
        reachable &= self._tilts >= _TILT_PER_HEIGHT * local[:, 2:]
        first = reachable.float().argmax(dim=1)
        tilt = torch.where(reachable.any(dim=1), first, _TILTS - 1)
        outward, downward = self._outward[tilt], self._downward[tilt]
        heading = local[:, :2] / radius.unsqueeze(1).clamp(min=1e-6)
        flat = heading * outward.unsqueeze(1)
        return torch.cat((flat, -downward.unsqueeze(1)), dim=1)

    def _advance(self, away: torch.Tensor, turn: torch.Tensor) -> None:
        """Move the worlds on that are done with their stage."""
        near = torch.where(self.stage == _OVER, *_NEAR)
        arrived = (away < near) & (turn < 0.15)
        closed = self._steps >= self._grip_steps
        done = torch.where(self.stage == _GRIP, closed, arrived)
        done &= self.stage < _CARRY
        self._steps.add_(1).mul_(~done)
        self.stage.add_(done)


def _sideways(goal: torch.Tensor) -> torch.Tensor:
    """Return the horizontal direction across the way from the base to a place."""
    x, y, _ = goal.unbind(dim=1)
    across = torch.stack((-y, x, torch.zeros_like(x)), dim=1)
    return across / across.square().sum(dim=1, keepdim=True).sqrt().clamp(min=1e-6)


def _frame(approach: torch.Tensor, closing: torch.Tensor) -> torch.Tensor:
    """Return the quaternion whose z axis is `approach` and whose y axis `closing`."""
    first = torch.linalg.cross(closing, approach)
    return quat_from_matrix(torch.stack((first, closing, approach), dim=-1))
