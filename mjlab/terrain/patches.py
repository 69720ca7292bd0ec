"""Search for flat spots on a tile's surface."""

import numpy as np

from mjlab.terrain.config import FlatPatchCfg
from mjlab.terrain.shapes import SAME_HEIGHT, Tile

_Raster = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Coordinates x and y and heights of a surface grid, from `Tile.raster`."""
_BATCH = 256


def flat_patches(
    tile: Tile, cfg: FlatPatchCfg, rng: np.random.Generator, *, where: str
) -> np.ndarray:
    """Find flat spots; return their centres in the tile frame, m, (num_patches, 3).

    A spot is flat if the heights of all points within its radius, or one cell beyond,
    differ by at most `max_height_diff`. Spots lie entirely on the tile.

    Args:
        tile: The surface to search.
        cfg: Size, flatness and range of the spots.
        rng: Random generator.
        where: Names of the patch and the tile, for the error if no spot is found.
    """
    raster = x, y, heights = tile.raster(cfg.grid_resolution)
    found = np.empty((0, 2), dtype=int)
    flattest = np.inf
    candidates = rng.permutation(_candidates(tile, cfg, raster))
    for start in range(0, len(candidates), _BATCH):
        batch = candidates[start : start + _BATCH]
        spread = _spread(raster, batch, cfg.patch_radius)
        flattest = min(flattest, spread.min())
        flat = spread <= cfg.max_height_diff + SAME_HEIGHT
        found = np.concatenate((found, batch[flat]))[: cfg.num_patches]
        if len(found) == cfg.num_patches:
            break
    if len(found) == 0:
        raise ValueError(_nothing_found(cfg, where, flattest))
    if len(found) < cfg.num_patches:
        found = found[np.arange(cfg.num_patches) % len(found)]
    rows, columns = found.T
    return np.stack((x[columns], y[rows], heights[rows, columns]), axis=-1)


def _candidates(tile: Tile, cfg: FlatPatchCfg, raster: _Raster) -> np.ndarray:
    """Return the (row, column) of all possible centres, shape (n, 2)."""

    def inside(
        axis: np.ndarray, extent: float, bounds: tuple[float, float]
    ) -> np.ndarray:
        on_tile = np.abs(axis) <= extent / 2 - cfg.patch_radius + SAME_HEIGHT
        return on_tile & (axis >= bounds[0]) & (axis <= bounds[1])

    x, y, heights = raster
    allowed = (heights >= cfg.z_range[0]) & (heights <= cfg.z_range[1])
    allowed &= inside(x, tile.size[0], cfg.x_range)[None, :]
    allowed &= inside(y, tile.size[1], cfg.y_range)[:, None]
    return np.argwhere(allowed)


def _spread(raster: _Raster, centres: np.ndarray, radius: float) -> np.ndarray:
    """Return the height range (highest minus lowest) around each centre, m."""
    x, y, heights = raster
    step_x, step_y = x[1] - x[0], y[1] - y[0]
    # A point of the disc is at most one cell's diagonal from the vertices that
    # determine the surface there.
    reach = radius + np.hypot(step_x, step_y)
    most_x, most_y = int(reach / step_x), int(reach / step_y)
    rows, columns = np.mgrid[-most_y : most_y + 1, -most_x : most_x + 1]
    near = np.hypot(rows * step_y, columns * step_x) <= reach
    near_rows = np.clip(centres[:, :1] + rows[near], 0, y.size - 1)
    near_columns = np.clip(centres[:, 1:] + columns[near], 0, x.size - 1)
    around = heights[near_rows, near_columns]
    return around.max(axis=1) - around.min(axis=1)


def _nothing_found(cfg: FlatPatchCfg, where: str, flattest: float) -> str:
    if np.isinf(flattest):
        return (
            f"{where}: no point lies within x_range {cfg.x_range}, y_range "
            f"{cfg.y_range} and z_range {cfg.z_range} and at least patch_radius "
            f"{cfg.patch_radius:g} m from the tile's edge. Widen the ranges, or reduce "
            "patch_radius."
        )
    return (
        f"{where}: no patch of patch_radius {cfg.patch_radius:g} m is flat within "
        f"max_height_diff {cfg.max_height_diff:g} m; the flattest one differs by "
        f"{flattest:.3g} m. Increase max_height_diff, reduce patch_radius, or give "
        "this kind its own flat_patch_sampling."
    )
