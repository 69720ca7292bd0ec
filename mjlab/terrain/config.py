"""Terrain configuration: plane, tile generator, tile types and flat spots."""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from mjlab.settings import Config
from mjlab.terrain.shapes import Size, Tile

Rng = np.random.Generator


class FlatPatchCfg(Config):
    """Configuration of a search for flat spots, such as spawn points or targets."""

    num_patches: int = 10
    """Number of spots to find on each tile, at least 1. If a tile has fewer spots, they
    are repeated."""

    patch_radius: float = 0.5
    """Radius of a spot, m, above 0."""

    max_height_diff: float = 0.05
    """Largest difference of heights within a spot, m, at least 0."""

    x_range: tuple[float, float] = (-1e6, 1e6)
    """Range of the spot's centre along x, m, from the tile's centre."""

    y_range: tuple[float, float] = (-1e6, 1e6)
    """Range of the spot's centre along y, m, from the tile's centre."""

    z_range: tuple[float, float] = (-1e6, 1e6)
    """Range of the height of the spot's centre, m, in the world."""

    grid_resolution: float = 0.05
    """Distance between sample points on a tile made of blocks, m, above 0. Narrower
    features can be missed. Height fields are sampled at their vertices instead, which
    is exact."""


class SubTerrainCfg(Config, ABC):
    """Base class of tile (sub-terrain) types. Subclasses define `check` and `build`."""

    proportion: float = 1.0
    """Relative frequency of this tile type, above 0. Proportions need not sum to 1."""

    flat_patch_sampling: dict[str, FlatPatchCfg] = {}
    """Flat spots by name for this tile type, used instead of the generator's spots."""

    @abstractmethod
    def check(self, path: str, size: Size) -> None:
        """Raise ValueError if a field is out of range for a tile of this size.

        Args:
            path: Path of this config, used as prefix of the error message.
            size: Extent of the tile along x and y, m.
        """

    @abstractmethod
    def build(self, size: Size, difficulty: float, rng: Rng) -> Tile:
        """Build a tile. Its surface should be at height 0 along the whole edge.

        Args:
            size: Extent of the tile along x and y, m.
            difficulty: Difficulty from 0 (easiest) to 1 (hardest).
            rng: Random generator of this tile, the only source of randomness.
        """


def at_difficulty(bounds: tuple[float, float], difficulty: float) -> float:
    """Return the value between `bounds`, the first at difficulty 0, the second at 1."""
    return (1.0 - difficulty) * bounds[0] + difficulty * bounds[1]


class TerrainGeneratorCfg(Config):
    """Grid of tiles: rows (along x) set the difficulty, columns (along y) the type."""

    sub_terrains: dict[str, SubTerrainCfg] = {}
    """Tile types by name, at least one."""

    size: tuple[float, float] = (8.0, 8.0)
    """Extent of a tile along x and y, m, above 0."""

    num_rows: int = 1
    """Number of rows, at least 1."""

    num_cols: int = 1
    """Number of columns, at least the number of tile types. Types share the columns by
    `proportion`. Not used with `curriculum`, which has one column per type."""

    curriculum: bool = False
    """Increase difficulty with the row, from the low end of `difficulty_range` in the
    first row to the high end in the last. Otherwise each tile draws its difficulty."""

    difficulty_range: tuple[float, float] = (0.0, 1.0)
    """Range of difficulties, (low, high), 0 to 1. A single row has the low
    difficulty."""

    border_width: float = 0.0
    """Width of the flat border around all tiles, m, at least 0."""

    base_thickness: float = 1.0
    """Depth of the ground below the lowest point of a tile, m, at least 0.05."""

    flat_patch_sampling: dict[str, FlatPatchCfg] = {}
    """Flat spots by name, for tile types that do not set `flat_patch_sampling`."""

    color_scheme: Literal["height", "random", "none"] = "height"
    """Colours by height, one random colour per tile, or the terrain's `rgba`. With more
    than 500 height fields, which renderers cannot texture, each gets one colour."""

    seed: int | None = None
    """Random seed of the terrain, at least 0. None uses the seed passed to
    `build_terrain`."""


class TerrainCfg(Config):
    """Configuration of the ground: a plane, or a grid of generated tiles."""

    kind: Literal["plane", "generator"] = "plane"
    """Type of terrain: a plane, or the tiles of `generator`."""

    generator: TerrainGeneratorCfg | None = None
    """Settings of the tiles; used if `kind` is "generator"."""

    plane_size: tuple[float, float] | None = None
    """Extent of the plane along x and y, m, above 0. None is infinite."""

    plane_checker: bool = True
    """Show a checkerboard of 1 m squares on the plane."""

    max_init_terrain_level: int | None = None
    """Highest row that worlds start on, counted from 0. None, or a number beyond the
    last row, allows every row."""

    friction: tuple[float, float, float] = (1.0, 0.005, 0.0001)
    """Sliding, torsional (m) and rolling (m) friction, each at least 0."""

    condim: Literal[1, 3, 4, 6] = 3
    """Contact dimensionality, as in MuJoCo: 1 is frictionless, 3 sliding friction."""

    priority: int = 0
    """Contact priority, as in MuJoCo: the geom of higher priority sets the contact's
    parameters."""

    contype: int = 1
    """Collision bitmask of the ground, as in MuJoCo."""

    conaffinity: int = 1
    """Collision bitmask that other geoms' `contype` is tested against, as in MuJoCo."""

    rgba: tuple[float, float, float, float] = (0.42, 0.47, 0.52, 1.0)
    """Colour of the plane, and of the tiles with the colour scheme "none", 0 to 1."""

    light: bool = True
    """Add a light from above that casts shadows."""
