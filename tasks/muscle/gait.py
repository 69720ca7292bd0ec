"""Mean gait of healthy adults, as reference curves for imitation.

The points follow curves common to textbooks of gait analysis, rounded to degrees; a few
harmonics interpolate them.
"""

from __future__ import annotations

import math
import re
from functools import cache

import mujoco
import numpy as np
import torch

HARMONICS = 4
CURVES: dict[str, dict[int, float]] = {
    "hip": {
        0: 25, 8: 23, 20: 13, 30: 3, 40: -6, 50: -11, 60: -4, 70: 12, 80: 23, 90: 28,
    },
    "knee": {
        0: -5, 7: -13, 14: -18, 25: -13, 40: -6, 50: -13, 60: -36, 72: -61, 84: -40,
        94: -9,
    },
    "ankle": {
        0: 0, 7: -6, 16: 1, 30: 6, 44: 10, 53: 0, 62: -16, 70: -8, 80: 1, 90: 2,
    },
}  # fmt: skip
"""By joint: flexion in degrees at percentages of the gait cycle, from one heel strike
of the leg to the next. As in the model, knee flexion is negative and ankle dorsiflexion
positive."""

MOVED = {
    "hip": r"(.*/)?hip(_flexion)?_[rl]",
    "knee": r"(.*/)?knee_[rl]",
    "ankle": r"(.*/)?ankle_[rl]",
}
"""Joint name patterns, by the curve that the joints follow."""

SPEED = 1.25
"""Walking speed of the curves, in m/s."""
STRIDE_S = 1.1
"""Duration of the gait cycle at the walking speed of the curves, in s."""
STRIDE_EXPONENT = 0.45
"""Exponent: stride frequency is proportional to speed to this power. Stride length
accounts for the rest of a speed change."""
NUM_PHASES = 120


def stride_frequency(speed: torch.Tensor) -> torch.Tensor:
    """Return the stride frequency at a walking speed in m/s, in Hz."""
    return (speed / SPEED) ** STRIDE_EXPONENT / STRIDE_S


@cache
def harmonics(joint: str) -> np.ndarray:
    """Fit a mean, cosines and sines to the piecewise linear curve of a joint."""
    points = CURVES[joint]
    percent = np.arange(100)
    values = np.interp(percent, list(points), list(points.values()), period=100)
    return np.linalg.lstsq(_basis(percent / 100.0), values, None)[0]


def angle(joint: str, phase: np.ndarray) -> np.ndarray:
    """Return a joint's angle in rad at phases from 0 to 1."""
    return np.deg2rad(_basis(phase) @ harmonics(joint))


def pose_table(model: mujoco.MjModel, joints: tuple[str, ...]) -> torch.Tensor:
    """Return joint positions at `NUM_PHASES` phases, shape (phases, joints), in rad.

    The left leg is half a cycle behind the right one. Other joints are at 0.

    Args:
        model: A model with these joints, whose ranges limit the angles.
        joints: Names such as "robot/hip_r".
    """
    phase = np.arange(NUM_PHASES) / NUM_PHASES
    columns = []
    for name in joints:
        kind = next((k for k, names in MOVED.items() if re.fullmatch(names, name)), "")
        is_behind = name.endswith("_l")
        column = angle(kind, phase + 0.5 * is_behind) if kind else 0.0 * phase
        columns.append(np.clip(column, *model.joint(name).range))
    return torch.from_numpy(np.stack(columns, axis=1)).float()


def ground_heights(
    model: mujoco.MjModel, joints: tuple[str, ...], poses: torch.Tensor
) -> torch.Tensor:
    """Return the rise of the root that puts the lowest sole at z = 0, by phase, in m.

    Args:
        model: The model. Its soles are the colliding spheres and capsules of moving
            bodies.
        joints: The joints of the poses.
        poses: Shape (phases, joints), in rad.
    """
    data = mujoco.MjData(model)
    addresses = [int(model.joint(name).qposadr[0]) for name in joints]
    soles = [g for g in range(model.ngeom) if _is_sole(model, g)]
    heights = []
    for pose in poses.numpy():
        data.qpos[addresses] = pose
        mujoco.mj_kinematics(model, data)
        heights.append(-min(_lowest(model, data, geom) for geom in soles))
    return torch.tensor(heights, dtype=torch.float32)


def _basis(phase: np.ndarray) -> np.ndarray:
    turns = 2.0 * math.pi * np.outer(phase, np.arange(1, HARMONICS + 1))
    ones = np.ones((len(phase), 1))
    return np.concatenate((ones, np.cos(turns), np.sin(turns)), axis=1)


def _is_sole(model: mujoco.MjModel, geom: int) -> bool:
    kinds = (int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_CAPSULE))
    touches = bool(model.geom_conaffinity[geom]) or bool(model.geom_contype[geom])
    is_moving = int(model.geom_bodyid[geom]) != 0
    return touches and is_moving and int(model.geom_type[geom]) in kinds


def _lowest(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> float:
    """Return the height of the lowest point of a sphere or capsule."""
    radius, half = float(model.geom_size[geom, 0]), float(model.geom_size[geom, 1])
    tilt = abs(float(data.geom_xmat[geom, 8]))
    return float(data.geom_xpos[geom, 2]) - radius - half * tilt
