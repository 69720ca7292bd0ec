"""From a terrain config to an MjSpec and what must be known about it."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mjlab.terrain.config import (
    FlatPatchCfg,
    SubTerrainCfg,
    TerrainCfg,
    TerrainGeneratorCfg,
)
from mjlab.terrain.patches import flat_patches
from mjlab.terrain.shapes import Tile
from mjlab.terrain.validate import check_terrain
from mjlab.terrain.writer import PlacedTile, write_plane, write_tiles


@dataclass(frozen=True, kw_only=True, eq=False)
class Terrain:
    """The ground as a spec, and where things are on it. World frame, m.

    A plane counts as one tile. Rows run along x and columns along y, both ascending.
    """

    spec: mujoco.MjSpec
    """Holds the body "terrain" with the geoms `terrain_<row>_<col>_<i>`, one geom
    `terrain` for a plane, and their assets."""

    origins: np.ndarray
    """Where to spawn on each tile, on its surface, shape (rows, cols, 3)."""

    patches: dict[str, np.ndarray]
    """Flat spots by name, on the surface, shape (rows, cols, num_patches, 3). Tiles of
    a kind that does not have the name repeat their origin."""

    column_kinds: tuple[str, ...]
    """The kind of each column's tiles, a key of `sub_terrains`."""

    column_shares: np.ndarray
    """The share of all worlds for each column, shape (cols,), sum 1: its kind's
    proportion, divided equally among the kind's columns."""

    difficulty: np.ndarray
    """The difficulty of each tile, shape (rows, cols), 0 to 1."""

    size: tuple[float, float]
    """Extent of one tile along x and y; inf for a plane without end."""

    tile_bounds: np.ndarray
    """Lowest and highest x and y of all tiles, shape (2, 2), centred on the origin;
    infinite for a plane without end."""

    bounds: np.ndarray
    """Lowest and highest x and y of the ground with its border, shape (2, 2)."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self.origins.shape[0]

    @property
    def num_cols(self) -> int:
        """Number of columns."""
        return self.origins.shape[1]


def build_terrain(
    cfg: TerrainCfg, *, seed: int = 0, spec: mujoco.MjSpec | None = None
) -> Terrain:
    """Return the ground that a config describes.

    Args:
        cfg: The ground.
        seed: Seed of all chance, unless the generator has its own.
        spec: What to write into, with nothing called `terrain...` in it. None makes a
            new spec.
    """
    check_terrain(cfg)
    spec = mujoco.MjSpec() if spec is None else spec
    if cfg.kind == "plane" or cfg.generator is None:
        return _build_plane(cfg, spec)
    return _build_tiles(cfg, cfg.generator, seed, spec)


def column_kinds(cfg: TerrainGeneratorCfg) -> tuple[str, ...]:
    """Return the kind of each column, the kinds side by side in their order.

    Each kind has at least one column; the others go, one by one, to the kind with the
    most proportion a column (Webster's method, exact where the proportions are).
    """
    kinds = list(cfg.sub_terrains)
    if cfg.curriculum:
        return tuple(kinds)
    proportions = np.array([kind.proportion for kind in cfg.sub_terrains.values()])
    counts = np.ones(len(kinds), dtype=int)
    while counts.sum() < cfg.num_cols:
        counts[np.argmax(proportions / (2 * counts + 1))] += 1
    return tuple(np.repeat(kinds, counts).tolist())


def _build_plane(cfg: TerrainCfg, spec: mujoco.MjSpec) -> Terrain:
    write_plane(spec, cfg)
    size = cfg.plane_size or (np.inf, np.inf)
    return Terrain(
        spec=spec,
        origins=np.zeros((1, 1, 3)),
        patches={},
        column_kinds=("plane",),
        column_shares=np.ones(1),
        difficulty=np.zeros((1, 1)),
        size=size,
        tile_bounds=_centred_bounds(*size),
        bounds=_centred_bounds(*size),
    )


def _build_tiles(
    cfg: TerrainCfg, generator: TerrainGeneratorCfg, seed: int, spec: mujoco.MjSpec
) -> Terrain:
    seed = seed if generator.seed is None else generator.seed
    columns = column_kinds(generator)
    grid = (generator.num_rows, len(columns))
    difficulty = _difficulty(generator, seed, grid)
    tiles = [
        _build_tile(generator, seed, columns, difficulty, row, col)
        for row, col in np.ndindex(grid)
    ]
    write_tiles(spec, cfg, tiles, _rng(seed, "color"))
    extents = [count * size for count, size in zip(grid, generator.size, strict=True)]
    border = 2 * generator.border_width
    return Terrain(
        spec=spec,
        origins=np.array([_origin(placed) for placed in tiles]).reshape(*grid, 3),
        patches=_patches(generator, seed, columns, tiles),
        column_kinds=columns,
        column_shares=_column_shares(generator, columns),
        difficulty=difficulty,
        size=generator.size,
        tile_bounds=_centred_bounds(*extents),
        bounds=_centred_bounds(*(extent + border for extent in extents)),
    )


def _build_tile(
    cfg: TerrainGeneratorCfg,
    seed: int,
    columns: Sequence[str],
    difficulty: np.ndarray,
    row: int,
    col: int,
) -> PlacedTile:
    kind = cfg.sub_terrains[columns[col]]
    tile = kind.build(
        cfg.size, float(difficulty[row, col]), _rng(seed, "tile", row, col)
    )
    _check_tile(tile, columns[col], kind, float(difficulty[row, col]))
    centre = (
        (row - (cfg.num_rows - 1) / 2) * cfg.size[0],
        (col - (len(columns) - 1) / 2) * cfg.size[1],
    )
    return PlacedTile(tile=tile, row=row, col=col, centre=centre)


def _check_tile(tile: Tile, name: str, kind: SubTerrainCfg, difficulty: float) -> None:
    """Raise if a tile has no finite surface, as MuJoCo would only say much later."""
    if np.all(np.isfinite(tile.height_range)):
        return
    raise ValueError(
        f"The tile of kind {name!r} ({type(kind).__name__}) at difficulty "
        f"{difficulty:g} has heights that are not finite: {tile.height_range}."
    )


def _difficulty(
    cfg: TerrainGeneratorCfg, seed: int, grid: tuple[int, int]
) -> np.ndarray:
    low, high = cfg.difficulty_range
    if cfg.curriculum:
        return np.repeat(np.linspace(low, high, grid[0])[:, None], grid[1], axis=1)
    drawn = [
        _rng(seed, "difficulty", row, col).uniform(low, high)
        for row, col in np.ndindex(grid)
    ]
    return np.array(drawn).reshape(grid)


def _patches(
    cfg: TerrainGeneratorCfg, seed: int, columns: Sequence[str], tiles: list[PlacedTile]
) -> dict[str, np.ndarray]:
    wanted = [
        {**cfg.flat_patches, **cfg.sub_terrains[kind].flat_patches} for kind in columns
    ]
    counts = {
        name: patch.num_patches for named in wanted for name, patch in named.items()
    }
    grid = (cfg.num_rows, len(columns))
    patches = {}
    for name, count in counts.items():
        found = [
            _tile_patches(placed, wanted[placed.col].get(name), count, name, seed)
            for placed in tiles
        ]
        patches[name] = np.array(found).reshape(*grid, count, 3)
    return patches


def _tile_patches(
    placed: PlacedTile, cfg: FlatPatchCfg | None, count: int, name: str, seed: int
) -> np.ndarray:
    """Return a tile's patches, shape (count, 3), in the world."""
    if cfg is None:
        return np.tile(_origin(placed), (count, 1))
    rng = _rng(seed, f"patch {name}", placed.row, placed.col)
    where = f"flat_patches[{name!r}] on the tile {placed.name}"
    spots = flat_patches(placed.tile, cfg, rng, where=where)
    return spots + np.array([*placed.centre, 0.0])


def _origin(placed: PlacedTile) -> np.ndarray:
    return np.array([*placed.centre, placed.tile.height_at(0.0, 0.0)])


def _column_shares(cfg: TerrainGeneratorCfg, columns: Sequence[str]) -> np.ndarray:
    shares = [
        cfg.sub_terrains[kind].proportion / columns.count(kind) for kind in columns
    ]
    return np.array(shares) / sum(shares)


def _centred_bounds(extent_x: float, extent_y: float) -> np.ndarray:
    half = np.array([extent_x, extent_y]) / 2
    return np.stack((-half, half))


def _rng(seed: int, purpose: str, *place: int) -> np.random.Generator:
    """Return the randomness of one purpose and place, which no other one disturbs."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode()), *place])
