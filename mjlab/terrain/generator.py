"""Build an MjSpec from a terrain config, with spawn origins, flat spots and bounds."""

import zlib
from dataclasses import dataclass

import mujoco
import numpy as np

from mjlab.terrain.checks import check_terrain
from mjlab.terrain.config import FlatPatchCfg, TerrainCfg, TerrainGeneratorCfg
from mjlab.terrain.patches import flat_patches
from mjlab.terrain.writer import PlacedTile, write_plane, write_tiles


@dataclass(frozen=True, kw_only=True, eq=False)
class Terrain:
    """Terrain spec with spawn origins, flat spots and bounds, in the world frame, m.

    A plane counts as one tile. Rows run along x and columns along y, both ascending.
    """

    spec: mujoco.MjSpec
    """Spec with the body "terrain" and its assets. The geoms of tiles are named
    `terrain_<row>_<col>_<i>`; a plane is one geom `terrain`."""

    origins: np.ndarray
    """Spawn points, one on the surface of each tile, m, shape (rows, cols, 3)."""

    patches: dict[str, np.ndarray]
    """Flat spots on the surface by name, m, shape (rows, cols, num_patches, 3). Tiles
    whose type has no spots of that name repeat their origin."""

    column_kinds: tuple[str, ...]
    """Tile type of each column, a key of `sub_terrains`."""

    column_shares: np.ndarray
    """Fraction of all worlds assigned to each column, shape (cols,), sum 1: the tile
    type's proportion, divided equally among its columns."""

    difficulty: np.ndarray
    """The difficulty of each tile, shape (rows, cols), 0 to 1."""

    size: tuple[float, float]
    """Extent of one tile along x and y, m; inf for an infinite plane."""

    tile_bounds: np.ndarray
    """Lowest and highest x and y of all tiles, shape (2, 2), centred on the origin;
    infinite for an infinite plane."""

    bounds: np.ndarray
    """Lowest and highest x and y of the ground with its border, m, shape (2, 2)."""

    @property
    def num_rows(self) -> int:
        """Number of tile rows, along x."""
        return self.origins.shape[0]

    @property
    def num_cols(self) -> int:
        """Number of tile columns, along y."""
        return self.origins.shape[1]


def build_terrain(
    cfg: TerrainCfg, *, seed: int = 0, spec: mujoco.MjSpec | None = None
) -> Terrain:
    """Build the terrain of a config.

    Args:
        cfg: Terrain configuration.
        seed: Random seed. Not used if the generator's config has its own seed.
        spec: Spec to write into. It must have no elements whose name starts with
            `terrain`. None creates a new spec.
    """
    check_terrain(cfg)
    spec = mujoco.MjSpec() if spec is None else spec
    if cfg.kind == "plane" or cfg.generator is None:
        return _build_plane(cfg, spec)
    return _build_tiles(cfg, cfg.generator, seed, spec)


def column_kinds(cfg: TerrainGeneratorCfg) -> tuple[str, ...]:
    """Return the tile type of each column, in the order of `sub_terrains`.

    Each type has at least one column. The remaining columns go, one by one, to the type
    with the largest proportion per column (Webster's method).
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


class _TileGrid:
    """Tiles of a terrain generator, each with its own random generators."""

    def __init__(self, cfg: TerrainGeneratorCfg, seed: int) -> None:
        self._cfg = cfg
        self._seed = seed if cfg.seed is None else cfg.seed
        self.columns = column_kinds(cfg)
        self.shape = (cfg.num_rows, len(self.columns))
        self.difficulty = self._difficulty()
        """The difficulty of each tile, shape (rows, cols)."""
        self.tiles = [self._tile(row, col) for row, col in np.ndindex(self.shape)]

    def rng(self, purpose: str, *place: int) -> np.random.Generator:
        """Return an independent random generator for one purpose and tile."""
        return np.random.default_rng([self._seed, zlib.crc32(purpose.encode()), *place])

    def origins(self) -> np.ndarray:
        """Return a point on the surface of each tile, shape (rows, cols, 3)."""
        return np.array([_origin(each) for each in self.tiles]).reshape(*self.shape, 3)

    def patches(self) -> dict[str, np.ndarray]:
        """Return flat spots by name, shape (rows, cols, num_patches, 3)."""
        common, kinds = self._cfg.flat_patch_sampling, self._cfg.sub_terrains
        wanted = [
            {**common, **kinds[kind].flat_patch_sampling} for kind in self.columns
        ]
        counts = {
            name: patch.num_patches for named in wanted for name, patch in named.items()
        }
        patches = {}
        for name, count in counts.items():
            found = [
                self._patches_of(placed, wanted[placed.col].get(name), count, name)
                for placed in self.tiles
            ]
            patches[name] = np.array(found).reshape(*self.shape, count, 3)
        return patches

    def column_shares(self) -> np.ndarray:
        """Return the fraction of worlds assigned to each column, shape (cols,)."""
        proportions = [
            self._cfg.sub_terrains[kind].proportion / self.columns.count(kind)
            for kind in self.columns
        ]
        return np.array(proportions) / sum(proportions)

    def _difficulty(self) -> np.ndarray:
        low, high = self._cfg.difficulty_range
        if self._cfg.curriculum:
            by_row = np.linspace(low, high, self.shape[0])[:, None]
            return np.repeat(by_row, self.shape[1], axis=1)
        places = np.ndindex(self.shape)
        drawn = [self.rng("difficulty", *place).uniform(low, high) for place in places]
        return np.array(drawn).reshape(self.shape)

    def _tile(self, row: int, col: int) -> PlacedTile:
        size, name = self._cfg.size, self.columns[col]
        kind, difficulty = (
            self._cfg.sub_terrains[name],
            float(self.difficulty[row, col]),
        )
        tile = kind.build(size, difficulty, self.rng("tile", row, col))
        # Report non-finite heights now; MuJoCo would report them only when compiling.
        if not np.all(np.isfinite(tile.height_range)):
            raise ValueError(
                f"The tile of kind {name!r} ({type(kind).__name__}) at difficulty "
                f"{difficulty:g} has NaN or infinite heights: {tile.height_range}."
            )
        centre = (
            (row - (self.shape[0] - 1) / 2) * size[0],
            (col - (self.shape[1] - 1) / 2) * size[1],
        )
        return PlacedTile(tile=tile, row=row, col=col, centre=centre)

    def _patches_of(
        self, placed: PlacedTile, cfg: FlatPatchCfg | None, count: int, name: str
    ) -> np.ndarray:
        """Return the flat spots of a tile in the world frame, m, shape (count, 3)."""
        if cfg is None:
            return np.tile(_origin(placed), (count, 1))
        rng = self.rng(f"patch {name}", placed.row, placed.col)
        where = f"flat_patch_sampling[{name!r}] on the tile {placed.name}"
        spots = flat_patches(placed.tile, cfg, rng, where=where)
        return spots + np.array([*placed.centre, 0.0])


def _build_tiles(
    cfg: TerrainCfg, generator: TerrainGeneratorCfg, seed: int, spec: mujoco.MjSpec
) -> Terrain:
    grid = _TileGrid(generator, seed)
    write_tiles(spec, cfg, generator, grid.tiles, grid.rng("color"))
    extents = [n * size for n, size in zip(grid.shape, generator.size, strict=True)]
    border = 2 * generator.border_width
    return Terrain(
        spec=spec,
        origins=grid.origins(),
        patches=grid.patches(),
        column_kinds=grid.columns,
        column_shares=grid.column_shares(),
        difficulty=grid.difficulty,
        size=generator.size,
        tile_bounds=_centred_bounds(*extents),
        bounds=_centred_bounds(*(extent + border for extent in extents)),
    )


def _origin(placed: PlacedTile) -> np.ndarray:
    return np.array([*placed.centre, placed.tile.height_at(0.0, 0.0)])


def _centred_bounds(extent_x: float, extent_y: float) -> np.ndarray:
    half = np.array([extent_x, extent_y]) / 2
    return np.stack((-half, half))
