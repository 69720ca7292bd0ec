"""The ground: a plane, or a grid of tiles of rising difficulty."""

from mjlab.terrain.boxes import (
    FlatCfg,
    InvertedPyramidStairsCfg,
    PyramidStairsCfg,
    RandomGridCfg,
    SteppingStonesCfg,
)
from mjlab.terrain.config import (
    FlatPatchCfg,
    SubTerrainCfg,
    TerrainCfg,
    TerrainGeneratorCfg,
)
from mjlab.terrain.generator import Terrain, build_terrain
from mjlab.terrain.heightfields import (
    DiscreteObstaclesCfg,
    PerlinCfg,
    PyramidSlopeCfg,
    RandomRoughCfg,
    WaveCfg,
)
from mjlab.terrain.presets import all_terrains, rough_terrains, stairs_terrains
from mjlab.terrain.shapes import Block, Tile, block_tile, height_field_tile

__all__ = [
    "Block",
    "DiscreteObstaclesCfg",
    "FlatCfg",
    "FlatPatchCfg",
    "InvertedPyramidStairsCfg",
    "PerlinCfg",
    "PyramidSlopeCfg",
    "PyramidStairsCfg",
    "RandomGridCfg",
    "RandomRoughCfg",
    "SteppingStonesCfg",
    "SubTerrainCfg",
    "Terrain",
    "TerrainCfg",
    "TerrainGeneratorCfg",
    "Tile",
    "WaveCfg",
    "all_terrains",
    "block_tile",
    "build_terrain",
    "height_field_tile",
    "rough_terrains",
    "stairs_terrains",
]
