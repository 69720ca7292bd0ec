"""Angles and rotations of many runs."""

import numpy as np


def wrap(angle: np.ndarray) -> np.ndarray:
    """Angle in (-pi, pi]."""
    return np.pi - np.mod(np.pi - angle, 2.0 * np.pi)


def yaw_of(quat: np.ndarray) -> np.ndarray:
    """Yaw of quaternions wxyz, rad, shape (runs,)."""
    w, x, y, z = quat.T
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def matrices(quat: np.ndarray) -> np.ndarray:
    """Rotation matrices of quaternions wxyz, shape (runs, 3, 3)."""
    w, x, y, z = quat.T
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return np.moveaxis(np.array(rows), 2, 0)
