"""Pictures of several worlds as one."""

import math
from collections.abc import Sequence

import numpy as np


def shape_of(number: int, columns: int | None = None) -> tuple[int, int]:
    """Rows and columns of a grid of `number` pictures, as square as it can be."""
    if number < 1:
        raise ValueError(f"A grid of {number} pictures shows nothing.")
    if columns is None:
        columns = math.ceil(math.sqrt(number))
    if columns < 1:
        raise ValueError(f"columns={columns} has to be 1 or more.")
    return math.ceil(number / columns), columns


def tile(
    frames: Sequence[np.ndarray],
    *,
    columns: int | None = None,
    gap: int = 2,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Put pictures of one size side by side, row by row; places left over are black.

    Args:
        frames: Pictures, each of shape (height, width, 3), uint8.
        columns: Pictures in a row. None makes the grid as square as it can be.
        gap: Pixels between pictures.
        out: Where to put them, of the right shape. None makes a new array.
    """
    rows, columns = shape_of(len(frames), columns)
    height, width = frames[0].shape[:2]
    size = (rows * (height + gap) - gap, columns * (width + gap) - gap, 3)
    picture = np.zeros(size, np.uint8) if out is None else out
    if picture.shape != size:
        raise ValueError(f"out has shape {picture.shape}; it has to be {size}.")
    picture[...] = 0
    for index, frame in enumerate(frames):
        row, column = divmod(index, columns)
        top, left = row * (height + gap), column * (width + gap)
        picture[top : top + height, left : left + width] = frame
    return picture
