"""Teleoperation of an arm: presses move a target, which the gripper tracks."""

from typing import Any

import torch

from mjlab.envs import ManagerBasedRlEnv
from mjlab.mdp.actions import BinaryAction
from mjlab.mdp.differential_ik import DifferentialIKAction
from mjlab.tensors.masks import write_where
from mjlab.tensors.math import (
    quat_box_minus,
    quat_box_plus,
    quat_rotate,
    quat_rotate_inverse,
)
from mjlab.viewer.player import ViewerError

GRIPPER = "open / close"
"""Name of the press that opens or closes the gripper."""

# Effect of each button: translation and rotation vector in the arm's base frame, in
# steps.
MOVES = {
    "forward": (1, 0, 0, 0, 0, 0),
    "back": (-1, 0, 0, 0, 0, 0),
    "left": (0, 1, 0, 0, 0, 0),
    "right": (0, -1, 0, 0, 0, 0),
    "up": (0, 0, 1, 0, 0, 0),
    "down": (0, 0, -1, 0, 0, 0),
    "turn left": (0, 0, 0, 0, 0, 1),
    "turn right": (0, 0, 0, 0, 0, -1),
    "tilt up": (0, 0, 0, 0, -1, 0),
    "tilt down": (0, 0, 0, 0, 1, 0),
    "roll left": (0, 0, 0, -1, 0, 0),
    "roll right": (0, 0, 0, 1, 0, 0),
}
"""Motions of the target by name of the press."""

STEP = 0.02
"""Default distance per press, m."""

_TURN = 0.1
_LEAD, _LEAD_TURN = 0.1, 0.5
"""Maximum distance, m, and angle, rad, of the target from the gripper."""


class TeleopPolicy:
    """Policy that moves the frame of a differential IK action to a user's target."""

    def __init__(self, env: ManagerBasedRlEnv) -> None:
        """Set the targets of all worlds to the current poses."""
        terms = env.action_manager.terms
        arms = [
            term for term in terms.values() if isinstance(term, DifferentialIKAction)
        ]
        if len(arms) != 1 or not arms[0].cfg.use_relative_mode:
            found = ", ".join(f"{n!r} ({type(t).__name__})" for n, t in terms.items())
            raise ViewerError(
                "Teleoperation needs exactly one action term DifferentialIKAction "
                "with use_relative_mode, as in Lift-Yam-IK. Actions of this task: "
                f"{found or 'none'}."
            )
        (self.arm,) = arms
        """Action term that moves the gripper."""
        size = (env.num_envs, env.action_manager.total_action_dim)
        self._action = torch.zeros(size, device=env.device)
        parts = self._action.split(env.action_manager.action_term_dim, dim=1)
        self._parts = dict(zip(terms, parts, strict=True))
        self._grippers = [n for n, t in terms.items() if isinstance(t, BinaryAction)]
        self.target_pos_w = torch.zeros(env.num_envs, 3, device=env.device)
        """Target position of the frame, world frame, m, shape (num_envs, 3)."""
        self.target_quat_w = torch.zeros(env.num_envs, 4, device=env.device)
        """Target orientation, wxyz, shape (num_envs, 4)."""
        self.closes = torch.zeros(env.num_envs, dtype=torch.bool, device=env.device)
        """Worlds whose gripper closes, shape (num_envs,)."""
        # Worlds whose target must be set to the gripper's pose, as after a reset.
        self._is_new = torch.ones_like(self.closes)

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return the action towards the targets, shape (num_envs, total_action_dim)."""
        self.hold()
        cfg, frame, part = self.arm.cfg, self.arm.frame, self._parts[self.arm.name]
        away = self._as_commanded(self.target_pos_w - frame.pos_w)
        part[:, :3] = away / cfg.position_scale
        if cfg.command_type == "pose":
            turn = quat_box_minus(self.target_quat_w, frame.quat_w)
            part[:, 3:] = self._as_commanded(turn) / cfg.rotation_scale
        for name in self._grippers:
            self._parts[name].copy_(1.0 - 2.0 * self.closes.unsqueeze(1))
        return self._action

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Hold the arms in place, with open grippers, in the worlds of `dones`."""
        self._is_new |= torch.ones_like(self._is_new) if dones is None else dones
        self.closes &= ~self._is_new

    def push(self, name: str, world: int, step: float = STEP) -> None:
        """Apply a press.

        Args:
            name: `GRIPPER`, or a key of `MOVES`.
            world: The world.
            step: Distance of the target's motion, m.
        """
        if name == GRIPPER:
            self.closes[world] = ~self.closes[world]
            return
        self.hold()
        move = torch.tensor(MOVES[name], device=self.arm.device)
        root = self.arm.entity.data.root_quat_w[world]
        pos, quat = self.arm.frame.pos_w[world], self.arm.frame.quat_w[world]
        ahead = self.target_pos_w[world] + quat_rotate(root, step * move[:3]) - pos
        self.target_pos_w[world] = pos + _shortened(ahead, _LEAD)
        turned = quat_rotate(root, _TURN * move[3:])
        wanted = quat_box_plus(self.target_quat_w[world], turned)
        ahead = quat_box_minus(wanted, quat)
        self.target_quat_w[world] = quat_box_plus(quat, _shortened(ahead, _LEAD_TURN))

    def hold(self) -> None:
        """Set the targets of worlds with new episodes to the gripper's pose."""
        write_where(self.target_pos_w, self._is_new, self.arm.frame.pos_w)
        write_where(self.target_quat_w, self._is_new, self.arm.frame.quat_w)
        self._is_new.zero_()

    def _as_commanded(self, vector: torch.Tensor) -> torch.Tensor:
        """Return a world frame vector in the frame of the action."""
        if self.arm.cfg.command_frame == "world":
            return vector
        return quat_rotate_inverse(self.arm.entity.data.root_quat_w, vector)


def _shortened(vector: torch.Tensor, longest: float) -> torch.Tensor:
    return vector * (longest / vector.norm().clamp(min=longest))
