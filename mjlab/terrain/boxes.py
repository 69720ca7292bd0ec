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
    """Base class of stairs: each ring of steps is higher or lower than the previous."""

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
        """Return the half extents inside the border and the first `steps` steps, m."""
        margin = self.border_width + steps * self.step_width
        return size[0] / 2 - margin, size[1] / 2 - margin


class PyramidStairsCfg(StairsCfg):
    """Stairs that lead up to a platform in the middle."""

    holes: bool = False
    """Keep only four flights of steps, as wide as the platform, with holes between."""

    hole_depth: float = 1.0
    """Depth of the holes below the border, or below the platform of inverted stairs, m,
    above 0."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the platform and its border do not fit the tile."""
        super().check(path, size)
        Fields(self, path).number("hole_depth", above=0.0)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the stairs; the block of a step extends under all higher steps."""
        del rng  # Stairs are deterministic.
        height = at_difficulty(self.step_height_range, difficulty)
        if self.holes:
            return self._with_holes(size, height)
        blocks = [
            centred_block(self.inset(size, step), (step + 1) * height)
            for step in range(self.num_rings(size) + 1)
        ]
        return block_tile(size, blocks, floor=0.0)

    def _with_holes(self, size: Size, rise: float) -> Tile:
        """Return the platform and four flights of steps, each step `rise` higher."""
        rings = self.num_rings(size)
        half_x, half_y = platform = self.inset(size, rings)
        blocks = ring((size[0] / 2, size[1] / 2), self.inset(size, 0), 0.0)
        blocks.append(centred_block(platform, (rings + 1) * rise))
        for step in range(rings):
            (x, y), (next_x, next_y) = (self.inset(size, step + i) for i in range(2))
            top = (step + 1) * rise
            blocks += [
                TerrainBlock(next_x, x, -half_y, half_y, top),
                TerrainBlock(-x, -next_x, -half_y, half_y, top),
                TerrainBlock(-half_x, half_x, next_y, y, top),
                TerrainBlock(-half_x, half_x, -y, -next_y, top),
            ]
        lowest = min(0.0, (rings + 1) * rise)
        return block_tile(size, blocks, floor=lowest - self.hole_depth)


class InvertedPyramidStairsCfg(PyramidStairsCfg):
    """Stairs that lead down to a platform in the middle."""

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the stairs; each step consists of four blocks around the pit."""
        del rng  # Stairs are deterministic.
        height = at_difficulty(self.step_height_range, difficulty)
        rings = self.num_rings(size)
        if self.holes:
            return self._with_holes(size, -height)
        blocks = ring((size[0] / 2, size[1] / 2), self.inset(size, 0), 0.0)
        for step in range(rings):
            outer, inner = self.inset(size, step), self.inset(size, step + 1)
            blocks += ring(outer, inner, -(step + 1) * height)
        return block_tile(size, blocks, floor=-(rings + 1) * height)


class OpenStairsCfg(SubTerrainCfg):
    """Stairs with open treads, down to a platform or up to it.

    A foot can get under a tread. A ray that starts below a tread hits the floor.
    """

    step_height_range: tuple[float, float] = (0.1, 0.2)
    """Height of a step at difficulty 0 and 1, m, each at least 0."""

    step_width_range: tuple[float, float] = (0.4, 0.8)
    """Depth of a step, m, above 0: the high end at difficulty 0, the low end at 1."""

    step_thickness: float = 0.05
    """Thickness of the treads, m, above 0."""

    inverted: bool = True
    """Make the stairs lead down to a platform on the floor. If False, they lead up to a
    platform, and the floor is at height 0."""

    platform_width: float = 1.0
    """Minimum width of the central platform, m, above 0. Space left over by full
    steps is added to it."""

    border_width: float = 0.25
    """Width of the flat border, m, at least 0."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the platform and its border do not fit the tile."""
        fields = Fields(self, path)
        fields.range("step_height_range", at_least=0.0)
        fields.range("step_width_range", above=0.0)
        fields.number("step_thickness", above=0.0)
        fields.platform(size)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the treads above the floor."""
        del rng  # Stairs are deterministic.
        height = at_difficulty(self.step_height_range, difficulty)
        width = at_difficulty(self.step_width_range, 1.0 - difficulty)
        room = min(size) - 2 * self.border_width - self.platform_width
        steps = int((room + 1e-9) // (2 * width))
        insets = [self.border_width + step * width for step in range(steps + 1)]
        halves = [(size[0] / 2 - inset, size[1] / 2 - inset) for inset in insets]
        treads: list[TerrainBlock] = []
        for step in range(steps):
            top = -step * height if self.inverted else (step + 1) * height
            treads += ring(halves[step], halves[step + 1], top)
        if not self.inverted:
            treads.append(centred_block(halves[-1], (steps + 1) * height))
        thin = [t._replace(bottom=t.top - self.step_thickness) for t in treads]
        border = ring((size[0] / 2, size[1] / 2), halves[0], 0.0)
        floor = -steps * height if self.inverted else 0.0
        return block_tile(size, border + thin, floor=floor)


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

    holes: bool = False
    """Keep only cells in line with the platform along x or y; other cells are holes."""

    hole_depth: float = 1.0
    """Depth of the holes, m, above the largest depth of a cell."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the cells, the platform or the border do not fit the tile."""
        fields = Fields(self, path)
        fields.range("grid_height_range", at_least=0.0)
        fields.number("hole_depth", above=self.grid_height_range[1])
        fields.count("num_levels", at_least=2)
        fields.platform(size)
        room = min(size) - 2 * self.border_width
        fields.number("grid_width", above=0.0, at_most=room)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the grid as the blocks merged by `merged_cells`."""
        peak = at_difficulty(self.grid_height_range, difficulty)
        x_edges, y_edges = (self._edges(extent) for extent in size)
        levels = np.linspace(-peak, peak, self.num_levels)
        heights = rng.choice(levels, size=(y_edges.size - 1, x_edges.size - 1))
        rows, columns = self._in_platform(y_edges), self._in_platform(x_edges)
        heights[np.ix_(rows, columns)] = 0.0
        if self.holes:
            heights[np.ix_(~rows, ~columns)] = -self.hole_depth
        heights[[0, -1], :] = 0.0
        heights[:, [0, -1]] = 0.0
        blocks = merged_cells(x_edges, y_edges, heights)
        return block_tile(size, blocks, floor=float(heights.min()))

    def _edges(self, extent: float) -> np.ndarray:
        """Return the cell borders along one side, including the flat border, m."""
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
    """Minimum width of the central platform, m, above 0. The platform replaces whole
    stones, so the gap around it equals the gap between stones."""

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
            # Draw before the platform check, so that the stones are the same for every
            # width of the platform.
            shift = rng.uniform(-1.0, 1.0, 2) * self.displacement * gap / 2
            height = rng.uniform(-peak, peak)
            if np.all(np.abs(place) < np.array(taken) / 2):
                continue
            x, y = place * (stone + gap) + shift
            half = stone / 2
            blocks.append(TerrainBlock(x - half, x + half, y - half, y + half, height))
        return block_tile(size, blocks, floor=-self.floor_depth)

    def _num_stones(self, extent: float, stone: float, gap: float) -> int:
        """Return the number of stones along one side, with a gap at both ends."""
        room = extent - 2 * self.border_width - gap + 1e-9
        return max(1, int(room // (stone + gap)))

    def _num_taken(self, count: int, stone: float, gap: float) -> int:
        """Return the number of stones that the platform replaces along one side.

        This number and the number of stones are both even or both odd, so that the
        platform is centred.
        """
        needed = int(np.ceil((self.platform_width + gap) / (stone + gap) - 1e-9))
        return min(count, needed + (count - needed) % 2)

    @staticmethod
    def _half_widths(counts: list[int], stone: float, gap: float, extra: float) -> Size:
        """Half extents, m, of `counts` stones and the gaps between, plus `extra`."""
        x, y = (count * stone + (count - 1) * gap for count in counts)
        return x / 2 + extra, y / 2 + extra


class RandomSpreadCfg(SubTerrainCfg):
    """Boxes of random size, position and rotation on flat ground."""

    num_boxes: int = 60
    """Number of boxes at difficulty 1, at least 1. Difficulty 0 has half as many. Boxes
    that overlap the platform are left out. Boxes can overlap each other."""

    box_width_range: tuple[float, float] = (0.3, 1.0)
    """Range of the random widths, m, above 0."""

    box_length_range: tuple[float, float] = (0.3, 1.0)
    """Range of the random lengths, m, above 0."""

    box_height_range: tuple[float, float] = (0.05, 1.0)
    """Range of the random heights at difficulty 1, m, at least 0. At difficulty 0 the
    heights are a fifth of this range."""

    box_yaw_range: tuple[float, float] = (0.0, 360.0)
    """Range of the random rotations, degrees."""

    platform_width: float = 1.0
    """Width of the free square in the centre, m, above 0."""

    border_width: float = 0.25
    """Width of the free border, m, at least 0."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the platform or the largest box, in any rotation, does not fit."""
        fields = Fields(self, path)
        fields.count("num_boxes")
        fields.range("box_height_range", at_least=0.0)
        fields.range("box_yaw_range", at_least=-360.0, at_most=360.0)
        fields.platform(size)
        room = (min(size) - 2 * self.border_width) / np.sqrt(2.0)
        for field in ("box_width_range", "box_length_range"):
            fields.range(field, above=0.0, at_most=room)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return boxes outside the platform, on a floor at height 0."""
        blocks = []
        for _ in range(max(1, int(self.num_boxes * (0.5 + 0.5 * difficulty)))):
            # Draw for omitted boxes too, so that an omission does not change later
            # boxes.
            ranges = (self.box_width_range, self.box_length_range)
            half_x, half_y = (rng.uniform(*bounds) / 2 for bounds in ranges)
            top = rng.uniform(*self.box_height_range) * (0.2 + 0.8 * difficulty)
            yaw = np.deg2rad(rng.uniform(*self.box_yaw_range))
            block = TerrainBlock(-half_x, half_x, -half_y, half_y, top, yaw=float(yaw))
            reach = np.array(block.half_extent)
            room = np.array(size) / 2 - self.border_width - reach
            x, y = rng.uniform(-1.0, 1.0, size=2) * room
            if np.all(np.abs((x, y)) < self.platform_width / 2 + reach):
                continue
            blocks.append(
                block._replace(
                    x_min=x - half_x,
                    x_max=x + half_x,
                    y_min=y - half_y,
                    y_max=y + half_y,
                )
            )
        return block_tile(size, blocks, floor=0.0)


class RadialBeamsCfg(SubTerrainCfg):
    """Beams over a pit that lead from a platform in all directions."""

    num_beams: int = 16
    """Number of beams at equal angles, the first along x, at least 1."""

    beam_width_range: tuple[float, float] = (0.2, 0.4)
    """Width of a beam, m, above 0: the high end at difficulty 0, the low end at 1."""

    floor_depth: float = 2.0
    """Depth of the pit, m, above 0."""

    platform_width: float = 1.0
    """Width of the central platform, m, above 0."""

    border_width: float = 0.3
    """Width of the flat border, m. On a square tile it must be at least 0.71 times the
    width of a beam, because beams end on the border."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the platform or the ends of the beams do not fit."""
        fields = Fields(self, path)
        fields.count("num_beams")
        fields.range("beam_width_range", above=0.0, at_most=self.platform_width)
        fields.number("floor_depth", above=0.0)
        fields.platform(size)
        inner = np.array(size) / 2 - self.border_width
        share = inner.max() / np.hypot(*inner)
        fields.number("border_width", at_least=self.beam_width_range[1] * float(share))

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the border, platform and beams, all at height 0, over the pit."""
        del rng  # This terrain is deterministic.
        width = at_difficulty(self.beam_width_range, 1.0 - difficulty)
        inner = (size[0] / 2 - self.border_width, size[1] / 2 - self.border_width)
        start = self.platform_width / 2
        blocks = ring((size[0] / 2, size[1] / 2), inner, 0.0)
        blocks.append(centred_block((start, start), 0.0))
        for yaw in 2 * np.pi * np.arange(self.num_beams) / self.num_beams:
            cos, sin = np.cos(yaw), np.sin(yaw)
            # Extend the beam until both corners of its end reach the border.
            stop = min(
                (half + width / 2 * abs(across)) / max(abs(along), 1e-9)
                for half, along, across in ((inner[0], cos, sin), (inner[1], sin, cos))
            )
            middle, half = (start + stop) / 2, (stop - start) / 2
            x, y = middle * cos, middle * sin
            blocks.append(
                TerrainBlock(
                    x - half,
                    x + half,
                    y - width / 2,
                    y + width / 2,
                    0.0,
                    yaw=float(yaw),
                )
            )
        return block_tile(size, blocks, floor=-self.floor_depth)


class GapCfg(SubTerrainCfg):
    """A gap around a platform, to step or jump over."""

    gap_width_range: tuple[float, float] = (0.1, 0.8)
    """Width of the gap at difficulty 0 and 1, m, above 0."""

    gap_depth: float = 1.0
    """Depth of the gap, m, above 0."""

    platform_width: float = 1.0
    """Width of the central platform, m, above 0."""

    border_width: float = 0.25
    """Minimum width of the ground beyond the gap, m, at least 0."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the platform and the gap do not fit the tile."""
        fields = Fields(self, path)
        fields.number("gap_depth", above=0.0)
        fields.platform(size)
        room = (min(size) - self.platform_width) / 2 - self.border_width
        fields.range("gap_width_range", above=0.0, at_most=room)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the platform and the ground beyond the gap, both at height 0."""
        del rng  # This terrain is deterministic.
        inner = self.platform_width / 2
        outer = inner + at_difficulty(self.gap_width_range, difficulty)
        blocks = ring((size[0] / 2, size[1] / 2), (outer, outer), 0.0)
        blocks.append(centred_block((inner, inner), 0.0))
        return block_tile(size, blocks, floor=-self.gap_depth)


class PitCfg(SubTerrainCfg):
    """A pit with a flat floor in the middle, to climb out of."""

    pit_depth_range: tuple[float, float] = (0.05, 0.5)
    """Height of the pit's wall at difficulty 0 and 1, m, at least 0."""

    platform_width: float = 2.0
    """Width of the pit's floor, m, above 0."""

    double_pit: bool = False
    """Add a second wall of the same height, beyond a ledge."""

    ledge_width: float = 0.5
    """Width of the ledge of a double pit, m, above 0."""

    border_width: float = 0.25
    """Minimum width of the ground around the pit, m, at least 0."""

    def check(self, path: str, size: Size) -> None:
        """Raise if the pit does not fit the tile."""
        fields = Fields(self, path)
        fields.range("pit_depth_range", at_least=0.0)
        fields.platform(size)
        if self.double_pit:
            room = (min(size) - self.platform_width) / 2 - self.border_width
            fields.number("ledge_width", above=0.0, at_most=room)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the ground around the pit, and the ledge of a double pit."""
        del rng  # This terrain is deterministic.
        depth = at_difficulty(self.pit_depth_range, difficulty)
        inner = (self.platform_width / 2, self.platform_width / 2)
        whole = (size[0] / 2, size[1] / 2)
        if not self.double_pit:
            return block_tile(size, ring(whole, inner, 0.0), floor=-depth)
        outer = (inner[0] + self.ledge_width, inner[1] + self.ledge_width)
        blocks = ring(whole, outer, 0.0) + ring(outer, inner, -depth)
        return block_tile(size, blocks, floor=-2 * depth)
