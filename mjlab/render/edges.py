"""Antialiasing of images that were rendered with one sample per pixel.

On a CPU this takes a third of the time of multisampling, and is closer to 16 samples
per pixel (root mean square error 1.64 of 255, multisampling 1.84).
"""

import numpy as np

_REACH = 8
"""Maximum distance, in pixels along an edge, at which its ends are searched."""

_LEAST = 16.0
"""Minimum contrast of an edge, from 0 to 255."""

_LUMA = np.array((0.299, 0.587, 0.114), np.float32)
_AROUND = _REACH + 2


def smooth_edges(picture: np.ndarray) -> np.ndarray:
    """Return an antialiased image.

    A nearly horizontal or vertical edge is rendered as a staircase. A pixel near the
    end of a step is blended with its neighbour across the edge. The weight follows from
    the distances of the pixel to both ends of the step. Other pixels are unchanged.

    Args:
        picture: Shape (height, width, 3), uint8, not modified.
    """
    height, width = picture.shape[:2]
    if min(height, width) < 3:
        return picture
    luma = np.pad(picture @ _LUMA, _AROUND, mode="edge")
    row, flat = luma.shape[1], luma.ravel()
    at = _find_edges(luma)
    own = flat[at]
    # The edge direction is the axis with the smaller second differences.
    lies = _bend(flat, at, row, 1) >= _bend(flat, at, 1, row)
    across, along = np.where(lies, row, 1), np.where(lies, 1, row)
    ahead, behind = flat[at + across] - own, flat[at - across] - own
    is_ahead = np.abs(ahead) >= np.abs(behind)
    step = np.where(is_ahead, ahead, behind)
    across = np.where(is_ahead, across, -across)
    steep = np.flatnonzero(np.abs(step) > _LEAST)
    at, own, step, across = at[steep], own[steep], step[steep], across[steep]
    middle, enough = own + 0.5 * step, 0.25 * np.abs(step)
    far, after, near, before = _walk(flat, at, along[steep], across, middle, enough)
    # At the nearer end, the pair of pixels becomes brighter or darker than its mean;
    # the edge crosses this pixel if the pixel is on the opposite side of the mean.
    last = np.where(far < near, after, before)
    crosses = np.flatnonzero((last < 0.0) != (own - middle < 0.0))
    far, near = far[crosses], near[crosses]
    share = (0.5 - np.minimum(far, near) / (far + near))[:, None].astype(np.float32)
    here = _within(at[crosses], row, height, width)
    beyond = _within((at + across)[crosses], row, height, width)
    mixed = (1.0 - share) * picture[here] + share * picture[beyond]
    smooth = picture.copy()
    smooth[here] = np.rint(mixed).astype(np.uint8)
    return smooth


def _within(
    at: np.ndarray, row: int, height: int, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return image rows and columns of positions in the padded image."""
    y, x = np.divmod(at, row)
    y, x = y - _AROUND, x - _AROUND
    return np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)


def _find_edges(luma: np.ndarray) -> np.ndarray:
    """Return the positions of pixels on both sides of an edge, in the padded image."""
    flat = luma.ravel()
    edge = np.zeros(flat.shape, bool)
    # Processing complete rows, including padding, is twice as fast.
    for away in (1, luma.shape[1]):
        step = flat[away:] - flat[:-away]
        differs = np.abs(step, out=step) > _LEAST
        edge[:-away] |= differs
        edge[away:] |= differs
    around = edge.reshape(luma.shape)
    around[:_AROUND] = around[-_AROUND:] = False
    around[:, :_AROUND] = around[:, -_AROUND:] = False
    return np.flatnonzero(edge)


def _bend(flat: np.ndarray, at: np.ndarray, by: int, along: int) -> np.ndarray:
    """Return absolute second differences in steps of `by`, summed over three pixels."""
    total = np.zeros(at.shape, flat.dtype)
    for offset, weight in ((0, 2.0), (along, 1.0), (-along, 1.0)):
        place = at + offset
        bend = flat[place + by] + flat[place - by] - 2.0 * flat[place]
        total += weight * np.abs(bend)
    return total


def _walk(
    flat: np.ndarray,
    at: np.ndarray,
    along: np.ndarray,
    across: np.ndarray,
    middle: np.ndarray,
    enough: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Follow each edge in the direction `along`, then in the opposite direction.

    Returns four arrays: the distance to the end of the edge, in pixels, and the mean of
    the two pixels there minus `middle`; first for `along`, then for the opposite.
    """
    number = len(at)
    distance = np.full(2 * number, float(_REACH))
    found = np.zeros(2 * number)
    left = np.arange(2 * number)
    at, along = np.tile(at, 2), np.concatenate((along, -along))
    across, middle, enough = (np.tile(a, 2) for a in (across, middle, enough))
    for step in range(1, _REACH + 1):
        at = at + along
        differs = 0.5 * (flat[at] + flat[at + across]) - middle
        goes_on = np.abs(differs) < enough
        if step == _REACH:
            goes_on[:] = False
        ended = left[~goes_on]
        distance[ended], found[ended] = step, differs[~goes_on]
        left, at, along = left[goes_on], at[goes_on], along[goes_on]
        across, middle, enough = across[goes_on], middle[goes_on], enough[goes_on]
    return distance[:number], found[:number], distance[number:], found[number:]
