"""The ground: a plane, or a grid of terrain tiles of increasing difficulty."""

from mjlab.terrain.boxes import FlatCfg as FlatCfg
from mjlab.terrain.boxes import InvertedPyramidStairsCfg as InvertedPyramidStairsCfg
from mjlab.terrain.boxes import PyramidStairsCfg as PyramidStairsCfg
from mjlab.terrain.boxes import RandomGridCfg as RandomGridCfg
from mjlab.terrain.boxes import SteppingStonesCfg as SteppingStonesCfg
from mjlab.terrain.config import FlatPatchCfg as FlatPatchCfg
from mjlab.terrain.config import SubTerrainCfg as SubTerrainCfg
from mjlab.terrain.config import TerrainCfg as TerrainCfg
from mjlab.terrain.config import TerrainGeneratorCfg as TerrainGeneratorCfg
from mjlab.terrain.generator import Terrain as Terrain
from mjlab.terrain.generator import build_terrain as build_terrain
from mjlab.terrain.heightfields import DiscreteObstaclesCfg as DiscreteObstaclesCfg
from mjlab.terrain.heightfields import PerlinCfg as PerlinCfg
from mjlab.terrain.heightfields import PyramidSlopeCfg as PyramidSlopeCfg
from mjlab.terrain.heightfields import RandomRoughCfg as RandomRoughCfg
from mjlab.terrain.heightfields import WaveCfg as WaveCfg
from mjlab.terrain.presets import all_terrains as all_terrains
from mjlab.terrain.presets import rough_terrains as rough_terrains
from mjlab.terrain.presets import stairs_terrains as stairs_terrains
from mjlab.terrain.shapes import TerrainBlock as TerrainBlock
from mjlab.terrain.shapes import Tile as Tile
from mjlab.terrain.shapes import block_tile as block_tile
from mjlab.terrain.shapes import height_field_tile as height_field_tile
