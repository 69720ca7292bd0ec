"""Whole-config checks, run before anything is built."""

from mjlab.names import find_name
from mjlab.terrain.checks import check_count, check_number, check_range
from mjlab.terrain.config import (
    FlatPatchCfg,
    SubTerrainCfg,
    TerrainCfg,
    TerrainGeneratorCfg,
)

_KINDS = ("plane", "generator")
_COLOR_SCHEMES = ("height", "random", "none")
_CONDIMS = (1, 3, 4, 6)


def check_terrain(cfg: TerrainCfg) -> None:
    """Raise ValueError, which names field, value and what is valid, if one is not."""
    find_name(cfg.kind, _KINDS, what="terrain.kind")
    for index, value in enumerate(cfg.friction):
        check_number(f"terrain.friction[{index}]", value, at_least=0.0)
    for index, value in enumerate(cfg.rgba):
        check_number(f"terrain.rgba[{index}]", value, at_least=0.0, at_most=1.0)
    if cfg.condim not in _CONDIMS:
        raise ValueError(
            f"terrain.condim is {cfg.condim!r}; it must be one of {_CONDIMS}."
        )
    if cfg.kind == "plane":
        _check_size("terrain.plane_size", cfg.plane_size or (1.0, 1.0))
        return
    if cfg.generator is None:
        raise ValueError(
            "terrain.generator is None; the kind 'generator' needs a "
            "TerrainGeneratorCfg, for instance rough_terrains()."
        )
    check_generator(cfg.generator, "terrain.generator")
    if cfg.max_init_terrain_level is not None:
        check_number(
            "terrain.max_init_terrain_level",
            cfg.max_init_terrain_level,
            at_least=0,
            at_most=cfg.generator.num_rows - 1,
        )


def check_generator(cfg: TerrainGeneratorCfg, path: str) -> None:
    """Raise ValueError if the generator or one of its kinds is not valid.

    Args:
        cfg: What to check.
        path: How the user reaches it, to begin the message with.
    """
    _check_size(f"{path}.size", cfg.size)
    check_count(f"{path}.num_rows", cfg.num_rows)
    check_range(
        f"{path}.difficulty_range", cfg.difficulty_range, at_least=0.0, at_most=1.0
    )
    check_number(f"{path}.border_width", cfg.border_width, at_least=0.0)
    check_number(f"{path}.base_thickness", cfg.base_thickness, at_least=0.05)
    find_name(cfg.color_scheme, _COLOR_SCHEMES, what=f"{path}.color_scheme")
    if cfg.seed is not None:
        check_count(f"{path}.seed", cfg.seed, at_least=0)
    _check_patches(cfg.flat_patches, path, cfg.size)
    if not cfg.sub_terrains:
        raise ValueError(
            f"{path}.sub_terrains is empty; it must name at least one kind of tile, "
            "for instance {'flat': FlatCfg()}."
        )
    for name, kind in cfg.sub_terrains.items():
        _check_kind(kind, f"{path}.sub_terrains[{name!r}]", cfg.size)
    check_count(f"{path}.num_cols", cfg.num_cols)
    if not cfg.curriculum and cfg.num_cols < len(cfg.sub_terrains):
        raise ValueError(
            f"{path}.num_cols is {cfg.num_cols}; it must be at least "
            f"{len(cfg.sub_terrains)}, one column for each kind in sub_terrains."
        )
    _check_patch_counts(cfg, path)


def _check_kind(kind: SubTerrainCfg, path: str, size: tuple[float, float]) -> None:
    if not isinstance(kind, SubTerrainCfg):
        raise ValueError(
            f"{path} is {kind!r}; it must be a SubTerrainCfg, for instance FlatCfg()."
        )
    check_number(f"{path}.proportion", kind.proportion, above=0.0, at_most=1e9)
    _check_patches(kind.flat_patches, path, size)
    kind.check(path, size)


def _check_patches(
    patches: dict[str, FlatPatchCfg], path: str, size: tuple[float, float]
) -> None:
    for name, patch in patches.items():
        field = f"{path}.flat_patches[{name!r}]"
        check_count(f"{field}.num_patches", patch.num_patches)
        check_number(
            f"{field}.patch_radius",
            patch.patch_radius,
            above=0.0,
            at_most=min(size) / 2,
        )
        check_number(f"{field}.max_height_diff", patch.max_height_diff, at_least=0.0)
        for axis in ("x_range", "y_range", "z_range"):
            check_range(f"{field}.{axis}", getattr(patch, axis))
        check_number(
            f"{field}.grid_resolution",
            patch.grid_resolution,
            at_least=0.01,
            at_most=min(size) / 2,
        )


def _check_patch_counts(cfg: TerrainGeneratorCfg, path: str) -> None:
    """Raise if one name asks for different numbers of patches: they share an array."""
    counts = {name: patch.num_patches for name, patch in cfg.flat_patches.items()}
    for kind_name, kind in cfg.sub_terrains.items():
        for name, patch in kind.flat_patches.items():
            expected = counts.setdefault(name, patch.num_patches)
            if patch.num_patches != expected:
                raise ValueError(
                    f"{path}.sub_terrains[{kind_name!r}].flat_patches[{name!r}]"
                    f".num_patches is {patch.num_patches}; it must be {expected}, as "
                    f"for the other kinds."
                )


def _check_size(path: str, size: tuple[float, float]) -> None:
    for index, extent in enumerate(size):
        check_number(f"{path}[{index}]", extent, above=0.0, at_most=1e6)
