"""Prioritised inverse kinematics by damped least squares.

Each layer is solved in the null space of the layers above it, so that arm goals, for
example, do not move a foot on the ground. mink is not used, because it has only two
priorities, equality constraints and weighted tasks. Weights that separate four layers
make mink's quadratic program ill-conditioned, and constraints out of reach have no
solution.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

_RANK = 1e-3
"""Singular values below this are treated as zero."""


@dataclass(frozen=True)
class Rows:
    """Errors of a goal, with the Jacobian of the goal's quantities."""

    jacobian: np.ndarray
    """Jacobian with respect to the velocities, shape (rows, nv)."""

    error: np.ndarray
    """Error to the goal, in metres and radians, shape (rows,)."""


Goal = Callable[[mujoco.MjModel, mujoco.MjData], Rows]
"""Goal of a layer, evaluated in every iteration."""


def site_pose(site: int, pos: np.ndarray, quat: np.ndarray | None) -> Goal:
    """Goal: position of a site, and its orientation unless `quat` is None."""

    def rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
        linear, angular = np.zeros((2, 3, model.nv))
        mujoco.mj_jacSite(model, data, linear, angular, site)
        missing = pos - data.site_xpos[site]
        if quat is None:
            return Rows(linear, missing)
        here = np.zeros(4)
        mujoco.mju_mat2Quat(here, data.site_xmat[site])
        turn = _rotation(quat, here)
        return Rows(np.concatenate((linear, angular)), np.concatenate((missing, turn)))

    return rows


def body_rotation(body: int, quat: np.ndarray) -> Goal:
    """Goal: orientation of a body."""

    def rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
        angular = np.zeros((3, model.nv))
        mujoco.mj_jacBody(model, data, None, angular, body)
        return Rows(angular, _rotation(quat, data.xquat[body]))

    return rows


def body_height(body: int, height: float) -> Goal:
    """Goal: height of a body, in metres."""

    def rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
        linear = np.zeros((3, model.nv))
        mujoco.mj_jacBody(model, data, linear, None, body)
        return Rows(linear[2:], np.array([height - data.xpos[body, 2]]))

    return rows


def mass_center(root: int, place: np.ndarray) -> Goal:
    """Goal: horizontal position (x, y) of a tree's centre of mass."""

    def rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
        linear = np.zeros((3, model.nv))
        mujoco.mj_jacSubtreeCom(model, data, linear, root)
        return Rows(linear[:2], place - data.subtree_com[root, :2])

    return rows


def joint_positions(joints: np.ndarray, values: np.ndarray) -> Goal:
    """Goal: positions of hinge or slide joints."""

    def rows(model: mujoco.MjModel, data: mujoco.MjData) -> Rows:
        jacobian = np.zeros((len(joints), model.nv))
        jacobian[np.arange(len(joints)), model.jnt_dofadr[joints]] = 1.0
        return Rows(jacobian, values - data.qpos[model.jnt_qposadr[joints]])

    return rows


class InverseKinematics:
    """Inverse kinematics of one model, warm-started from a nearby pose."""

    def __init__(
        self,
        model: mujoco.MjModel,
        *,
        damping: float = 0.01,
        limit_share: float = 0.98,
        most_iterations: int = 60,
        tolerance: float = 1e-7,
    ) -> None:
        """Read the limits of the joints.

        Args:
            model: The compiled model.
            damping: Damping; its square is added to squared singular values.
            limit_share: Fraction of each joint's range to use, about its middle.
            most_iterations: Iterations after which the best pose is returned.
            tolerance: Largest joint change of a converged pose.
        """
        self.model = model
        self.data = mujoco.MjData(model)
        self._damping = damping * damping
        self._most, self._tolerance = most_iterations, tolerance
        limited = np.flatnonzero(model.jnt_limited.astype(bool))
        self._dofs = model.jnt_dofadr[limited]
        self._places = model.jnt_qposadr[limited]
        first, last = model.jnt_range[limited].T
        middle, half = 0.5 * (first + last), 0.5 * limit_share * (last - first)
        self._low, self._high = middle - half, middle + half

    def solve(self, qpos: np.ndarray, layers: Sequence[Sequence[Goal]]) -> np.ndarray:
        """Return a pose near `qpos` that meets the layers, highest priority first."""
        model, data = self.model, self.data
        data.qpos[:] = qpos
        for _ in range(self._most):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            stacks = [_stack([goal(model, data) for goal in layer]) for layer in layers]
            step = self._step(stacks)
            # Far from the goal, use the Jacobian only for the direction.
            step *= min(1.0, 0.3 / max(float(np.abs(step).max()), 1e-12))
            mujoco.mj_integratePos(model, data.qpos, step, 1.0)
            if np.abs(step).max() < self._tolerance:
                break
        return data.qpos.copy()

    def _step(self, layers: Sequence[Rows]) -> np.ndarray:
        """Return a step inside the limits; joints that would exceed them are held."""
        low, high = np.full((2, self.model.nv), np.inf) * [[-1.0], [1.0]]
        low[self._dofs] = self._low - self.data.qpos[self._places]
        high[self._dofs] = self._high - self.data.qpos[self._places]
        held = np.zeros(self.model.nv, bool)
        given = np.zeros(self.model.nv)
        while True:
            step = self._descend(layers, held, given)
            beyond = ~held & ((step < low - 1e-12) | (step > high + 1e-12))
            if not beyond.any():
                return step
            given[beyond] = np.clip(step, low, high)[beyond]
            held |= beyond

    def _descend(
        self, layers: Sequence[Rows], held: np.ndarray, given: np.ndarray
    ) -> np.ndarray:
        step = np.where(held, given, 0.0)
        free = np.diag((~held).astype(float))
        for rows in layers:
            left, size, right = np.linalg.svd(rows.jacobian @ free, full_matrices=False)
            missing = rows.error - rows.jacobian @ step
            # Sugihara's damping: no chatter near goals that are out of reach.
            damping = self._damping + 0.5 * float(missing @ missing)
            gain = size / (size * size + damping)
            step = step + right.T @ (gain * (left.T @ missing))
            used = right[size > _RANK]
            free = free - used.T @ used
        return step


def _stack(parts: Sequence[Rows]) -> Rows:
    jacobian = np.concatenate([part.jacobian for part in parts])
    return Rows(jacobian, np.concatenate([part.error for part in parts]))


def _rotation(wanted: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Return the rotation vector from `here` to `wanted`, in world axes."""
    inverse, turn, vector = np.zeros(4), np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(inverse, here)
    mujoco.mju_mulQuat(turn, wanted, inverse)
    mujoco.mju_quat2Vel(vector, turn, 1.0)
    return vector
