"""Write terrain tiles or a plane into an MjSpec."""

import colorsys
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mjlab.terrain.config import TerrainCfg, TerrainGeneratorCfg
from mjlab.terrain.shapes import Tile, ring

BODY_NAME = "terrain"

# Blocks extend this far beyond their sides, m. Otherwise a ray that points down exactly
# where two blocks meet could pass between them, especially in float32.
_OVERLAP = 1e-4

# Renderers support at most 1000 textures, and the robots need some of them.
_MOST_TEXTURES = 500

# Colours from the lowest ground to the highest: water, meadow, sand, rock, snow.
_STOPS = np.array(
    [
        [0.20, 0.31, 0.42],
        [0.36, 0.52, 0.46],
        [0.72, 0.69, 0.52],
        [0.66, 0.47, 0.36],
        [0.90, 0.88, 0.86],
    ]
)


@dataclass(frozen=True, kw_only=True)
class PlacedTile:
    """A tile and its place in the grid."""

    tile: Tile
    row: int
    col: int
    centre: tuple[float, float]
    """The tile's centre in the world, m."""

    @property
    def name(self) -> str:
        """Prefix of the names of the tile's geoms and assets."""
        return f"terrain_{self.row}_{self.col}"


def write_plane(spec: mujoco.MjSpec, cfg: TerrainCfg) -> None:
    """Add a plane at height 0 to the spec."""
    body = _add_body(spec, cfg)
    # In MuJoCo size 0 means an infinite plane.
    extent = cfg.plane_size or (0.0, 0.0)
    geom = body.add_geom(
        name=BODY_NAME,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[extent[0] / 2, extent[1] / 2, 1.0],
        rgba=cfg.rgba,
        **_contact(cfg),
    )
    if not cfg.plane_checker:
        return
    rgb = np.array(cfg.rgba[:3])
    texture = spec.add_texture(
        name="terrain_checker",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=rgb,
        rgb2=0.8 * rgb,
        width=256,
        height=256,
    )
    # The texture has two squares per side, so it repeats every 2 m.
    material = _paint(spec, geom, texture)
    material.texuniform = True
    material.texrepeat = [0.5, 0.5]


def write_tiles(
    spec: mujoco.MjSpec,
    cfg: TerrainCfg,
    generator: TerrainGeneratorCfg,
    tiles: list[PlacedTile],
    rng: np.random.Generator,
) -> None:
    """Add the tiles and the border around them to the spec.

    Args:
        spec: Spec to write into.
        cfg: The terrain.
        generator: Generator of the terrain.
        tiles: All tiles of the grid.
        rng: Random generator for random colours.
    """
    writer = _TileWriter(spec, cfg, generator, tiles)
    for placed in tiles:
        color = np.array(cfg.rgba)
        if generator.color_scheme == "random":
            # Muted colours of random hue.
            color[:3] = colorsys.hsv_to_rgb(rng.uniform(), 0.35, 0.75)
        if placed.tile.heights is not None:
            writer.add_height_field(placed, placed.tile.heights, color)
        else:
            writer.add_blocks(placed.name, placed.tile, placed.centre, color)
    x, y = np.abs([placed.centre for placed in tiles]).max(axis=0).tolist()
    inner = (x + generator.size[0] / 2, y + generator.size[1] / 2)
    outer = (inner[0] + generator.border_width, inner[1] + generator.border_width)
    border = Tile(size=outer, blocks=tuple(ring(outer, inner, 0.0)))
    if border.blocks:
        writer.add_blocks("terrain_border", border, (0.0, 0.0), np.array(cfg.rgba))


class _TileWriter:
    """Writes tiles into a spec. Colours have shape (4,), 0 to 1."""

    def __init__(
        self,
        spec: mujoco.MjSpec,
        cfg: TerrainCfg,
        generator: TerrainGeneratorCfg,
        tiles: list[PlacedTile],
    ) -> None:
        self._spec = spec
        self._body = _add_body(spec, cfg)
        self._contact = _contact(cfg)
        self._thickness = generator.base_thickness
        self._by_height = generator.color_scheme == "height"
        ranges = np.array([placed.tile.height_range for placed in tiles])
        # Include the border, which has height 0.
        self._bounds = (min(ranges.min(), 0.0), max(ranges.max(), 0.0))
        fields = sum(placed.tile.heights is not None for placed in tiles)
        self._textured = self._by_height and fields <= _MOST_TEXTURES

    def add_blocks(
        self, name: str, tile: Tile, centre: tuple[float, float], color: np.ndarray
    ) -> None:
        """Add a tile made of blocks."""
        bottom = tile.height_range[0] - self._thickness
        for index, block in enumerate(tile.blocks):
            below = max(block.bottom, bottom)
            low = np.array([block.x_min - _OVERLAP, block.y_min - _OVERLAP, below])
            high = np.array([block.x_max + _OVERLAP, block.y_max + _OVERLAP, block.top])
            if self._by_height:
                color = np.append(_height_colors(block.top, self._bounds), color[3])
            self._body.add_geom(
                name=f"{name}_{index}",
                type=mujoco.mjtGeom.mjGEOM_BOX,
                pos=(low + high) / 2 + [*centre, 0.0],
                size=(high - low) / 2,
                quat=[np.cos(block.yaw / 2), 0.0, 0.0, np.sin(block.yaw / 2)],
                rgba=color,
                **self._contact,
            )

    def add_height_field(
        self, placed: PlacedTile, heights: np.ndarray, color: np.ndarray
    ) -> None:
        """Add a height field. MuJoCo stores its heights normalised to 0 to 1."""
        size, (low, high) = placed.tile.size, placed.tile.height_range
        self._spec.add_hfield(
            name=placed.name,
            nrow=heights.shape[0],
            ncol=heights.shape[1],
            size=[size[0] / 2, size[1] / 2, high - low, self._thickness],
            userdata=((heights - low) / (high - low)).ravel(),
        )
        geom = self._body.add_geom(
            name=f"{placed.name}_0",
            type=mujoco.mjtGeom.mjGEOM_HFIELD,
            hfieldname=placed.name,
            pos=[*placed.centre, low],
            rgba=color,
            **self._contact,
        )
        if not self._textured:
            return
        # The first row of an image has the highest y.
        image = np.round(255 * _height_colors(heights, self._bounds)[::-1])
        texture = self._spec.add_texture(
            name=placed.name,
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            height=heights.shape[0],
            width=heights.shape[1],
            nchannel=3,
        )
        texture.data = image.astype(np.uint8).tobytes()
        _paint(self._spec, geom, texture)


def _add_body(spec: mujoco.MjSpec, cfg: TerrainCfg) -> mujoco.MjsBody:
    if cfg.light:
        spec.worldbody.add_light(
            name="terrain_light",
            type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
            pos=[0.0, 0.0, 10.0],
            dir=[0.3, 0.4, -1.0],
            diffuse=[0.6, 0.6, 0.6],
            specular=[0.1, 0.1, 0.1],
        )
    return spec.worldbody.add_body(name=BODY_NAME)


def _paint(
    spec: mujoco.MjSpec, geom: mujoco.MjsGeom, texture: mujoco.MjsTexture
) -> mujoco.MjsMaterial:
    """Give a geom a material with one texture, named like the texture."""
    material = spec.add_material(name=texture.name)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture.name
    geom.material = material.name
    geom.rgba = [1.0, 1.0, 1.0, geom.rgba[3]]
    return material


def _contact(cfg: TerrainCfg) -> dict[str, Any]:
    """Return the contact settings and mass of all geoms; static ground has mass 0."""
    shared = ("friction", "condim", "priority", "contype", "conaffinity")
    return {"group": 0, "mass": 0.0, **{name: getattr(cfg, name) for name in shared}}


def _height_colors(
    heights: np.ndarray | float, bounds: tuple[float, float]
) -> np.ndarray:
    """Return the colours of heights, shape (..., 3), 0 to 1.

    Height 0 has the middle colour; the height farthest from 0 has an end colour.

    Args:
        heights: Any shape, m.
        bounds: The lowest and the highest height of the whole terrain, m.
    """
    farthest = max(abs(bounds[0]), abs(bounds[1]))
    if farthest == 0.0:
        farthest = 1.0
    # Small heights are amplified, so that a low step beside a tall hill is visible.
    share = np.asarray(heights) / farthest
    place = 0.5 + 0.5 * np.sign(share) * np.sqrt(np.clip(np.abs(share), 0.0, 1.0))
    stops = np.linspace(0.0, 1.0, len(_STOPS))
    channels = [np.interp(place, stops, _STOPS[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=-1)
