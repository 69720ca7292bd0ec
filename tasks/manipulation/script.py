"""A controller by hand that lifts: over the cube, down, grip, to the goal.

Every world is in a stage of its own, which follows from where things are; all stages
are computed for all worlds, and a mask chooses. It makes demonstrations, says what the
task allows, and has no memory, so that a policy without one can imitate it.
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
"""Height above a cube at which the gripper turns to it, in m."""

_BELOW_SITE = 0.012
"""Way from the site to the middle of the fingertips along the gripper, in m."""

_NEAR = 0.025
"""Distance from the line over a thing at which a gripper goes down, in m."""

_AROUND = (0.03, 0.018)
"""Distance at which a gripper is around a thing, closing and open, in m."""

_TURNED = 0.25
"""Angle up to which it is turned as it should be, in rad."""

_CLOSING, _GRIPPED = 0.034, 0.0255
"""Positions of the finger below which the gripper closes, and holds a thing, in m."""

_HELD = 0.05
"""Distance from the gripper up to which a thing is held, in m."""

_LONGEST_WAY, _LARGEST_TURN = 0.2, 1.0
"""Way, in m, and turn, in rad, that are asked for at once."""

_DAMPING, _LONGEST_STEP = 0.05, 0.5
"""Damping of the least squares, and longest step of a joint, in rad."""

_IK_GAIN, _JOINT_GAIN = 1.0, 2.5
"""Factors of ways and turns that are asked for: soft joints are late, and give way.

Inverse kinematics asks anew in each physics step, and swings with more."""

_LEAST_CARRY_GAIN = 2.0
"""Least factor of the way to the goal, which a load lengthens."""

_SHOULDER_HEIGHT = 0.114
_HAND_LENGTH = 0.2
"""From the wrist to what is gripped, in m."""

_LONGEST = 0.44
"""Distance from shoulder to wrist up to which the arm is not stretched out, in m."""

_TILT_PER_HEIGHT = 2.6
"""Least tilt of the gripper at a goal, in rad per m of its height."""

_TILTS = 10
"""Tilts of the gripper that are tried at a goal, from vertical to horizontal."""


class ScriptMove(NamedTuple):
    """A movement that is asked of the gripper."""

    away: torch.Tensor
    """Way to go in the world, shape (num_envs, 3), m."""

    turn: torch.Tensor
    """Rotation vector to turn by, axes of the world, shape (num_envs, 3), rad."""

    closes: torch.Tensor
    """Worlds in which the gripper is to close, shape (num_envs,), bool."""


class LiftScript:
    """Finds the movement of the moment in all worlds at once, from their true state."""

    def __init__(self, env: ManagedEnv, gain: float) -> None:
        """Begin in all worlds.

        Args:
            env: Worlds with the arm, a thing and a goal.
            gain: Factor of the ways and turns that it asks for.
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
        """Stage of each world: over, down, grip, carry; shape (num_envs,)."""
        self._down = torch.tensor([0.0, 0.0, -1.0], device=env.device)
        self._tilts = torch.linspace(0.0, 0.5 * math.pi, _TILTS, device=env.device)
        self._outward, self._downward = self._tilts.sin(), self._tilts.cos()

    def advance(self) -> ScriptMove:
        """Return the movement of the moment."""
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
        """Return where the gripper should be, in the world, and how turned."""
        thing = self._object.root_pose
        lift = torch.where(self.stage == _OVER, _CLEARANCE, 0.0).unsqueeze(1)
        over = thing.p - self._down * (lift + _BELOW_SITE)
        vertical = self._vertical(thing.p, thing.q)
        goal = self._command.goal_pos_w
        approach = self._approach(goal)
        # The thing may have slipped, so it is the thing that is brought, not the hand.
        carried = pos + self._carry_gain * (goal - thing.p)
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

    def _find_stage(self, pos: torch.Tensor, quat: torch.Tensor) -> None:
        """Find each world's stage in what can be seen, so that it can be imitated.

        A gripper that has begun to close may be less exactly where it should be, or it
        would open again at a touch.
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
    """Plays `Lift-Yam-IK`, and tasks with its action, by the script."""

    def __init__(self, env: ManagedEnv) -> None:
        """Begin in all worlds of an environment."""
        self.script = LiftScript(env, _IK_GAIN)
        """What it does, and in which stage it is."""

    def __call__(self, observations: Any, /) -> torch.Tensor:
        """Return the action of the moment, shape (num_envs, 7)."""
        motion = self.script.advance()
        base = self.script.robot.data.root_quat_w
        move = quat_rotate_inverse(base, motion.away) / POSITION_SCALE
        turn = quat_rotate_inverse(base, motion.turn) / ROTATION_SCALE
        return torch.cat((move, turn, _sign(motion.closes)), dim=1)

    def reset(self, dones: torch.Tensor | None = None) -> None:
        """Do nothing: the script has no memory."""


class scripted_joint_targets(ManagerTermBase):
    """The action of `Lift-Yam` by the script: what an observation tells a teacher."""

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
        """Return it, shape (num_envs, 7)."""
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
    """Return -1 where the gripper closes, else 1, shape (num_envs, 1)."""
    return (1.0 - 2.0 * closes).unsqueeze(1)


def _length(vector: torch.Tensor) -> torch.Tensor:
    return vector.square().sum(dim=-1).sqrt()


def _shortened(vector: torch.Tensor, longest: float) -> torch.Tensor:
    length = _length(vector).unsqueeze(-1)
    return vector * (longest / length.clamp(min=longest))


def _sideways(goal: torch.Tensor) -> torch.Tensor:
    """Return the horizontal direction across the way from the base to a place."""
    x, y, _ = goal.unbind(dim=1)
    across = torch.stack((-y, x, torch.zeros_like(x)), dim=1)
    return across / across.square().sum(dim=1, keepdim=True).sqrt().clamp(min=1e-6)


def _frame(approach: torch.Tensor, closing: torch.Tensor) -> torch.Tensor:
    """Return the quaternion whose z axis is `approach` and whose y axis `closing`."""
    first = torch.linalg.cross(closing, approach)
    return quat_from_matrix(torch.stack((first, closing, approach), dim=-1))
