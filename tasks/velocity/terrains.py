"""Sub-terrains for walking: uneven stairs, narrow beams, nested rings, tilted cells."""

import numpy as np

from mjlab.terrain import (
    OpenStairsCfg,
    SubTerrainCfg,
    TerrainBlock,
    Tile,
    block_tile,
    height_field_tile,
    rough_terrains,
)
from mjlab.terrain.boxes import StairsCfg
from mjlab.terrain.checks import Fields
from mjlab.terrain.config import Rng, at_difficulty
from mjlab.terrain.shapes import Size, centred_block, ring


class RandomStairsCfg(StairsCfg):
    """Stairs up to a platform, with a random height of each step."""

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return stairs with random step heights, whose limit grows with difficulty."""
        highest = at_difficulty(self.step_height_range, difficulty)
        steps = self.num_rings(size) + 1
        tops = rng.uniform(self.step_height_range[0], highest, steps).cumsum()
        blocks = [
            centred_block(self.inset(size, step), float(top))
            for step, top in enumerate(tops)
        ]
        return block_tile(size, blocks, floor=0.0)


class NarrowBeamsCfg(SubTerrainCfg):
    """Beams over a pit, along x and y, that lead to a platform in the centre."""

    beam_width_range: tuple[float, float] = (0.2, 0.6)
    """Width of a beam, m, above 0: the upper value at difficulty 0, the lower at 1."""

    num_beams: int = 2
    """Number of beams along each side, at least 1. They end on the platform."""

    pit_depth: float = 1.0
    """Depth of the pit, m, above 0."""

    platform_width: float = 2.0
    """Width of the platform, m, above 0."""

    border_width: float = 0.5
    """Width of the flat border, m, at least 0."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the platform exceeds the tile, or the beams exceed the platform."""
        fields = Fields(self, path)
        fields.count("num_beams")
        fields.number("pit_depth", above=0.0)
        fields.platform(size)
        widest = self.platform_width / self.num_beams
        fields.range("beam_width_range", above=0.0, at_most=widest)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return border, platform and beams at height 0."""
        del rng  # This terrain is deterministic.
        width = at_difficulty(self.beam_width_range, 1.0 - difficulty)
        x, y = (extent / 2 - self.border_width for extent in size)
        blocks = ring((size[0] / 2, size[1] / 2), (x, y), 0.0)
        half = self.platform_width / 2
        blocks.append(centred_block((half, half), 0.0))
        spread = half - width / 2 if self.num_beams > 1 else 0.0
        for middle in np.linspace(-spread, spread, self.num_beams).tolist():
            low, high = middle - width / 2, middle + width / 2
            blocks.append(TerrainBlock(-x, x, low, high, 0.0))
            blocks.append(TerrainBlock(low, high, -y, y, 0.0))
        return block_tile(size, blocks, floor=-self.pit_depth)


class NestedRingsCfg(SubTerrainCfg):
    """Rings around a platform, each at a random height, with gaps between them."""

    ring_width: float = 0.6
    """Width of a ring, m, above 0."""

    gap_range: tuple[float, float] = (0.05, 0.3)
    """Width of the gaps at difficulty 0 and 1, m, each above 0."""

    ring_height_range: tuple[float, float] = (0.0, 0.1)
    """Largest random height or depth of a ring at difficulty 0 and 1, m, each at least
    0."""

    floor_depth: float = 1.0
    """Depth of the floor in the gaps at difficulty 1, m, above 0."""

    first_floor_depth: float | None = None
    """Depth of the floor at difficulty 0, m, above 0. None uses `floor_depth`."""

    platform_width: float = 2.0
    """Minimum width of the platform, m, above 0. It fills the space inside the last
    full ring."""

    border_width: float = 0.5
    """Width of the flat border, m, at least 0."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the platform and one ring do not fit the tile."""
        fields = Fields(self, path)
        fields.range("gap_range", above=0.0)
        fields.range("ring_height_range", at_least=0.0)
        fields.number("floor_depth", above=self.ring_height_range[1])
        if self.first_floor_depth is not None:
            fields.number("first_floor_depth", above=self.ring_height_range[0])
        fields.platform(size)
        room = (min(size) - self.platform_width) / 2 - self.border_width
        widest = room - 2 * self.gap_range[1]
        fields.number("ring_width", above=0.0, at_most=widest)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the rings, the platform and the border on the floor."""
        gap = at_difficulty(self.gap_range, difficulty)
        peak = at_difficulty(self.ring_height_range, difficulty)
        room = (min(size) - self.platform_width) / 2 - self.border_width - gap
        count = int((room + 1e-9) // (self.ring_width + gap))

        def inset(margin: float) -> Size:
            margin += self.border_width
            return size[0] / 2 - margin, size[1] / 2 - margin

        blocks = ring((size[0] / 2, size[1] / 2), inset(0.0), 0.0)
        for place in range(count):
            outside = gap + place * (self.ring_width + gap)
            height = float(rng.uniform(-peak, peak))
            blocks += ring(inset(outside), inset(outside + self.ring_width), height)
        platform = inset(gap + count * (self.ring_width + gap))
        blocks.append(centred_block(platform, 0.0))
        first = self.first_floor_depth or self.floor_depth
        depth = at_difficulty((first, self.floor_depth), difficulty)
        return block_tile(size, blocks, floor=-depth)


class TiltedGridCfg(SubTerrainCfg):
    """Square cells with random slopes, each with its centre at height 0."""

    grid_width: float = 0.8
    """Width of a cell, m, at least four vertices."""

    slope_range: tuple[float, float] = (0.0, 0.3)
    """Maximum slope along x and along y at difficulty 0 and 1, each at least 0."""

    horizontal_scale: float = 0.05
    """Distance between vertices, m, from 0.02 to a quarter of the tile. Steps between
    cells have this width."""

    platform_width: float = 2.0
    """Width of the flat square in the centre, m, above 0."""

    border_width: float = 0.25
    """Width of the flat border, m, at least 0. The outermost cells are always flat."""

    def check(self, path: str, size: Size) -> None:
        """Raise if a field is out of range for a tile of this size."""
        fields = Fields(self, path)
        fields.number("horizontal_scale", at_least=0.02, at_most=min(size) / 4)
        fields.range("slope_range", at_least=0.0)
        fields.platform(size)
        least = 4 * self.horizontal_scale
        fields.number("grid_width", at_least=least, at_most=min(size))

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return one height field of all cells."""
        steepest = at_difficulty(self.slope_range, difficulty)
        x, y = (self._vertices(extent) for extent in size)
        (column, along_x), (row, along_y) = self._cells(x), self._cells(y)
        slopes = rng.uniform(-steepest, steepest, (2, row.max() + 1, column.max() + 1))
        rise_x, rise_y = slopes[:, row[:, None], column[None, :]]
        heights = rise_x * along_x[None, :] + rise_y * along_y[:, None]
        free = self.platform_width / 2 + 1e-9
        heights[np.ix_(np.abs(y) <= free, np.abs(x) <= free)] = 0.0
        border = max(self.border_width, self.horizontal_scale) - 1e-9
        heights[:, x[-1] - np.abs(x) <= border] = 0.0
        heights[y[-1] - np.abs(y) <= border] = 0.0
        return height_field_tile(size, heights)

    def _vertices(self, extent: float) -> np.ndarray:
        """Return an odd number of positions along one side, with one at the centre."""
        count = 2 * round(extent / self.horizontal_scale / 2) + 1
        return np.linspace(-extent / 2, extent / 2, count)

    def _cells(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cell of each position, and the offset from its centre, m."""
        from_edge = places - places[0]
        cell = np.floor(from_edge / self.grid_width + 1e-9).astype(int)
        return cell, from_edge - (cell + 0.5) * self.grid_width


def walking_terrains() -> dict[str, SubTerrainCfg]:
    """Return the sub-terrains of this file by name, and open stairs that lead up."""
    return {
        "random_stairs": RandomStairsCfg(),
        "open_stairs": OpenStairsCfg(inverted=False),
        "narrow_beams": NarrowBeamsCfg(),
        "nested_rings": NestedRingsCfg(),
        "tilted_grid": TiltedGridCfg(),
    }


def __getattr__(name: str) -> object:
    """Return `rough_terrains()` under its name in mjlab 1.6, new for each import."""
    if name == "ROUGH_TERRAINS_CFG":
        return rough_terrains()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
