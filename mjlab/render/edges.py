"""Smooth edges for pictures that were drawn with one sample a pixel."""

import numpy as np

_REACH = 8
"""Pixels along an edge, in both directions, in which its ends are looked for."""

_LEAST = 16.0
"""Contrast from which on neighbours are an edge, of 255."""

_LUMA = np.array((0.299, 0.587, 0.114), np.float32)


def smooth_edges(picture: np.ndarray) -> np.ndarray:
    """Return a picture whose steps along edges are ramps.

    An edge that is nearly horizontal or vertical is drawn as a staircase. The length of
    a stair tells where the edge crosses a pixel, and so how much of what lies beyond it
    belongs to the pixel. Pixels without an edge stay as they are.

    Args:
        picture: Shape (height, width, 3), uint8, which is not written to.
    """
    height, width = picture.shape[:2]
    if min(height, width) < 3:
        return picture
    luma = np.pad(picture @ _LUMA, _REACH + 2, mode="edge")
    row = luma.shape[1]
    flat = luma.ravel()
    inside = luma[_REACH + 2 : -_REACH - 2, _REACH + 2 : -_REACH - 2]
    # An edge lies between a pixel and its neighbour; both are changed.
    edge = np.zeros((height, width), bool)
    for axis in (0, 1):
        step = np.abs(np.diff(inside, axis=axis)) > _LEAST
        low, high = [slice(None)] * 2, [slice(None)] * 2
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        edge[tuple(low)] |= step
        edge[tuple(high)] |= step
    y, x = np.nonzero(edge)
    at = (y + _REACH + 2) * row + x + _REACH + 2
    own = flat[at]
    # Second differences say along which axis the picture changes less.
    bend = [
        sum(
            weight * np.abs(flat[at + o + by] + flat[at + o - by] - 2.0 * flat[at + o])
            for o, weight in ((0, 2.0), (along, 1.0), (-along, 1.0))
        )
        for by, along in ((row, 1), (1, row))
    ]
    lies = bend[0] >= bend[1]
    across, along = np.where(lies, row, 1), np.where(lies, 1, row)
    ahead, behind = flat[at + across] - own, flat[at - across] - own
    side = np.where(np.abs(ahead) >= np.abs(behind), 1, -1)
    step = np.where(side > 0, ahead, behind)
    across = across * side
    middle, enough = own + 0.5 * step, 0.25 * np.abs(step)
    ends = [_walk(flat, at, sign * along, across, middle, enough) for sign in (1, -1)]
    (far, after), (near, before) = ends
    length = far + near
    nearer, last = np.minimum(far, near), np.where(far < near, after, before)
    # Beyond the nearer end the pair of pixels is brighter or darker than their middle;
    # the edge crosses this pixel where the pixel itself is on the other side.
    crosses = (last < 0.0) != (own - middle < 0.0)
    share = np.where(crosses, 0.5 - nearer / length, 0.0)
    share = np.where(np.abs(step) > _LEAST, share, 0.0)[:, None].astype(np.float32)
    beyond_y = np.clip(y + np.where(lies, side, 0), 0, height - 1)
    beyond_x = np.clip(x + np.where(lies, 0, side), 0, width - 1)
    smooth = picture.copy()
    mixed = (1.0 - share) * picture[y, x] + share * picture[beyond_y, beyond_x]
    smooth[y, x] = np.rint(mixed).astype(np.uint8)
    return smooth


def _walk(
    flat: np.ndarray,
    at: np.ndarray,
    along: np.ndarray,
    across: np.ndarray,
    middle: np.ndarray,
    enough: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far an edge goes on, and by how much the pair differs at its end."""
    distance = np.full(at.shape, float(_REACH))
    found = np.zeros(at.shape)
    left = np.arange(len(at))
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
    return distance, found
