"""Tiles of terrain: solid blocks, or one height field.

The origin of the tile frame is at the centre of the tile, x and y run along its sides,
and z = 0 is the height at which neighbouring tiles meet. Everything below a tile's
surface is solid, so there is no gap between neighbours of different heights.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Size = tuple[float, float]
"""Two lengths, along x and y, in metres."""

# Heights that differ by less count as equal.
SAME_HEIGHT = 1e-9


class TerrainBlock(NamedTuple):
    """Upright box in the tile frame, m, from its top down to `bottom` or the ground."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float
    top: float
    bottom: float = -np.inf
    yaw: float = 0.0
    """Rotation about the block's vertical axis, rad. Other fields describe yaw 0."""

    @property
    def centre(self) -> tuple[float, float]:
        """Position of the block's vertical axis along x and y, m."""
        return (self.x_min + self.x_max) / 2, (self.y_min + self.y_max) / 2

    @property
    def half_extent(self) -> Size:
        """Half extents of the rotated block along the tile's axes, m."""
        x, y = (self.x_max - self.x_min) / 2, (self.y_max - self.y_min) / 2
        if self.yaw == 0.0:
            return x, y
        cos, sin = abs(np.cos(self.yaw)), abs(np.sin(self.yaw))
        return float(cos * x + sin * y), float(sin * x + cos * y)

    def contains(self, x: np.ndarray | float, y: np.ndarray | float) -> np.ndarray:
        """Return True for points on the block's footprint, in the tile frame."""
        if self.yaw != 0.0:
            centre_x, centre_y = self.centre
            cos, sin = np.cos(self.yaw), np.sin(self.yaw)
            x, y = x - centre_x, y - centre_y
            x, y = centre_x + cos * x + sin * y, centre_y + cos * y - sin * x
        along_x = (self.x_min <= x) & (x <= self.x_max)
        return np.asarray(along_x & (self.y_min <= y) & (y <= self.y_max))

    def covers(self, other: "TerrainBlock") -> bool:
        """Return True if this block hides the whole surface of `other`."""
        if self.yaw != 0.0:
            return False
        (x, y), (half_x, half_y) = other.centre, other.half_extent
        return (
            self.x_min <= x - half_x + SAME_HEIGHT
            and self.x_max >= x + half_x - SAME_HEIGHT
            and self.y_min <= y - half_y + SAME_HEIGHT
            and self.y_max >= y + half_y - SAME_HEIGHT
            and self.top >= other.top - SAME_HEIGHT
        )


@dataclass(frozen=True, kw_only=True)
class Tile:
    """Surface of one tile: at each point, the top of the highest block or height field.

    Created by `block_tile` and `height_field_tile`.
    """

    size: Size
    """Extent along x and y, m."""

    blocks: tuple[TerrainBlock, ...] = ()
    """Blocks of a tile made of blocks; empty for a height field."""

    heights: np.ndarray | None = None
    """Heights at the vertices of a height field, shape (ny, nx), tile frame, m. The
    vertices divide the whole tile into equal cells, from the lowest x and y on."""

    @property
    def height_range(self) -> tuple[float, float]:
        """Lowest and highest surface height, tile frame, m."""
        tops = [block.top for block in self.blocks]
        values = np.array(tops) if self.heights is None else self.heights
        return float(values.min()), float(values.max())

    def height_at(self, x: float, y: float) -> float:
        """Return the surface height at a point of the tile frame, m."""
        if self.heights is not None:
            return _interpolate(self.heights, self.size, x, y)
        return max(block.top for block in self.blocks if block.contains(x, y))

    def raster(self, resolution: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the surface on a grid: x (nx,), y (ny,), heights (ny, nx), tile frame.

        Args:
            resolution: Largest distance between neighbouring points of a tile made of
                blocks. A height field is returned at its vertices, which define it
                exactly.
        """
        if self.heights is not None:
            rows, columns = self.heights.shape
            x = np.linspace(-self.size[0] / 2, self.size[0] / 2, columns)
            y = np.linspace(-self.size[1] / 2, self.size[1] / 2, rows)
            return x, y, self.heights
        x, y = (
            np.linspace(-extent / 2, extent / 2, int(np.ceil(extent / resolution)) + 1)
            for extent in self.size
        )
        heights = np.full((y.size, x.size), -np.inf)
        for block in self.blocks:
            (centre_x, centre_y), (half_x, half_y) = block.centre, block.half_extent
            rows = np.abs(y - centre_y) <= half_y
            columns = np.abs(x - centre_x) <= half_x
            inside = block.contains(x[None, columns], y[rows, None])
            seen = heights[np.ix_(rows, columns)]
            raised = np.where(inside, np.maximum(seen, block.top), seen)
            heights[np.ix_(rows, columns)] = raised
        return x, y, heights


def block_tile(size: Size, blocks: Iterable[TerrainBlock], *, floor: float) -> Tile:
    """Return a tile of blocks that stand on a floor.

    Blocks hidden by another block are dropped. Blocks of equal height (stairs at
    difficulty 0) thus become one block, and no two faces coincide.

    Args:
        size: Extent along x and y, m.
        blocks: The solids.
        floor: Height of the surface outside the blocks.
    """
    kept = [_floor_block(size, floor)]
    for block in blocks:
        if any(other.covers(block) for other in kept):
            continue
        kept = [other for other in kept if not block.covers(other)]
        kept.append(block)
    return Tile(size=size, blocks=tuple(kept))


def height_field_tile(size: Size, heights: np.ndarray) -> Tile:
    """Return a tile that is a height field, or one block if all heights are equal."""
    low, high = float(heights.min()), float(heights.max())
    if high - low < SAME_HEIGHT:
        return Tile(size=size, blocks=(_floor_block(size, low),))
    return Tile(size=size, heights=heights)


def centred_block(half: Size, top: float) -> TerrainBlock:
    """Return a block with half extents `half` at the tile's centre."""
    return TerrainBlock(-half[0], half[0], -half[1], half[1], top)


def ring(outer: Size, inner: Size, top: float) -> list[TerrainBlock]:
    """Return the four blocks between two centred rectangles, given by half extents."""
    (ox, oy), (ix, iy) = outer, inner
    sides = [
        TerrainBlock(-ox, ox, iy, oy, top),
        TerrainBlock(-ox, ox, -oy, -iy, top),
        TerrainBlock(-ox, -ix, -iy, iy, top),
        TerrainBlock(ix, ox, -iy, iy, top),
    ]
    return [b for b in sides if min(b.x_max - b.x_min, b.y_max - b.y_min) > SAME_HEIGHT]


def merged_cells(
    x_edges: np.ndarray, y_edges: np.ndarray, heights: np.ndarray
) -> list[TerrainBlock]:
    """Return a small set of blocks whose surface is a grid of cells of given heights.

    Blocks reach down to the ground, so a low block can extend beneath a higher cell,
    which saves most of the blocks. Blocks of equal height never overlap.

    Args:
        x_edges: Ascending borders of the columns, shape (nx + 1,).
        y_edges: Ascending borders of the rows, shape (ny + 1,).
        heights: Height of each cell, shape (ny, nx).
    """
    blocks = []
    for level in np.unique(heights):
        open_cells = heights >= level
        wanted = heights == level
        while wanted.any():
            row, column = np.argwhere(wanted)[0]
            rows, columns = _grown(open_cells, wanted, int(row), int(column))
            open_cells[rows, columns] = False
            wanted[rows, columns] = False
            x_min, x_max = x_edges[[columns.start, columns.stop]].tolist()
            y_min, y_max = y_edges[[rows.start, rows.stop]].tolist()
            blocks.append(TerrainBlock(x_min, x_max, y_min, y_max, float(level)))
    return blocks


def _grown(
    open_cells: np.ndarray, wanted: np.ndarray, row: int, column: int
) -> tuple[slice, slice]:
    """Grow a rectangle of open cells from one cell to cover the most wanted cells."""
    best, best_gain = (slice(row, row + 1), slice(column, column + 1)), 0
    limit = open_cells.shape[1]
    for stop_row in range(row + 1, open_cells.shape[0] + 1):
        line = open_cells[stop_row - 1, column:limit]
        free = int(np.argmin(line)) if not line.all() else line.size
        if free == 0:
            break
        limit = column + free
        area = (slice(row, stop_row), slice(column, limit))
        gain = int(wanted[area].sum())
        if gain > best_gain:
            best, best_gain = area, gain
    return best


def _floor_block(size: Size, top: float) -> TerrainBlock:
    return centred_block((size[0] / 2, size[1] / 2), top)


def _interpolate(heights: np.ndarray, size: Size, x: float, y: float) -> float:
    """Return the height between vertices, on the triangles that MuJoCo uses.

    MuJoCo splits a cell along the diagonal from its lowest x and y to its highest.
    """
    cells = np.array(heights.shape[::-1]) - 1
    place = (np.array([x, y]) / size + 0.5) * cells
    column, row = np.clip(place.astype(int), 0, cells - 1)
    u, v = place - (column, row)
    low, high = heights[row, column], heights[row + 1, column + 1]
    if u >= v:
        corner = heights[row, column + 1]
        return float(low + u * (corner - low) + v * (high - corner))
    corner = heights[row + 1, column]
    return float(low + v * (corner - low) + u * (high - corner))
