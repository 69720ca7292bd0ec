"""`terrain`: draw a kind of terrain."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional

from mjlab.cli.answers import UsageError
from mjlab.cli.line import Options, read_line
from mjlab.files import write_atomic
from mjlab.names import suggest
from mjlab.render import prepare_gl
from mjlab.settings.bounds import at_least

if TYPE_CHECKING:
    import numpy as np

    from mjlab.terrain import SubTerrainCfg


@dataclass(kw_only=True)
class TerrainOptions(Options):
    """Draw a kind of terrain, with increasing difficulty.

    Without KIND, list all kinds.
    """

    program = "terrain.py"
    examples = (
        "",
        "pyramid_stairs",
        "open_stairs --rows 2 --size 1920 1080",
    )

    kind: Positional[str | None] = None
    """Kind of terrain, such as pyramid_stairs. Default: list all kinds."""

    file: Path | None = None
    """PNG file to write. Default: terrain_KIND.png in this folder."""

    rows: Annotated[int, at_least(1)] = 4
    """Number of tiles, with difficulties from 0 (left) to 1."""

    tile: float = 8.0
    """Width of a tile, in metres."""

    seed: int = 0
    """Random seed."""

    size: tuple[int, int] = (1280, 480)
    """Width and height of the picture, in pixels."""


def main(arguments: Sequence[str]) -> None:
    """Draw a kind of terrain, or list all kinds."""
    options = read_line(TerrainOptions, arguments).options
    prepare_gl()
    kinds = find_kinds()
    if options.kind is None:
        for name, kind in kinds.items():
            print(f"{name:20}  {(type(kind).__doc__ or '').splitlines()[0]}")
        return
    if options.kind not in kinds:
        hint = suggest(options.kind, list(kinds))
        raise UsageError(f"Unknown kind of terrain {options.kind!r}. {hint}")
    file = options.file or Path(f"terrain_{options.kind}.png")
    from mjlab.png import png

    picture = png(draw(kinds[options.kind], options).transpose(2, 0, 1))
    write_atomic(file, lambda stream: stream.write(picture))
    print(f"Wrote {file}.")


def find_kinds() -> "dict[str, SubTerrainCfg]":
    """Return the configurations of all kinds of terrain, by name."""
    from mjlab.tasks.velocity import walking_terrains
    from mjlab.terrain import all_terrains

    return all_terrains().sub_terrains | walking_terrains()


def draw(kind: "SubTerrainCfg", options: TerrainOptions) -> "np.ndarray":
    """Render a row of tiles; return an image, shape (height, width, 3), uint8."""
    import mujoco

    from mjlab.render import Canvas
    from mjlab.terrain import TerrainCfg, TerrainGeneratorCfg, build_terrain

    generator = TerrainGeneratorCfg(
        sub_terrains={"kind": kind},
        size=(options.tile, options.tile),
        num_rows=options.rows,
        curriculum=True,
    )
    cfg = TerrainCfg(kind="generator", generator=generator)
    model = build_terrain(cfg, seed=options.seed).spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    view = mujoco.MjvCamera()
    view.azimuth, view.elevation = 90.0, -35.0
    width, height = options.size
    # Width that shows all tiles with a vertical field of view of 45 degrees.
    view.distance = options.tile * max(1.2, 1.4 * options.rows * height / width)
    canvas = Canvas(model, width, height)
    try:
        return canvas.draw(model, data, view)
    finally:
        canvas.close()
