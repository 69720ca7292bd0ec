"""Operations on angles and quaternions, batched over runs."""

import numpy as np


def wrap(angle: np.ndarray) -> np.ndarray:
    """Wrap an angle to (-pi, pi], rad."""
    return np.pi - np.mod(np.pi - angle, 2.0 * np.pi)


def yaw_of(quat: np.ndarray) -> np.ndarray:
    """Return the yaw of wxyz quaternions, rad, shape (runs,)."""
    w, x, y, z = quat.T
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def matrices(quat: np.ndarray) -> np.ndarray:
    """Convert wxyz quaternions to rotation matrices, shape (runs, 3, 3)."""
    w, x, y, z = quat.T
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return np.moveaxis(np.array(rows), 2, 0)
