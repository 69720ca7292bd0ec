"""Resampling of frames, and velocities by finite differences."""

import numpy as np
import torch

from mjlab.tensors.math import quat_box_minus, quat_slerp


def velocity(values: np.ndarray, fps: float) -> np.ndarray:
    """Return central differences along the frames, one-sided at both ends."""
    return np.gradient(values, 1.0 / fps, axis=0)


def angular_velocity(quats: np.ndarray, fps: float) -> np.ndarray:
    """Return angular velocities in world axes, (frames, 3), from wxyz quaternions.

    Central differences use the rotation from the previous frame to the next. The first
    and last frames repeat their neighbours' values. In a motion of two frames, both
    frames have the velocity between them.
    """
    turns = torch.from_numpy(np.ascontiguousarray(quats))
    if len(quats) == 2:
        across = quat_box_minus(turns[1:], turns[:-1]) * fps
        return across.expand(2, 3).numpy()
    inner = quat_box_minus(turns[2:], turns[:-2]) * (0.5 * fps)
    return np.concatenate((inner[:1], inner, inner[-1:]))


def resample_times(num_frames: int, fps: float, new_fps: float) -> np.ndarray:
    """Return the times of the new frames, in units of old frames, starting at 0.

    The last time is at the end of the motion, or less than one new frame before it.
    """
    step = fps / new_fps
    count = int((num_frames - 1) / step + 1e-9) + 1
    return np.minimum(np.arange(count) * step, num_frames - 1)


def sample(
    values: np.ndarray, times: np.ndarray, *, is_quat: bool = False
) -> np.ndarray:
    """Interpolate between frames, linearly or along the shorter arc of a rotation.

    Args:
        values: One row per frame.
        times: Times to sample at, in frames.
        is_quat: True for unit quaternions, shape (frames, 4).
    """
    before = np.minimum(times.astype(int), len(values) - 2)
    share = times - before
    start, end = values[before], values[before + 1]
    if not is_quat:
        return start + share.reshape(-1, *(1,) * (values.ndim - 1)) * (end - start)
    first, last = (torch.from_numpy(np.ascontiguousarray(q)) for q in (start, end))
    return quat_slerp(first, last, torch.from_numpy(share)).numpy()
