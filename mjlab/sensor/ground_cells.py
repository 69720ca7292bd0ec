"""Grid cells of a ground map, with the solids that can form the surface in each."""

import math
from typing import NamedTuple

import numpy as np

_FINEST_CELL = 0.1
"""Width of the map's cells, m; wider if the map would exceed `_MOST_CELLS` cells."""

_MOST_CELLS = 1e6
_MARGIN = 1e-6
"""Margin around each geom, m, so that rounding does not drop it from a cell."""


class Solid(NamedTuple):
    """An upright box, height field or bounded plane of the map."""

    geom: int
    center: tuple[float, float]
    turn: tuple[float, float]
    """Cosine and sine of the rotation about z."""
    half: tuple[float, float]
    lowest: float
    highest: float
    """Lowest and highest point of the upper surface, z in the world, m."""

    def half_extent(self) -> np.ndarray:
        """Half extents of the footprint along the world axes, m, shape (2,)."""
        cos, sin = np.abs(self.turn)
        return np.array([[cos, sin], [sin, cos]]) @ self.half

    @property
    def is_aligned(self) -> bool:
        """True if the sides are parallel to the world axes."""
        return min(np.abs(self.turn)) == 0.0


# Solids that can be the ground in a cell: (index, whether it covers the whole cell).
Stack = tuple[tuple[int, bool], ...]


class Cells:
    """Grid cells of the map, with the solids that can form the surface in each."""

    def __init__(self, solids: list[Solid], level: float) -> None:
        """Sort the solids into cells. Cells with the same solids share one stack.

        Args:
            solids: All solids of the map.
            level: Height of the ground outside all solids, m.
        """
        centers = np.array([s.center for s in solids]).reshape(-1, 2)
        halves = np.array([s.half_extent() for s in solids]).reshape(-1, 2) + _MARGIN
        low, high = centers - halves, centers + halves
        self._start = low.min(axis=0) if solids else np.zeros(2)
        size = high.max(axis=0) - self._start if solids else np.zeros(2)
        self._width = max(_FINEST_CELL, math.sqrt(size.prod() / _MOST_CELLS))
        shape = (size / self._width).astype(int) + 1
        # Stack index of each cell; the last column and row are for points outside.
        self._stack = np.zeros(shape + 1, np.int32)
        stacks: dict[Stack, int] = {(): 0}
        for index, solid in enumerate(solids):
            first, last = (
                ((corner[index] - self._start) / self._width).astype(int)
                for corner in (low, high)
            )
            area = self._stack[first[0] : last[0] + 1, first[1] : last[1] + 1]
            covered = self._covered(solid, first, area.shape)
            self._add(index, area, covered, stacks)
        kept = [_highest(stack, solids, level) for stack in stacks]
        simple = [_is_simple(stack, solids) for stack in kept]
        self.is_mixed = ~np.array(simple)
        """True for stacks whose solids have to be compared."""
        self.alone = np.array([s[0][0] if s else -1 for s in kept], np.int32)
        """The single solid of each stack that is not mixed, -1 for the empty stack."""
        deepest = max(len(stack) for stack in kept)
        self.columns = [
            np.array([s[i][0] if i < len(s) else -1 for s in kept], np.int32)
            for i in range(deepest)
        ]
        """Entry i holds solid i of each stack, or -1 for shorter stacks."""

    def stacks_at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the stack index at each point (x, y); 0 is the empty stack."""
        column, row = (self._index(values, axis) for axis, values in enumerate((x, y)))
        return self._stack[column, row]

    def _index(self, values: np.ndarray, axis: int) -> np.ndarray:
        outside = self._stack.shape[axis] - 1
        place = (values - self._start[axis]) / self._width
        # NaN counts as outside.
        place = np.where((place >= 0.0) & (place < outside), place, outside)
        return place.astype(np.int32)

    def _covered(
        self, solid: Solid, first: np.ndarray, shape: tuple[int, ...]
    ) -> np.ndarray:
        """Mask of the area's cells that a solid covers entirely, (columns, rows)."""
        if not solid.is_aligned:
            return np.zeros(shape, bool)
        sides = []
        for axis in range(2):
            start = (
                self._start[axis] + (first[axis] + np.arange(shape[axis])) * self._width
            )
            reach = solid.half_extent()[axis] - _MARGIN
            from_center = start - solid.center[axis]
            sides.append((from_center >= -reach) & (from_center + self._width <= reach))
        return sides[0][:, None] & sides[1][None, :]

    @staticmethod
    def _add(
        index: int,
        area: np.ndarray,
        covered: np.ndarray,
        stacks: dict[Stack, int],
    ) -> None:
        """Add a solid to the stacks of all cells of an area."""
        known = list(stacks)
        kinds, kind_of_cell = np.unique(2 * area + covered, return_inverse=True)
        new = [
            stacks.setdefault((*known[kind // 2], (index, bool(kind % 2))), len(stacks))
            for kind in kinds.tolist()
        ]
        area[...] = np.array(new, np.int32)[kind_of_cell].reshape(area.shape)


def _highest(stack: Stack, solids: list[Solid], level: float) -> Stack:
    """Keep the solids of a stack that can be the highest somewhere in its cells."""
    covering = [solids[index].lowest for index, is_covered in stack if is_covered]
    floor = max(level, *covering, -math.inf)
    return tuple(entry for entry in stack if solids[entry[0]].highest >= floor)


def _is_simple(stack: Stack, solids: list[Solid]) -> bool:
    """True if a stack is empty, or is one flat solid that covers its cells."""
    if len(stack) != 1:
        return not stack
    ((index, is_covered),) = stack
    return is_covered and solids[index].lowest == solids[index].highest
