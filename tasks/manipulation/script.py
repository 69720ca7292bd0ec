"""Scripted lifting controller: approach, descend, grip, move to the goal.

The stage of each world is derived from the world's state. All stages are computed for
all worlds, and masks select the current one. The controller records demonstrations and
shows that the task is feasible. It has no internal state, so a feed-forward policy can
imitate it.
"""

import math
from typing import Any, NamedTuple

import torch

from mjlab import views
from mjlab.managers import ManagerTermBase
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError
from mjlab.mdp import JointPositionAction
from mjlab.mdp.kinematics import DampedInverse, Frame, Jacobian
from mjlab.tasks.manipulation.lift_ik import POSITION_SCALE, ROTATION_SCALE
from mjlab.tasks.manipulation.mdp import goal_command
from mjlab.tasks.manipulation.reach import GOAL
from mjlab.tasks.manipulation.scene import OBJECT
from mjlab.tasks.robots.yam import ARM_JOINTS, FINGER_JOINTS, GRASP_SITE
from mjlab.tensors.columns import Columns
from mjlab.tensors.math import (
    quat_box_minus,
    quat_from_matrix,
    quat_rotate_inverse,
)

_OVER, _DOWN, _GRIP, _CARRY = range(4)

_CLEARANCE = 0.06
"""Height above a cube at which the gripper aligns with it, in m."""

_BELOW_SITE = 0.012
"""Distance from the site to the centre of the fingertips along the gripper, in m."""

_NEAR = 0.025
"""Horizontal distance from an object below which the gripper descends, in m."""

_AROUND = (0.03, 0.018)
"""Maximum distance to an object that the gripper encloses, while closing and while
open, in m."""

_TURNED = 0.25
"""Maximum orientation error for descending, in rad."""

_CLOSING, _GRIPPED = 0.034, 0.0255
"""Finger positions below which the gripper is closing, and holds an object, in m."""

_HELD = 0.05
"""Maximum distance from the gripper to a held object, in m."""

_LONGEST_WAY, _LARGEST_TURN = 0.2, 1.0
"""Maximum requested displacement, in m, and rotation, in rad, per step."""

_DAMPING, _LONGEST_STEP = 0.05, 0.5
"""Damping of the least squares, and maximum step of a joint, in rad."""

_IK_GAIN, _JOINT_GAIN = 1.0, 2.5
"""Gains of requested displacements and rotations, to compensate for soft joints.

Inverse kinematics runs in every physics step, and oscillates with a higher gain.
"""

_LEAST_CARRY_GAIN = 2.0
"""Minimum gain of the motion to the goal. A carried object slows the motion."""

_SHOULDER_HEIGHT = 0.114
_HAND_LENGTH = 0.2
"""Distance from the wrist to the gripped object, in m."""

_LONGEST = 0.44
"""Maximum distance from shoulder to wrist, in m, before the arm is stretched out."""

_TILT_PER_HEIGHT = 2.6
"""Minimum tilt of the gripper at a goal, in rad per m of its height."""

_TILTS = 10
"""Number of candidate tilts of the gripper at a goal, from vertical to horizontal."""


class ScriptMove(NamedTuple):
    """Requested gripper motion in each world."""

    away: torch.Tensor
    """Displacement in the world frame, shape (num_envs, 3), m."""

    turn: torch.Tensor
    """Rotation vector, world axes, shape (num_envs, 3), rad."""

    closes: torch.Tensor
    """Worlds in which the gripper closes, shape (num_envs,), bool."""


class LiftScript:
    """Computes the requested gripper motion from the exact state of each world."""

    def __init__(self, env: ManagedEnv, gain: float) -> None:
        """Create the controller.

        Args:
            env: Worlds with the arm, an object and a goal.
            gain: Gain of the requested displacements and rotations.
        """
        self._env, self._gain = env, gain
        self._carry_gain = max(_LEAST_CARRY_GAIN / gain, 1.0)
        self._command = goal_command(env, GOAL)
        self._object = views.of(env.scene).view(OBJECT)
        self.robot = env.scene.entity("robot")
        """The arm."""
        self.hand = Frame(env.sim, self.robot, "site", GRASP_SITE)
        """The point between the fingertips."""
        self._finger = self.robot.joint_names.index(FINGER_JOINTS[0])
        self.stage = torch.zeros(env.num_envs, dtype=torch.int64, device=env.device)
        """Stage of each world: approach, descend, grip, lift; shape (num_envs,)."""
        self._down = torch.tensor([0.0, 0.0, -1.0], device=env.device)
        self._tilts = torch.linspace(0.0, 0.5 * math.pi, _TILTS, device=env.device)
        self._outward, self._downward = self._tilts.sin(), self._tilts.cos()

    def advance(self) -> ScriptMove:
        """Compute the gripper motion for the current state of each world."""
        pos, quat = self.hand.pos_w, self.hand.quat_w
        self._find_stage(pos, quat)
        target, turned = self._targets(pos, quat)
        away, turn = target - pos, quat_box_minus(turned, quat)
        closes = self.stage >= _GRIP
        return ScriptMove(
            _shortened(self._gain * away, _LONGEST_WAY),
            _shortened(self._gain * turn, _LARGEST_TURN),
            closes,
        )

    def _targets(
        self, pos: torch.Tensor, quat: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return target position and orientation of the gripper, world frame."""
        thing = self._object.root_pose
        lift = torch.where(self.stage == _OVER, _CLEARANCE, 0.0).unsqueeze(1)
        over = thing.p - self._down * (lift + _BELOW_SITE)
        vertical = self._vertical(thing.p, thing.q)
        goal = self._command.goal_pos_w
        approach = self._approach(goal)
        # Servo the object, rather than the gripper, to the goal, because the object can
        # slip in the grasp.
        carried = pos + self._carry_gain * (goal - thing.p)
        carries = (self.stage == _CARRY).unsqueeze(1)
        return (
            torch.where(carries, carried, over),
            torch.where(carries, _frame(approach, _sideways(goal)), vertical),
        )

    def _vertical(self, pos: torch.Tensor, quat: torch.Tensor) -> torch.Tensor:
        """Return the downward orientation with fingers along the nearest faces.

        Of the four possible orientations at a cube, the one closest to the arm's
        sideways direction is used, where the wrist has the largest range.
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
        """Return the approach direction of the gripper at a goal.

        The tilt outward increases with the height of the goal, because of the wrist's
        limit, and further until the wrist is within reach.
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

    def _find_stage(self, pos: torch.Tensor, quat: torch.Tensor) -> None:
        """Derive each world's stage from observable data, so that it can be imitated.

        A gripper that has started to close has larger tolerances. Otherwise it would
        open again after a slight touch.
        """
        thing = self._object.root_pose
        away = thing.p - self._down * _BELOW_SITE - pos
        turn = quat_box_minus(self._vertical(thing.p, thing.q), quat)
        finger = self.robot.data.joint_pos[:, self._finger]
        has_begun = finger < _CLOSING
        turned = _length(turn) < _TURNED
        around = _length(away) < torch.where(has_begun, *_AROUND)
        grips = (finger < _GRIPPED) & (self._command.reach_distance() < _HELD)
        below = (-away[:, 2] < _CLEARANCE + _NEAR) & (_length(away[:, :2]) < _NEAR)
        stage = torch.where(below & turned & ~has_begun, _DOWN, _OVER)
        stage = torch.where(around & (turned | has_begun), _GRIP, stage)
        self.stage.copy_(torch.where(grips, _CARRY, stage))


class ScriptedPolicy:
    """Scripted policy for `Lift-Yam-IK` and tasks with the same actions."""

    def __init__(self, env: ManagedEnv) -> None:
        """Create the policy for all worlds of an environment."""
        self.script = LiftScript(env, _IK_GAIN)
        """The controller, with the stage of each world."""

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return the current action, shape (num_envs, 7)."""
        motion = self.script.advance()
        base = self.script.robot.data.root_quat_w
        move = quat_rotate_inverse(base, motion.away) / POSITION_SCALE
        turn = quat_rotate_inverse(base, motion.turn) / ROTATION_SCALE
        return torch.cat((move, turn, _sign(motion.closes)), dim=1)

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: the script has no internal state."""


class scripted_joint_targets(ManagerTermBase):
    """Observation term: actions of the scripted controller for `Lift-Yam`.

    A student learns to imitate these actions.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._script = LiftScript(env, _JOINT_GAIN)
        action = env.action_manager.get_term("joint_pos")
        if not isinstance(action, JointPositionAction):
            raise TermError(
                "scripted_joint_targets: the action 'joint_pos' is a "
                f"{type(action).__name__}, not a JointPositionAction."
            )
        self._action = action
        robot = self._script.robot
        joints = [env.sim.mj_model.joint(f"{robot.name}/{j}").id for j in ARM_JOINTS]
        self._jacobian = Jacobian(env, joints)
        self._solve = DampedInverse(6, _DAMPING, env.device)
        local = [robot.joint_names.index(name) for name in ARM_JOINTS]
        self._columns = Columns.of(local, env.device)

    def __call__(self, env: ManagedEnv) -> torch.Tensor:
        """Return the actions, shape (num_envs, 7)."""
        script = self._script
        motion = script.advance()
        jacobian = self._jacobian.at(script.hand.pos_w)
        step = self._solve(jacobian, torch.cat((motion.away, motion.turn), dim=1), None)
        step = step * (
            _LONGEST_STEP / step.abs().amax(1, True).clamp(min=_LONGEST_STEP)
        )
        target = self._columns.read(script.robot.data.joint_pos) + step
        limits = self._columns.read(script.robot.data.soft_joint_pos_limits)
        target = torch.clamp(target, limits[..., 0], limits[..., 1])
        scale, summand = self._action.scale[:-1], self._action.summand()[:, :-1]
        return torch.cat(((target - summand) / scale, _sign(motion.closes)), dim=1)


def _sign(closes: torch.Tensor) -> torch.Tensor:
    """Return -1 in worlds that close the gripper, otherwise 1, shape (num_envs, 1)."""
    return (1.0 - 2.0 * closes).unsqueeze(1)


def _length(vector: torch.Tensor) -> torch.Tensor:
    return vector.square().sum(dim=-1).sqrt()


def _shortened(vector: torch.Tensor, longest: float) -> torch.Tensor:
    length = _length(vector).unsqueeze(-1)
    return vector * (longest / length.clamp(min=longest))


def _sideways(goal: torch.Tensor) -> torch.Tensor:
    """Return the horizontal direction perpendicular to the vector from base to goal."""
    x, y, _ = goal.unbind(dim=1)
    across = torch.stack((-y, x, torch.zeros_like(x)), dim=1)
    return across / across.square().sum(dim=1, keepdim=True).sqrt().clamp(min=1e-6)


def _frame(approach: torch.Tensor, closing: torch.Tensor) -> torch.Tensor:
    """Return the quaternion with z axis `approach` and y axis `closing`."""
    first = torch.linalg.cross(closing, approach)
    return quat_from_matrix(torch.stack((first, closing, approach), dim=-1))
