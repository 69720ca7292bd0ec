"""Writing the ground into an MjSpec."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mjlab.terrain.colors import height_colors, random_color
from mjlab.terrain.config import TerrainCfg
from mjlab.terrain.shapes import Block, Tile, ring

BODY_NAME = "terrain"

# Blocks reach this far beyond their sides, m. What comes down just where two of them
# meet, such as a ray, would else slip between them, in float32 more so.
_OVERLAP = 1e-4

# Renderers hold at most 1000 textures, and the robots want some.
_MOST_TEXTURES = 500


@dataclass(frozen=True, kw_only=True)
class PlacedTile:
    """A tile and its place in the grid."""

    tile: Tile
    row: int
    col: int
    centre: tuple[float, float]
    """Where the tile's centre lies in the world, m."""

    @property
    def name(self) -> str:
        """The name that the tile's geoms and assets begin with."""
        return f"terrain_{self.row}_{self.col}"


def write_plane(spec: mujoco.MjSpec, cfg: TerrainCfg) -> None:
    """Add a plane at height 0 to the spec."""
    body = _add_body(spec, cfg)
    # Zero is MuJoCo's way to say that a plane has no end.
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
    # The texture has two squares a side, so it repeats every 2 m.
    material = _add_material(spec, "terrain_checker", texture.name)
    material.texuniform = True
    material.texrepeat = [0.5, 0.5]
    geom.material = material.name
    geom.rgba = [1.0, 1.0, 1.0, cfg.rgba[3]]


def write_tiles(
    spec: mujoco.MjSpec,
    cfg: TerrainCfg,
    tiles: list[PlacedTile],
    rng: np.random.Generator,
) -> None:
    """Add the tiles and the border around them to the spec.

    Args:
        spec: What to write into.
        cfg: The terrain. It has a generator.
        tiles: All tiles of the grid.
        rng: Draws the colours, if they are random.
    """
    generator = cfg.generator
    assert generator is not None
    body = _add_body(spec, cfg)
    paint = _Paint(cfg, tiles, rng)
    contact = _contact(cfg)
    for placed in tiles:
        color = paint.tile_color()
        if placed.tile.heights is not None:
            _add_height_field(spec, body, placed, paint, color, cfg)
            continue
        bottom = placed.tile.height_range[0] - generator.base_thickness
        for index, block in enumerate(placed.tile.blocks):
            geom = _add_block(body, block, bottom, placed.centre, contact)
            geom.name = f"{placed.name}_{index}"
            geom.rgba = paint.block_color(block, color)
    inner = (
        max(abs(placed.centre[0]) for placed in tiles) + generator.size[0] / 2,
        max(abs(placed.centre[1]) for placed in tiles) + generator.size[1] / 2,
    )
    outer = (inner[0] + generator.border_width, inner[1] + generator.border_width)
    for index, block in enumerate(ring(outer, inner, 0.0)):
        geom = _add_block(body, block, -generator.base_thickness, (0.0, 0.0), contact)
        geom.name = f"terrain_border_{index}"
        geom.rgba = paint.block_color(block, np.array(cfg.rgba))


class _Paint:
    """Chooses colours, each of shape (4,), 0 to 1."""

    def __init__(
        self, cfg: TerrainCfg, tiles: list[PlacedTile], rng: np.random.Generator
    ) -> None:
        assert cfg.generator is not None
        self._scheme = cfg.generator.color_scheme
        self._rgba = np.array(cfg.rgba)
        self._rng = rng
        ranges = np.array([placed.tile.height_range for placed in tiles])
        # The border is at height 0, and counts.
        self._bounds = (min(ranges.min(), 0.0), max(ranges.max(), 0.0))
        fields = sum(placed.tile.heights is not None for placed in tiles)
        self._textured = self._scheme == "height" and fields <= _MOST_TEXTURES

    def tile_color(self) -> np.ndarray:
        """Return the colour of a tile whose parts have none of their own."""
        if self._scheme != "random":
            return self._rgba
        return self._opaque(random_color(self._rng))

    def block_color(self, block: Block, color: np.ndarray) -> np.ndarray:
        """Return the colour of a block on a tile of some colour."""
        if self._scheme != "height":
            return color
        return self._opaque(height_colors(np.array(block.top), self._bounds))

    def image(self, heights: np.ndarray) -> np.ndarray | None:
        """Return a picture, shape (ny, nx, 3), uint8, of a height field, or None."""
        if not self._textured:
            return None
        colors = height_colors(heights, self._bounds)
        # A picture's first line is the one at the highest y.
        return np.round(255 * colors[::-1]).astype(np.uint8)

    def _opaque(self, rgb: np.ndarray) -> np.ndarray:
        return np.append(rgb, self._rgba[3])


def _add_height_field(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    placed: PlacedTile,
    paint: _Paint,
    color: np.ndarray,
    cfg: TerrainCfg,
) -> None:
    """Add a height field, whose data MuJoCo keeps as shares, 0 to 1, of its height."""
    heights, size = placed.tile.heights, placed.tile.size
    assert heights is not None and cfg.generator is not None
    low, high = placed.tile.height_range
    spec.add_hfield(
        name=placed.name,
        nrow=heights.shape[0],
        ncol=heights.shape[1],
        size=[size[0] / 2, size[1] / 2, high - low, cfg.generator.base_thickness],
        userdata=((heights - low) / (high - low)).ravel(),
    )
    geom = body.add_geom(
        name=f"{placed.name}_0",
        type=mujoco.mjtGeom.mjGEOM_HFIELD,
        hfieldname=placed.name,
        pos=[*placed.centre, low],
        rgba=color,
        **_contact(cfg),
    )
    image = paint.image(heights)
    if image is None:
        return
    texture = spec.add_texture(
        name=placed.name,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        height=image.shape[0],
        width=image.shape[1],
        nchannel=3,
    )
    texture.data = image.tobytes()
    geom.material = _add_material(spec, placed.name, texture.name).name
    geom.rgba = [1.0, 1.0, 1.0, color[3]]


def _add_block(
    body: mujoco.MjsBody,
    block: Block,
    bottom: float,
    centre: tuple[float, float],
    contact: dict[str, Any],
) -> mujoco.MjsGeom:
    low = np.array([block.x_min - _OVERLAP, block.y_min - _OVERLAP, bottom])
    high = np.array([block.x_max + _OVERLAP, block.y_max + _OVERLAP, block.top])
    return body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(low + high) / 2 + [*centre, 0.0],
        size=(high - low) / 2,
        **contact,
    )


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


def _add_material(spec: mujoco.MjSpec, name: str, texture: str) -> mujoco.MjsMaterial:
    material = spec.add_material(name=name)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture
    return material


def _contact(cfg: TerrainCfg) -> dict[str, Any]:
    """Return what all geoms share. The ground never moves, so it has no mass."""
    return {
        "friction": cfg.friction,
        "condim": cfg.condim,
        "priority": cfg.priority,
        "contype": cfg.contype,
        "conaffinity": cfg.conaffinity,
        "group": 0,
        "mass": 0.0,
    }
