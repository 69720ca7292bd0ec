"""Terrain tiles made of blocks, with exact vertical edges."""

import numpy as np

from mjlab.terrain.checks import Fields
from mjlab.terrain.config import Rng, SubTerrainCfg, at_difficulty
from mjlab.terrain.shapes import (
    Size,
    TerrainBlock,
    Tile,
    block_tile,
    centred_block,
    merged_cells,
    ring,
)


class FlatCfg(SubTerrainCfg):
    """Flat ground at height 0."""

    def check(self, path: str, size: Size) -> None:
        """Accept every size."""

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return a flat tile."""
        del difficulty, rng  # Not used for flat ground.
        return block_tile(size, (), floor=0.0)


class StairsCfg(SubTerrainCfg):
    """Rings of steps around a platform, which is one step beyond the last ring."""

    step_height_range: tuple[float, float] = (0.0, 0.1)
    """Height of a step at difficulty 0 and 1, m, each at least 0."""

    step_width: float = 0.3
    """Depth of a step, m, above 0."""

    platform_width: float = 3.0
    """Minimum width of the central platform, m, above 0. Space left over by full
    steps is added to it."""

    border_width: float = 1.0
    """Width of the flat border, m, at least 0. At 0 the first step is at the tile's
    edge."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the platform and its border do not fit the tile."""
        fields = Fields(self, path)
        fields.range("step_height_range", at_least=0.0)
        fields.number("step_width", above=0.0)
        fields.platform(size)

    def num_rings(self, size: Size) -> int:
        """Return the number of steps between the border and the platform."""
        room = min(size) - 2 * self.border_width - self.platform_width
        return int((room + 1e-9) // (2 * self.step_width))

    def inset(self, size: Size, steps: int) -> Size:
        """Return the half extents that remain inside the border and some steps."""
        margin = self.border_width + steps * self.step_width
        return size[0] / 2 - margin, size[1] / 2 - margin


class PyramidStairsCfg(StairsCfg):
    """Stairs that lead up to a platform in the middle."""

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return stairs up. Each step is one block under all the higher ones."""
        del rng  # Stairs are deterministic.
        height = at_difficulty(self.step_height_range, difficulty)
        blocks = [
            centred_block(self.inset(size, step), (step + 1) * height)
            for step in range(self.num_rings(size) + 1)
        ]
        return block_tile(size, blocks, floor=0.0)


class InvertedPyramidStairsCfg(StairsCfg):
    """Stairs that lead down to a platform in the middle."""

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return stairs down. Each step is four blocks around the pit."""
        del rng  # Stairs are deterministic.
        height = at_difficulty(self.step_height_range, difficulty)
        rings = self.num_rings(size)
        blocks = ring((size[0] / 2, size[1] / 2), self.inset(size, 0), 0.0)
        for step in range(rings):
            outer, inner = self.inset(size, step), self.inset(size, step + 1)
            blocks += ring(outer, inner, -(step + 1) * height)
        return block_tile(size, blocks, floor=-(rings + 1) * height)


class RandomGridCfg(SubTerrainCfg):
    """Square cells of random heights around a platform at height 0."""

    grid_width: float = 0.6
    """Width of a cell, m, above 0."""

    grid_height_range: tuple[float, float] = (0.0, 0.2)
    """Largest height or depth of a cell at difficulty 0 and 1, m, each at least 0."""

    num_levels: int = 5
    """Number of different heights, evenly spaced from lowest to highest, at least 2.
    Fewer levels merge into fewer geoms."""

    platform_width: float = 1.0
    """Minimum width of the central platform, m, above 0, rounded up to whole cells."""

    border_width: float = 0.25
    """Minimum width of the flat border, m, at least 0. Space left over by whole
    cells is added to it."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the cells, the platform or the border do not fit the tile."""
        fields = Fields(self, path)
        fields.range("grid_height_range", at_least=0.0)
        fields.count("num_levels", at_least=2)
        fields.platform(size)
        room = min(size) - 2 * self.border_width
        fields.number("grid_width", above=0.0, at_most=room)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the grid, with as few blocks as `merged_cells` finds."""
        peak = at_difficulty(self.grid_height_range, difficulty)
        x_edges, y_edges = (self._edges(extent) for extent in size)
        levels = np.linspace(-peak, peak, self.num_levels)
        heights = rng.choice(levels, size=(y_edges.size - 1, x_edges.size - 1))
        on_platform = np.ix_(self._in_platform(y_edges), self._in_platform(x_edges))
        heights[on_platform] = 0.0
        heights[[0, -1], :] = 0.0
        heights[:, [0, -1]] = 0.0
        blocks = merged_cells(x_edges, y_edges, heights)
        return block_tile(size, blocks, floor=float(heights.min()))

    def _edges(self, extent: float) -> np.ndarray:
        """Return the borders of the cells along one side, the flat border included."""
        count = int((extent - 2 * self.border_width + 1e-9) // self.grid_width)
        half = count * self.grid_width / 2
        inner = np.linspace(-half, half, count + 1)
        if extent / 2 - half < 1e-6:
            return np.concatenate(([-extent / 2], inner[1:-1], [extent / 2]))
        return np.concatenate(([-extent / 2], inner, [extent / 2]))

    def _in_platform(self, edges: np.ndarray) -> np.ndarray:
        """Return a mask of the cells along one side that overlap the platform."""
        half = self.platform_width / 2 - 1e-9
        return (edges[:-1] < half) & (edges[1:] > -half)


class SteppingStonesCfg(SubTerrainCfg):
    """Square stones above a deep floor, around a platform."""

    stone_size_range: tuple[float, float] = (0.5, 0.9)
    """Width of a stone, m, above 0: the high end at difficulty 0, the low end at 1."""

    stone_distance_range: tuple[float, float] = (0.1, 0.3)
    """Gap between stones at difficulty 0 and 1, m, above 0."""

    stone_height_range: tuple[float, float] = (0.0, 0.05)
    """Largest random height or depth of a stone at difficulty 0 and 1, m, each at least
    0."""

    displacement: float = 0.0
    """Maximum random shift of a stone, from 0 to 1, as a fraction of half the gap."""

    floor_depth: float = 1.0
    """Depth of the floor between the stones, m, above 0."""

    platform_width: float = 2.0
    """Minimum width of the central platform, m, above 0. It replaces whole stones, so
    the gap around it equals the gap between stones."""

    border_width: float = 0.25
    """Minimum width of the flat border, m, at least 0. Space left over by whole
    stones is added to it."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the platform and one ring of stones do not fit the tile."""
        fields = Fields(self, path)
        fields.range("stone_size_range", above=0.0)
        fields.range("stone_distance_range", above=0.0)
        fields.range("stone_height_range", at_least=0.0)
        fields.number("displacement", at_least=0.0, at_most=1.0)
        fields.number("floor_depth", above=self.stone_height_range[1])
        fields.platform(size)
        room = min(size) - 2 * self.border_width - 2 * self.stone_distance_range[1]
        fields.number("stone_size_range", 1, at_most=room)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the stones, the platform and the border on the floor."""
        stone = at_difficulty(self.stone_size_range, 1.0 - difficulty)
        gap = at_difficulty(self.stone_distance_range, difficulty)
        peak = at_difficulty(self.stone_height_range, difficulty)
        counts = [self._num_stones(extent, stone, gap) for extent in size]
        taken = [self._num_taken(count, stone, gap) for count in counts]
        field = self._half_widths([count + 2 for count in counts], stone, gap, -stone)
        platform = self._half_widths(taken, stone, gap, 0.0)
        blocks = ring((size[0] / 2, size[1] / 2), field, 0.0)
        blocks.append(centred_block(platform, 0.0))
        for row, column in np.ndindex(counts[1], counts[0]):
            place = np.array([column, row]) - (np.array(counts) - 1) / 2
            # Drawn before the platform check, so that other stones do not depend on it.
            shift = rng.uniform(-1.0, 1.0, 2) * self.displacement * gap / 2
            height = rng.uniform(-peak, peak)
            if np.all(np.abs(place) < np.array(taken) / 2):
                continue
            x, y = place * (stone + gap) + shift
            half = stone / 2
            blocks.append(TerrainBlock(x - half, x + half, y - half, y + half, height))
        return block_tile(size, blocks, floor=-self.floor_depth)

    def _num_stones(self, extent: float, stone: float, gap: float) -> int:
        """Return how many stones fit along one side, with a gap at both ends."""
        room = extent - 2 * self.border_width - gap + 1e-9
        return max(1, int(room // (stone + gap)))

    def _num_taken(self, count: int, stone: float, gap: float) -> int:
        """Return how many stones the platform replaces along one side.

        It is even if the number of stones is even, so that the platform is centred.
        """
        needed = int(np.ceil((self.platform_width + gap) / (stone + gap) - 1e-9))
        return min(count, needed + (count - needed) % 2)

    @staticmethod
    def _half_widths(counts: list[int], stone: float, gap: float, extra: float) -> Size:
        """Return half the width of `counts` stones and the gaps between, plus extra."""
        x, y = (count * stone + (count - 1) * gap for count in counts)
        return x / 2 + extra, y / 2 + extra
