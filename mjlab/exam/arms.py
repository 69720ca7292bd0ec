"""Random arm motion, similar to teleoperation."""

import mujoco
import numpy as np

from mjlab.exam.robot import ExamRobot
from mjlab.exam.rules import Arms
from mjlab.exam.streams import Purpose, Stream


class ArmWalk:
    """Random joint targets for both arms of several runs, mirrored left to right."""

    def __init__(self, robot: ExamRobot, arms: Arms, runs: range) -> None:
        """Start in the stance. `targets` draws a new goal every `arms.goal_s`."""
        self._arms = arms
        self._reach = HandSpace(robot, arms)
        self._streams = [Stream(run, Purpose.ARMS) for run in runs]
        self._limits = robot.ranges[robot.indices(arms.left)].T
        start = robot.stance[robot.indices(arms.left)]
        self._from = np.tile(start, (len(runs), 1))
        self._to = self._from.copy()
        self._steps = round(arms.goal_s / robot.exam.control_s)
        self.joints = robot.indices((*arms.left, *arms.right))
        """Indices of the arms' joints in the exam's order."""

    def targets(self, step: int, active: np.ndarray) -> np.ndarray:
        """Return the targets of both arms, rad, shape (runs, joints).

        Call this once per control step, in order.

        Args:
            step: Number of the control step. Arms are at rest in step 0.
            active: Runs that have not ended, shape (runs,), bool.
        """
        if step == 0:
            return self._both(self._from)
        within = (step - 1) % self._steps
        if within == 0:
            self._from, self._to = self._to, self._next_goals(active)
        share = (within + 1) / self._steps
        return self._both(self._from + share * (self._to - self._from))

    def _both(self, left: np.ndarray) -> np.ndarray:
        return np.concatenate((left, left * self._arms.mirror), axis=1)

    def _next_goals(self, active: np.ndarray) -> np.ndarray:
        """Draw goals of active runs, up to `attempts` times, until they are allowed.

        If all attempts fail, a run keeps its goal.
        """
        arms, goals = self._arms, self._to.copy()
        shape = (arms.steps, len(arms.left))
        pending = np.flatnonzero(active)
        for _ in range(arms.attempts):
            steps = np.array(
                [
                    self._streams[run].uniform(-arms.step_size, arms.step_size, shape)
                    for run in pending
                ]
            )
            tried = self._to[pending]
            for step in range(arms.steps):
                tried = np.clip(tried + steps[:, step], *self._limits)
            fits = np.array([self._reach.allows(left) for left in tried])
            goals[pending[fits]] = tried[fits]
            pending = pending[~fits]
            if not len(pending):
                break
        return goals


class HandSpace:
    """Limits of hand positions: in front of the hands' stance, and below the chin."""

    def __init__(self, robot: ExamRobot, arms: Arms) -> None:
        """Compute the limits from the stance."""
        self._model, self._arms = robot.model, arms
        self._data = mujoco.MjData(robot.model)
        self._data.qpos[robot.qpos] = robot.stance
        left, right = robot.indices(arms.left), robot.indices(arms.right)
        self._left, self._right = robot.qpos[left], robot.qpos[right]
        self._torso = robot.model.body(arms.torso).id
        self._hands = [robot.model.body(hand.body).id for hand in arms.hands]
        self._corners = [
            np.array(np.meshgrid(*zip(hand.low, hand.high, strict=True))).reshape(3, 8)
            for hand in arms.hands
        ]
        mujoco.mj_kinematics(robot.model, self._data)
        boxes = self._boxes()
        self._least = [box[0].min() for box in boxes]
        joint = robot.model.joint(arms.chin_joint).id
        anchor = self._in_torso(self._data.xanchor[joint][:, None])
        self._highest = float(anchor[2, 0]) + arms.chin_height

    def allows(self, left: np.ndarray) -> bool:
        """Return whether both hands are within limits.

        Args:
            left: Joint positions of the left arm, rad. The right arm mirrors them.
        """
        self._data.qpos[self._left] = left
        self._data.qpos[self._right] = left * self._arms.mirror
        mujoco.mj_kinematics(self._model, self._data)
        return all(
            box[0].min() >= least and box[2].max() <= self._highest
            for box, least in zip(self._boxes(), self._least, strict=True)
        )

    def _boxes(self) -> list[np.ndarray]:
        """Corners of the hands' boxes in the torso's frame, each of shape (3, 8)."""
        data = self._data
        return [
            self._in_torso(
                data.xpos[body][:, None] + data.xmat[body].reshape(3, 3) @ corners
            )
            for body, corners in zip(self._hands, self._corners, strict=True)
        ]

    def _in_torso(self, points: np.ndarray) -> np.ndarray:
        turned = self._data.xmat[self._torso].reshape(3, 3)
        return turned.T @ (points - self._data.xpos[self._torso][:, None])
