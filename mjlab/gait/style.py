"""Style distance of two motions: how far their joint movements are apart."""

import numpy as np

Array = np.ndarray

WINDOW = 0.2
"""Duration of the compared windows, s."""


def style_distance(one: Array, other: Array, fps: float) -> float:
    """Return the style distance of two motions in rad, 0 for equal movements.

    Windows of 0.2 s are compared by the root mean square difference of their joint
    positions, d(t, k) for the windows that begin at t in `one` and at k in `other`. The
    distance is the mean of two means: of min over k of d(t, k) over t, and of min over
    t of d(t, k) over k. Hence it depends neither on phase nor on duration, and a robot
    that repeats a single pose of the other motion is not near to it.

    Args:
        one: Joint positions, rad, shape (frames, joints).
        other: Joint positions of the same joints, rad, shape (frames, joints).
        fps: Frames per second of both.
    """
    size = round(WINDOW * fps)
    for name, motion in (("one", one), ("other", other)):
        if len(motion) < size:
            raise ValueError(
                f"`{name}` has {len(motion)} frames; a window has {size} at {fps:g} "
                "frames per second."
            )
    first, second = _windows(one, size), _windows(other, size)
    squares = np.square(first).sum(1)[:, None] + np.square(second).sum(1)[None]
    # Rounding can make the difference of equal windows slightly negative.
    squares = np.maximum(squares - 2.0 * first @ second.T, 0.0)
    distances = np.sqrt(squares / first.shape[1])
    return float(0.5 * (distances.min(1).mean() + distances.min(0).mean()))


def _windows(motion: Array, size: int) -> Array:
    """Return all windows of a motion, shape (windows, size * joints)."""
    views = np.lib.stride_tricks.sliding_window_view(motion, size, axis=0)
    return views.reshape(len(views), -1).astype(np.float64)
