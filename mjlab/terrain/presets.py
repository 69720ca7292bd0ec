"""Terrain presets. Each call returns a new config, which can be modified freely."""

from mjlab.terrain.boxes import (
    FlatCfg,
    GapCfg,
    InvertedPyramidStairsCfg,
    OpenStairsCfg,
    PitCfg,
    PyramidStairsCfg,
    RadialBeamsCfg,
    RandomGridCfg,
    RandomSpreadCfg,
    SteppingStonesCfg,
)
from mjlab.terrain.config import SubTerrainCfg, TerrainGeneratorCfg
from mjlab.terrain.heightfields import (
    DiscreteObstaclesCfg,
    PerlinCfg,
    PyramidSlopeCfg,
    RandomRoughCfg,
    WaveCfg,
)


def rough_terrains(*, curriculum: bool = False) -> TerrainGeneratorCfg:
    """Return a mix of gentle terrains for locomotion, 10 x 20 tiles of 8 m.

    Args:
        curriculum: Whether difficulty grows with the row, with one column per kind.
    """
    return _wide(
        curriculum,
        flat=FlatCfg(proportion=0.2),
        pyramid_stairs=PyramidStairsCfg(proportion=0.2),
        pyramid_stairs_inv=InvertedPyramidStairsCfg(proportion=0.2),
        pyramid_slope=PyramidSlopeCfg(proportion=0.1),
        pyramid_slope_inv=PyramidSlopeCfg(proportion=0.1, inverted=True),
        random_rough=RandomRoughCfg(proportion=0.1),
        wave=WaveCfg(proportion=0.1),
    )


def stairs_terrains(*, curriculum: bool = False) -> TerrainGeneratorCfg:
    """Return flat ground and stairs up to 0.2 m a step, 10 x 20 tiles of 8 m.

    Args:
        curriculum: Whether difficulty grows with the row, with one column per kind.
    """
    heights = (0.0, 0.2)
    return _wide(
        curriculum,
        flat=FlatCfg(proportion=0.2),
        pyramid_stairs=PyramidStairsCfg(proportion=0.4, step_height_range=heights),
        pyramid_stairs_inv=InvertedPyramidStairsCfg(
            proportion=0.4, step_height_range=heights
        ),
    )


def all_terrains(*, curriculum: bool = False) -> TerrainGeneratorCfg:
    """Return all tile types in equal proportions, 10 x 20 tiles of 8 m.

    Args:
        curriculum: Whether difficulty grows with the row, with one column per kind.
    """
    return _wide(
        curriculum,
        flat=FlatCfg(),
        pyramid_stairs=PyramidStairsCfg(),
        pyramid_stairs_inv=InvertedPyramidStairsCfg(),
        random_grid=RandomGridCfg(),
        stepping_stones=SteppingStonesCfg(),
        pyramid_slope=PyramidSlopeCfg(),
        pyramid_slope_inv=PyramidSlopeCfg(inverted=True),
        random_rough=RandomRoughCfg(),
        wave=WaveCfg(),
        discrete_obstacles=DiscreteObstaclesCfg(),
        perlin=PerlinCfg(),
        open_stairs_inv=OpenStairsCfg(),
        random_spread=RandomSpreadCfg(),
        radial_beams=RadialBeamsCfg(),
        gap=GapCfg(),
        pit=PitCfg(),
    )


def _wide(curriculum: bool, **kinds: SubTerrainCfg) -> TerrainGeneratorCfg:
    return TerrainGeneratorCfg(
        num_rows=10,
        num_cols=20,
        curriculum=curriculum,
        border_width=20.0,
        sub_terrains=kinds,
    )
