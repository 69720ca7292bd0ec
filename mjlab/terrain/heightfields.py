"""Terrain tiles that are height fields, one geom each."""

from abc import abstractmethod
from typing import Literal, NamedTuple

import numpy as np

from mjlab.terrain.checks import Fields
from mjlab.terrain.config import Rng, SubTerrainCfg, at_difficulty
from mjlab.terrain.noise import blocky_noise, perlin_noise
from mjlab.terrain.shapes import Size, Tile, height_field_tile

# Smallest cell width, m. Feet are larger, so finer cells would slow collision detection
# without changing how a robot walks.
FINEST_SCALE = 0.02


class _Grid(NamedTuple):
    """Vertex coordinates of a height field tile."""

    size: Size
    x: np.ndarray
    y: np.ndarray

    def edge_distance(self) -> np.ndarray:
        """Return the distance of each vertex from the edge, shape (ny, nx), m."""
        x, y = self.x, self.y
        return np.minimum((x[-1] - np.abs(x))[None, :], (y[-1] - np.abs(y))[:, None])

    def faded(self, heights: np.ndarray, border_width: float) -> np.ndarray:
        """Return the heights, faded linearly to 0 at the tile's edge."""
        if border_width == 0.0:
            return heights
        return heights * np.clip(self.edge_distance() / border_width, 0.0, 1.0)


class HeightFieldCfg(SubTerrainCfg):
    """Base class of height field tiles: heights at the vertices of a regular grid."""

    horizontal_scale: float = 0.1
    """Width of a cell, m, from 0.02 to a quarter of the tile. It is adapted so that an
    even number of cells fills the tile."""

    def check(self, path: str, size: Size) -> None:
        """Raise if a field is out of range for a tile of this size."""
        fields, most = Fields(self, path), min(size) / 4
        fields.number("horizontal_scale", at_least=FINEST_SCALE, at_most=most)
        self._check(fields, size)

    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Return the tile. Vertex counts are odd, so one vertex is at the centre."""
        counts = [2 * round(extent / self.horizontal_scale / 2) + 1 for extent in size]
        x, y = (
            np.linspace(-extent / 2, extent / 2, count)
            for extent, count in zip(size, counts, strict=True)
        )
        return height_field_tile(
            size, self._heights(_Grid(size, x, y), difficulty, rng)
        )

    @abstractmethod
    def _check(self, fields: Fields, size: Size) -> None:
        """Raise if a field other than `horizontal_scale` is out of range."""

    @abstractmethod
    def _heights(self, grid: _Grid, difficulty: float, rng: Rng) -> np.ndarray:
        """Return the heights at the vertices, shape (ny, nx), m."""


class PyramidSlopeCfg(HeightFieldCfg):
    """Pyramid of four slopes that lead up (or down) to a platform in the middle."""

    slope_range: tuple[float, float] = (0.0, 0.4)
    """Rise over run at difficulty 0 and 1, each at least 0."""

    platform_width: float = 2.0
    """Width of the central platform, m, above 0."""

    inverted: bool = False
    """Make the slopes lead down to the platform."""

    border_width: float = 0.0
    """Width of the flat border, m, at least 0."""

    def _check(self, fields: Fields, size: Size) -> None:
        fields.range("slope_range", at_least=0.0)
        fields.platform(size)

    def _heights(self, grid: _Grid, difficulty: float, rng: Rng) -> np.ndarray:
        del rng  # Slopes are deterministic.
        # The height is the slope times the distance from the border.
        run = min(grid.size) / 2 - self.border_width - self.platform_width / 2
        way = np.clip(grid.edge_distance() - self.border_width, 0.0, max(run, 0.0))
        slope = at_difficulty(self.slope_range, difficulty)
        return (-slope if self.inverted else slope) * way


class RandomRoughCfg(HeightFieldCfg):
    """Rough ground: heights drawn from a uniform distribution."""

    noise_range: tuple[float, float] = (0.02, 0.1)
    """Range of the random heights, m."""

    noise_step: float = 0.02
    """Spacing of the possible heights, from the lowest up, m, above 0."""

    downsampled_scale: float | None = None
    """Distance between random heights, m, at least `horizontal_scale`; the surface is
    linear between them. None draws a height for every vertex."""

    scale_with_difficulty: bool = True
    """Scale the noise from 0 at difficulty 0 to `noise_range` at difficulty 1."""

    border_width: float = 0.25
    """Distance from the tile's edge over which the noise fades to 0, m, at least 0."""

    def _check(self, fields: Fields, size: Size) -> None:
        fields.range("noise_range")
        fields.number("noise_step", above=0.0)
        if self.downsampled_scale is not None:
            least = self.horizontal_scale
            fields.number("downsampled_scale", at_least=least, at_most=min(size))
        _check_fade(fields, size)

    def _heights(self, grid: _Grid, difficulty: float, rng: Rng) -> np.ndarray:
        low, high = self.noise_range
        num_levels = int((high - low) / self.noise_step + 1e-9) + 1
        levels = low + self.noise_step * np.arange(num_levels)
        if self.downsampled_scale is None:
            heights = rng.choice(levels, size=(grid.y.size, grid.x.size))
        else:
            heights = blocky_noise(grid.x, grid.y, levels, self.downsampled_scale, rng)
        if self.scale_with_difficulty:
            heights = heights * difficulty
        return grid.faded(heights, self.border_width)


class WaveCfg(HeightFieldCfg):
    """Mean of a cosine wave along x and a sine wave along y.

    With x and y from the tile's lowest corner, extents X and Y, amplitude A and n
    waves, the height is A/2 (cos(2 pi n x/X) + sin(2 pi n y/Y)), faded at the edge.
    """

    amplitude_range: tuple[float, float] = (0.0, 0.2)
    """Largest height and depth at difficulty 0 and 1, m, each at least 0."""

    num_waves: int = 4
    """Number of waves along each side, at least 1, each at least four cells long."""

    border_width: float = 0.5
    """Distance from the tile's edge over which the waves fade to 0, m, at least 0."""

    def _check(self, fields: Fields, size: Size) -> None:
        fields.range("amplitude_range", at_least=0.0)
        fields.count("num_waves")
        most = min(size) / (4 * self.horizontal_scale)
        fields.number("num_waves", at_most=most + 1e-9)
        _check_fade(fields, size)

    def _heights(self, grid: _Grid, difficulty: float, rng: Rng) -> np.ndarray:
        del rng  # Waves are deterministic.
        amplitude = at_difficulty(self.amplitude_range, difficulty)
        phase_x = 2 * np.pi * self.num_waves * (grid.x / grid.size[0] + 0.5)
        phase_y = 2 * np.pi * self.num_waves * (grid.y / grid.size[1] + 0.5)
        heights = amplitude / 2 * (np.cos(phase_x)[None, :] + np.sin(phase_y)[:, None])
        return grid.faded(heights, self.border_width)


class DiscreteObstaclesCfg(HeightFieldCfg):
    """Rectangular obstacles at random places around a platform at height 0."""

    height_mode: Literal["choice", "fixed"] = "choice"
    """"choice" draws each obstacle's height from h, h/2, -h/2 and -h (pits); "fixed"
    gives every obstacle the height h."""

    obstacle_height_range: tuple[float, float] = (0.0, 0.2)
    """The height h at difficulty 0 and 1, m, each at least 0."""

    obstacle_width_range: tuple[float, float] = (0.25, 1.0)
    """Range of the random widths and lengths, m, above 0, at most the space inside the
    border.
    """

    num_obstacles: int = 40
    """Number of obstacles, at least 1. Later obstacles replace earlier where they
    overlap."""

    platform_width: float = 2.0
    """Width of the central platform without obstacles, m, above 0."""

    border_width: float = 0.25
    """Width of the border without obstacles, m, at least 0; widened to one cell."""

    horizontal_scale = 0.05
    """Width of a cell, m, from 0.02 to a quarter of the tile. It is adapted so that an
    even number of cells fills the tile. Obstacle sides slope over one cell."""

    def _check(self, fields: Fields, size: Size) -> None:
        fields.choice("height_mode", ("choice", "fixed"))
        fields.range("obstacle_height_range", at_least=0.0)
        fields.platform(size)
        room = min(size) - 2 * max(self.border_width, self.horizontal_scale)
        fields.range("obstacle_width_range", above=0.0, at_most=room)
        fields.count("num_obstacles")

    def _heights(self, grid: _Grid, difficulty: float, rng: Rng) -> np.ndarray:
        peak = at_difficulty(self.obstacle_height_range, difficulty)
        shares = (1.0, 0.5, -0.5, -1.0) if self.height_mode == "choice" else (1.0,)
        border = max(self.border_width, self.horizontal_scale)
        heights = np.zeros((grid.y.size, grid.x.size))
        for _ in range(self.num_obstacles):
            width = rng.uniform(*self.obstacle_width_range, size=2)
            room = (np.array(grid.size) - width) / 2 - border
            middle = rng.uniform(-1.0, 1.0, size=2) * room
            inside_x, inside_y = (
                np.abs(axis - middle[i]) <= width[i] / 2
                for i, axis in enumerate((grid.x, grid.y))
            )
            heights[np.ix_(inside_y, inside_x)] = rng.choice(shares) * peak
        free = self.platform_width / 2 + 1e-9
        heights[np.ix_(np.abs(grid.y) <= free, np.abs(grid.x) <= free)] = 0.0
        return heights


class PerlinCfg(HeightFieldCfg):
    """Hills: octaves of Perlin noise, each smaller and finer than the one before."""

    height_range: tuple[float, float] = (0.0, 0.4)
    """Height from lowest to highest point at difficulty 0 and 1, m, each at least 0."""

    scale: float = 2.0
    """Width of the largest features, m, above 0."""

    octaves: int = 4
    """Number of octaves, at least 1. Features of the finest octave must be at least one
    cell wide."""

    persistence: float = 0.4
    """Ratio of an octave's height to the previous one's, above 0 and at most 1."""

    lacunarity: float = 2.0
    """Ratio of an octave's feature width to the next one's, at least 1."""

    border_width: float = 0.5
    """Distance from the tile's edge over which the hills fade to 0, m, at least 0."""

    def _check(self, fields: Fields, size: Size) -> None:
        fields.range("height_range", at_least=0.0)
        fields.number("persistence", above=0.0, at_most=1.0)
        fields.number("lacunarity", at_least=1.0, at_most=100.0)
        fields.count("octaves")
        finest = self.horizontal_scale * self.lacunarity ** (self.octaves - 1)
        fields.number("scale", at_least=finest)
        _check_fade(fields, size)

    def _heights(self, grid: _Grid, difficulty: float, rng: Rng) -> np.ndarray:
        noise = np.zeros((grid.y.size, grid.x.size))
        for octave in range(self.octaves):
            spacing = self.scale / self.lacunarity**octave
            noise += self.persistence**octave * perlin_noise(
                grid.x, grid.y, spacing, rng
            )
        share = (noise - noise.min()) / (noise.max() - noise.min()) - 0.5
        heights = at_difficulty(self.height_range, difficulty) * share
        return grid.faded(heights, self.border_width)


def _check_fade(fields: Fields, size: Size) -> None:
    why = f"half of the tile, {min(size):g} m wide"
    fields.length("border_width", min(size) / 2, why=why)
