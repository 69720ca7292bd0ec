"""Kinds of tile that are height fields, one geom each."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mjlab.names import find_name
from mjlab.terrain.checks import (
    check_count,
    check_fits,
    check_number,
    check_platform,
    check_range,
)
from mjlab.terrain.config import SubTerrainCfg, at_difficulty
from mjlab.terrain.noise import blocky_noise, perlin_noise
from mjlab.terrain.shapes import Tile, height_field_tile

# Finer cells cost collision time and say nothing to a foot.
FINEST_SCALE = 0.02


@dataclass(kw_only=True)
class PyramidSlopeCfg(SubTerrainCfg):
    """Four slopes that lead to a platform in the middle."""

    slope_range: tuple[float, float] = (0.0, 0.4)
    """Rise over run at difficulty 0 and 1, each at least 0."""

    platform_width: float = 2.0
    """Width of the square in the middle, m, above 0."""

    inverted: bool = False
    """Whether the slopes lead down."""

    border_width: float = 0.0
    """Width of the flat border, m, at least 0."""

    horizontal_scale: float = 0.1
    """Width of a cell, m, from 0.02 to a quarter of the tile. It is adapted so that an
    even number of cells fills the tile."""

    def check(self, path: str, size: tuple[float, float]) -> None:
        """Raise if the platform or the border do not fit the tile."""
        check_range(f"{path}.slope_range", self.slope_range, at_least=0.0)
        check_platform(path, self.platform_width, self.border_width, size)
        _check_scale(path, self.horizontal_scale, size)

    def build(
        self, size: tuple[float, float], difficulty: float, rng: np.random.Generator
    ) -> Tile:
        """Return the slopes: the height is the slope times the way from the border."""
        del rng  # Slopes leave nothing to chance.
        x, y = _vertices(size, self.horizontal_scale)
        run = min(size) / 2 - self.border_width - self.platform_width / 2
        way = np.clip(_edge_distance(x, y) - self.border_width, 0.0, max(run, 0.0))
        slope = at_difficulty(self.slope_range, difficulty)
        return height_field_tile(size, (-slope if self.inverted else slope) * way)


@dataclass(kw_only=True)
class RandomRoughCfg(SubTerrainCfg):
    """Uniform noise."""

    noise_range: tuple[float, float] = (0.02, 0.1)
    """Lowest and highest height, m."""

    noise_step: float = 0.02
    """Difference of the heights that occur, m, above 0, counted from the lowest."""

    downsampled_scale: float | None = None
    """Distance of the points that are drawn, m, at least `horizontal_scale`; the
    surface is linear in between. None draws every vertex."""

    scale_with_difficulty: bool = True
    """Whether the noise grows from nothing at difficulty 0 to `noise_range` at 1."""

    border_width: float = 0.25
    """Over this distance the noise fades to 0 at the tile's edge, m, at least 0."""

    horizontal_scale: float = 0.1
    """Width of a cell, m, from 0.02 to a quarter of the tile. It is adapted so that an
    even number of cells fills the tile."""

    def check(self, path: str, size: tuple[float, float]) -> None:
        """Raise if a field is out of range."""
        check_range(f"{path}.noise_range", self.noise_range)
        check_number(f"{path}.noise_step", self.noise_step, above=0.0)
        _check_scale(path, self.horizontal_scale, size)
        if self.downsampled_scale is not None:
            check_number(
                f"{path}.downsampled_scale",
                self.downsampled_scale,
                at_least=self.horizontal_scale,
                at_most=min(size),
            )
        _check_fade(path, self.border_width, size)

    def build(
        self, size: tuple[float, float], difficulty: float, rng: np.random.Generator
    ) -> Tile:
        """Return the noise."""
        x, y = _vertices(size, self.horizontal_scale)
        low, high = self.noise_range
        num_levels = int((high - low) / self.noise_step + 1e-9) + 1
        levels = low + self.noise_step * np.arange(num_levels)
        if self.downsampled_scale is None:
            heights = rng.choice(levels, size=(y.size, x.size))
        else:
            heights = blocky_noise(x, y, levels, self.downsampled_scale, rng)
        if self.scale_with_difficulty:
            heights = heights * difficulty
        return height_field_tile(size, _faded(heights, x, y, self.border_width))


@dataclass(kw_only=True)
class WaveCfg(SubTerrainCfg):
    """The mean of a wave along x and a wave along y.

    With x and y from the tile's lowest corner, extents X and Y, amplitude A and n
    waves, the height is A/2 (cos(2 pi n x/X) + sin(2 pi n y/Y)), faded at the edge.
    """

    amplitude_range: tuple[float, float] = (0.0, 0.2)
    """Largest height and depth at difficulty 0 and 1, m, each at least 0."""

    num_waves: int = 4
    """Number of waves along each side, at least 1, each at least four cells long."""

    border_width: float = 0.5
    """Over this distance the waves fade to 0 at the tile's edge, m, at least 0."""

    horizontal_scale: float = 0.1
    """Width of a cell, m, from 0.02 to a quarter of the tile. It is adapted so that an
    even number of cells fills the tile."""

    def check(self, path: str, size: tuple[float, float]) -> None:
        """Raise if a field is out of range, or the cells too wide for the waves."""
        check_range(f"{path}.amplitude_range", self.amplitude_range, at_least=0.0)
        check_count(f"{path}.num_waves", self.num_waves)
        _check_scale(path, self.horizontal_scale, size)
        most = min(size) / (4 * self.horizontal_scale)
        check_number(f"{path}.num_waves", self.num_waves, at_most=most + 1e-9)
        _check_fade(path, self.border_width, size)

    def build(
        self, size: tuple[float, float], difficulty: float, rng: np.random.Generator
    ) -> Tile:
        """Return the waves."""
        del rng  # Waves leave nothing to chance.
        x, y = _vertices(size, self.horizontal_scale)
        amplitude = at_difficulty(self.amplitude_range, difficulty)
        phase_x = 2 * np.pi * self.num_waves * (x / size[0] + 0.5)
        phase_y = 2 * np.pi * self.num_waves * (y / size[1] + 0.5)
        heights = amplitude / 2 * (np.cos(phase_x)[None, :] + np.sin(phase_y)[:, None])
        return height_field_tile(size, _faded(heights, x, y, self.border_width))


@dataclass(kw_only=True)
class DiscreteObstaclesCfg(SubTerrainCfg):
    """Rectangular obstacles at random places around a platform at height 0."""

    height_mode: Literal["choice", "fixed"] = "choice"
    """"choice" draws each obstacle's height from h, h/2, -h/2 and -h (pits); "fixed"
    makes all of them h."""

    obstacle_height_range: tuple[float, float] = (0.0, 0.2)
    """The height h at difficulty 0 and 1, m, each at least 0."""

    obstacle_width_range: tuple[float, float] = (0.25, 1.0)
    """Range of the random widths and lengths, m, above 0, at most what the border
    leaves."""

    num_obstacles: int = 40
    """Number of obstacles, at least 1. They may overlap; the last one counts."""

    platform_width: float = 2.0
    """Width of the square in the middle that stays free, m, above 0."""

    border_width: float = 0.25
    """Width of the border that stays free, m, at least 0, but at least one cell."""

    horizontal_scale: float = 0.05
    """Width of a cell, m, from 0.02 to a quarter of the tile. It is adapted so that an
    even number of cells fills the tile. The sides of an obstacle are one cell wide."""

    def check(self, path: str, size: tuple[float, float]) -> None:
        """Raise if the obstacles, the platform or the border do not fit the tile."""
        modes = ("choice", "fixed")
        find_name(self.height_mode, modes, what=f"{path}.height_mode")
        heights, widths = self.obstacle_height_range, self.obstacle_width_range
        check_range(f"{path}.obstacle_height_range", heights, at_least=0.0)
        check_platform(path, self.platform_width, self.border_width, size)
        _check_scale(path, self.horizontal_scale, size)
        room = min(size) - 2 * max(self.border_width, self.horizontal_scale)
        check_range(f"{path}.obstacle_width_range", widths, above=0.0, at_most=room)
        check_count(f"{path}.num_obstacles", self.num_obstacles)

    def build(
        self, size: tuple[float, float], difficulty: float, rng: np.random.Generator
    ) -> Tile:
        """Return the obstacles."""
        x, y = _vertices(size, self.horizontal_scale)
        peak = at_difficulty(self.obstacle_height_range, difficulty)
        shares = (1.0, 0.5, -0.5, -1.0) if self.height_mode == "choice" else (1.0,)
        border = max(self.border_width, self.horizontal_scale)
        heights = np.zeros((y.size, x.size))
        for _ in range(self.num_obstacles):
            width = rng.uniform(*self.obstacle_width_range, size=2)
            room = (np.array(size) - width) / 2 - border
            middle = rng.uniform(-1.0, 1.0, size=2) * room
            inside_x, inside_y = (
                np.abs(axis - middle[i]) <= width[i] / 2
                for i, axis in enumerate((x, y))
            )
            heights[np.ix_(inside_y, inside_x)] = rng.choice(shares) * peak
        free = self.platform_width / 2 + 1e-9
        heights[np.ix_(np.abs(y) <= free, np.abs(x) <= free)] = 0.0
        return height_field_tile(size, heights)


@dataclass(kw_only=True)
class PerlinCfg(SubTerrainCfg):
    """Hills: octaves of Perlin noise, each smaller and finer than the one before."""

    height_range: tuple[float, float] = (0.0, 0.4)
    """From lowest to highest point at difficulty 0 and 1, m, each at least 0."""

    scale: float = 2.0
    """Width of the largest features, m, above 0."""

    octaves: int = 4
    """Number of octaves, at least 1. The finest one's features are at least a cell
    wide."""

    persistence: float = 0.4
    """Height of an octave over that of the one before, above 0 and at most 1."""

    lacunarity: float = 2.0
    """Width of an octave's features over that of the next one's, at least 1."""

    border_width: float = 0.5
    """Over this distance the hills fade to 0 at the tile's edge, m, at least 0."""

    horizontal_scale: float = 0.1
    """Width of a cell, m, from 0.02 to a quarter of the tile. It is adapted so that an
    even number of cells fills the tile."""

    def check(self, path: str, size: tuple[float, float]) -> None:
        """Raise if a field is out of range, or the cells too wide for the octaves."""
        check_range(f"{path}.height_range", self.height_range, at_least=0.0)
        check_number(f"{path}.persistence", self.persistence, above=0.0, at_most=1.0)
        check_number(f"{path}.lacunarity", self.lacunarity, at_least=1.0, at_most=100.0)
        check_count(f"{path}.octaves", self.octaves)
        _check_scale(path, self.horizontal_scale, size)
        finest = self.horizontal_scale * self.lacunarity ** (self.octaves - 1)
        check_number(f"{path}.scale", self.scale, at_least=finest)
        _check_fade(path, self.border_width, size)

    def build(
        self, size: tuple[float, float], difficulty: float, rng: np.random.Generator
    ) -> Tile:
        """Return the hills, as high over 0 as they are deep below it."""
        x, y = _vertices(size, self.horizontal_scale)
        noise = np.zeros((y.size, x.size))
        for octave in range(self.octaves):
            spacing = self.scale / self.lacunarity**octave
            noise += self.persistence**octave * perlin_noise(x, y, spacing, rng)
        share = (noise - noise.min()) / (noise.max() - noise.min()) - 0.5
        heights = at_difficulty(self.height_range, difficulty) * share
        return height_field_tile(size, _faded(heights, x, y, self.border_width))


def _vertices(size: tuple[float, float], scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices along x and y. Their number is odd: one is at the centre."""
    x, y = (
        np.linspace(-extent / 2, extent / 2, 2 * round(extent / scale / 2) + 1)
        for extent in size
    )
    return x, y


def _edge_distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the distance of each vertex from the tile's edge, shape (ny, nx), m."""
    return np.minimum((x[-1] - np.abs(x))[None, :], (y[-1] - np.abs(y))[:, None])


def _faded(
    heights: np.ndarray, x: np.ndarray, y: np.ndarray, border_width: float
) -> np.ndarray:
    """Return heights that go linearly to 0 at the tile's edge."""
    if border_width == 0.0:
        return heights
    return heights * np.clip(_edge_distance(x, y) / border_width, 0.0, 1.0)


def _check_scale(path: str, scale: float, size: tuple[float, float]) -> None:
    check_number(
        f"{path}.horizontal_scale", scale, at_least=FINEST_SCALE, at_most=min(size) / 4
    )


def _check_fade(path: str, border_width: float, size: tuple[float, float]) -> None:
    why = f"half of the tile, {min(size):g} m wide"
    check_fits(f"{path}.border_width", border_width, min(size) / 2, why=why)
