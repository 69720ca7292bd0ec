"""Inverse kinematics: joint positions that move a frame to the policy's target.

Every physics step makes one damped least-squares step, as in training.
"""

import importlib
from typing import Any

import numpy as np


class Reach:
    """Inverse kinematics of one frame: joint positions that move it to a target."""

    def __init__(self, robot: Any, term: dict[str, Any]) -> None:
        """Look up frame and joints.

        Args:
            robot: A `MujocoRobot`.
            term: The action term's entry in the contract.
        """
        self._mj, self._how = importlib.import_module("mujoco"), term["reach"]
        self._model, self._data = robot.model, robot.data
        ((kind, name),) = self._how["frame"].items()
        self._kind, self._id = kind, robot.find(kind, name)
        owner = getattr(robot.model, f"{kind}_bodyid", None)
        self._body = self._id if owner is None else int(owner[self._id])
        self._base = robot.find("body", self._how["base"])
        joints = [robot.joint(robot.entity["prefix"] + n) for n in term["targets"]]
        self._places, self._dofs = (list(each) for each in zip(*joints, strict=True))
        pairs = self._how["limits"]
        self._low = np.array([-np.inf if low is None else low for low, _ in pairs])
        self._high = np.array([np.inf if high is None else high for _, high in pairs])
        self._seen, self._goal = np.zeros(len(joints)), np.zeros(3)
        self._goal_quat = np.array([1.0, 0.0, 0.0, 0.0])

    def aim(self, command: np.ndarray) -> None:
        """Set the target of a control period from an absolute or relative command."""
        command = np.asarray(command, float)
        place, quat = self._pose()
        in_base = self._how["command_frame"] == "base"
        origin, axes = np.zeros(3), np.eye(3)
        if in_base:
            origin = self._data.xpos[self._base]
            axes = self._data.xmat[self._base].reshape(3, 3)
        if not self._how["is_relative"]:
            self._goal = origin + axes @ command[:3]
            if len(command) > 3:
                self._goal_quat = command[3:] / max(np.linalg.norm(command[3:]), 1e-9)
            if len(command) > 3 and in_base:
                base_quat = self._data.xquat[self._base]
                self._goal_quat = self._product(base_quat, self._goal_quat)
        else:
            self._goal = place + axes @ command[:3]
            if len(command) > 3:
                self._goal_quat = self._product(self._turned(axes @ command[3:]), quat)
        self._seen = self._data.qpos[self._places]

    def targets(self) -> np.ndarray:
        """Return joint positions for the next physics step, shape (joints,)."""
        how, seen = self._how, self._seen
        step = self._step(np.zeros(len(seen), bool), np.zeros(len(seen)))
        for _ in range(how["limit_rounds"]):
            target = seen + step
            kept = np.clip(target, self._low, self._high)
            step = self._step(kept != target, kept - seen)
        longest, most = np.abs(step).max(), how["max_joint_step"]
        step = step * (most / max(longest, most))
        # `mj_step` integrates last: after it, frame poses belong to these positions.
        self._seen = self._data.qpos[self._places]
        return np.clip(seen + step, self._low, self._high)

    def _step(self, held: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return a damped least-squares joint step; `held` joints move by `values`."""
        jacobian, error = self._system()
        values = np.where(held, values, 0.0)
        error = error - jacobian @ values
        free = np.where(held, 0.0, jacobian)
        away = np.array(self._how["posture"]) - self._seen
        pull = np.where(held, 0.0, self._how["posture_weight"] * away)
        normal = free @ free.T + self._how["damping"] ** 2 * np.eye(len(error))
        return free.T @ np.linalg.solve(normal, error - free @ pull) + pull + values

    def _system(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the Jacobian and the pose error of the frame, both weighted."""
        place, quat = self._pose()
        position, rotation = np.zeros((2, 3, self._model.nv))
        self._mj.mj_jac(self._model, self._data, position, rotation, place, self._body)
        weights = np.repeat(self._how["weights"], 3)
        jacobian = np.concatenate((position, rotation))[:, self._dofs]
        turn, matrix = np.zeros(3), np.zeros(9)
        self._mj.mju_subQuat(turn, self._goal_quat, quat)
        self._mj.mju_quat2Mat(matrix, quat)
        error = np.concatenate((self._goal - place, matrix.reshape(3, 3) @ turn))
        size = 3 if self._how["position_only"] else 6
        weights, jacobian, error = weights[:size], jacobian[:size], error[:size]
        return weights[:, None] * jacobian, weights * error

    def _pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the frame's position (m) and quaternion (wxyz) in the world."""
        if self._kind == "body":
            return self._data.xpos[self._id].copy(), self._data.xquat[self._id].copy()
        places = getattr(self._data, f"{self._kind}_xpos")
        own = getattr(self._model, f"{self._kind}_quat")[self._id]
        return places[self._id].copy(), self._product(self._data.xquat[self._body], own)

    def _product(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        found = np.zeros(4)
        self._mj.mju_mulQuat(found, left, right)
        return found

    def _turned(self, vector: np.ndarray) -> np.ndarray:
        """Convert a rotation vector (rad) to a quaternion (wxyz)."""
        angle, found = float(np.linalg.norm(vector)), np.zeros(4)
        self._mj.mju_axisAngle2Quat(found, vector / max(angle, 1e-12), angle)
        return found
